"""CSV files that people open in a spreadsheet: text that begins like a formula stays text.

A cell of text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe before it.
So does text that begins with apostrophes followed by such a character, so that every text can be read back exactly.
Numbers are unchanged, even as text: ``-1`` is not a formula.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile("'*[=+\\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def cell_of(text: str) -> str:
    """The cell of a CSV file that shows ``text`` and is never computed as a formula."""
    return f"'{text}" if _is_formula(text) else text


def text_of(cell: str) -> str:
    """The text of a cell that :func:`cell_of` wrote."""
    return cell[1:] if cell[:1] == "'" and _is_formula(cell[1:]) else cell


class CellWriter:
    """Writes rows as CSV, as :func:`csv.writer` does."""

    def __init__(self, sink: TextIO) -> None:
        self._sink = sink

    def writerow(self, row: Iterable[object]) -> None:
        cells = [cell_of(cell) if isinstance(cell, str) else cell for cell in row]
        csv.writer(self._sink, lineterminator="\n", quoting=_quoting(cells)).writerow(cells)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV."""
    sink = io.StringIO()
    writer = CellWriter(sink)
    for row in rows:
        writer.writerow(row)
    return sink.getvalue()


def frame_csv(frame: pd.DataFrame, separator: str = ",") -> bytes:
    """A data frame as CSV, in UTF-8."""
    shown = frame.rename(columns={name: cell_of(name) for name in frame.columns if isinstance(name, str)})
    quoting: int = csv.QUOTE_MINIMAL
    for place, kind in enumerate(shown.dtypes):
        if kind.kind not in "biufcmM":
            values = [cell_of(cell) if isinstance(cell, str) else cell for cell in shown.iloc[:, place]]
            shown.isetitem(place, values)
            quoting = max(quoting, _quoting(values))
    text: str = shown.to_csv(None, index=False, sep=separator, lineterminator="\n", quoting=quoting)  # type: ignore[call-overload]
    return text.encode()


def _quoting(cells: Iterable[object]) -> Literal[0, 2]:
    """Text is quoted where it must be; all of it where some has a carriage return, which the csv module overlooks."""
    has_return = any(isinstance(cell, str) and "\r" in cell for cell in cells)
    return csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL
