"""Sampled negatives: counter-based draws, compiled.

The j-th draw of a list is a hash of the list's key and j, so a list depends on nothing but its key and its
pool. Draws fall on the whole pool; those on an item that may not be drawn (again) are rejected. That gives
successive sampling: each new item is drawn with probability proportional to its weight among the items left.

After ``4 * size + 32`` draws the rest is taken directly from the items left, which is the same distribution
and ends also where nearly everything is drawn or a few items hold nearly all the weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import register_jitable

from repro.data.interactions import RowArray
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.candidates.ragged import Ragged, offsets_of
from repro.rng import KeyArray, combine, mix

register_jitable(mix)
register_jitable(combine)

ColumnArray = npt.NDArray[np.int32]
StateArray = npt.NDArray[np.uint8]
CountArray = npt.NDArray[np.int64]

FREE, CLOSED, DRAWN, ADDED = 0, 1, 2, 3
_TO_UNIT = 2.0**-53
_S11 = np.uint64(11)


@dataclass(frozen=True, eq=False)
class Pools:
    """What is drawn from: one pool of columns for each stratum, in ascending order of item code.

    ``weights`` are the training rows of each column, or all 1 where draws are uniform (``weighted`` False).
    """

    columns: Ragged
    weights: CountArray
    weighted: bool

    @cached_property
    def cumulative(self) -> CountArray:
        """The sum of the weights up to each place of ``columns``, within its pool."""
        sums = np.cumsum(self.weights[self.columns.values])
        before = np.concatenate([[0], sums])[self.columns.offsets[:-1]]
        return sums - np.repeat(before, self.columns.lengths)

    @cached_property
    def guide(self) -> CountArray:
        """Where to begin looking for a sum in ``cumulative`` (the guide table of Chen & Asau 1974).

        A pool of n columns and weight w is cut into n steps; ``guide`` has the first place whose sum exceeds
        that of the step, floor(step * w / n).
        """
        guide = np.empty(len(self.cumulative), dtype=np.int64)
        for start, end in pairwise(self.columns.offsets):
            sums = self.cumulative[start:end]
            if end > start:
                steps = np.arange(end - start) * sums[-1] // (end - start)
                guide[start:end] = np.searchsorted(sums, steps, side="right")
        return guide


def draw_negatives(
    pools: Pools,
    strata: npt.NDArray[np.int32],
    keys: KeyArray,
    available: RowArray,
    rows: npt.NDArray[np.int32],
    closed: Ragged,
    added: Ragged,
    size: int,
    replacement: bool,
) -> Ragged:
    """For each list, ``size`` columns drawn from its pool and the ``added`` ones, together in ascending order.

    ``rows`` gives the row of ``closed`` with the columns that may not be drawn for a list, and ``available``
    how many of its pool are left then. Where these are fewer than ``size``, all are taken (with replacement:
    some of them, in ``size`` draws).
    """
    nothing = np.empty(0, dtype=np.int64)
    room = offsets_of(added.lengths + np.minimum(available, size))
    columns = np.empty(room[-1], dtype=np.int32)
    lengths = np.empty(len(rows), dtype=np.int64)
    _draw_lists(
        _input(pools.columns.offsets),
        _input(pools.columns.values),
        _input(pools.cumulative if pools.weighted else nothing),
        _input(pools.guide if pools.weighted else nothing),
        _input(pools.weights),
        _input(strata),
        _input(keys),
        _input(available),
        _input(rows),
        _input(closed.offsets),
        _input(closed.values),
        _input(added.offsets),
        _input(added.values),
        size,
        replacement,
        _input(room),
        columns,
        lengths,
    )
    filled = Ragged(room, columns)
    if (lengths == filled.lengths).all():
        return filled
    within = np.arange(len(columns)) - np.repeat(room[:-1], filled.lengths)
    return filled.keep(within < np.repeat(lengths, filled.lengths))


def _input(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array as it is read: all are read-only, as some come from shared memory; else each mixture is compiled."""
    view = array.view()
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True)
def _draw_lists(
    pool_offsets: Offsets,
    pool_columns: ColumnArray,
    cumulative: CountArray,
    guide: CountArray,
    weights: CountArray,
    strata: npt.NDArray[np.int32],
    keys: KeyArray,
    available: RowArray,
    rows: npt.NDArray[np.int32],
    closed_offsets: Offsets,
    closed_columns: ColumnArray,
    added_offsets: Offsets,
    added_columns: ColumnArray,
    size: int,
    replacement: bool,
    room: Offsets,
    columns: ColumnArray,
    lengths: RowArray,
) -> None:
    state = np.zeros(len(weights), dtype=np.uint8)
    drawn = np.empty(size + 1, dtype=np.int32)
    buffer = np.empty(len(weights) + 1, dtype=np.int32)
    marked = -1
    for n in range(len(rows)):
        if rows[n] != marked:
            if marked >= 0:
                _mark(state, closed_columns[closed_offsets[marked] : closed_offsets[marked + 1]], FREE)
            marked = rows[n]
            _mark(state, closed_columns[closed_offsets[marked] : closed_offsets[marked + 1]], CLOSED)
        start, end = pool_offsets[strata[n]], pool_offsets[strata[n] + 1]
        pool = pool_columns[start:end]
        sums, steps = cumulative[start:end], guide[start:end]
        n_drawn = _draw_list(pool, sums, steps, weights, state, keys[n], available[n], size, replacement, drawn)
        added = added_columns[added_offsets[n] : added_offsets[n + 1]]
        lengths[n] = _collect(pool, state, drawn[:n_drawn], added, buffer)
        columns[room[n] : room[n] + lengths[n]] = buffer[: lengths[n]]


