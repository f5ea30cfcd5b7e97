"""Scores are what Surprise's own ``predict`` estimates, pair by pair, and what it calls impossible is a fallback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import surprise
from surprise import AlgoBase

from repro.data.interactions import Interactions
from repro.plugin import FALLBACK, CheckedRecommender, Scores, plugins

SEED = 7
QUIET: dict[str, Any] = {"verbose": False}
Parameters = dict[str, Any]
Fit = Callable[..., CheckedRecommender]
Ask = Callable[..., Scores]
Check = Callable[..., None]
Pairs = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]

# An algorithm of the plug-in with its parameters, and the same written down for Surprise.
CLASSES: list[tuple[str, Parameters, Callable[[], AlgoBase]]] = [
    ("BaselineOnly", {}, lambda: surprise.BaselineOnly(**QUIET)),
    (
        "BaselineOnly",
        {"bsl_method": "sgd", "bsl_n_epochs": 4, "bsl_reg": 0.1, "bsl_learning_rate": 0.01},
        lambda: surprise.BaselineOnly({"method": "sgd", "n_epochs": 4, "reg": 0.1, "learning_rate": 0.01}, **QUIET),
    ),
    ("SVD", {}, lambda: surprise.SVD(random_state=SEED)),
    (
        "SVD",
        {"n_factors": 5, "biased": False, "init_mean": 0.3, "lr_pu": 0.02, "reg_qi": 0.0},
        lambda: surprise.SVD(5, biased=False, init_mean=0.3, lr_pu=0.02, reg_qi=0.0, random_state=SEED),
    ),
    (
        "SVDpp",
        {"n_factors": 6, "n_epochs": 2, "lr_yj": 0.03},
        lambda: surprise.SVDpp(6, 2, lr_yj=0.03, random_state=SEED),
    ),
    (
        "SVDpp",
        {"n_factors": 6, "n_epochs": 2, "cache_ratings": True},
        lambda: surprise.SVDpp(6, 2, random_state=SEED),
    ),
    ("NMF", {"n_epochs": 5}, lambda: surprise.NMF(n_epochs=5, random_state=SEED)),
    (
        "NMF",
        {"n_epochs": 5, "biased": True, "reg_pu": 0.1, "init_low": 0.2},
        lambda: surprise.NMF(n_epochs=5, biased=True, reg_pu=0.1, init_low=0.2, random_state=SEED),
    ),
    ("SlopeOne", {}, surprise.SlopeOne),
    ("CoClustering", {}, lambda: surprise.CoClustering(random_state=SEED)),
    (
        "CoClustering",
        {"n_cltr_u": 4, "n_cltr_i": 2, "n_epochs": 3},
        lambda: surprise.CoClustering(4, 2, 3, random_state=SEED),
    ),
    ("KNNBasic", {}, lambda: surprise.KNNBasic(sim_options={}, **QUIET)),
    (
        "KNNBasic",
        {"k": 3, "min_k": 2, "sim_name": "cosine", "sim_user_based": False},
        lambda: surprise.KNNBasic(3, 2, {"name": "cosine", "user_based": False}, **QUIET),
    ),
    (
        "KNNBasic",
        {"k": 5, "sim_name": "pearson", "sim_min_support": 4},
        lambda: surprise.KNNBasic(5, sim_options={"name": "pearson", "min_support": 4}, **QUIET),
    ),
    ("KNNWithMeans", {"k": 4}, lambda: surprise.KNNWithMeans(4, sim_options={}, **QUIET)),
    (
        "KNNWithMeans",
        {"k": 12, "min_k": 5, "sim_name": "cosine", "sim_user_based": False},
        lambda: surprise.KNNWithMeans(12, 5, {"name": "cosine", "user_based": False}, **QUIET),
    ),
    (
        "KNNWithZScore",
        {"k": 1, "sim_name": "msd", "sim_min_support": 3},
        lambda: surprise.KNNWithZScore(1, sim_options={"min_support": 3}, **QUIET),
    ),
    (
        "KNNWithZScore",
        {"sim_name": "pearson", "sim_user_based": False},
        lambda: surprise.KNNWithZScore(sim_options={"name": "pearson", "user_based": False}, **QUIET),
    ),
    (
        "KNNBaseline",
        {"k": 5, "sim_name": "pearson_baseline", "sim_shrinkage": 20.0, "bsl_reg_u": 3.0},
        lambda: surprise.KNNBaseline(
            5, sim_options={"name": "pearson_baseline", "shrinkage": 20}, bsl_options={"reg_u": 3}, **QUIET
        ),
    ),
    (
        "KNNBaseline",
        {"sim_name": "msd", "sim_user_based": False, "bsl_method": "sgd"},
        lambda: surprise.KNNBaseline(sim_options={"user_based": False}, bsl_options={"method": "sgd"}, **QUIET),
    ),
]
CANONICAL: list[tuple[str, Parameters, Callable[[], AlgoBase]]] = [
    ("bias", {}, lambda: surprise.BaselineOnly(**QUIET)),
    (
        "bias",
        {"user_damping": 1.0, "item_damping": 2.0, "bsl_n_epochs": 1},
        lambda: surprise.BaselineOnly({"reg_u": 1, "reg_i": 2, "n_epochs": 1}, **QUIET),
    ),
    (
        "biased-mf",
        {"factors": 8, "epochs": 3, "learning_rate": 0.01, "regularisation": 0.1},
        lambda: surprise.SVD(8, 3, lr_all=0.01, reg_all=0.1, random_state=SEED),
    ),
    (
        "svd++",
        {"factors": 3, "epochs": 2, "learning_rate": 0.01, "regularisation": 0.1},
        lambda: surprise.SVDpp(3, 2, lr_all=0.01, reg_all=0.1, random_state=SEED),
    ),
    (
        "nmf",
        {"factors": 4, "epochs": 6, "regularisation": 0.2},
        lambda: surprise.NMF(4, 6, reg_pu=0.2, reg_qi=0.2, random_state=SEED),
    ),
    ("slope-one", {}, surprise.SlopeOne),
    (
        "co-clustering",
        {"user_clusters": 2, "item_clusters": 5, "epochs": 4},
        lambda: surprise.CoClustering(2, 5, 4, random_state=SEED),
    ),
    ("user-knn", {"k": 6}, lambda: surprise.KNNBasic(6, sim_options={}, **QUIET)),
    (
        "user-knn",
        {"k": 6, "center": "mean", "similarity": "pearson", "min_overlap": 2, "min_neighbours": 3},
        lambda: surprise.KNNWithMeans(6, 3, {"name": "pearson", "min_support": 2}, **QUIET),
    ),
    (
        "item-knn",
        {"center": "baseline", "similarity": "pearson_baseline"},
        lambda: surprise.KNNBaseline(sim_options={"name": "pearson_baseline", "user_based": False}, **QUIET),
    ),
    (
        "item-knn",
        {"center": "z-score", "similarity": "cosine", "k": 5},
        lambda: surprise.KNNWithZScore(5, sim_options={"name": "cosine", "user_based": False}, **QUIET),
    ),
    ("item-knn", {}, lambda: surprise.KNNBasic(sim_options={"user_based": False}, **QUIET)),
]
# All of them on MovieLens 100K; those that fit or are asked quickly belong to the everyday tests.
QUICK = [CLASSES[n] for n in (0, 2, 6, 11)]
SLOW = [variant for variant in CLASSES + CANONICAL if variant not in QUICK]
# Draws anew whenever it is asked: its distribution is compared.
DRAWN = {"NormalPredictor", "NormalPredictor-in-turn", "random"}


def label(value: Any) -> str:
    return value if isinstance(value, str) else "-".join(map(str, value.values())) if isinstance(value, dict) else ""


def all_pairs(train: Interactions) -> Pairs:
    users, items = np.indices((train.n_users, train.n_items), dtype=np.int32)
    return users.ravel(), items.ravel()


def some_pairs(train: Interactions, n: int) -> Pairs:
    """Random pairs, of which a part has an unknown user or an unknown item or both; and some training rows."""
    rng = np.random.default_rng(11)
    users = rng.integers(0, train.n_users, n, dtype=np.int32)
    items = rng.integers(0, train.n_items, n, dtype=np.int32)
    users[: n // 8] = rng.choice(np.flatnonzero(train.user_counts() == 0), n // 8)
    items[n // 16 : n // 5] = rng.choice(np.flatnonzero(train.item_counts() == 0), n // 5 - n // 16)
    rows = rng.choice(len(train), n // 4)
    return np.concatenate([users, train.users[rows]]), np.concatenate([items, train.items[rows]])


def agree(actual: Scores, expected: Scores) -> None:
    assert np.abs(actual.values - expected.values).max() < 1e-9
    state = np.zeros(len(actual.values), dtype=np.uint8) if actual.state is None else actual.state
    assert expected.state is not None
    assert (state == expected.state).all()


def in_block(
    recommender: CheckedRecommender, train: Interactions, users: npt.NDArray[Any], items: npt.NDArray[Any]
) -> Scores:
    """The scores of pairs taken out of a block of all users and items."""
    block = recommender.score_users(np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32))
    return Scores(block.values[users, items], None if block.state is None else block.state[users, items])


def test_every_algorithm_is_compared_with_surprise() -> None:
    names = {algorithm.name for algorithm in plugins().framework("surprise").algorithms}
    assert {name for name, _, _ in CLASSES + CANONICAL} == names - DRAWN


@pytest.fixture(scope="module")
def check(fitted: Fit, surprise_says: Ask) -> Check:
    """Checks that the plug-in and Surprise itself estimate the same, for pairs and in a block."""

    def check(
        name: str, parameters: Parameters, own: Callable[[], AlgoBase], train: Interactions, pairs: Pairs
    ) -> None:
        expected = surprise_says(own(), train, *pairs)
        recommender = fitted(name, parameters, train)
        agree(recommender.predict_pairs(*pairs), expected)
        agree(in_block(recommender, train, *pairs), expected)

    return check


@pytest.mark.parametrize(("name", "parameters", "own"), CLASSES + CANONICAL, ids=label)
def test_scores_and_predictions_are_surprises_own(
    name: str, parameters: Parameters, own: Callable[[], AlgoBase], train: Interactions, check: Check
) -> None:
    check(name, parameters, own, train, all_pairs(train))


@pytest.mark.parametrize(("name", "parameters", "own"), QUICK, ids=label)
def test_they_are_on_movielens(
    name: str, parameters: Parameters, own: Callable[[], AlgoBase], ml100k: Interactions, check: Check
) -> None:
    check(name, parameters, own, ml100k, some_pairs(ml100k, 2000))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters", "own"), SLOW, ids=label)
def test_all_of_them_are_on_movielens(
    name: str, parameters: Parameters, own: Callable[[], AlgoBase], ml100k: Interactions, check: Check
) -> None:
    check(name, parameters, own, ml100k, some_pairs(ml100k, 4000))


@pytest.mark.parametrize("own", ["KNNBasic", "KNNWithMeans", "KNNBaseline", "KNNWithZScore"])
@pytest.mark.parametrize("user_based", [True, False])
@pytest.mark.parametrize("k", [2, 100])
def test_similarities_that_are_not_numbers_are_met_as_surprise_does(
    own: str, user_based: bool, k: int, decimals: Interactions, fitted: Fit, surprise_says: Ask
) -> None:
    algorithm = getattr(surprise, own)(k, sim_options={"name": "pearson", "user_based": user_based}, **QUIET)
    users, items = all_pairs(decimals)
    expected = surprise_says(algorithm, decimals, users, items)
    assert np.isnan(algorithm.sim).any()
    recommender = fitted(own, {"k": k, "sim_name": "pearson", "sim_user_based": user_based}, decimals)
    agree(recommender.predict_pairs(users, items), expected)
    agree(in_block(recommender, decimals, users, items), expected)


def test_cut_off_decimals_are_met_as_surprise_does(decimals: Interactions, fitted: Fit, surprise_says: Ask) -> None:
    users, items = all_pairs(decimals)
    for name, own in (("SlopeOne", surprise.SlopeOne()), ("CoClustering", surprise.CoClustering(random_state=SEED))):
        agree(fitted(name, {}, decimals).predict_pairs(users, items), surprise_says(own, decimals, users, items))


def test_rows_that_occur_twice_count_twice(train: Interactions, fitted: Fit, surprise_says: Ask) -> None:
    twice = train.select(np.arange(len(train)).repeat(1 + np.arange(len(train)) % 3 // 2))
    users, items = all_pairs(twice)
    for name, own in (
        ("SlopeOne", surprise.SlopeOne()),
        ("SVDpp", surprise.SVDpp(random_state=SEED)),
        ("KNNWithMeans", surprise.KNNWithMeans(sim_options={}, **QUIET)),
    ):
        agree(fitted(name, {}, twice).predict_pairs(users, items), surprise_says(own, twice, users, items))


@pytest.mark.parametrize("name", ["KNNBasic", "KNNWithMeans", "KNNWithZScore", "SlopeOne", "NMF"])
def test_where_user_or_item_is_unknown_the_mean_of_all_ratings_is_a_fallback(
    name: str, train: Interactions, fitted: Fit
) -> None:
    users = np.array([59, 0, 59], dtype=np.int32)
    items = np.array([0, 5, 5], dtype=np.int32)
    predicted = fitted(name, {}, train).predict_pairs(users, items)
    assert predicted.state is not None
    assert (predicted.state == FALLBACK).all()
    assert predicted.values == pytest.approx(train.ratings.mean(), abs=1e-12)


@pytest.mark.parametrize("name", ["BaselineOnly", "SVD", "SVDpp", "KNNBaseline", "CoClustering", "NormalPredictor"])
def test_what_surprise_does_not_call_impossible_is_scored(name: str, train: Interactions, fitted: Fit) -> None:
    users, items = all_pairs(train)
    assert fitted(name, {}, train).predict_pairs(users, items).state is None


def test_random_ratings_have_the_distribution_that_surprise_fits(train: Interactions, fitted: Fit) -> None:
    from scipy.stats import kstest

    own = surprise.NormalPredictor()
    frame = train.to_frame()[["user", "item", "rating"]]
    own.fit(surprise.Dataset.load_from_df(frame, surprise.Reader()).build_full_trainset())
    drawn = fitted("NormalPredictor", {}, train).predict_pairs(*all_pairs(train)).values
    assert len(np.unique(drawn)) == len(drawn)
    assert kstest(drawn, "norm", (own.trainset.global_mean, own.sigma)).pvalue > 0.01
