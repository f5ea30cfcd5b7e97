"""Through the worker: the same bits for a seed, any blocks and any order of rows; states; and what RecTools changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, UNSCORED, CheckedRecommender, parameters_of, plugins
from repro.plugin.isolation.client import Launch

pytestmark = pytest.mark.usefixtures("launch")
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
each = pytest.mark.parametrize(("name", "given"), ALGORITHMS, ids=str)
NOT_PERSONAL = {"popularity", "random", "PopularModel", "RandomModel"}
DRAWN = {"random", "RandomModel", "puresvd", "PureSVDModel", "implicit-als", "ImplicitALSWrapperModel", "bpr"} | {
    "ImplicitBPRWrapperModel"
}

# The same bits too, as long as the training rows have at least as high a rank as there are factors.
ONLY_OF_FULL_RANK = {"puresvd", "PureSVDModel"}


def codes(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def fitted(name: str, given: dict[str, Any], train: Interactions, seed: int = 5) -> CheckedRecommender:
    _, algorithm = plugins().algorithm(f"rectools/{name}")
    assert algorithm.deterministic == (name not in ONLY_OF_FULL_RANK)
    recommender = plugins().recommender(f"rectools/{name}", parameters_of(algorithm, given))
    recommender.fit(train, seed=seed)
    return recommender


def bits(recommender: CheckedRecommender, users: np.ndarray, items: np.ndarray) -> np.ndarray:
    return recommender.score_users(users, items).values.view(np.uint64)


def all_bits(name: str, given: dict[str, Any], train: Interactions, seed: int = 5) -> np.ndarray:
    return bits(fitted(name, given, train, seed), codes(train.n_users), codes(train.n_items))


@each
def test_the_same_bits_for_a_seed_any_blocks_and_any_order_of_rows(
    name: str, given: dict[str, Any], train: Interactions
) -> None:
    recommender = fitted(name, given, train)
    whole = bits(recommender, codes(40), codes(30))
    for users, items in ([0], codes(30)), (codes(40)[::-1], [3, 3, 29]), ([39, 5, 6], [1, 28]):
        asked = np.array(users, dtype=np.int32), np.array(items, dtype=np.int32)
        assert (bits(recommender, *asked) == whole[np.ix_(*asked)]).all()
    shuffled = train.select(np.random.default_rng(3).permutation(len(train)))
    assert (all_bits(name, given, shuffled) == whole).all()
    assert (all_bits(name, given, train, seed=6) != whole).any() == (name in DRAWN)


@each
def test_those_without_rows_are_unscored(name: str, given: dict[str, Any], train: Interactions) -> None:
    scores = fitted(name, given, train).score_users(codes(40), codes(30))
    assert scores.state is not None
    assert ((scores.state == UNSCORED) == np.isnan(scores.values)).all()
    assert (scores.state[:, 28:] == UNSCORED).all()
    assert (scores.state[38:, :28] == (SCORED if name in NOT_PERSONAL else UNSCORED)).all()
    if "knn" not in name.lower():
        assert (scores.state[:38, :28] == SCORED).all()


@pytest.mark.slow
@each
def test_the_same_bits_on_movielens(name: str, given: dict[str, Any], movielens: Interactions) -> None:
    recommender = fitted(name, given, movielens)
    whole = bits(recommender, codes(movielens.n_users), codes(movielens.n_items))
    rng = np.random.default_rng(4)
    for n_users, n_items in [(1, 1), (1, 1682), (3, 5), (64, 300), (200, 7)]:
        users = rng.choice(movielens.n_users, n_users).astype(np.int32)
        items = rng.choice(movielens.n_items, n_items).astype(np.int32)
        assert (bits(recommender, users, items) == whole[np.ix_(users, items)]).all()
    assert (all_bits(name, given, movielens) == whole).all()


def test_ease_of_rectools_has_the_weights_transposed(train: Interactions) -> None:
    """B by its closed form in double precision: RecTools' scores are those of X B', not the X B of the paper."""
    ratings = train.matrix().toarray()[:38, :28]
    inverse = np.linalg.inv(ratings.T @ ratings + 20.0 * np.eye(28))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0.0)
    found = fitted("ease", {"regularisation": 20.0}, train).score_users(codes(38), codes(28)).values
    np.testing.assert_allclose(found, ratings @ weights.T, rtol=1e-4, atol=1e-4)
    assert np.abs(found - ratings @ weights).max() > 0.1


def test_popularity_counts_users_and_turns_round(train: Interactions) -> None:
    counts = train.item_counts()[:28]
    found = fitted("popularity", {}, train).score_users(codes(40), codes(28)).values
    assert (found == counts).all()
    inverse = fitted("popularity", {"inverse": True}, train).score_users(codes(2), codes(28)).values
    assert (inverse == -counts).all()


def test_a_random_list_is_a_permutation_for_each_user(train: Interactions) -> None:
    found = fitted("random", {}, train).score_users(codes(40), codes(28)).values
    assert (np.sort(found, axis=1) == np.arange(1, 29)).all()
    assert len(np.unique(found, axis=0)) == 40


@pytest.mark.parametrize("given", [{"period": 7.0}, {"begin_from": "1970-01-21"}])
def test_items_outside_the_period_are_unscored_or_a_fallback(given: dict[str, Any], train: Interactions) -> None:
    """Item n was rated on day n - 1 only: the last is day 27, and the period leaves days 20 to 27."""
    left_out = fitted("popularity", given, train).score_users(codes(40), codes(30))
    added = fitted("popularity", {**given, "add_cold": True}, train).score_users(codes(40), codes(30))
    assert left_out.state is not None
    assert added.state is not None
    assert (left_out.state[0] == [UNSCORED] * 20 + [SCORED] * 8 + [UNSCORED] * 2).all()
    assert (added.state[0] == [FALLBACK] * 20 + [SCORED] * 8 + [UNSCORED] * 2).all()
    assert (added.values[0, :20] == 0).all()
    assert (added.values[0, 20:28] == train.item_counts()[20:28]).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"period": 7.0}, "need timestamps"),
        ({"begin_from": "spring"}, "begin_from = 'spring' is not a time"),
        ({"begin_from": "1998-03-01", "period": 7.0}, "exclude each other"),
    ],
)
def test_a_period_that_cannot_be_is_refused(given: dict[str, Any], said: str, train: Interactions) -> None:
    with pytest.raises(PluginError, match=said):
        fitted("popularity", given, replace(train, timestamps=None))


def test_the_worker_runs_rectools_in_its_own_environment(launch: Launch) -> None:
    assert plugins().location("rectools") == "isolated"
    frozen = plugins().freeze("rectools")
    assert frozen is not None
    assert "RecTools==0.19.0" in frozen
    assert "numpy==1.26.4" in frozen
