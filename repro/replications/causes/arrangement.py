"""Mistakes in the arrangement of a table: swapped and copied rows and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np

from repro.data.interactions import FloatArray
from repro.replications.causes.cause import Cause

_MOST = 60  # rows or columns; tables with more are not compared pair by pair


def rearranged(rows: Sequence[str], columns: Sequence[str], values: FloatArray) -> Iterator[Cause]:
    """Each swap and each copy of two rows, and of two columns.

    rows, columns  the row and the column of each cell, in words
    values         the measured number of each cell
    """
    for noun, own, other in (("row", rows, columns), ("column", columns, rows)):
        lines: dict[str, dict[str, int]] = {}
        for cell, (line, place) in enumerate(zip(own, other, strict=True)):
            lines.setdefault(line, {}).setdefault(place, cell)
        if len(lines) > _MOST:
            continue
        for first, second in combinations(lines, 2):
            shared = _shared(lines[first], lines[second])
            if len(shared[0]):
                name = f"swapped {noun}s: the numbers of {first} and {second} are exchanged"
                cells, sources = np.concatenate(shared), np.concatenate(shared[::-1])
                yield Cause(name, "mistake", cells, values[sources], breadth=1, decided=False)
        for first, second in permutations(lines, 2):
            cells, sources = _shared(lines[first], lines[second])
            if len(cells):
                name = f"copied {noun}: {first} has the numbers of {second}"
                yield Cause(name, "mistake", cells, values[sources], breadth=1, decided=False)


def _shared(first: Mapping[str, int], second: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The cells of two lines in the places that both have."""
    places = [place for place in first if place in second]
    return tuple(np.array([line[place] for place in places], dtype=np.intp) for line in (first, second))  # type: ignore[return-value]
