"""The impact of a decision: how many users, rows or scores it affected."""

from __future__ import annotations

from dataclasses import dataclass

from repro.protocol import Protocol, Value


@dataclass(frozen=True)
class Impact:
    """The number of users, rows or scores that a decision affected, of how many.

    ``unit`` names what is counted, in the plural (``users``, ``scores``); ``note`` says what was done with it.
    """

    decision: str
    value: Value
    touched: int
    total: int
    unit: str
    note: str = ""

    @classmethod
    def of(cls, protocol: Protocol, decision: str, touched: int, total: int, unit: str, note: str = "") -> Impact:
        """The impact of a decision with the value that it has in ``protocol``."""
        return cls(decision, protocol[decision], touched, total, unit, note)

    @property
    def sentence(self) -> str:
        """``ties.break=item-asc: 311 of 943 users had a tie across rank 10``."""
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        counts = f"{self.decision}={value}: {self.touched:,} of {self.total:,} {self.unit}"
        return f"{counts} {self.note}" if self.note else counts
