"""Splitters of Elliot, written anew: the rows that it holds out for a seed, without Elliot.

All of them go from user to user, in the order of the ids; the rows of a user are in the order of the source.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from repro.data.interactions import Interactions, RowArray
from repro.errors import PluginError
from repro.plugin import Parameter, Splitter

Folds = list[tuple[RowArray, RowArray]]

_FOLDS = Parameter("folds", 5, "how many folds")
_SAMPLES = Parameter("folds", 1, "how many samples, each of which is a fold")
_CITE = "Anelli et al. (2021), SIGIR, doi:10.1145/3404835.3463245"


def random_subsampling(rows: Interactions, seed: int, *, folds: int, test_ratio: float) -> Folds:
    """``random_subsampling`` with a test_ratio: of every user, floor(n (1 - ratio)) random rows are training."""
    _require_share(test_ratio)
    return _sampled(rows, seed, folds, lambda size: size - int(np.floor(size * (1 - test_ratio))))


def random_leave_n_out(rows: Interactions, seed: int, *, folds: int, n: int) -> Folds:
    """``random_subsampling`` with leave_n_out: n random rows of every user are the test."""
    if any(len(own) < n for own in _users(rows)):
        raise PluginError(f"a user has fewer than {n} rows, of which Elliot cannot leave {n} out; raise data.user_core")
    return _sampled(rows, seed, folds, lambda size: n)


def random_cross_validation(rows: Interactions, seed: int, *, folds: int) -> Folds:
    """``random_cross_validation``: the rows of every user are dealt out in turn; the seed is not used."""
    turns = np.empty(len(rows), dtype=np.int64)
    for own in _users(rows):
        turns[own] = np.arange(len(own)) % folds
    return [_fold(turns == fold) for fold in range(folds)]


def temporal_hold_out(rows: Interactions, seed: int, *, test_ratio: float) -> Folds:
    """``temporal_hold_out``: the earliest floor(n (1 - ratio)) rows of every user are training; no seed is used."""
    _require_share(test_ratio)
    if rows.timestamps is None:
        raise PluginError("elliot/temporal_hold_out orders rows by time, and the data set has no timestamps")
    test = np.zeros(len(rows), dtype=np.bool_)
    for own in _users(rows):
        by_time = own[np.argsort(rows.timestamps[own], kind="stable")]
        test[by_time[int(np.floor(len(own) * (1 - test_ratio))) :]] = True
    return [_fold(test)]


def _sampled(rows: Interactions, seed: int, folds: int, held_out: Callable[[int], int]) -> Folds:
    draws, users = np.random.RandomState(seed), _users(rows)
    made = []
    for _ in range(folds):
        test = np.zeros(len(rows), dtype=np.bool_)
        for own in users:
            of_user = np.arange(len(own)) >= len(own) - held_out(len(own))
            draws.shuffle(of_user)
            test[own[of_user]] = True
        made.append(_fold(test))
    return made


def _require_share(ratio: float) -> None:
    if not 0 < ratio < 1:
        raise PluginError(f"test_ratio = {ratio:g} must lie between 0 and 1")


def _users(rows: Interactions) -> list[RowArray]:
    """The rows of each user."""
    order = np.argsort(rows.users, kind="stable")
    return [own for own in np.split(order, np.cumsum(rows.user_counts())[:-1]) if len(own)]


def _fold(test: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[RowArray, RowArray]:
    return np.flatnonzero(~test), np.flatnonzero(test)


def _splitter(name: str, summary: str, split: Callable[..., Folds], *parameters: Parameter) -> Splitter:
    return Splitter(f"elliot/{name}", f"{name} of Elliot: {summary}", split, parameters, _CITE, own_order=False)


SPLITTERS = (
    _splitter(
        "random_subsampling",
        "a random share of the rows of every user",
        random_subsampling,
        _SAMPLES,
        Parameter("test_ratio", 0.2, "which share of a user's rows is the test"),
    ),
    _splitter(
        "random_leave_n_out",
        "random_subsampling with n random rows of every user",
        random_leave_n_out,
        _SAMPLES,
        Parameter("n", 1, "how many rows of a user are the test"),
    ),
    _splitter("random_cross_validation", "every user's rows dealt out to folds", random_cross_validation, _FOLDS),
    _splitter(
        "temporal_hold_out",
        "the latest share of the rows of every user",
        temporal_hold_out,
        Parameter("test_ratio", 0.2, "which share of a user's rows is the test"),
    ),
)
