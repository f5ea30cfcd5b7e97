"""Splitters of libraries, written anew: the rows that they hold out for a seed, without the library.

``recommenders`` is Microsoft's, ``lightfm`` the one of Kula. They draw with NumPy's old generator, RandomState, in the
order of the rows of the source.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions, RowArray
from repro.errors import PluginError
from repro.plugin import Parameter, Splitter

Folds = Sequence[tuple[RowArray, RowArray]]

_RATIO = Parameter("ratio", 0.75, "which share of the rows is in training")
_MIN_RATING = Parameter("min_rating", 1, "users (or items) with fewer rows are left out")
_FILTER_BY = Parameter("filter_by", "user", "of whom the share is taken", ("user", "item"))
_BORDER = Parameter(
    "border",
    "rounded",
    "where training ends: after the share of the rows, rounded to the nearest, halves to even, as the library has it "
    "since July 2022; or before the first row beyond the share, as it had it before",
    ("rounded", "share"),
)
_GRAPH = "Graham, Min & Wu (2019), RecSys, doi:10.1145/3298689.3346967"


def random_split(rows: Interactions, seed: int, *, ratio: float) -> Folds:
    """``python_random_split`` of recommenders, which is ``train_test_split`` of scikit-learn.

    The first rows of a permutation are the test, as many as are not the share of training, rounded down.
    """
    _require_share(ratio, "ratio")
    order = np.random.RandomState(seed).permutation(len(rows))
    train = int(np.floor(ratio * len(rows)))
    test = len(rows) - train
    return [(order[test:], order[:test])]


def stratified_split(
    rows: Interactions, seed: int, *, ratio: float, min_rating: int, filter_by: str, border: str
) -> Folds:
    """``python_stratified_split`` of recommenders: of each user (or item) the rows with the smallest draws are kept."""
    kept = _frequent(rows, min_rating, filter_by)
    draws = np.random.RandomState(seed).rand(len(kept))
    return _by_group(rows, kept, draws, ratio, filter_by, border)


def chrono_split(rows: Interactions, seed: int, *, ratio: float, min_rating: int, filter_by: str, border: str) -> Folds:
    """``python_chrono_split`` of recommenders: of each user (or item) the earliest rows are kept; the seed is not used.

    Rows of equal time are in the order of the source.
    """
    if rows.timestamps is None:
        raise PluginError("recommenders/chrono orders rows by time, and the data set has no timestamps")
    kept = _frequent(rows, min_rating, filter_by)
    return _by_group(rows, kept, rows.timestamps[kept], ratio, filter_by, border)


def lightfm_split(rows: Interactions, seed: int, *, test_percentage: float) -> Folds:
    """``random_train_test_split`` of LightFM, for a matrix in coordinates with the rows in the order of the source."""
    _require_share(test_percentage, "test_percentage")
    order = np.arange(len(rows))
    np.random.RandomState(seed).shuffle(order)
    train = int((1.0 - test_percentage) * len(rows))
    return [(order[:train], order[train:])]


def _require_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise PluginError(f"{name} = {value:g} must lie between 0 and 1")


def _frequent(rows: Interactions, least: int, filter_by: str) -> RowArray:
    """The rows of the users (or items) with at least so many."""
    codes = rows.users if filter_by == "user" else rows.items
    return np.flatnonzero(np.bincount(codes)[codes] >= least)


def _by_group(
    rows: Interactions, kept: RowArray, keys: npt.NDArray[np.generic], ratio: float, filter_by: str, border: str
) -> Folds:
    """In each group, rows by ascending key: the first ones are training, the others the test."""
    _require_share(ratio, "ratio")
    codes = (rows.users if filter_by == "user" else rows.items)[kept]
    order = np.lexsort((keys, codes))
    codes = codes[order]
    counts = np.bincount(codes)[codes]
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    places = np.arange(len(codes)) - np.repeat(starts, np.diff(np.r_[starts, len(codes)])) + 1
    if border == "share":
        shares, ends = places / counts, np.cumsum([ratio, 1 - ratio])
        train, test = shares <= ends[0], (shares > ends[0]) & (shares <= ends[1])
    else:
        train = places <= np.round(ratio * counts)
        test = ~train & (places <= np.round(np.cumsum([ratio, 1 - ratio])[1] * counts))
    ordered = kept[order]
    return [(ordered[train], ordered[test])]


SPLITTERS = (
    Splitter(
        "recommenders/random",
        "python_random_split of Microsoft's recommenders: a random share of all rows",
        random_split,
        (_RATIO,),
        _GRAPH,
    ),
    Splitter(
        "recommenders/stratified",
        "python_stratified_split of Microsoft's recommenders: a random share of the rows of every user or item",
        stratified_split,
        (_RATIO, _MIN_RATING, _FILTER_BY, _BORDER),
        _GRAPH,
    ),
    Splitter(
        "recommenders/chrono",
        "python_chrono_split of Microsoft's recommenders: the latest share of the rows of every user or item",
        chrono_split,
        (_RATIO, _MIN_RATING, _FILTER_BY, _BORDER),
        _GRAPH,
    ),
    Splitter(
        "lightfm/random_train_test_split",
        "random_train_test_split of LightFM: a random share of all rows",
        lightfm_split,
        (Parameter("test_percentage", 0.2, "which share of the rows is the test"),),
        "Kula (2015), arXiv:1507.08439",
    ),
)
