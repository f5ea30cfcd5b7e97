"""The page of a review: the files and what they are, then the findings about each data set with their evidence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from repro.reports.html import Cell, Details, Heading, Items, Paragraph, Table, page
from repro.reviews import SEVERITIES, Finding, Review
from repro.reviews.artefact.names import OTHER
from repro.runs.written_files import keep_files
from repro.text import plural

PAGE = "review.html"
STYLES = ("reading.css", "review.css")


def write_review(review: Review, folder: Path) -> Path:
    """Write ``review.html`` and ``review.json`` into ``folder``; returns the path of the page."""
    plain = json.dumps(review.to_dict(), indent=1, ensure_ascii=False, default=str) + "\n"
    keep_files(folder, {"review.json": plain.encode(), PAGE: review_page(review).encode()})
    return folder / PAGE


def review_page(review: Review) -> str:
    """The review as HTML."""
    name = review.folder.resolve().name
    blocks = [
        Heading(f"Review of {name}", level=1),
        Paragraph(review.summary, css="lead", strong=True),
        Items([f"{severity}: {meaning}" for severity, meaning in SEVERITIES.items()], title="Severities"),
        *_files(review),
    ]
    for data in ("", *review.data_sets):
        if findings := review.about(data):
            blocks += [Heading(data or "The folder"), *_stated(review, data), *_findings(findings)]
    if review.numbers:
        blocks += _numbers(review)
    return page(f"Review of {name}", blocks, STYLES)


def _files(review: Review) -> list[object]:
    rows = [
        [
            report.name,
            report.role,
            report.how,
            *("" if number is None else f"{number:,}" for number in (report.rows, report.users, report.items)),
            "; ".join(filter(None, (report.form, *report.notes))),
        ]
        for report in review.files
        if report.role != OTHER
    ]
    header = ["file", "role", "recognised", "rows", "users", "items", "read as"]
    blocks: list[object] = [Heading("Files"), Table(header, rows, header[3:6], label="Files")]
    if others := [report.name for report in review.files if report.role == OTHER]:
        blocks.append(
            Details(f"{plural(len(others), 'file')} without rows of users and items, by name", [Items(others)])
        )
    if review.unread:
        unread = [[file.name, "refused" if file.refused else "not read", file.reason] for file in review.unread]
        blocks += [Heading("Files that were not read", level=3), Table(["file", "", "reason"], unread)]
    return blocks


def _stated(review: Review, data: str) -> list[object]:
    """The statements of the paper about a data set, folded."""
    rows = [[name, str(value)] for name, value in review.stated.get(data, {}).items()]
    return [Details("stated by the paper", [Table(["", "stated"], rows)])] if rows else []


def _findings(findings: Sequence[Finding]) -> list[object]:
    rows = [
        [
            Cell(finding.severity, css=f"severity {finding.severity}", title=SEVERITIES[finding.severity]),
            finding.text,
            "" if finding.count is None else f"{finding.count:,}",
            "" if finding.total is None else f"{finding.total:,}",
            finding.how,
        ]
        for finding in findings
    ]
    blocks: list[object] = [
        Table(["severity", "finding", "count", "of", "how it was computed"], rows, ["count", "of"], label="Findings")
    ]
    blocks += [
        Details(f"{finding.check}: examples", [Items([example.sentence for example in finding.examples])])
        for finding in findings
        if finding.examples
    ]
    return blocks


def _numbers(review: Review) -> list[object]:
    """The printed numbers, and the protocols that give them."""
    header = ["system", "metric", "printed", "nearest", "protocols", "which"]
    rows = [
        [
            number.system,
            number.metric,
            number.printed,
            "" if number.nearest is None else f"{number.nearest:.5f}",
            f"{number.fitting} of {number.tried}",
            number.which,
        ]
        for number in review.numbers
    ]
    return [Heading("Printed numbers from the run files"), Table(header, rows, header[2:4], label="Printed numbers")]
