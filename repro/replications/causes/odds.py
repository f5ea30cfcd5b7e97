"""The probability that some cause explains as many numbers by chance.

Many causes are tried, so that one of them gives some numbers of any table. The best cause is therefore compared with
the best ones for tables of other numbers, under the same rules. These numbers are drawn in four ways, and the largest
of the four probabilities counts, because it is unknown why numbers are wrong:

- anywhere in the range of the values of the causes;
- about as far from the measured values as the printed ones are;
- as a cause would move them that is similar to one of those tried, but stronger or weaker, and not equally in all
  cells;
- as the best cause moves them, but stronger or weaker, mostly equally in all cells: the printed digits must show that
  its strength is the right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from repro.data.interactions import FloatArray
from repro.replications.causes.cause import LEAST, SHARE, Cause, IntArray, PrintedNumbers, fit

DRAWS = 1000
LEVEL = 0.01
_MIDDLE = (0.05, 0.95)
_UNEVEN = 0.2  # how much the effect of a similar cause varies between cells at most, as a share of the effect
_STRONGEST = 2.0  # the strongest effect of a similar cause, in multiples of the effect
_SOME = 0.25  # the share of the tables in which the effect of the best cause varies between cells


def probability(causes: Sequence[Cause], table: PrintedNumbers, best: Cause) -> float:
    """The probability that, by chance, one of the causes explains as many numbers as ``best``, or more."""
    competing, met = [cause for cause in causes if _competes(cause, table)], len(fit(best, table).met)
    return max(_tail(competing, table, numbers, met) for numbers in _random_tables(causes, table, best))


def _competes(cause: Cause, table: PrintedNumbers) -> bool:
    """Whether a cause keeps the numbers that hold: those do not vary between random tables."""
    return not fit(cause, table).broken and int(table.off[cause.cells].sum()) >= LEAST


def _tail(causes: Sequence[Cause], table: PrintedNumbers, numbers: FloatArray, met: int) -> float:
    """The share of the tables of ``numbers`` (table x cell) that some cause explains as well."""
    best = np.zeros(len(numbers), dtype=np.int64)
    seen: set[tuple[bytes, bytes]] = set()
    for cause in causes:
        off = table.off[cause.cells]
        cells, values = cause.cells[off], cause.values[off]
        if (key := (cells.tobytes(), values.tobytes())) in seen:
            continue
        seen.add(key)
        count = (np.abs(numbers[:, cells] - values) <= table.reach[cells]).sum(axis=1)
        np.maximum(best, np.where(count >= max(LEAST, SHARE * len(cells)), count, 0), out=best)
    return float((1 + (best >= met).sum()) / (1 + len(numbers)))


def _random_tables(causes: Sequence[Cause], table: PrintedNumbers, best: Cause) -> Iterator[FloatArray]:
    """Tables of numbers, drawn in each of the four ways; numbers that are not in question stay as they are."""
    draws, off = np.random.default_rng(0), np.flatnonzero(table.off)
    shape = DRAWS, len(off)
    own, reach = table.values[off], table.reach[off]
    low, high = _ranges(causes, table, off)
    yield _filled(table, off, draws.uniform(low - reach, high + reach, shape))
    away = 2 * np.abs(table.printed[off] - own)
    yield _filled(table, off, own + draws.uniform(-1.0, 1.0, shape) * away)
    moves = np.array([_moves(cause, table, off) for cause in causes if cause.decided]).reshape(-1, len(off))
    moves = moves[(moves != 0).sum(axis=1) * 2 >= len(off)]
    if len(moves):
        similar = moves[draws.integers(len(moves), size=DRAWS)]
        uneven = draws.uniform(0.0, _UNEVEN, (DRAWS, 1)) * draws.standard_normal(shape)
        strength = draws.uniform(0.0, _STRONGEST, (DRAWS, 1))
        yield _filled(table, off, own + similar * (strength + uneven))
        if best.decided:
            uneven *= draws.random((DRAWS, 1)) < _SOME
            yield _filled(table, off, own + _moves(best, table, off) * (strength + uneven))


def _filled(table: PrintedNumbers, off: IntArray, numbers: FloatArray) -> FloatArray:
    whole = np.tile(table.printed, (len(numbers), 1))
    whole[:, off] = numbers
    return whole


def _ranges(causes: Sequence[Cause], table: PrintedNumbers, off: IntArray) -> tuple[FloatArray, FloatArray]:
    """The middle 90% of the distinct values that the causes give, by cell in question."""
    given: dict[int, set[float]] = {cell: {value} for cell, value in zip(off.tolist(), table.values[off], strict=True)}
    for cause in causes:
        for cell, value in zip(cause.cells.tolist(), cause.values.tolist(), strict=True):
            if cell in given:
                given[cell].add(value)
    ends = np.array([np.quantile(sorted(given[cell]), _MIDDLE) for cell in off.tolist()])
    return ends[:, 0], ends[:, 1]


def _moves(cause: Cause, table: PrintedNumbers, off: IntArray) -> FloatArray:
    """The distance by which a cause moves each number in question; 0 where it does not concern it."""
    moved = table.values.copy()
    moved[cause.cells] = cause.values
    moves: FloatArray = (moved - table.values)[off]
    return moves
