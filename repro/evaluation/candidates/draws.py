"""Sampled negatives: counter-based draws, compiled.

The j-th draw of a list is a hash of the list's key and j, so a list depends only on its key and its pool. Draws are
taken from the whole pool; draws of an excluded item, or of an item that is already drawn, are rejected. This is
successive sampling: each new item is drawn with probability proportional to its weight among the remaining items.

After ``4 * size + 32`` draws, the missing items are drawn directly from the remaining ones. This has the same
distribution, and also ends if nearly all items are drawn or if a few items have nearly all the weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from repro.compiling import compiled, inlined
from repro.data.interactions import RowArray
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.candidates.ragged import Ragged, offsets_of
from repro.rng import KeyArray, combine, mix

inlined(mix, combine)

ColumnArray = npt.NDArray[np.int32]
StateArray = npt.NDArray[np.uint8]
CountArray = npt.NDArray[np.int64]
Arrays = tuple[npt.NDArray[Any], ...]

FREE, CLOSED, DRAWN, ADDED = 0, 1, 2, 3
_TO_UNIT = 2.0**-53
_S11 = np.uint64(11)


@dataclass(frozen=True, eq=False)
class Pools:
    """The pools to draw from: the columns of each stratum, in ascending order of item code.

    ``weights`` are the numbers of training rows of each column, or all 1 if draws are uniform (``weighted`` False).
    """

    columns: Ragged
    weights: CountArray
    weighted: bool

    @cached_property
    def cumulative(self) -> CountArray:
        """The cumulative weights of ``columns`` within their pool."""
        sums = np.cumsum(self.weights[self.columns.values])
        before = np.concatenate([[0], sums])[self.columns.offsets[:-1]]
        return sums - np.repeat(before, self.columns.lengths)

    @cached_property
    def guide(self) -> CountArray:
        """The positions from which to search for a sum in ``cumulative`` (the guide table of Chen & Asau 1974).

        A pool of n columns and weight w has n steps; ``guide`` has the first position whose sum exceeds that of the
        step, floor(step * w / n).
        """
        guide = np.empty(len(self.cumulative), dtype=np.int64)
        for start, end in pairwise(self.columns.offsets):
            sums = self.cumulative[start:end]
            if end > start:
                steps = np.arange(end - start) * sums[-1] // (end - start)
                guide[start:end] = np.searchsorted(sums, steps, side="right")
        return guide


@dataclass(frozen=True, eq=False)
class ListDraws:
    """The lists to draw for.

    strata     the stratum of each list, which is its pool
    keys       the key of each list's random stream
    available  the number of columns of its pool that may be drawn
    rows       the row of ``closed`` with the columns that may not be drawn for the list
    added      the columns that each list has in addition
    """

    strata: npt.NDArray[np.int32]
    keys: KeyArray
    available: RowArray
    rows: npt.NDArray[np.int32]
    closed: Ragged
    added: Ragged


def draw_negatives(pools: Pools, lists: ListDraws, size: int, replacement: bool) -> Ragged:
    """For each list, ``size`` columns drawn from its pool and the added ones, together in ascending order.

    If fewer than ``size`` columns are available, all of them are taken (with replacement: some of them, in ``size``
    draws).
    """
    nothing = np.empty(0, dtype=np.int64)
    slots = offsets_of(lists.added.lengths + np.minimum(lists.available, size))
    columns = np.empty(slots[-1], dtype=np.int32)
    lengths = np.empty(len(lists.rows), dtype=np.int64)
    sums = (pools.cumulative, pools.guide) if pools.weighted else (nothing, nothing)
    pool_arrays: Arrays = (pools.columns.offsets, pools.columns.values, *sums, pools.weights)
    closed, added = ((ragged.offsets, ragged.values) for ragged in (lists.closed, lists.added))
    list_arrays: Arrays = (lists.strata, lists.keys, lists.available, lists.rows, *closed, *added, slots)
    pool_inputs, list_inputs = tuple(map(_input, pool_arrays)), tuple(map(_input, list_arrays))
    _draw_lists(pool_inputs, list_inputs, size, replacement, columns, lengths)
    filled = Ragged(slots, columns)
    if (lengths == filled.lengths).all():
        return filled
    within = np.arange(len(columns)) - np.repeat(slots[:-1], filled.lengths)
    return filled.keep(within < np.repeat(lengths, filled.lengths))


def _input(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view: some arrays are in shared memory, and Numba would compile a version for every combination."""
    view = array.view()
    view.flags.writeable = False
    return view


class _Pool(NamedTuple):
    """One pool; ``sums`` and ``guide`` are empty if draws are uniform, ``weights`` are those of all columns."""

    columns: ColumnArray
    sums: CountArray
    guide: CountArray
    weights: CountArray


class _Sample(NamedTuple):
    """The sample of one list: its random key, the state of each column, and the columns drawn so far."""

    key: np.uint64
    state: StateArray
    drawn: ColumnArray


