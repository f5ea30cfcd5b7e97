"""P3alpha, RP3beta, SAR and slope one against dense formulas, and cases by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.testing import queries_of
from repro_reference.paths import P3Alpha, RP3Beta, declarations
from repro_reference.sar import SAR, SIMILARITIES
from repro_reference.slope_one import SlopeOne

Table = Callable[[Any], Interactions]
RATINGS = np.array(
    [[5, 3, 0, 0, 1], [4, 0, 2, 0, 1], [0, 3, 4, 0, 0], [1, 0, 0, 5, 0], [0, 0, 5, 4, 2], [0, 0, 0, 0, 0.0]]
)
KNOWN = RATINGS.any(axis=1)


def block(recommender: Any, train: Interactions) -> np.ndarray:
    recommender.fit(train, seed=1)
    users, items = (np.arange(size, dtype=np.int32) for size in (train.n_users, train.n_items))
    values = recommender.score(queries_of(users), items).values
    for user, item in itertools.product(users, items):
        alone = recommender.score(queries_of(users[[user]]), items[[item]]).values[0, 0]
        np.testing.assert_equal(alone, values[user, item])
    return values


OPTIONS = {p.name: p.options for p in declarations[1].parameters if p.options}
PATHS = st.fixed_dictionaries(
    {name: st.sampled_from(options) for name, options in OPTIONS.items()}
    | {
        "alpha": st.sampled_from([1.0, 0.6, 2.0]),
        "beta": st.sampled_from([0.0, 0.4, 1.5]),
        "k": st.sampled_from([0, 1, 2, 3]),
    }
)


def keep_largest(weights: np.ndarray, k: int) -> None:
    for row in weights:
        row[np.argsort(-row, kind="stable")[k:]] = 0.0


@settings(max_examples=150, deadline=None)
@given(given=PATHS)
def test_paths(table: Table, given: dict[str, Any]) -> None:
    entries = RATINGS if given["values"] == "ratings" else (RATINGS > 0).astype(float)
    alpha, beta, k = given["alpha"], given["beta"], given["k"]
    rows = entries[KNOWN]
    holders = (rows > 0).astype(float).T
    forward = (rows / rows.sum(axis=1, keepdims=True)) ** alpha
    backward = (holders / holders.sum(axis=1, keepdims=True)) ** alpha
    weights = backward @ forward / holders.sum(axis=1) ** beta
    if not given["diagonal"]:
        np.fill_diagonal(weights, 0.0)
    if k and given["pruned"] != "columns":
        keep_largest(weights, k)
    if given["normalise"]:
        weights /= weights.sum(axis=1, keepdims=True)
    if k and given["pruned"] != "rows":
        keep_largest(weights.T, k)
    first = np.zeros_like(entries)
    first[KNOWN] = forward
    expected = np.where(KNOWN[:, None], (first if given["first"] == "probabilities" else entries) @ weights, np.nan)
    actual = block(RP3Beta(**given), table(RATINGS))
    np.testing.assert_allclose(actual, expected, rtol=1e-12)
    if beta == 0.0:
        shared = {name: value for name, value in given.items() if name != "beta"}
        np.testing.assert_array_equal(block(P3Alpha(**shared), table(RATINGS)), actual)


def test_a_path_by_hand(table: Table) -> None:
    """Items A and B, users 1 (both), 2 (A) and 3 (B, C). From A: user 1 or 2, each 1/2; from user 1: A or B, 1/2. So
    w(A, B) = 1/4, over 2^1 users of B; w(A, C) = 0. From B: user 1 or 3; C by user 3 with 1/2 * 1/2, over 1 user."""
    scores = block(RP3Beta(alpha=1.0, beta=1.0), table([[1, 1, 0], [1, 0, 0], [0, 1, 1]]))
    np.testing.assert_allclose(scores[1], [0.0, 1 / 8, 0.0])
    np.testing.assert_allclose(scores[0], [1 / 8, 1 / 8, 1 / 4])


@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("values", ["ratings", "binary"])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_sar(table: Table, similarity: str, values: str, least: int) -> None:
    ones = (RATINGS > 0).astype(float)
    both = ones.T @ ones
    counts = np.diag(both)
    first, second = counts[:, None], counts[None, :]
    similar = {
        "cooccurrence": both,
        "cosine": both / np.sqrt(first * second),
        "inclusion": both / np.minimum(first, second),
        "jaccard": both / (first + second - both),
        "lift": both / (first * second),
        "mutual-information": np.log2(np.maximum(5 * both / (first * second), 1e-9)),  # five items
        "lexicographers": both * np.log2(np.maximum(5 * both / (first * second), 1e-9)),
    }[similarity]
    affinities = RATINGS if values == "ratings" else ones
    expected = np.where(KNOWN[:, None], affinities @ np.where(both >= least, similar, 0.0), np.nan)
    actual = block(SAR(similarity=similarity, min_cooccurrence=least, values=values), table(RATINGS))
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


def test_old_ratings_lose_half_of_their_weight_in_the_half_life() -> None:
    """User 1 rated item 1 ten days before the last row and item 2 five days before it; with a half-life of five days
    their weights are 1/4 and 1/2."""
    day = 86_400
    rows = {"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "rating": [4.0, 2.0, 1.0, 1.0]}
    frame = pd.DataFrame(rows | {"timestamp": [0, 5 * day, 10 * day, 10 * day]})
    scores = block(SAR(similarity="cooccurrence", half_life=5.0), Interactions.from_frame(frame))
    # Co-occurrences: 1 with itself 2, with 2 and 3 one each; 2 and 3 with themselves 1.
    np.testing.assert_allclose(scores[0], [2 * 1.0 + 1.0, 1.0 + 1.0, 1.0])
    with pytest.raises(PluginError, match="half_life = 5 needs timestamps"):
        SAR(half_life=5.0).fit(Interactions.from_frame(frame.drop(columns="timestamp")), seed=1)


@pytest.mark.parametrize("variant", ["weighted", "plain", "around-mean", "bi-polar"])
def test_slope_one(table: Table, variant: str) -> None:
    means = np.array([row[row > 0].mean() if row.any() else 0.0 for row in RATINGS])
    opinions = np.sign(RATINGS - means[:, None])  # of rated items: 1 liked, -1 disliked, 0 neither

    def predicted(user: int, item: int) -> float:
        terms = []
        for other in range(RATINGS.shape[1]):
            common = (RATINGS[:, item] > 0) & (RATINGS[:, other] > 0)
            if variant == "bi-polar":
                opinion = opinions[user, other]
                common &= (opinions[:, item] == opinion) & (opinions[:, other] == opinion) & (opinion != 0)
            if other != item and RATINGS[user, other] > 0 and common.any():
                difference = np.mean(RATINGS[common, item] - RATINGS[common, other])
                terms.append((common.sum(), difference, RATINGS[user, other]))
        if not terms:
            return np.nan
        counts, differences, ratings = np.array(terms).T
        if variant in ("weighted", "bi-polar"):
            return float(counts @ (differences + ratings) / counts.sum())
        if variant == "plain":
            return float(np.mean(differences + ratings))
        return float(RATINGS[user][RATINGS[user] > 0].mean() + np.mean(differences))

    expected = [[predicted(user, item) for item in range(5)] for user in range(6)]
    recommender = SlopeOne(variant=variant)
    np.testing.assert_allclose(block(recommender, table(RATINGS)), expected, rtol=1e-12)
    pairs = np.arange(5, dtype=np.int32)
    np.testing.assert_allclose(recommender.predict(queries_of(pairs), pairs).values, np.diag(np.array(expected)[:5]))


def test_slope_one_of_its_authors(table: Table) -> None:
    """Their example: user A rated I with 1 and J with 1.5; user B rated I with 2: J is 2 + 0.5."""
    scores = block(SlopeOne(), table([[1, 1.5], [2, 0]]))
    assert scores[1, 1] == 2.5
