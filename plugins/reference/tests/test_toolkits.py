"""Definitions that toolkits compute, as the choices of parameters say: the same scores from the toolkit itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import SCORED
from repro.testing import fitted, small_ratings
from repro.testing.checks import score_all

Table = Callable[[Any], Interactions]
Given = dict[str, Any]
K = {"k": 7}
MEANS = {"k": 4, "normalise": True, "center": "mean", "min_similarity": 1e-6}
COUNTS = {
    "k": 4,
    "normalise": False,
    "input": "ones",
    "contributions": "ones",
    "min_similarity": 1e-6,
}
BY_NEIGHBOUR = {"normalise": False, "neighbourhood": "neighbour", "itself": "computed"}
ALS = {"user_damping": 15.0, "item_damping": 10.0, "epochs": 10}
SURPRISE = {"normalise": True, "itself": "one", "deviation": "overall", **K}
SIMILARITIES: dict[str, Given] = {
    "cosine": {"over": "common"},
    "msd": {"similarity": "msd"},
    "pearson": {"similarity": "pearson"},
    "pearson_baseline": {
        "input": "residuals",
        "over": "common",
        "shrink": "less-one",
        "shrinkage": 100.0,
        "min_overlap": 2,
        **ALS,
    },
}
CENTERS: dict[str, Given] = {
    "none": {},
    "mean": {"fallback": "center"},
    "z-score": {"fallback": "center"},
    "baseline": {"fallback": "center-for-all", **ALS},
}


def compare(ours: tuple[str, Given], theirs: tuple[str, Given], train: Interactions, tolerance: float) -> None:
    """The same scores for the same pairs."""
    expected, actual = (
        score_all(fitted(name, given, train), train) for name, given in (theirs, (f"reference/{ours[0]}", ours[1]))
    )
    values, others = (np.where(scores.states == SCORED, scores.values, np.nan) for scores in (actual, expected))
    np.testing.assert_allclose(values, others, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["item-knn", "user-knn"])
@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_surprise(similarity: str, center: str, name: str) -> None:
    ours = SURPRISE | SIMILARITIES[similarity] | {"center": center} | CENTERS[center]
    compare(
        (name, ours), (f"surprise/{name}", {"similarity": similarity, "center": center, **K}), small_ratings(), 1e-12
    )


@pytest.mark.parametrize("epochs", [1, 10])
def test_biases_of_surprise(epochs: int) -> None:
    ours = ALS | {"epochs": epochs, "unknown": "overall"}
    compare(("bias", ours), ("surprise/bias", {"bsl_n_epochs": epochs}), small_ratings(), 1e-12)


def test_biases_of_surprise_by_gradient_descent() -> None:
    ours = {"order": "row-by-row", "user_damping": 0.02, "item_damping": 0.02, "epochs": 20, "unknown": "overall"}
    compare(("bias", ours), ("surprise/BaselineOnly", {"bsl_method": "sgd"}), small_ratings(), 1e-12)


LENSKIT: list[tuple[str, Given, Given]] = [
    ("item-knn", MEANS | {"input": "item-centred"}, K | {"k": 4}),
    ("item-knn", MEANS | {"input": "item-centred", "pool": 5, "pool_of": "neighbour"}, {"k": 4, "save_nbrs": 5}),
    ("item-knn", COUNTS, {"k": 4, "feedback": "implicit"}),
    ("user-knn", MEANS | {"input": "user-centred"}, {"k": 4}),
    ("user-knn", COUNTS | {"similarity": "projection"}, {"k": 4, "feedback": "implicit"}),
    ("bias", {"user_damping": 3.0, "item_damping": 2.0}, {"user_damping": 3.0, "item_damping": 2.0}),
    ("bias", {"biases": "items", "item_damping": 2.0}, {"item_damping": 2.0, "entities": "item"}),
    ("ease", {"regularisation": 3.0}, {"regularisation": 3.0}),
    ("popularity", {}, {"score": "count"}),
    ("popularity", {"scale": "rank"}, {"score": "rank"}),
]


@pytest.mark.parametrize(("name", "ours", "theirs"), LENSKIT)
def test_lenskit_in_single_precision(name: str, ours: Given, theirs: Given) -> None:
    compare((name, ours), (f"lenskit/{name}", theirs), small_ratings(), 2e-6)


def test_biased_singular_values_of_lenskit() -> None:
    ours = {"factors": 3, "missing": "baseline", "subtracted": "yes", "user_damping": 5.0, "item_damping": 5.0}
    theirs = {"embedding_size": 3, "damping": 5.0, "algorithm": "arpack"}
    compare(("puresvd", ours), ("lenskit/BiasedSVDScorer", theirs), small_ratings(), 2e-6)


@pytest.mark.parametrize("k", [4, 100])
@pytest.mark.parametrize(
    ("similarity", "ours"),
    [
        ("cosine", {}),
        ("dot", {"similarity": "dot"}),
        ("tfidf", {"input": "tf-idf"}),
        ("bm25", {"similarity": "dot", "input": "bm25", "k1": 1.2, "b": 0.75}),
    ],
)
def test_implicit(table: Table, similarity: str, ours: Given, k: int) -> None:
    """With ratings for which no two similarities are equal: implicit chooses between equal ones by its heap."""
    rng = np.random.default_rng(3)
    train = table(rng.uniform(1, 5, (40, 30)) * (rng.random((40, 30)) < 0.3))
    compare(
        ("item-knn", BY_NEIGHBOUR | {"k": k} | ours),
        ("implicit/item-knn", {"k": k, "similarity": similarity}),
        train,
        1e-12,
    )


def test_implicit_with_ones() -> None:
    ours = BY_NEIGHBOUR | {"k": 100, "input": "bm25", "values": "binary", "contributions": "ones", "similarity": "dot"}
    theirs = {"k": 100, "similarity": "bm25", "values": "binary"}
    compare(("item-knn", ours | {"k1": 1.2, "b": 0.75}), ("implicit/item-knn", theirs), small_ratings(), 1e-12)
