"""TREC files: runs (topic Q0 document rank score tag) and relevance judgements, qrels (topic 0 document grade)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from repro.data.io.compressed import lines_of
from repro.data.io.delimited import line_number, read_columns
from repro.data.io.ids import Values, Where
from repro.data.io.sniff import Layout
from repro.errors import DataError

_RUN = ("user", "Q0", "item", "rank", "score", "tag")
_QRELS = ("user", "0", "item", "rating")


def read_run(file: Path) -> tuple[Mapping[str, Values], Where]:
    """User, item and score of a run; its ranks are not read, as in trec_eval."""
    roles = ("user", "item", "score")
    line = next((line for _, line in lines_of(file)), "")
    delimiter = next((mark for mark in ("\t", " ") if len(line.split(mark)) == len(_RUN)), "")
    if delimiter:  # nearly all runs have exactly one between columns, and are read fast
        layout = Layout(delimiter, _RUN, False, quote="")
        try:
            values, _ = read_columns(file, layout, {role: role for role in roles})
            return values, partial(line_number, file, layout)
        except DataError:  # a line has several blanks between columns, or is not a line of a run
            pass
    return _read_lines(file, _RUN, roles, "topic Q0 document rank score tag")


def read_qrels(file: Path, encoding: str) -> tuple[Mapping[str, Values], Where]:
    """User, item and grade (the rating) of relevance judgements."""
    return _read_lines(file, _QRELS, ("user", "item", "rating"), "topic 0 document grade", encoding)


def _read_lines(
    file: Path, names: tuple[str, ...], roles: tuple[str, ...], form: str, encoding: str = "utf-8"
) -> tuple[Mapping[str, Values], Where]:
    """Columns with any white space between them."""
    numbers, rows = [], []
    for number, line in lines_of(file, encoding):
        cells = line.split()
        if cells and len(cells) != len(names):
            is_qrels = names is _RUN and len(cells) == len(_QRELS)
            remedy = "four columns are qrels, which are the truth" if is_qrels else "correct it, or state the format"
            raise DataError(
                f"{file}: line {number:,} has {len(cells)} columns where {len(names)} were expected ({form}): "
                f"{line[:80]!r}; {remedy}"
            )
        if cells:
            numbers.append(number)
            rows.append(cells)
    if not rows:
        raise DataError(f"{file} is empty: it must have lines such as '{form}'")
    table = dict(zip(names, (np.array(column, dtype=object) for column in zip(*rows, strict=True)), strict=True))
    return {role: table[role] for role in roles}, lambda row: f"line {numbers[row]:,}"
