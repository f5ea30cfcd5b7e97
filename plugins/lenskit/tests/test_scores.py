"""Scores are those of LensKit's own pipeline, made of the same rows by LensKit's own means."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import datetime
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from repro.data.interactions import Interactions
from repro.plugin import FALLBACK, SCORED, UNSCORED, CheckedRecommender, parameters_of, plugins
from repro.testing import queries_of

SEED = 11
# The name and parameters here, and the class and configuration in LensKit.
FAST: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("popularity", {}, {}),
    ("popularity", {"score": "count"}, {"score": "count"}),
    ("PopScorer", {"score": "rank"}, {"score": "rank"}),
    ("TimeBoundedPopScore", {"cutoff": "1998-01-01T00:00:00"}, {"cutoff": datetime(1998, 1, 1)}),
    ("bias", {}, {}),
    ("bias", {"user_damping": 5.0, "item_damping": 2.0}, {"damping": {"user": 5.0, "item": 2.0}}),
    ("BiasScorer", {"entities": "item", "damping": 3.0}, {"entities": {"item"}, "damping": 3.0}),
    ("BiasScorer", {"entities": "user"}, {"entities": {"user"}}),
    ("KnownRatingScorer", {}, {}),
    ("KnownRatingScorer", {"score": "indicator"}, {"score": "indicator"}),
    ("user-knn", {}, {}),
    (
        "user-knn",
        {"k": 5, "min_neighbours": 2, "feedback": "implicit"},
        {"k": 5, "min_nbrs": 2, "feedback": "implicit"},
    ),
    ("item-knn", {}, {}),
    (
        "item-knn",
        {"k": 10, "save_nbrs": 30, "feedback": "implicit"},
        {"k": 10, "save_nbrs": 30, "feedback": "implicit"},
    ),
    ("biased-mf", {"factors": 20, "epochs": 3}, {"features": 20, "epochs": 3}),
    (
        "biased-mf",
        {"epochs": 2, "user_embeddings": "prefer", "user_damping": 1.0},
        {"epochs": 2, "user_embeddings": "prefer", "damping": {"user": 1.0, "item": 5.0}},
    ),
    ("implicit-als", {"factors": 20, "epochs": 3, "alpha": 10.0}, {"features": 20, "epochs": 3, "weight": 10.0}),
    ("ImplicitMFScorer", {"epochs": 2, "use_ratings": True}, {"epochs": 2, "use_ratings": True}),
    ("ease", {}, {}),
    ("FunkSVDScorer", {"epochs": 5, "range": "1,5"}, {"epochs": 5, "range": (1.0, 5.0)}),
    ("BiasedSVDScorer", {"embedding_size": 10}, {"features": 10}),
    ("nmf", {"factors": 5, "epochs": 20}, {"embedding_size": 5, "max_iter": 20}),
]
SLOW: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("slim", {"l1": 20.0, "max_iters": 10}, {"l1_reg": 20.0, "max_iters": 10}),
    ("SLIMScorer", {"max_nbrs": 20}, {"max_nbrs": 20}),
    ("BiasedSVDScorer", {"algorithm": "arpack"}, {"algorithm": "arpack"}),
    (
        "NMFScorer",
        {"embedding_size": 5, "alpha_W": 0.01, "alpha_H": "0.02"},
        {"embedding_size": 5, "alpha_W": 0.01, "alpha_H": 0.02},
    ),
    ("FlexMFExplicitScorer", {"epochs": 2}, {"epochs": 2}),
    ("bpr", {"epochs": 2, "regularisation": 0.1}, {"preset": "bpr", "epochs": 2, "regularization": 0.1}),
    ("logistic-mf", {"epochs": 2, "learning_rate": 0.02}, {"epochs": 2, "learning_rate": 0.02}),
    (
        "FlexMFImplicitScorer",
        {"preset": "lightgcn", "epochs": 1},
        {"preset": "lightgcn", "epochs": 1},
    ),
]
VARIANTS = [*FAST, *(pytest.param(*entry, marks=pytest.mark.slow) for entry in SLOW)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As in a study: on several threads, LensKit's own results differ in their last digits, and what is learnt
    from them in more."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(before)


def in_lenskit(rows: Interactions, own: str, configuration: dict[str, Any]) -> Any:
    """LensKit's standard pipeline with the scorer, trained on the rows under their external ids."""
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import topn_pipeline
    from lenskit.training import TrainingOptions

    frame = rows.to_frame().rename(columns={"user": "user_id", "item": "item_id"})
    frame["timestamp"] = pd.to_datetime(frame["timestamp"], unit="s")
    data = from_interactions_df(frame)
    scorer = resolve_name(own)(**configuration)
    np.random.seed(SEED)  # noqa: NPY002 - what scikit-learn draws from below LensKit
    scorer.train(data, TrainingOptions(rng=SEED, device="cpu", environment={"LK_TORCH_COMPILE": "0"}))
    pipeline = topn_pipeline(scorer)
    pipeline.train(data, TrainingOptions(retrain=False))
    return pipeline


def expected(pipeline: Any, rows: Interactions, users: np.ndarray, items: np.ndarray) -> np.ndarray:
    from lenskit.data import ItemList

    candidates = ItemList(item_ids=rows.item_ids[items])
    actual = [pipeline.run("scorer", query=rows.user_ids[user].item(), items=candidates) for user in users]
    assert all((entry.ids() == rows.item_ids[items]).all() for entry in actual)
    return np.array([entry.scores() for entry in actual], dtype=np.float64)


