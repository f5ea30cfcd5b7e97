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
from repro.plugin import Algorithm
from repro.testing import queries_of
from repro_reference.knn import ItemKNN, NearestNeighbours, UserKNN, declarations

Table = Callable[[Any], Interactions]
Row = dict[int, float]

ALGORITHMS = {algorithm.name: algorithm for algorithm in declarations}
DEFAULTS = {parameter.name: parameter.default for parameter in ALGORITHMS["item-knn"].parameters}
NUMBERS: dict[str, list[Any]] = {
    "k": [1, 2, 3, 4],
    "shrinkage": [0.0, 3.0],
    "min_overlap": [1, 2],
    "min_neighbours": [1, 2],
    "min_similarity": [0.0, 0.3],
    "pool": [0, 2, 3],
    "user_damping": [0.0, 1.5],
    "item_damping": [0.0, 2.5],
    "epochs": [1, 2],
    "alpha": [0.0, 0.3, 1.0],
    "beta": [0.2, 1.0],
    "k1": [1.2, 100.0],
    "b": [0.0, 0.75],
    "amplify": [1.0, 2.5],
}


def values_of(name: str) -> list[Any]:
    """The values that a parameter is tested with: all of its choices, or some numbers."""
    (parameter,) = [p for p in ALGORITHMS["item-knn"].parameters if p.name == name]
    return NUMBERS.get(name) or [value for value in parameter.options if value != "auto"]


# Half of the settings differ from the defaults in few parameters only, so that each of these has an effect.
SETTINGS = st.one_of(
    st.fixed_dictionaries({name: st.sampled_from(values_of(name)) for name in DEFAULTS}),
    st.fixed_dictionaries({}, optional={name: st.sampled_from(values_of(name)) for name in DEFAULTS}),
).map(lambda given: DEFAULTS | {"normalise": False} | given)
RATINGS = st.integers(3, 6).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from([0, 0, 1, 2, 3.5, 5]), min_size=n, max_size=n), min_size=3, max_size=6)
)


class Noise(Exception):
    """A weight is 0 but for its rounding, and so may be the similarities."""


def mean(values: Any) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def biases(rows: list[Row], given: dict[str, Any], by_items: bool) -> Callable[[int, int], float]:
    """The baseline of row n and a column: items first, then users, and so on."""
    cells = {(n, column): value for n, row in enumerate(rows) for column, value in row.items()}
    overall = mean(cells.values())
    of: dict[str, dict[int, float]] = {"row": {}, "column": {}}
    item_side, user_side = ("row", "column") if by_items else ("column", "row")
    for _ in range(given["epochs"]):
        for side, damping in ((item_side, given["item_damping"]), (user_side, given["user_damping"])):
            place = 0 if side == "row" else 1
            other = "column" if side == "row" else "row"
            rests: dict[int, list[float]] = {}
            for cell, value in cells.items():
                rests.setdefault(cell[place], []).append(value - overall - of[other].get(cell[1 - place], 0.0))
            of[side] = {code: sum(rest) / (len(rest) + damping) for code, rest in rests.items()}
    return lambda n, column: overall + of["row"].get(n, 0.0) + of["column"].get(column, 0.0)