@compiled()
def _draw_lists(
    pools: Arrays, lists: Arrays, size: int, replacement: bool, columns: ColumnArray, lengths: RowArray
) -> None:
    """Draw for each list, and write its columns from its slot on and their number into ``lengths``."""
    # Arrays are taken out of the tuples once: each time counts a reference, which costs more than a draw.
    offsets, pool_columns, cumulative, guide, weights = pools
    strata, keys, available, rows, closed_offsets, closed_columns, added_offsets, added_columns, slots = lists
    state = np.zeros(len(weights), dtype=np.uint8)
    drawn = np.empty(size + 1, dtype=np.int32)
    buffer = np.empty(len(weights) + 1, dtype=np.int32)
    marked = -1
    for number in range(len(rows)):
        if rows[number] != marked:
            if marked >= 0:
                _mark(state, _part(closed_columns, closed_offsets, marked), FREE)
            marked = rows[number]
            _mark(state, _part(closed_columns, closed_offsets, marked), CLOSED)
        start, end = offsets[strata[number]], offsets[strata[number] + 1]
        pool = _Pool(pool_columns[start:end], cumulative[start:end], guide[start:end], weights)
        n_drawn = _draw_list(pool, _Sample(keys[number], state, drawn), available[number], size, replacement)
        added = _part(added_columns, added_offsets, number)
        n_columns = _collect(pool.columns, state, drawn[:n_drawn], added, buffer)
        lengths[number] = n_columns
        columns[slots[number] : slots[number] + n_columns] = buffer[:n_columns]


@compiled()
def _part(columns: ColumnArray, offsets: Offsets, number: int) -> ColumnArray:
    return columns[offsets[number] : offsets[number + 1]]


@compiled()
def _mark(state: StateArray, columns: ColumnArray, mark: int) -> None:
    for column in columns:
        state[column] = mark


@compiled()
def _unit(key: np.uint64, draw: int) -> float:
    """The ``draw``-th uniform number of stream ``key``, in [0, 1)."""
    return np.float64(combine(key, np.uint64(draw)) >> _S11) * _TO_UNIT


@compiled()
def _position_of(reached: int, sums: CountArray, guide: CountArray) -> int:
    """The first position whose cumulative weight exceeds ``reached``."""
    position = guide[reached * len(sums) // sums[-1]]
    while sums[position] <= reached:
        position += 1
    return position


@compiled()
def _draw_list(pool: _Pool, sample: _Sample, available: int, size: int, replacement: bool) -> int:
    """Draw columns and mark them in the state; returns the number of distinct columns drawn."""
    if available == 0:
        return 0
    columns, sums, guide, _ = pool
    key, state, drawn = sample
    missing = size if replacement else min(size, available)
    attempts = 0 if missing == available and not replacement else 4 * missing + 32
    weighted = len(sums) > 0
    total = sums[-1] if weighted else len(columns)
    if total == 0:
        attempts = 0
    n_drawn = 0
    for attempt in range(attempts):
        if missing == 0:
            break
        position = int(_unit(key, attempt) * total)
        if weighted:
            position = _position_of(position, sums, guide)
        column = columns[position]
        if state[column] == FREE:
            state[column] = DRAWN
            drawn[n_drawn] = column
            n_drawn += 1
            missing -= 1
        elif replacement and state[column] == DRAWN:
            missing -= 1
    if missing == 0:
        return n_drawn
    if replacement:
        return _draw_remaining_replaced(pool, sample, attempts, missing, n_drawn)
    return _draw_remaining(pool, sample, attempts, missing, n_drawn)


@compiled()
def _draw_remaining(pool: _Pool, sample: _Sample, attempts: int, missing: int, n_drawn: int) -> int:
    """Draw the ``missing`` columns from the remaining ones.

    Weighted draws use arrival times (Efraimidis & Spirakis 2006), uniform ones a partial shuffle. Columns of weight 0
    come after all others, in random order.
    """
    columns, sums, _, weights = pool
    key, state, drawn = sample
    remaining = columns[state[columns] == FREE]
    heavy = 0
    if len(sums):
        arrival = np.full(len(remaining), np.inf)
        for position in range(len(remaining)):
            weight = weights[remaining[position]]
            if weight > 0:
                arrival[position] = -np.log1p(-_unit(key, attempts + position)) / weight
                heavy += 1
        remaining = remaining[np.argsort(arrival, kind="mergesort")]
    for position in range(missing):
        if position >= heavy:
            unit = _unit(key, attempts + len(remaining) + position)
            other = position + int(unit * (len(remaining) - position))
            remaining[position], remaining[other] = remaining[other], remaining[position]
        state[remaining[position]] = DRAWN
        drawn[n_drawn + position] = remaining[position]
    return n_drawn + missing


@compiled()
def _draw_remaining_replaced(pool: _Pool, sample: _Sample, attempts: int, missing: int, n_drawn: int) -> int:
    """With replacement: ``missing`` more draws from the columns that are not closed."""
    columns, pool_sums, _, weights = pool
    key, state, drawn = sample
    open_columns = columns[(state[columns] == FREE) | (state[columns] == DRAWN)]
    sums = np.cumsum(weights[open_columns])
    if not len(pool_sums) or sums[-1] == 0:
        sums = np.arange(1, len(open_columns) + 1)
    for draw in range(missing):
        threshold = int(_unit(key, attempts + draw) * sums[-1])
        column = open_columns[np.searchsorted(sums, threshold, side="right")]
        if state[column] == FREE:
            state[column] = DRAWN
            drawn[n_drawn] = column
            n_drawn += 1
    return n_drawn


@compiled()
def _collect(pool: ColumnArray, state: StateArray, drawn: ColumnArray, added: ColumnArray, buffer: ColumnArray) -> int:
    """Write drawn and added columns in ascending order into ``buffer``, and clear their marks."""
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
