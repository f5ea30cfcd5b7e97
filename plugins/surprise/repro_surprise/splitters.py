"""Surprise's cross-validation iterators as splitters, which hold out exactly the rows that Surprise holds out.

An iterator gets a data set in which the rating of a row is its position, which identifies the rows of its folds.
``random_state`` is the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from repro.data.interactions import Interactions, RowArray
from repro.errors import PluginError
from repro.plugin import Parameter, ParameterValue, Splitter
from repro.protocol import When

Folds = list[tuple[RowArray, RowArray]]
Row = tuple[int, int, int, None]

_CITE = "Hug (2020), JOSS 5(52), doi:10.21105/joss.02174"
_N_SPLITS = Parameter("n_splits", 5, "how many folds")
_SHUFFLE = Parameter("shuffle", True, "whether the rows are shuffled first")
_SHUFFLED = When("shuffle", (True,))


def _splitter(name: str, summary: str, *parameters: Parameter, own_order: bool | When = True) -> Splitter:
    return Splitter(f"surprise/{name}", summary, partial(split, name), parameters, _CITE, own_order)


def _shuffle_split(
    rows: Interactions, seed: int, *, n_splits: int, test_size: float, train_size: float, shuffle: bool
) -> Folds:
    if test_size < 0 and train_size < 0:
        raise PluginError("neither test_size nor train_size says how many rows to take; give one of them")
    sizes = {"test_size": _size(test_size), "train_size": _size(train_size)}
    return split("ShuffleSplit", rows, seed, n_splits=n_splits, shuffle=shuffle, **sizes)


def _size(value: float) -> float | int | None:
    """A share or a number of rows, which Surprise distinguishes by type."""
    if value < 0:
        return None
    return value if value < 1 else int(value)


def split(name: str, rows: Interactions, seed: int, **parameters: ParameterValue | None) -> Folds:
    """The folds of Surprise's iterator of that name."""
    try:
        from surprise import model_selection
    except ImportError:
        raise PluginError(
            f"surprise/{name} splits in this process, and Surprise is not installed in it; "
            "pip install 'recsys-repro-surprise[framework]'"
        ) from None
    iterator = getattr(model_selection, name)(random_state=seed, **parameters)
    return list(iterator.split(_Positions(rows)))


class _Positions:
    """A data set for Surprise's iterators, with the position of each row as its rating."""

    def __init__(self, rows: Interactions) -> None:
        pairs = zip(rows.users.tolist(), rows.items.tolist(), strict=True)
        self.raw_ratings: list[Row] = [(user, item, position, None) for position, (user, item) in enumerate(pairs)]

    def construct_trainset(self, rows: Sequence[Row]) -> RowArray:
        return np.array([row[2] for row in rows], dtype=np.int64)

    construct_testset = construct_trainset


SPLITTERS = (
    _splitter("KFold", "Surprise's k folds of all rows", _N_SPLITS, _SHUFFLE, own_order=_SHUFFLED),
    _splitter(
        "RepeatedKFold",
        "Surprise's k folds of all rows, several times",
        _N_SPLITS,
        Parameter("n_repeats", 10, "how often the folds are drawn"),
    ),
    Splitter(
        "surprise/ShuffleSplit",
        "Surprise's random rows for test and for training, several times",
        _shuffle_split,
        (
            _N_SPLITS,
            Parameter("test_size", 0.2, "test rows: a share below 1, or their number; -1: all but those of training"),
            Parameter("train_size", -1.0, "training rows: a share below 1, or their number; -1: all but those of test"),
            _SHUFFLE,
        ),
        _CITE,
        _SHUFFLED,
    ),
    _splitter(
        "LeaveOneOut",
        "Surprise's one random row of each user, several times",
        _N_SPLITS,
        Parameter("min_n_ratings", 0, "fewest training rows of a user; users with fewer are left out altogether"),
    ),
)
