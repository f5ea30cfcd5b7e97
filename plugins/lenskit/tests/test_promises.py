"""The same bits for any blocks and any order of rows, one seed for all generators, and no changes of the process."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

import repro.testing
from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import UNSCORED, CheckedRecommender
from repro.testing import AlgorithmContract
from repro.testing.checks import bits, codes, same_bits, score_all

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("popularity", {}),
    ("TimeBoundedPopScore", {"cutoff": "1970-06-01"}),
    ("bias", {"user_damping": 5.0}),
    ("KnownRatingScorer", {}),
    ("user-knn", {"k": 4}),
    ("user-knn", {"feedback": "implicit"}),
    ("item-knn", {"k": 4}),
    ("item-knn", {"feedback": "implicit"}),
    ("biased-mf", {"factors": 5, "epochs": 3}),
    ("biased-mf", {"factors": 5, "epochs": 3, "user_embeddings": "prefer"}),
    ("implicit-als", {"factors": 5, "epochs": 3}),
    ("ease", {"regularisation": 3.0}),
    ("slim", {"l1": 0.1, "l2": 0.1}),
    ("FunkSVDScorer", {"embedding_size": 5, "epochs": 5}),
    ("BiasedSVDScorer", {"embedding_size": 5}),
    ("nmf", {"factors": 5}),
    ("nmf", {"factors": 40, "epochs": 5}),
    ("FlexMFExplicitScorer", {"embedding_size": 8, "epochs": 2}),
    ("bpr", {"factors": 8, "epochs": 2}),
    ("logistic-mf", {"factors": 8, "epochs": 2, "reg_method": "none"}),
    ("FlexMFImplicitScorer", {"embedding_size": 8, "epochs": 2, "preset": "lightgcn"}),
]
each = pytest.mark.parametrize(("name", "parameters"), VARIANTS, ids=str)
pytestmark = pytest.mark.filterwarnings("ignore")
NOT_PERSONAL = {"random", "popularity", "TimeBoundedPopScore", "bias"}
# With another seed the initial factors, the order of rows or the draws differ.
DRAWN = {"random", "biased-mf", "implicit-als", "FunkSVDScorer", "FlexMFExplicitScorer", "bpr", "logistic-mf"}


def fitted(name: str, parameters: dict[str, Any], train: Interactions, seed: int = 5) -> CheckedRecommender:
    return repro.testing.fitted(f"lenskit/{name}", parameters, train, seed)


class TestContract(AlgorithmContract):
    plugin = "repro_lenskit.plugin"
    algorithms: ClassVar = VARIANTS


@pytest.mark.parametrize(("name", "parameters"), [pair for pair in VARIANTS if pair[0] in DRAWN], ids=str)
def test_another_seed_gives_other_scores(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    first, second = (score_all(fitted(name, parameters, train, seed), train) for seed in (5, 6))
    assert not same_bits(first, second)


@each
def test_unknown_users_and_items_are_unscored(name: str, parameters: dict[str, Any], train: Interactions) -> None:
    scores = score_all(fitted(name, parameters, train), train)
    if name in ("random", "bias"):
        assert np.isfinite(scores.values).all()
        return
    assert scores.state is not None
    assert (np.isnan(scores.values) == (scores.state == UNSCORED)).all()
    assert (scores.state[:, 28:] == UNSCORED).all()
    assert ((scores.state[38:, :28] == UNSCORED).all()) == (name not in NOT_PERSONAL)
    assert (scores.state[:38, :28] != UNSCORED).mean() > 0.3


@pytest.mark.parametrize("name", ["bias", "user-knn", "item-knn", "biased-mf", "FunkSVDScorer", "BiasedSVDScorer"])
def test_predictions_are_scores_of_pairs_in_any_order(name: str, train: Interactions) -> None:
    recommender = fitted(name, {"embedding_size": 5} if name.endswith("SVDScorer") else {}, train)
    users, items = codes(train.n_users), codes(train.n_items)
    pairs = np.random.default_rng(1).integers(0, train.n_users * train.n_items, 500)
    predicted = recommender.predict_pairs(users[pairs // train.n_items], items[pairs % train.n_items])
    assert (bits(predicted) == bits(score_all(recommender, train)).ravel()[pairs]).all()
    assert recommender.predict_pairs(users[:0], items[:0]).values.shape == (0,)


@pytest.mark.parametrize("name", ["user-knn", "item-knn"])
def test_sums_of_similarities_are_not_offered_as_predictions(name: str, train: Interactions) -> None:
    assert fitted(name, {}, train).predicts
    assert not fitted(name, {"feedback": "implicit"}, train).predicts


def test_the_process_is_unchanged_after_a_fit(train: Interactions) -> None:
    import torch
    from threadpoolctl import threadpool_info

    def pools() -> dict[str, int]:
        return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}

    fitted("bias", {}, train)  # loads the libraries
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    torch.set_num_threads(2)
    expected = random.random(), np.random.random(), torch.rand(1).item()  # noqa: NPY002
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    before = pools()
    for name in ("nmf", "bpr", "biased-mf"):
        fitted(name, {"factors": 3, "epochs": 1}, train)
    assert (random.random(), np.random.random(), torch.rand(1).item()) == expected  # noqa: NPY002
    assert pools() == before
    assert torch.get_num_threads() == 2


def test_a_fit_prints_nothing(train: Interactions, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("biased-mf", "ease", "item-knn", "bpr"):
        fitted(name, {}, train)
    assert capfd.readouterr() == ("", "")


def test_rows_without_ratings_are_refused_by_algorithms_that_need_ratings(train: Interactions) -> None:
    implicit = replace(train, ratings=np.ones(len(train)), explicit=False)
    for name, parameters in (
        ("popularity", {}),
        ("implicit-als", {}),
        ("user-knn", {"feedback": "implicit"}),
        ("item-knn", {"feedback": "implicit"}),
        ("KnownRatingScorer", {}),
        ("ease", {}),
    ):
        assert np.isfinite(score_all(fitted(name, parameters, implicit), train).values).any()
    for name, parameters in (
        ("bias", {}),
        ("user-knn", {}),
        ("biased-mf", {}),
        ("implicit-als", {"use_ratings": True}),
    ):
        with pytest.raises(PluginError, match="Scorer learns from ratings, and the training rows have none"):
            fitted(name, parameters, implicit)
    with pytest.raises(PluginError, match="learns from timestamps, and the training rows have none"):
        fitted("TimeBoundedPopScore", {}, replace(train, timestamps=None))


def test_a_pair_that_occurs_twice_is_refused(train: Interactions) -> None:
    with pytest.raises(PluginError, match=r"2 rows repeat the user and item of another.*data\.duplicates"):
        fitted("popularity", {}, train.select(np.r_[0, 0, 0 : len(train), 1][1:]))
