"""Scores against implicit's own ``recommend``, on MovieLens 100K."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from implicit.cpu.lmf import LogisticMatrixFactorization
from implicit.nearest_neighbours import BM25Recommender, CosineRecommender, ItemItemRecommender, TFIDFRecommender
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from repro.data.interactions import Interactions
from repro.plugin import SCORED, UNSCORED, Scores, plugins
from repro.testing import fitted
from repro.testing.checks import codes, score_all

SEED = 11
ALS = {"factors": 24, "iterations": 4, "num_threads": 1, "random_state": SEED}
# Name, parameters, implicit's own model, and the value that implicit gets for a rating.
CASES: list[tuple[str, dict[str, Any], Callable[[], Any], Callable[[Any], Any]]] = [
    (
        "implicit-als",
        {"factors": 24, "epochs": 4, "alpha": 3.0, "regularisation": 0.5},
        lambda: AlternatingLeastSquares(**ALS, regularization=0.5),
        lambda r: 1 + 3 * r,
    ),
    (
        "implicit-als",
        {"factors": 24, "epochs": 4, "alpha": 40.0, "values": "binary", "use_cg": False, "num_threads": 2},
        lambda: AlternatingLeastSquares(**ALS, alpha=41.0, use_cg=False),
        lambda r: r / r,
    ),
    (
        "AlternatingLeastSquares",
        {"factors": 24, "iterations": 4, "alpha": 5.0},
        lambda: AlternatingLeastSquares(**ALS, alpha=5.0),
        lambda r: r,
    ),
    (
        "AlternatingLeastSquares",
        {"factors": 24, "iterations": 4, "dtype": "float64"},
        lambda: AlternatingLeastSquares(**ALS, dtype=np.float64),
        lambda r: r,
    ),
    (
        "bpr",
        {"factors": 16, "epochs": 5, "learning_rate": 0.05, "regularisation": 0.002},
        lambda: BayesianPersonalizedRanking(
            factors=16, iterations=5, learning_rate=0.05, regularization=0.002, num_threads=1, random_state=SEED
        ),
        lambda r: r / r,
    ),
    (
        "BayesianPersonalizedRanking",
        {"factors": 16, "iterations": 5, "verify_negative_samples": False},
        lambda: BayesianPersonalizedRanking(
            factors=16, iterations=5, verify_negative_samples=False, num_threads=1, random_state=SEED
        ),
        lambda r: r,
    ),
    (
        "logistic-mf",
        {"factors": 12, "epochs": 4, "learning_rate": 0.5, "regularisation": 0.3},
        lambda: LogisticMatrixFactorization(
            factors=12, iterations=4, learning_rate=0.5, regularization=0.3, num_threads=1, random_state=SEED
        ),
        lambda r: r,
    ),
    (
        "LogisticMatrixFactorization",
        {"factors": 12, "iterations": 4, "neg_prop": 10, "values": "binary"},
        lambda: LogisticMatrixFactorization(factors=12, iterations=4, neg_prop=10, num_threads=1, random_state=SEED),
        lambda r: r / r,
    ),
    ("item-knn", {}, lambda: CosineRecommender(K=20), lambda r: r),
    ("item-knn", {"k": 50, "values": "binary"}, lambda: CosineRecommender(K=50), lambda r: r / r),
    ("item-knn", {"similarity": "tfidf"}, lambda: TFIDFRecommender(K=20), lambda r: r),
    ("item-knn", {"similarity": "bm25", "B": 0.2, "K1": 3.0}, lambda: BM25Recommender(20, 3.0, 0.2), lambda r: r),
    ("item-knn", {"similarity": "dot", "k": 7}, lambda: ItemItemRecommender(K=7), lambda r: r),
    ("CosineRecommender", {"K": 30}, lambda: CosineRecommender(K=30), lambda r: r),
    ("TFIDFRecommender", {"K": 30}, lambda: TFIDFRecommender(K=30), lambda r: r),
    ("BM25Recommender", {"K": 30}, lambda: BM25Recommender(K=30), lambda r: r),
    ("ItemItemRecommender", {"K": 30}, lambda: ItemItemRecommender(K=30), lambda r: r),
]


def scores(name: str, parameters: dict[str, Any], train: Interactions) -> Scores:
    return score_all(fitted(f"implicit/{name}", parameters, train, SEED), train)


def library_scores(model: Any, train: Interactions, weigh: Callable[[Any], Any]) -> np.ndarray:
    """The scores of ``recommend`` for all users and items with training rows; NaN for the others."""
    frame = train.to_frame()
    user_ids, rows = np.unique(frame["user"], return_inverse=True)
    item_ids, columns = np.unique(frame["item"], return_inverse=True)
    values = weigh(frame["rating"].to_numpy(dtype=np.float64))
    matrix = csr_matrix((values, (rows, columns)), shape=(len(user_ids), len(item_ids)))
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore")
        model.fit(matrix, show_progress=False)
    columns, values = model.recommend(codes(len(user_ids)), matrix, N=len(item_ids), filter_already_liked_items=False)
    expected = np.full((train.n_users, train.n_items), np.nan)
    item_codes = train.item_codes(item_ids)
    for user, user_columns, user_values in zip(train.user_codes(user_ids), columns, values, strict=True):
        listed = user_columns >= 0
        expected[user, item_codes[user_columns[listed]]] = user_values[listed]
    return expected


def test_every_algorithm_is_compared_with_implicit() -> None:
    assert {case[0] for case in CASES} == {algorithm.name for algorithm in plugins().framework("implicit").algorithms}


@pytest.mark.parametrize(
    ("name", "parameters", "model", "weigh"), CASES, ids=[f"{case[0]} {case[1]}" for case in CASES]
)
def test_scores_are_those_of_implicit(
    name: str, parameters: dict[str, Any], model: Any, weigh: Any, movielens: Interactions
) -> None:
    actual = scores(name, parameters, movielens)
    expected = library_scores(model(), movielens, weigh)
    assert actual.state is not None
    assert ((actual.state == UNSCORED) == np.isnan(expected)).all()
    assert ((actual.state == SCORED) == np.isfinite(actual.values)).all()
    if "Recommender" in name or name == "item-knn":
        np.testing.assert_allclose(actual.values, expected, rtol=1e-12)
    else:
        # implicit adds in single precision: the error is relative to the terms, not to a sum near 0.
        np.testing.assert_allclose(actual.values, expected, rtol=1e-5, atol=1e-5 * np.nanstd(expected))


def test_users_and_items_without_rows_are_unscored(movielens: Interactions) -> None:
    unknown_users, unknown_items = movielens.user_counts() == 0, movielens.item_counts() == 0
    assert unknown_users.sum() == 19
    assert unknown_items.sum() >= 42
    state = scores("implicit-als", {"factors": 4, "epochs": 1}, movielens).state
    assert state is not None
    assert ((state == UNSCORED) == (unknown_users[:, None] | unknown_items)).all()


def test_an_item_is_its_own_neighbour_and_items_without_neighbours_have_no_score(train: Interactions) -> None:
    """With K = 1 only the similarity of an item with itself is left, which is 1."""
    actual = scores("item-knn", {"k": 1}, train).values
    ratings = train.matrix().toarray()
    np.testing.assert_allclose(actual[ratings > 0], ratings[ratings > 0])
    assert np.isnan(actual[ratings == 0]).all()
