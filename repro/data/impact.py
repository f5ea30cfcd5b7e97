"""The impact of a decision: how many users, rows or scores it affected."""

from __future__ import annotations

from dataclasses import dataclass

from repro.protocol import Value


@dataclass(frozen=True)
class Impact:
    """How many of how many things a decision affected.

    ``unit`` names the things in the plural (``users``, ``scores``); ``note`` says what was done with them.
    """

    decision: str
    value: Value
    touched: int
    total: int
    unit: str
    note: str = ""

    @property
    def sentence(self) -> str:
        """``ties.break=item-asc: 311 of 943 users had a tie across rank 10``."""
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        counts = f"{self.decision}={value}: {self.touched:,} of {self.total:,} {self.unit}"
        return f"{counts} {self.note}" if self.note else counts
