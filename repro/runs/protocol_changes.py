"""Differences between the decisions in the journal of a run and its ``protocol.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repro.protocol import Protocol, Value


@dataclass(frozen=True)
class ProtocolChange:
    """A decision that differs between the journal of a run (``recorded``) and its ``protocol.toml`` (``stated``)."""

    decision: str
    recorded: Value
    stated: Value | None

    @property
    def sentence(self) -> str:
        return f"{self.decision} was {self.recorded!r} when the run was made, and is {self.stated!r} now"


def changes_of(recorded: Mapping[str, Value], stated: Protocol) -> list[ProtocolChange]:
    """The recorded decisions that ``stated`` takes differently, or does not know."""
    return [
        ProtocolChange(decision, value, stated.get(decision))
        for decision, value in recorded.items()
        if stated.get(decision) != value
    ]
