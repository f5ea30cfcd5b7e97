"""The rows held out are those that Surprise holds out of a data set loaded from the same rows in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from surprise import Dataset, Reader, model_selection

import repro
from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import plugins
from repro.protocol import resolve
from repro.split import make_folds

SEED = 42
CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("KFold", {}, {}),
    ("KFold", {"n_splits": 3, "shuffle": False}, {"n_splits": 3, "shuffle": False}),
    ("RepeatedKFold", {"n_splits": 3, "n_repeats": 2}, {"n_splits": 3, "n_repeats": 2}),
    ("ShuffleSplit", {}, {}),
    ("ShuffleSplit", {"n_splits": 2, "test_size": 0.3, "train_size": 0.45}, None),
    ("ShuffleSplit", {"test_size": -1.0, "train_size": 0.9}, {"test_size": None, "train_size": 0.9}),
    ("ShuffleSplit", {"test_size": 30.0, "shuffle": False}, {"test_size": 30, "shuffle": False}),
    ("LeaveOneOut", {}, {}),
    ("LeaveOneOut", {"n_splits": 2, "min_n_ratings": 13}, None),
]
Rows = list[tuple[Any, Any, float]]


def parameters_of(name: str, options: dict[str, Any]) -> dict[str, Any]:
    return {entry.name: entry.default for entry in plugins().splitters()[f"surprise/{name}"].parameters} | options


def own_folds(name: str, settings: dict[str, Any], rows: Interactions) -> list[tuple[Rows, Rows]]:
    """Training and test rows of each fold as Surprise has them, with raw ids."""
    data = Dataset.load_from_df(rows.to_frame()[["user", "item", "rating"]], Reader(rating_scale=(1, 5)))
    iterator = getattr(model_selection, name)(random_state=SEED, **settings)
    return [(trainset.build_testset(), testset) for trainset, testset in iterator.split(data)]


def as_surprise_has_them(rows: Interactions, positions: np.ndarray) -> Rows:
    part = rows.select(positions)
    return list(zip(part.user_ids[part.users], part.item_ids[part.items], part.ratings, strict=True))


@pytest.mark.parametrize(("name", "options", "settings"), CASES)
def test_the_rows_are_those_of_surprise(
    name: str, options: dict[str, Any], settings: dict[str, Any] | None, train: Interactions
) -> None:
    split = plugins().splitters()[f"surprise/{name}"].split
    ours = split(train, SEED, **parameters_of(name, options))
    theirs = own_folds(name, options if settings is None else settings, train)
    assert len(ours) == len(theirs)
    for (train_rows, test_rows), (own_train, own_test) in zip(ours, theirs, strict=True):
        assert as_surprise_has_them(train, test_rows) == own_test
        assert sorted(as_surprise_has_them(train, train_rows)) == sorted(own_train)


def test_five_folds_of_movielens() -> None:
    rows = repro.load_dataset("ml-100k")
    ours = plugins().splitters()["surprise/KFold"].split(rows, SEED, n_splits=5, shuffle=True)
    theirs = own_folds("KFold", {}, rows)
    for (_, test_rows), (_, own_test) in zip(ours, theirs, strict=True):
        assert as_surprise_has_them(rows, test_rows) == own_test


def test_rows_of_the_same_pair_are_told_apart() -> None:
    rows = Interactions.from_frame(pd.DataFrame({"user": [1, 1, 1, 2], "item": [1, 1, 1, 1], "rating": [1, 2, 3, 4]}))
    for train_rows, test_rows in plugins().splitters()["surprise/KFold"].split(rows, 1, n_splits=4, shuffle=True):
        assert sorted([*train_rows, *test_rows]) == [0, 1, 2, 3]


def test_a_protocol_can_ask_for_them(train: Interactions) -> None:
    decisions = {
        "relevance.rule": "any",
        "candidates.base": "all-items",
        "split.strategy": "surprise/LeaveOneOut",
        "split.surprise-LeaveOneOut.n_splits": 2,
    }
    protocol = resolve(decisions, dict.fromkeys(decisions, "test"))
    folds = make_folds(train, protocol, SEED).folds
    expected = own_folds("LeaveOneOut", {"n_splits": 2}, train)
    assert [set(as_surprise_has_them(train, fold.test)) for fold in folds] == [set(test) for _, test in expected]


def test_users_with_too_few_rows_are_left_out(train: Interactions) -> None:
    split = plugins().splitters()["surprise/LeaveOneOut"].split
    ((train_rows, test_rows),) = split(train, SEED, n_splits=1, min_n_ratings=13)
    few = np.flatnonzero(train.user_counts() <= 13)
    assert len(few)
    assert not np.isin(train.users[np.concatenate([train_rows, test_rows])], few).any()


def test_no_size_at_all_is_refused(train: Interactions) -> None:
    split = plugins().splitters()["surprise/ShuffleSplit"].split
    with pytest.raises(PluginError, match="give one of them"):
        split(train, SEED, n_splits=1, test_size=-1.0, train_size=-1.0, shuffle=True)