def fitted(name: str, parameters: dict[str, Any], rows: Interactions) -> CheckedRecommender:
    _, algorithm = plugins().algorithm(f"lenskit/{name}")
    recommender = plugins().recommender(f"lenskit/{name}", parameters_of(algorithm, parameters))
    recommender.fit(rows, seed=SEED)
    return recommender


def test_every_class_is_compared_with_lenskit() -> None:
    """A class under its own name or a canonical one; the order that is drawn has a test of its own."""
    own = {algorithm.name: algorithm.own for algorithm in plugins().framework("lenskit").algorithms}
    assert {own[name] for name, _, _ in FAST + SLOW} | {own["random"]} == set(own.values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameters", "configuration"), VARIANTS, ids=str)
def test_scores_are_those_of_lenskit(
    name: str, parameters: dict[str, Any], configuration: dict[str, Any], movielens: Interactions
) -> None:
    _, algorithm = plugins().algorithm(f"lenskit/{name}")
    recommender = fitted(name, parameters, movielens)
    users = np.arange(0, movielens.n_users, 9, dtype=np.int32)[:80]
    users = np.append(users, [7, 57, 907]).astype(np.int32)  # unknown
    items = np.arange(movielens.n_items, dtype=np.int32)
    pipeline = in_lenskit(movielens, algorithm.own, configuration)
    target = expected(pipeline, movielens, users, items)
    scores = recommender.score_users(users, items)
    state = np.zeros(target.shape) if scores.state is None else scores.state
    assert ((state == UNSCORED) == np.isnan(target)).all()
    assert np.isfinite(target).any()
    np.testing.assert_allclose(scores.values, target, rtol=1e-5, atol=1e-5)

    few = items[5::30]  # LensKit computes few items in another way than many
    np.testing.assert_allclose(
        recommender.score_users(users[:20], few).values,
        expected(pipeline, movielens, users[:20], few),
        rtol=1e-5,
        atol=1e-5,
    )
    if recommender.predicts:
        rows, columns = np.divmod(np.random.default_rng(1).permutation(target.size)[:5000], target.shape[1])
        predicted = recommender.predict_pairs(users[rows], items[columns])
        assert (predicted.values.view(np.uint64) == scores.values[rows, columns].view(np.uint64)).all()
        assert ((0 if predicted.state is None else predicted.state) == state[rows, columns]).all()


def test_an_unknown_user_has_the_biases_of_items_and_an_unknown_item_has_a_fallback(train: Interactions) -> None:
    users, items = np.array([0, 39], dtype=np.int32), np.array([0, 29], dtype=np.int32)
    scores = fitted("bias", {}, train).score_users(users, items)
    mean = train.ratings.mean()
    np.testing.assert_allclose(scores.values[1], [train.ratings[train.items == 0].mean(), mean], rtol=1e-6)
    assert scores.state is not None
    assert scores.state.tolist() == [[SCORED, FALLBACK], [SCORED, FALLBACK]]


def test_without_biases_of_items_it_is_the_user_that_must_be_known(train: Interactions) -> None:
    scores = fitted("bias", {"entities": "user"}, train).score_users(np.array([0, 39]), np.array([0, 29]))
    assert scores.state is not None
    assert scores.state.tolist() == [[SCORED, SCORED], [FALLBACK, FALLBACK]]


def test_random_scores_are_the_order_in_which_lenskit_selects(movielens: Interactions) -> None:
    from lenskit.basic import RandomSelector
    from lenskit.data import ItemList, RecQuery

    items = np.arange(movielens.n_items, dtype=np.int32)
    users = np.array([3, 7, 400], dtype=np.int32)
    scores = fitted("random", {}, movielens).score_users(users, items)
    assert scores.state is None
    selector = RandomSelector(n=-1, rng=(SEED, "user"))
    for user, values in zip(users, scores.values, strict=True):
        query = RecQuery(user_id=int(movielens.user_ids[user]))
        selected = selector(ItemList(item_ids=movielens.item_ids), query).ids()
        assert (movielens.item_ids[np.argsort(-values)] == selected).all()
        assert sorted(values) == list(range(1, movielens.n_items + 1))


def test_random_orders_differ_between_users_and_seeds_and_take_ids_that_are_text(train: Interactions) -> None:
    frame = train.to_frame()
    frame["user"] = "user " + frame["user"].astype(str)
    rows = Interactions.from_frame(frame)
    users, items = np.arange(3, dtype=np.int32), np.arange(rows.n_items, dtype=np.int32)
    _, algorithm = plugins().algorithm("lenskit/random")
    actual = []
    for seed in (1, 2):
        recommender = algorithm.make()
        recommender.fit(rows, seed=seed)
        actual.append(recommender.score(queries_of(users), items).values)
    assert (actual[0] != actual[1]).any()
    assert (actual[0][0] != actual[0][1]).any()


def test_scores_of_users_and_items_under_other_names_are_the_same(train: Interactions) -> None:
    frame = train.to_frame()
    for column in ("user", "item"):
        frame[column] = frame[column].map("{:03d}x".format)
    renamed = Interactions.from_frame(frame)
    users, items = np.arange(38, dtype=np.int32), np.arange(28, dtype=np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("biased-mf", "user-knn", "ease"):
            here, there = (fitted(name, {}, rows).score_users(users, items).values for rows in (train, renamed))
            assert (here.view(np.uint64) == there.view(np.uint64)).all()
