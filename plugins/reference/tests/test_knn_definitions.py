"""All definitions of nearest neighbours against one plain implementation of the formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data.interactions import Interactions
from repro.testing import queries_of
from repro_reference.item_knn import ItemKNN, declaration
from repro_reference.knn import CENTERS, CONTRIBUTIONS, DIVISORS, NEIGHBOURHOODS, NearestNeighbours
from repro_reference.similarity import KINDS, OVER, SHRINK
from repro_reference.user_knn import UserKNN
from repro_reference.weighting import INPUTS

Table = Callable[[Any], Interactions]
Row = dict[int, float]

RATINGS = st.sampled_from([0, 0, 1, 2, 3.5, 5])
PARAMETERS = {
    "k": st.integers(1, 4),
    "similarity": st.sampled_from(KINDS),
    "normalise": st.booleans(),
    "center": st.sampled_from([center for center in CENTERS if center != "baseline"]),
    "shrinkage": st.sampled_from([0.0, 3.0]),
    "min_overlap": st.integers(1, 2),
    "min_neighbours": st.integers(1, 2),
    "neighbourhood": st.sampled_from(NEIGHBOURHOODS),
    "input": st.sampled_from([name for name in INPUTS if name != "residuals"]),
    "over": st.sampled_from(OVER),
    "alpha": st.sampled_from([0.0, 0.3, 1.0]),
    "beta": st.sampled_from([0.2, 1.0]),
    "shrink": st.sampled_from(SHRINK),
    "negatives": st.booleans(),
    "itself": st.booleans(),
    "contributions": st.sampled_from(CONTRIBUTIONS),
    "divisor": st.sampled_from(DIVISORS),
    "shares": st.booleans(),
}


def weigh(rows: list[Row], name: str, by_items: bool) -> list[Row]:
    """The rows that are compared, weighted."""
    columns: dict[int, list[float]] = {}
    for row in rows:
        for column, value in row.items():
            columns.setdefault(column, []).append(value)
    sums = [sum(row.values()) for row in rows]
    mean_sum = sum(sums) / len(sums)

    def weight(n: int, column: int, value: float) -> float:
        rarity = math.log(len(rows)) - math.log(1 + len(columns[column]))
        own, theirs = sum(rows[n].values()) / len(rows[n]), sum(columns[column]) / len(columns[column])
        users, items = (theirs, own) if by_items else (own, theirs)
        match name:
            case "ratings":
                return value
            case "ones":
                return 1.0
            case "user-centred":
                return value - users
            case "item-centred":
                return value - items
            case "log":
                return math.log(1 + value)
            case "tf-idf":
                return math.sqrt(value) * rarity
        return value * 101 / (100 * (0.2 + 0.8 * sums[n] / mean_sum) + value) * rarity

    return [{column: weight(n, column, value) for column, value in row.items()} for n, row in enumerate(rows)]


def similarity(a: Row, b: Row, given: dict[str, Any]) -> float:
    common = sorted(set(a) & set(b))
    n = len(common)
    if n < given["min_overlap"]:
        return 0.0
    x, y = [a[c] for c in common], [b[c] for c in common]
    xy = sum(p * q for p, q in zip(x, y, strict=True))
    whole_a, whole_b = (sum(v * v for v in row.values()) for row in (a, b))
    alpha, beta, s = given["alpha"], given["beta"], given["shrinkage"]
    added = s if given["shrink"] == "denominator" else 0.0
    match given["similarity"]:
        case "pearson":
            if n < 2:
                return 0.0
            mean_x, mean_y = sum(x) / n, sum(y) / n
            spreads = [sum((v - mean) ** 2 for v in vs) for vs, mean in ((x, mean_x), (y, mean_y))]
            if min(spreads) < 1e-10:
                return 0.0
            covariance = sum((p - mean_x) * (q - mean_y) for p, q in zip(x, y, strict=True))
            top, bottom = n * covariance, n * math.sqrt(spreads[0] * spreads[1])
        case "msd":
            top, bottom = 1.0, 1.0 + sum((p - q) ** 2 for p, q in zip(x, y, strict=True)) / n
        case "dot":
            top, bottom = xy, 1.0
        case "cosine":
            common_only = given["over"] == "common"
            squares = (sum(v * v for v in x) * sum(v * v for v in y)) if common_only else whole_a * whole_b
            top, bottom = xy, math.sqrt(squares)
        case "asymmetric-cosine":
            top, bottom = xy, whole_a**alpha * whole_b ** (1 - alpha)
        case "jaccard":
            top, bottom = n, len(a) + len(b) - n
        case "dice":
            top, bottom = 2 * n, len(a) + len(b) + 2 * added
            bottom -= added
        case "tversky":
            top, bottom = n, n + alpha * (len(a) - n) + beta * (len(b) - n)
        case "conditional":
            top, bottom = n, len(b) * len(a) ** alpha
    if bottom + added <= 1e-12:
        return 0.0
    value = top / (bottom + added)
    match given["shrink"]:
        case "product":
            value *= n / (n + s)
        case "less-one" if s:
            value *= (n - 1) / (n - 1 + s)
        case "significance" if s:
            value *= min(n, s) / s
    return 0.0 if abs(value) < 1e-12 else value


def neighbour_lists(rows: list[Row], given: dict[str, Any]) -> list[list[tuple[int, float]]]:
    near: list[list[tuple[int, float]]] = []
    for a in range(len(rows)):
        similar = {b: similarity(rows[a], rows[b], given) for b in range(len(rows)) if given["itself"] or b != a}
        kept = [(b, s) for b, s in similar.items() if s > 0 or (given["negatives"] and s < 0)]
        near.append(sorted(kept, key=lambda pair: (-round(pair[1], 10), pair[0])))
    if given["neighbourhood"] == "all":
        near = [pairs[: given["k"]] for pairs in near]
    if given["neighbourhood"] == "neighbour":
        allowed = set()
        for b in range(len(rows)):
            targets = [(-round(s, 10), a) for a, pairs in enumerate(near) for other, s in pairs if other == b]
            allowed |= {(a, b) for _, a in sorted(targets)[: given["k"]]}
        near = [[(b, s) for b, s in pairs if (a, b) in allowed] for a, pairs in enumerate(near)]
    if given["shares"]:
        near = [[(b, s / sum(abs(t) for _, t in pairs)) for b, s in pairs] for pairs in near]
    return near


def expected_scores(rows: list[Row], width: int, given: dict[str, Any], by_items: bool) -> list[list[float]]:
    near = neighbour_lists(weigh(rows, given["input"], by_items), given)
    means = [sum(row.values()) / len(row) if row and given["center"] != "none" else 0.0 for row in rows]
    spreads = [1.0] * len(rows)
    if given["center"] == "z-score":
        variances = [
            sum((v - m) ** 2 for v in row.values()) / max(len(row), 1) for row, m in zip(rows, means, strict=True)
        ]
        spreads = [math.sqrt(variance) if variance > 0 else 1.0 for variance in variances]

    def score(target: int, column: int) -> float:
        pairs = [(b, s) for b, s in near[target] if column in rows[b]]
        if given["neighbourhood"] == "rated":
            pairs = pairs[: given["k"]]
        if not pairs or len(pairs) < given["min_neighbours"]:
            return math.nan
        ones = given["contributions"] == "ones"
        total = sum(s * (1.0 if ones else (rows[b][column] - means[b]) / spreads[b]) for b, s in pairs)
        if given["normalise"]:
            weight = sum(abs(s) if given["divisor"] == "absolute" else s for _, s in pairs)
            if abs(weight) < 1e-9:
                return math.inf  # cancels: the quotient is noise
            total /= weight
        return means[target] + spreads[target] * total

    return [[score(target, column) for column in range(width)] for target in range(len(rows))]


@settings(max_examples=250, deadline=None)
@given(
    ratings=st.integers(3, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0, 0, 1, 2, 3.5, 5]), min_size=n, max_size=n), min_size=3, max_size=6
        )
    ),
    kind=st.sampled_from([UserKNN, ItemKNN]),
    given=st.fixed_dictionaries(PARAMETERS),
)
def test_every_definition_is_its_formula(
    table: Table, ratings: list[list[float]], kind: type[NearestNeighbours], given: dict[str, Any]
) -> None:
    complete = np.array(ratings, dtype=float)
    if not complete.any():
        return
    by_items = kind is ItemKNN
    values = complete.T if by_items else complete
    rows = [{int(c): float(v) for c, v in enumerate(row) if v} for row in values]
    expected = np.array(expected_scores(rows, values.shape[1], given, by_items))
    expected = expected.T if by_items else expected
    recommender = kind(**given)
    train = table(ratings)
    recommender.fit(train, seed=1)
    users, items = (np.arange(size, dtype=np.int32) for size in complete.shape)
    actual = recommender.score(queries_of(users), items).values
    comparable = ~np.isinf(expected)
    np.testing.assert_allclose(actual[comparable], expected[comparable], rtol=1e-8, atol=1e-8)
    if given["normalise"] and given["contributions"] == "ratings":
        pairs = np.argwhere(np.ones(complete.shape)).astype(np.int32)
        predicted = recommender.predict(queries_of(pairs[:, 0]), pairs[:, 1]).values  # type: ignore[attr-defined]
        np.testing.assert_array_equal(predicted, actual.ravel())


@pytest.mark.parametrize("neighbourhood", NEIGHBOURHOODS)
def test_long_lists_keep_the_nearest(table: Table, neighbourhood: str) -> None:
    """Up to 150 items in a list, of which 100 take part."""
    rng = np.random.default_rng(4)
    ratings = rng.integers(0, 6, (200, 150)).astype(float)
    given: dict[str, Any] = {"k": 100, "normalise": True, "neighbourhood": neighbourhood}
    recommender = ItemKNN(**given)
    recommender.fit(table(ratings), seed=1)
    actual = recommender.score(queries_of(np.arange(5, dtype=np.int32)), np.arange(150, dtype=np.int32)).values
    rows = [{int(c): float(v) for c, v in enumerate(row) if v} for row in ratings.T]
    parameters = {parameter.name: parameter.default for parameter in declaration.parameters} | given
    near = neighbour_lists(rows, parameters)
    for user in range(5):
        for item in range(150):
            pairs = [(b, s) for b, s in near[item] if user in rows[b]]
            pairs = pairs[:100] if neighbourhood == "rated" else pairs
            expected = sum(s * rows[b][user] for b, s in pairs) / sum(s for _, s in pairs)
            assert actual[user, item] == pytest.approx(expected, rel=1e-12)
