"""Findings of a review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

SEVERITIES = {
    "error": "contradicts what is stated, or lets the evaluation see what it must not",
    "warning": "changes numbers, or needs an explanation that the artefact does not give",
    "note": "a fact about the files, as the numbers of a methods section need it",
    "undetermined": "cannot be told from the files",
}
EXAMPLES = 5


@dataclass(frozen=True)
class Example:
    """A case of a finding: what it is, and its places, each a file with a line or row."""

    text: str
    places: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The case with its places."""
        return f"{self.text} ({'; '.join(self.places)})" if self.places else self.text

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-compatible data."""
        return {"text": self.text, "places": list(self.places)}


@dataclass(frozen=True)
class Finding:
    """A finding.

    check     the name of the check, such as ``test-in-training``
    severity  a name of :data:`SEVERITIES`
    text      the finding as a sentence
    how       how it was computed
    count     the number of cases, of ``total`` that there could be
    examples  the first cases in the order of the file
    data      the data set that it is about; empty for the whole folder
    """

    check: str
    severity: str
    text: str
    how: str
    count: int | None = None
    total: int | None = None
    examples: tuple[Example, ...] = ()
    data: str = ""

    def about(self, data: str) -> Finding:
        """The finding with the name of its data set."""
        return replace(self, data=data)

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-compatible data."""
        return {**vars(self), "examples": [example.to_dict() for example in self.examples]}


def by_severity(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, the most severe first."""
    order = list(SEVERITIES)
    return sorted(findings, key=lambda finding: order.index(finding.severity))
