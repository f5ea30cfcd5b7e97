"""A table as its source prints it, before anything is understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RawTable:
    """The texts of all cells, row by row; a cell that spans several columns or rows is in each of them.

    caption  the caption of the table
    place    the file, and the line at which the table begins
    """

    rows: Sequence[Sequence[str]]
    caption: str = ""
    place: str = ""

    @property
    def summary(self) -> str:
        """The place, the size and the caption of the table."""
        width = max(map(len, self.rows), default=0)
        return f"{self.place}, {len(self.rows)} x {width}: {self.caption or 'without a caption'}"