def weigh(rows: list[Row], given: dict[str, Any], by_items: bool) -> list[Row]:
    """The rows that are compared, weighted."""
    columns: dict[int, Row] = {}
    for n, row in enumerate(rows):
        for column, value in row.items():
            columns.setdefault(column, {})[n] = value
    binary = given["values"] == "binary"
    side = {"user-centred": "columns" if by_items else "rows", "item-centred": "rows" if by_items else "columns"}
    baseline = biases(rows, given, by_items)

    def base(value: float) -> float:
        return 1.0 if binary else value

    documents, terms = (rows, columns) if given["documents"] == "compared" else (columns, rows)
    every = dict(enumerate(documents)) if isinstance(documents, list) else documents
    total = sum(len(document) > 0 for document in every.values())
    lengths = {
        code: sum(base(v) for v in document.values()) if given["length"] == "sum" else len(document)
        for code, document in every.items()
        if document
    }

    def rarity(n: int, column: int) -> float:
        count = len(terms[column] if given["documents"] == "compared" else terms[n])
        return {
            "one-more": lambda: math.log(total) - math.log(1 + count),
            "plain": lambda: math.log(total / count),
            "one-and-quotient": lambda: math.log(1 + total / count),
            "root": lambda: math.sqrt(math.log(total / count)),
            "smooth": lambda: math.log((1 + total) / (1 + count)) + 1,
            "odds": lambda: math.log(1 + (total - count + 0.5) / (count + 0.5)),
            "none": lambda: 1.0,
        }[given["idf"]]()

    def saturation(n: int, column: int) -> float:
        length = lengths[n if given["documents"] == "compared" else column]
        return float(given["k1"] * (1 - given["b"] + given["b"] * length / mean(lengths.values())))

    def centred(kind: str, table: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
        place = 0 if side[kind] == "rows" else 1
        means = {code: mean(v for c, v in table.items() if c[place] == code) for code in {c[place] for c in table}}
        return {c: v - means[c[place]] for c, v in table.items()}

    cells = {(n, column): value for n, row in enumerate(rows) for column, value in row.items()}
    kind = given["input"]
    if kind in side:
        weights = centred(kind, cells)
    elif kind == "double-centred":
        weights = centred("item-centred", centred("user-centred", cells))
    else:
        weights = {
            (n, column): {
                "ratings": lambda n=n, column=column, v=v: v,
                "ones": lambda: 1.0,
                "residuals": lambda n=n, column=column, v=v: v - baseline(n, column),
                "log": lambda v=v: math.log(1 + base(v)),
                "tf-idf": lambda n=n, column=column, v=v: (
                    rarity(n, column)
                    * {"root": math.sqrt(base(v)), "raw": base(v), "log": 1 + math.log(base(v))}[given["tf"]]
                ),
                "bm25": lambda n=n, column=column, v=v: (
                    base(v) * (given["k1"] + 1) / (saturation(n, column) + base(v)) * rarity(n, column)
                ),
                "bm25-root": lambda n=n, column=column, v=v: (
                    v * math.sqrt(max((given["k1"] + 1) / (saturation(n, column) + 1) * rarity(n, column), 0.0))
                ),
                "column-shares": lambda column=column, v=v: base(v) / sum(base(w) for w in columns[column].values()),
                "column-unit": lambda column=column, v=v: (
                    base(v) / math.sqrt(sum(base(w) ** 2 for w in columns[column].values()))
                ),
            }[kind]()
            for (n, column), v in cells.items()
        }
    rounded = kind in ("residuals", "double-centred")
    if rounded and any(abs(weight) < 1e-9 for weight in weights.values()):
        raise Noise
    result: list[Row] = [{} for _ in rows]
    for (n, column), weight in weights.items():
        if not given["positive"] or weight > 0:
            result[n][column] = weight
    return result


def similarity(a: Row, b: Row, columns: set[int], given: dict[str, Any]) -> float:
    common = sorted(set(a) & set(b))
    n = len(common)
    if not n or n < given["min_overlap"]:
        return 0.0
    x, y = [a[c] for c in common], [b[c] for c in common]
    xy = sum(p * q for p, q in zip(x, y, strict=True))
    whole_a, whole_b = (sum(v * v for v in row.values()) for row in (a, b))
    alpha, beta, s = given["alpha"], given["beta"], given["shrinkage"]
    added = (s if given["shrink"] == "denominator" else 0.0) + given["similarity_epsilon"]
    match given["similarity"]:
        case "pearson" | "pearson-zeros":
            if given["similarity"] == "pearson-zeros":
                x, y = [a.get(c, 0.0) for c in columns], [b.get(c, 0.0) for c in columns]
            size = len(x)
            if size < 2:
                return 0.0
            mean_x, mean_y = mean(x), mean(y)
            spreads = [sum((v - middle) ** 2 for v in vs) for vs, middle in ((x, mean_x), (y, mean_y))]
            if min(spreads) < 1e-10:
                return 0.0
            covariance = sum((p - mean_x) * (q - mean_y) for p, q in zip(x, y, strict=True))
            top, bottom = size * covariance, size * math.sqrt(spreads[0] * spreads[1])
        case "msd":
            top, bottom = 1.0, 1.0 + sum((p - q) ** 2 for p, q in zip(x, y, strict=True)) / n
        case "dot":
            top, bottom = xy, 1.0
        case "projection":
            top, bottom = xy, math.sqrt(whole_b)
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
        case "conditional-values":
            top, bottom = sum(x), len(b) * len(a) ** alpha
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
    return 0.0 if abs(value) < 1e-12 else math.copysign(abs(value) ** given["amplify"], value)


def neighbour_lists(rows: list[Row], given: dict[str, Any]) -> list[list[tuple[int, float]]]:
    """The neighbours of each row, nearest first."""

    def nearness(pair: tuple[int, float]) -> tuple[float, int]:
        code, s = pair
        near = abs(s) if given["nearest"] == "absolute" else s
        return -round(near, 10), -code if given["ties"] == "higher" else code

    columns = {column for row in rows for column in row}
    near: list[list[tuple[int, float]]] = []
    for a in range(len(rows)):
        similar = {b: similarity(rows[a], rows[b], columns, given) for b in range(len(rows))}
        similar[a] = {"no": 0.0, "one": 1.0 if rows[a] else 0.0}.get(given["itself"], similar[a])
        kept = [(b, s) for b, s in similar.items() if s > 0 or (given["negatives"] and s < 0)]
        near.append(sorted(((b, s) for b, s in kept if abs(s) >= given["min_similarity"]), key=nearness))
    if given["neighbourhood"] == "all":
        near = [pairs[: given["k"]] for pairs in near]
    elif given["neighbourhood"] == "neighbour" or (given["pool"] and given["pool_of"] == "neighbour"):
        most = given["k"] if given["neighbourhood"] == "neighbour" else given["pool"]
        allowed = set()
        for b in range(len(rows)):
            targets = [(a, s) for a, pairs in enumerate(near) for other, s in pairs if other == b]
            allowed |= {(a, b) for a, _ in sorted(targets, key=nearness)[:most]}
        near = [[(b, s) for b, s in pairs if (a, b) in allowed] for a, pairs in enumerate(near)]
    elif given["pool"]:
        near = [pairs[: given["pool"]] for pairs in near]
    if given["shares"] == "target":
        near = [[(b, s / sum(abs(t) for _, t in pairs)) for b, s in pairs] for pairs in near]
    elif given["shares"] == "neighbour":
        sums = [sum(abs(s) for pairs in near for other, s in pairs if other == b) for b in range(len(rows))]
        near = [[(b, s / sums[b]) for b, s in pairs] for pairs in near]
    return near


def expected_scores(rows: list[Row], width: int, given: dict[str, Any], by_items: bool) -> list[list[float]]:
    near = neighbour_lists(weigh(rows, given, by_items), given)
    ratings = [value for row in rows for value in row.values()]
    columns = [[row[c] for row in rows if c in row] for c in range(width)]
    baseline = biases(rows, given, by_items)

    def center(n: int, column: int) -> float:
        return {
            "none": lambda: 0.0,
            "mean": lambda: mean(rows[n].values()),
            "z-score": lambda: mean(rows[n].values()),
            "other-mean": lambda: mean(columns[column]),
            "overall-mean": lambda: mean(ratings),
            "baseline": lambda: baseline(n, column),
        }[given["center"]]()

    def deviation(n: int) -> float:
        if given["center"] != "z-score":
            return 1.0
        own = float(np.std(list(rows[n].values()))) if rows[n] else 0.0
        instead = float(np.std(ratings)) if given["deviation"] == "overall" else 1.0
        return own or instead or 1.0

    def score(target: int, column: int) -> float:
        pairs = [(b, s) for b, s in near[target] if column in rows[b]]
        if given["neighbourhood"] == "rated":
            pairs = pairs[: given["k"]]
        if not pairs or len(pairs) < given["min_neighbours"]:
            if given["fallback"] == "center-for-all":
                return center(target, column)
            if not rows[target] or not columns[column]:
                return math.nan
            return {"zero": 0.0, "center": center(target, column), "overall-mean": mean(ratings)}.get(
                given["fallback"], math.nan
            )
        ones = given["contributions"] == "ones"
        total = sum(s * (1.0 if ones else (rows[b][column] - center(b, column)) / deviation(b)) for b, s in pairs)
        if given["normalise"]:
            weight = {
                "sum": sum(s for _, s in pairs),
                "absolute": sum(abs(s) for _, s in pairs),
                "count": len(pairs),
            }[given["divisor"]] + given["divisor_epsilon"]
            if abs(weight) < 1e-6:
                return math.inf  # cancels: the quotient is noise
            total /= weight
        return center(target, column) + deviation(target) * total

    return [[score(target, column) for column in range(width)] for target in range(len(rows))]


def three_alike(rows: list[Row], given: dict[str, Any], by_items: bool) -> bool:
    """Whether a target or a neighbour has three similarities that are almost equal."""
    every = given | {"neighbourhood": "rated", "pool": 0, "shares": "no"}
    near = neighbour_lists(weigh(rows, given, by_items), every)
    of_neighbours = [[s for pairs in near for other, s in pairs if other == b] for b in range(len(rows))]
    for similarities in (*([s for _, s in pairs] for pairs in near), *of_neighbours):
        ordered = sorted(map(abs, similarities))
        if any(third - first < 1e-9 for first, third in zip(ordered, ordered[2:], strict=False)):
            return True
    return False


def table_of(ratings: list[list[float]], by_items: bool) -> tuple[list[Row], int]:
    """The rows that are compared, and the number of columns."""
    values = np.array(ratings, dtype=float)
    values = values.T if by_items else values
    return [{int(c): float(v) for c, v in enumerate(row) if v} for row in values], values.shape[1]


def fitted_scores(recommender: NearestNeighbours, train: Interactions) -> np.ndarray:
    recommender.fit(train, seed=1)
    users, items = (np.arange(size, dtype=np.int32) for size in (train.n_users, train.n_items))
    return recommender.score(queries_of(users), items).values


@settings(max_examples=400, deadline=None)
@given(ratings=RATINGS, kind=st.sampled_from([UserKNN, ItemKNN]), given=SETTINGS)
def test_every_definition_is_its_formula(
    table: Table, ratings: list[list[float]], kind: type[NearestNeighbours], given: dict[str, Any]
) -> None:
    by_items = kind is ItemKNN
    try:
        lower, higher = (
            np.array(expected_scores(*table_of(ratings, by_items), given | {"ties": ties}, by_items))
            for ties in ("lower", "higher")
        )
    except Noise:
        return
    if not np.any(ratings):
        return
    # Equal similarities of another formula may be rounded differently; then a score may be that of either neighbour.
    similar = np.isclose(lower, higher, rtol=1e-12, atol=1e-12, equal_nan=True)
    exact = given["similarity"] in ("jaccard", "dice", "dot") and given["input"] in ("ratings", "ones")
    expected = higher if given["ties"] == "higher" else lower
    comparable = ~np.isinf(expected) & (similar | (exact and not given["shrinkage"]))
    expected, comparable = (expected.T, comparable.T) if by_items else (expected, comparable)
    recommender = kind(**given)
    actual = fitted_scores(recommender, table(ratings))
    if not exact and three_alike(table_of(ratings, by_items)[0], given, by_items):
        return
    np.testing.assert_allclose(actual[comparable], expected[comparable], rtol=1e-7, atol=1e-7)
    if given["normalise"] and given["contributions"] == "ratings":
        pairs = np.argwhere(np.ones(expected.shape)).astype(np.int32)
        predicted = recommender.predict(queries_of(pairs[:, 0]), pairs[:, 1]).values  # type: ignore[attr-defined]
        np.testing.assert_array_equal(predicted, actual.ravel())


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=lambda algorithm: algorithm.name)
@pytest.mark.parametrize("parameter", sorted(DEFAULTS))
def test_each_two_values_of_a_parameter_differ_somewhere(table: Table, algorithm: Algorithm, parameter: str) -> None:
    """There is a setting of the other parameters, under the conditions of its declaration, that tells them apart."""
    rng = np.random.default_rng(8)
    ratings = rng.integers(1, 6, (9, 8)) * (rng.random((9, 8)) < 0.5).astype(float)
    ratings[2, ratings[2] > 0] = 3.0  # a user and an item whose ratings do not differ
    ratings[ratings[:, 3] > 0, 3] = 4.0
    ratings[7] = 0.0  # and a user without ratings
    train = table(ratings)
    (declared,) = [p for p in algorithm.parameters if p.name == parameter]
    values = [value for value in values_of(parameter) if value != "any"]  # which is computed as "lower"
    undecided = {(a, b) for a in range(len(values)) for b in range(a)}
    assert algorithm.definitions is not None
    for _ in range(600):
        others = {name: rng.choice(np.array(values_of(name), dtype=object)) for name in DEFAULTS}
        others |= {"min_neighbours": 1, "min_overlap": 1} if rng.random() < 0.7 else {}
        if not all(when.holds(others[when.decision]) for when in declared.when):
            continue
        scores = list(algorithm.definitions([others | {parameter: value} for value in values], train))
        undecided = {
            (a, b) for a, b in undecided if np.allclose(scores[a], scores[b], rtol=1e-9, atol=1e-9, equal_nan=True)
        }
        if not undecided:
            return
    raise AssertionError(f"{[(values[a], values[b]) for a, b in undecided]} never differ")


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=lambda algorithm: algorithm.name)
def test_many_definitions_at_once_have_the_bits_of_each(table: Table, algorithm: Algorithm) -> None:
    rng = np.random.default_rng(5)
    drawn = [{name: rng.choice(np.array(values_of(name), dtype=object)) for name in DEFAULTS} for _ in range(150)]
    changed = [
        {name: given[name] for name in rng.choice(sorted(given), 4, replace=False)} | {"k": int(given["k"])}
        for given in drawn
    ]
    assert algorithm.definitions is not None
    for seed in range(2):
        ratings = rng.integers(1, 6, (8, 7 + seed)) * (rng.random((8, 7 + seed)) < 0.5).astype(float)
        train = table(ratings)
        several = [*drawn, *changed, {}]
        for parameters, scores in zip(several, algorithm.definitions(several, train), strict=True):
            alone = fitted_scores(algorithm.make(**parameters), train)
            np.testing.assert_array_equal(scores.view(np.uint64), alone.view(np.uint64), err_msg=str(parameters))


@pytest.mark.parametrize("neighbourhood", ["rated", "all", "neighbour"])
def test_long_lists_keep_the_nearest(table: Table, neighbourhood: str) -> None:
    """Up to 150 items in a list, of which 100 take part."""
    rng = np.random.default_rng(4)
    ratings = rng.integers(0, 6, (200, 150)).astype(float)
    given: dict[str, Any] = DEFAULTS | {"k": 100, "normalise": True, "neighbourhood": neighbourhood}
    actual = fitted_scores(ItemKNN(**given), table(ratings))
    rows, _ = table_of(ratings.tolist(), True)
    near = neighbour_lists(rows, given)
    for user in range(5):
        for item in range(150):
            pairs = [(b, s) for b, s in near[item] if user in rows[b]]
            pairs = pairs[:100] if neighbourhood == "rated" else pairs
            expected = sum(s * rows[b][user] for b, s in pairs) / sum(s for _, s in pairs)
            assert actual[user, item] == pytest.approx(expected, rel=1e-12)
