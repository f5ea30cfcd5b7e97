"""The box above the answer: suspicious findings, failed cells, and notes on the numbers."""

from __future__ import annotations

from repro.reports.html import Items, render
from repro.reports.run.run_view import RunView
from repro.text import plural

# Notes longer than about three lines are folded, as the answer comes below them.
_LONG_NOTES = 360


def findings_boxes(view: RunView) -> list[object]:
    """A box of warnings with a sentence for each kind of finding, one of failed cells, and one of notes."""
    lines = [f"{cell}: {error}" for cell, error in view.run.failed.items()]
    failures = [Items(lines, css="warning", title="Not all cells were finished.")] if lines else []
    notes = [finding for finding in view.findings if finding.severity == "note"]
    count = ""
    if sum(len(str(note)) for note in notes) > _LONG_NOTES:
        algorithms = len({name for note in notes for name in note.algorithms})
        count = f"{plural(len(notes), 'note')} about {plural(algorithms, 'algorithm')}"
    return [
        *_box(view, "warning", "Suspicious."),
        *failures,
        *_box(view, "note", "To be read with the numbers.", count),
    ]


def _box(view: RunView, severity: str, title: str, count: str = "") -> list[object]:
    """The findings of a severity in a box; with ``count``, which describes them, the box is folded."""
    findings = {number: finding for number, finding in enumerate(view.findings, 1) if finding.severity == severity}
    if not findings:
        return []
    names = {number: view.names(finding.algorithms) for number, finding in findings.items()}
    return [render("run_findings.html.j2", findings=findings, names=names, css=severity, title=title, count=count)]