@njit(cache=True)
def _mark(state: StateArray, columns: ColumnArray, mark: int) -> None:
    for column in columns:
        state[column] = mark


@njit(cache=True)
def _unit(key: np.uint64, draw: int) -> float:
    """The ``draw``-th uniform number of stream ``key``, in [0, 1)."""
    return np.float64(combine(key, np.uint64(draw)) >> _S11) * _TO_UNIT


@njit(cache=True)
def _place_of(reached: int, sums: CountArray, guide: CountArray) -> int:
    """The first place whose cumulative weight exceeds ``reached``."""
    place = guide[reached * len(sums) // sums[-1]]
    while sums[place] <= reached:
        place += 1
    return place


@njit(cache=True)
def _draw_list(
    pool: ColumnArray,
    sums: CountArray,
    guide: CountArray,
    weights: CountArray,
    state: StateArray,
    key: np.uint64,
    available: int,
    size: int,
    replacement: bool,
    drawn: ColumnArray,
) -> int:
    """Draw into ``drawn``, mark in ``state``; returns how many different columns were drawn."""
    if available == 0:
        return 0
    wanted = size if replacement else min(size, available)
    attempts = 0 if wanted == available and not replacement else 4 * wanted + 32
    total = len(pool) if len(sums) == 0 else sums[-1]
    if total == 0:
        attempts = 0
    n_drawn = 0
    for attempt in range(attempts):
        if wanted == 0:
            break
        place = int(_unit(key, attempt) * total)
        if len(sums):
            place = _place_of(place, sums, guide)
        column = pool[place]
        if state[column] == FREE:
            state[column] = DRAWN
            drawn[n_drawn] = column
            n_drawn += 1
            wanted -= 1
        elif replacement and state[column] == DRAWN:
            wanted -= 1
    if wanted == 0:
        return n_drawn
    if replacement:
        return _rest_replaced(pool, len(sums) > 0, weights, state, key, attempts, wanted, drawn, n_drawn)
    return _rest(pool, len(sums) > 0, weights, state, key, attempts, wanted, drawn, n_drawn)


@njit(cache=True)
def _rest(
    pool: ColumnArray,
    weighted: bool,
    weights: CountArray,
    state: StateArray,
    key: np.uint64,
    attempts: int,
    wanted: int,
    drawn: ColumnArray,
    n_drawn: int,
) -> int:
    """Draw ``wanted`` of the columns left: by arrival times where weighted (Efraimidis & Spirakis 2006), by a
    partial shuffle where not. Columns of weight 0 come after all others, in random order."""
    left = pool[state[pool] == FREE]
    if weighted:
        arrival = np.full(len(left), np.inf)
        heavy = 0
        for place in range(len(left)):
            if weights[left[place]] > 0:
                arrival[place] = -np.log1p(-_unit(key, attempts + place)) / weights[left[place]]
                heavy += 1
        left = left[np.argsort(arrival, kind="mergesort")]
    else:
        heavy = 0
    for place in range(wanted):
        if place >= heavy:
            other = place + int(_unit(key, attempts + len(left) + place) * (len(left) - place))
            left[place], left[other] = left[other], left[place]
        state[left[place]] = DRAWN
        drawn[n_drawn + place] = left[place]
    return n_drawn + wanted


@njit(cache=True)
def _rest_replaced(
    pool: ColumnArray,
    weighted: bool,
    weights: CountArray,
    state: StateArray,
    key: np.uint64,
    attempts: int,
    wanted: int,
    drawn: ColumnArray,
    n_drawn: int,
) -> int:
    """The same with replacement: ``wanted`` more draws from the columns that are not closed."""
    open_columns = pool[(state[pool] == FREE) | (state[pool] == DRAWN)]
    sums = np.cumsum(weights[open_columns])
    if not weighted or sums[-1] == 0:
        sums = np.arange(1, len(open_columns) + 1)
    for draw in range(wanted):
        place = int(_unit(key, attempts + draw) * sums[-1])
        column = open_columns[np.searchsorted(sums, place, side="right")]
        if state[column] == FREE:
            state[column] = DRAWN
            drawn[n_drawn] = column
            n_drawn += 1
    return n_drawn


@njit(cache=True)
def _collect(pool: ColumnArray, state: StateArray, drawn: ColumnArray, added: ColumnArray, buffer: ColumnArray) -> int:
    """Put drawn and added columns in ascending order into ``buffer``, and clear their marks."""
    n = len(drawn) + len(added)
    if len(pool) < 32 * n:  # reading the marks of the pool is faster than sorting
        _mark(state, added, ADDED)
        n = 0
        for column in pool:
            buffer[n] = column
            n += state[column] >= DRAWN
    else:
        buffer[: len(drawn)] = drawn
        buffer[len(drawn) : n] = added
        buffer[:n].sort()
    _mark(state, drawn, FREE)
    _mark(state, added, CLOSED)
    return n
