"""In a worker: the same bits for a seed, any blocks and any order of rows; states; and known properties of scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, UNSCORED, CheckedRecommender, Scores, plugins
from repro.testing import all_bits, fitted
from repro.testing.checks import bits, check_blocks, codes, score_all

pytestmark = pytest.mark.usefixtures("framework")
ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("popularity", {}),
    ("random", {}),
    ("ease", {"regularisation": 20.0}),
    ("puresvd", {"factors": 6}),
    ("implicit-als", {"factors": 7, "epochs": 3}),
    ("implicit-als", {"factors": 7, "epochs": 3, "num_threads": 2}),
    ("bpr", {"factors": 7, "epochs": 4}),
    ("item-knn", {"k": 5}),
    ("item-knn", {"k": 5, "similarity": "bm25"}),
    ("PopularModel", {"popularity": "sum_weight"}),
    ("RandomModel", {}),
    ("EASEModel", {}),
    ("PureSVDModel", {}),
    ("ImplicitALSWrapperModel", {"factors": 7, "fit_features_together": True}),
    ("ImplicitBPRWrapperModel", {"factors": 7, "iterations": 4}),
    ("ImplicitItemKNNWrapperModel", {"model": "TFIDFRecommender"}),
]
each = pytest.mark.parametrize(("name", "parameters"), ALGORITHMS, ids=str)
NOT_PERSONAL = {"popularity", "random", "PopularModel", "RandomModel"}
DRAWN = {"random", "RandomModel", "puresvd", "PureSVDModel", "implicit-als", "ImplicitALSWrapperModel", "bpr"} | {
    "ImplicitBPRWrapperModel"
}

# The same bits too, if the rank of the training rows is at least the number of factors.
ONLY_OF_FULL_RANK = {"puresvd", "PureSVDModel"}


def scores(name: str, parameters: dict[str, Any], train: Interactions) -> Scores:
    return score_all(fitted(f"rectools/{name}", parameters, train), train)


def bits_of(recommender: CheckedRecommender, users: Any, items: Any) -> np.ndarray:
    return bits(recommender.score_users(np.array(users, dtype=np.int32), np.array(items, dtype=np.int32)))


def test_all_but_svd_are_deterministic() -> None:
    for algorithm in plugins().framework("rectools").algorithms:
        assert algorithm.deterministic == (algorithm.name not in ONLY_OF_FULL_RANK)


@each
def test_the_same_bits_for_a_seed_any_blocks_and_any_order_of_rows(
    name: str, parameters: dict[str, Any], train: Interactions
) -> None:
    recommender = fitted(f"rectools/{name}", parameters, train)
    expected = bits(score_all(recommender, train))
    for users, items in ([0], codes(30)), (codes(40)[::-1], [3, 3, 29]), ([39, 5, 6], [1, 28]):
        assert (bits_of(recommender, users, items) == expected[np.ix_(users, items)]).all()
    shuffled = train.select(np.random.default_rng(3).permutation(len(train)))
    assert (all_bits(f"rectools/{name}", parameters, shuffled) == expected).all()
    assert (all_bits(f"rectools/{name}", parameters, train, seed=6) != expected).any() == (name in DRAWN)


@each
def test_users_and_items_without_rows_are_unscored(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    block = scores(name, parameters, train)
    assert block.state is not None
    assert ((block.state == UNSCORED) == np.isnan(block.values)).all()
    assert (block.state[:, 28:] == UNSCORED).all()
    assert (block.state[38:, :28] == (SCORED if name in NOT_PERSONAL else UNSCORED)).all()
    if "knn" not in name.lower():
        assert (block.state[:38, :28] == SCORED).all()


@pytest.mark.slow
@each
def test_the_same_bits_on_movielens(name: str, parameters: dict[str, Any], movielens: Interactions) -> None:
    recommender = fitted(f"rectools/{name}", parameters, movielens)
    expected = score_all(recommender, movielens)
    check_blocks(recommender, movielens, expected)
    assert (all_bits(f"rectools/{name}", parameters, movielens) == bits(expected)).all()


def test_ease_of_rectools_has_the_weights_transposed(train: Interactions) -> None:
    """B by its closed form in double precision: RecTools' scores are those of X B', not the X B of the paper."""
    ratings = train.matrix().toarray()[:38, :28]
    inverse = np.linalg.inv(ratings.T @ ratings + 20.0 * np.eye(28))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0.0)
    values = scores("ease", {"regularisation": 20.0}, train).values[:38, :28]
    np.testing.assert_allclose(values, ratings @ weights.T, rtol=1e-4, atol=1e-4)
    assert np.abs(values - ratings @ weights).max() > 0.1


def test_popularity_counts_users_and_can_be_inverted(train: Interactions) -> None:
    counts = train.item_counts()[:28]
    assert (scores("popularity", {}, train).values[:, :28] == counts).all()
    assert (scores("popularity", {"inverse": True}, train).values[:, :28] == -counts).all()


def test_a_random_list_is_a_permutation_for_each_user(train: Interactions) -> None:
    values = scores("random", {}, train).values[:, :28]
    assert (np.sort(values, axis=1) == np.arange(1, 29)).all()
    assert len(np.unique(values, axis=0)) == 40


@pytest.mark.parametrize("parameters", [{"period": 7.0}, {"begin_from": "1970-01-21"}])
def test_items_outside_the_period_are_unscored_or_a_fallback(parameters: dict[str, Any], train: Interactions) -> None:
    """Item n was rated on day n - 1 only: the last is day 27, and the period leaves days 20 to 27."""
    left_out = scores("popularity", parameters, train)
    added = scores("popularity", {**parameters, "add_cold": True}, train)
    assert left_out.state is not None
    assert added.state is not None
    assert (left_out.state[0] == [UNSCORED] * 20 + [SCORED] * 8 + [UNSCORED] * 2).all()
    assert (added.state[0] == [FALLBACK] * 20 + [SCORED] * 8 + [UNSCORED] * 2).all()
    assert (added.values[0, :20] == 0).all()
    assert (added.values[0, 20:28] == train.item_counts()[20:28]).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"period": 7.0}, "need timestamps"),
        ({"begin_from": "spring"}, "begin_from = 'spring' is not a time"),
        ({"begin_from": "1998-03-01", "period": 7.0}, "exclude each other"),
    ],
)
def test_an_invalid_period_is_refused(parameters: dict[str, Any], message: str, train: Interactions) -> None:
    with pytest.raises(PluginError, match=message):
        fitted("rectools/popularity", parameters, replace(train, timestamps=None))


def test_the_worker_runs_rectools_in_its_own_environment() -> None:
    assert plugins().location("rectools") == "isolated"
    frozen = plugins().freeze("rectools")
    assert frozen is not None
    assert "RecTools==0.19.0" in frozen
    assert "numpy==1.26.4" in frozen
