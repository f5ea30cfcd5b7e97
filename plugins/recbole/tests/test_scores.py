"""Scores through the worker: those of RecBole itself, in any blocks, and nothing about whom it does not know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import UNSCORED, CheckedRecommender, Queries

Fitted = Callable[..., CheckedRecommender]
CANONICAL: list[tuple[str, dict[str, Any]]] = [
    ("popularity", {}),
    ("user-knn", {"k": 30}),
    ("item-knn", {"k": 20, "shrink": 5.0}),
    ("ease", {}),
    ("bpr", {"factors": 16, "epochs": 2, "regularisation": 0.001}),
]
each = pytest.mark.parametrize(("name", "parameters"), CANONICAL, ids=[name for name, _ in CANONICAL])


def everything(train: Interactions) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    return np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)


def known(train: Interactions) -> npt.NDArray[np.bool_]:
    return (train.user_counts() > 0)[:, None] & (train.item_counts() > 0)[None, :]


def bits(
    recommender: CheckedRecommender, users: npt.NDArray[np.int32], items: npt.NDArray[np.int32]
) -> npt.NDArray[np.uint64]:
    return recommender.score_users(users, items).values.view(np.uint64)


@each
def test_scores_are_those_of_recbole_itself(
    name: str, parameters: dict[str, Any], fitted: Fitted, recbole_itself: Callable[[str], Any], train: Interactions
) -> None:
    recommender = fitted(name, parameters, train)
    scores = recommender.score_users(*everything(train))
    cells = known(train)
    assert np.isnan(recbole_itself(name)[~cells]).all()
    np.testing.assert_allclose(scores.values[cells], recbole_itself(name)[cells], rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["item-knn", "ease"])
def test_users_and_items_without_training_rows_are_unscored(name: str, fitted: Fitted, some: Interactions) -> None:
    scores = fitted(name, {}, some).score_users(*everything(some))
    assert scores.state is not None
    np.testing.assert_array_equal(scores.state == UNSCORED, ~known(some))
    np.testing.assert_array_equal(np.isnan(scores.values), ~known(some))


@pytest.mark.parametrize("name", ["popularity", "random"])
def test_where_the_user_plays_no_part_only_items_are_unscored(name: str, fitted: Fitted, some: Interactions) -> None:
    scores = fitted(name, {}, some).score_users(*everything(some))
    assert scores.state is not None
    without_rows = np.broadcast_to(some.item_counts() == 0, scores.state.shape)
    np.testing.assert_array_equal(scores.state == UNSCORED, without_rows)


def test_where_all_are_known_there_is_no_state(fitted: Fitted, some: Interactions) -> None:
    users, items = (np.flatnonzero(n).astype(np.int32) for n in (some.user_counts(), some.item_counts()))
    assert fitted("ease", {}, some).score_users(users, items).state is None


def test_nobody_and_nothing_can_be_asked_for(fitted: Fitted, some: Interactions) -> None:
    recommender = fitted("bpr", {"factors": 4, "epochs": 1}, some)
    users, items = everything(some)
    assert recommender.score_users(users[:0], items).values.shape == (0, some.n_items)
    assert recommender.score_users(users, items[:0]).values.shape == (some.n_users, 0)


@pytest.mark.parametrize("name", ["random", "ease", "bpr", "multi-vae"])
def test_a_score_has_the_same_bits_whatever_it_is_asked_with(name: str, fitted: Fitted, some: Interactions) -> None:
    parameters = {"epochs": 1} if name in ("bpr", "multi-vae") else {}
    recommender = fitted(name, parameters, some)
    users, items = everything(some)
    complete = bits(recommender, users, items)
    np.testing.assert_array_equal(bits(recommender, users, items), complete)
    chosen = np.random.default_rng(3).permutation(users)[:45]
    np.testing.assert_array_equal(bits(recommender, chosen, items[::-7]), complete[chosen][:, ::-7])
    np.testing.assert_array_equal(bits(recommender, chosen[:1], items), complete[chosen[:1]])


@pytest.mark.parametrize("name", ["random", "popularity", "bpr"])
def test_a_seed_and_nothing_else_decides(name: str, fitted: Fitted, some: Interactions) -> None:
    parameters = {"epochs": 1} if name == "bpr" else {}
    block = everything(some)
    first = bits(fitted(name, parameters, some), *block)
    shuffled = some.select(np.random.default_rng(5).permutation(len(some)))
    np.testing.assert_array_equal(bits(fitted(name, parameters, shuffled), *block), first)
    assert not np.array_equal(bits(fitted(name, parameters, some, seed=12), *block), first)
    fitted(name, parameters, some, seed=2**63 + 1)  # more than NumPy's generator takes


def test_ease_is_that_of_the_reference(fitted: Fitted, some: Interactions) -> None:
    from repro_reference.ease import EASE

    reference = EASE(regularisation=250.0)
    reference.fit(some, seed=0)
    values = fitted("ease", {}, some).score_users(*everything(some)).values
    cells = known(some)
    np.testing.assert_allclose(
        values[cells], reference.score(Queries.of(some), everything(some)[1]).values[cells], rtol=0, atol=1e-5
    )


def test_item_knn_sums_cosines_of_the_nearest_items(fitted: Fitted, some: Interactions) -> None:
    matrix = some.matrix().toarray() > 0
    common = matrix.T.astype(float) @ matrix
    norms = np.sqrt(matrix.sum(axis=0))
    cosines = common / (norms[:, None] * norms[None, :] + 2.0 + 1e-6)
    np.fill_diagonal(cosines, 0.0)
    cells = known(some)
    values = fitted("item-knn", {"k": some.n_items, "shrink": 2.0}, some).score_users(*everything(some)).values
    np.testing.assert_allclose(values[cells], (matrix @ cosines)[cells], rtol=0, atol=1e-4)


def test_popularity_counts_batches_and_not_users(fitted: Fitted, some: Interactions) -> None:
    """RecBole counts an item once in a batch, and drawn items too (its issues 1844 and 2198).

    Its count is that of users only if nothing is drawn and every row is a batch of its own.
    """
    counts = some.item_counts()
    block = np.arange(1, dtype=np.int32), np.flatnonzero(counts).astype(np.int32)
    shares = counts[block[1]] / counts.max()
    one_by_one = (
        fitted("popularity", {"distribution": "none", "train_batch_size": 1}, some).score_users(*block).values[0]
    )
    np.testing.assert_allclose(one_by_one, shares, rtol=0, atol=1e-12)
    assert np.abs(fitted("popularity", {}, some).score_users(*block).values[0] - shares).max() > 0.5


def test_random_differs_between_users_and_is_uniform(fitted: Fitted, some: Interactions) -> None:
    values = fitted("random", {}, some).score_users(*everything(some)).values[:, some.item_counts() > 0]
    assert (values[0] != values[1]).all()
    assert ((values >= 0) & (values < 1)).all()
    assert abs(values.mean() - 0.5) < 0.02


def test_no_rows_are_refused(fitted: Fitted, some: Interactions) -> None:
    with pytest.raises(PluginError, match="EASE cannot learn from no training rows"):
        fitted("ease", {}, some.select(np.zeros(0, dtype=np.int64)))


def test_a_user_who_has_all_items_is_named(fitted: Fitted, some: Interactions) -> None:
    entry = some.select(some.users == some.users[0])
    user = some.user_ids[some.users[0]]
    with pytest.raises(PluginError, match=f"BPR draws items that a user does not have, and user {user} has all"):
        fitted("bpr", {"epochs": 1}, entry)
    assert np.isfinite(fitted("ease", {}, entry).score_users(entry.users[:1], entry.items[:3]).values).all()


def test_a_process_is_left_as_it_was(inside: Callable[..., str], tmp_path: Path) -> None:
    assert inside("no_traces.py", "--epochs=77", folder=tmp_path).split() == ["left", "as", "it", "was"]
    assert not list(tmp_path.iterdir())
