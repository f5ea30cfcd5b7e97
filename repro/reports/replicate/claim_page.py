"""The report of a claim: verdicts, nearer protocols, open decisions, and digests and versions of the claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from repro.replications import VERDICTS, Claim, Judgement, Replication
from repro.replications.settings.open_decisions import questions
from repro.reports.html import Cell, Heading, Paragraph, Table, link, page, render
from repro.runs.folder import JOURNAL
from repro.runs.written_files import keep_files

PAGE = "report.html"
STYLES = ("reading.css", "claim.css")


def write_page(claim: Claim, replication: Replication, into: Path | None = None) -> Path:
    """Write ``report.html`` next to the claim, or the file ``into``; returns its path."""
    target = into or claim.folder / PAGE
    keep_files(target.parent, {target.name: claim_page(claim, replication).encode()})
    return target


def claim_page(claim: Claim, replication: Replication) -> str:
    """The report as HTML."""
    blocks = [
        render("claim_source.html.j2", claim=claim),
        Paragraph(replication.summary, css="lead", strong=True),
        *replication.notes,
        *_numbers(claim, replication.judgements),
        *_patterns(replication.judgements),
        *_causes(replication),
        *_searches(replication),
        *_open(claim),
        *_about(claim, replication),
    ]
    return page(claim.title, blocks, STYLES)


def _numbers(claim: Claim, judged: Sequence[Judgement]) -> list[object]:
    """Printed numbers and facts, each with the measured number."""
    blocks: list[object] = []
    for what, title in (("cell", "Printed numbers"), ("fact", "Figures of the data")):
        judgements = [judgement for judgement in judged if judgement.what == what]
        if judgements:
            blocks += [Heading(title), verdict_table(judgements)]
    if blocks:
        blocks.append(f"Tolerance: {claim.tolerance.sentence}.")
    return blocks


def verdict_table(judged: Sequence[Judgement]) -> Table:
    """A table of verdicts; columns that are empty throughout are left out."""
    names = ["", "number", "under", "printed", "measured", "over the seeds", "installed here", "verdict", "why"]
    rows = [_row(judgement) for judgement in judged]
    shown = [column for column, name in enumerate(names) if not name or any(row[column] for row in rows)]
    header = [names[column] for column in shown]
    return Table(header, [[row[column] for column in shown] for row in rows], names[3:7])


def _verdict(judged: Judgement, title: str = "") -> Cell:
    return Cell(judged.verdict, css=f"verdict {judged.verdict.replace(' ', '-')}", title=title)


def _row(judged: Judgement) -> list[object]:
    printed = judged.printed
    assert printed is not None
    under = ", ".join(filter(None, (judged.where, *(f"{key} = {value}" for key, value in judged.changes))))
    spread = "" if judged.spread is None else " to ".join(printed.shown(end) for end in judged.spread)
    return [
        judged.algorithm,
        judged.metric + (f", user {judged.user}" if judged.user else ""),
        under,
        printed.text,
        printed.shown(judged.value) if judged.values else "",
        spread,
        "" if judged.newer is None else printed.shown(judged.newer),
        _verdict(judged, title=VERDICTS[judged.verdict]),
        judged.why,
    ]


def _patterns(judged: Sequence[Judgement]) -> list[object]:
    rows = [
        [judgement.algorithm, _verdict(judgement), judgement.why] for judgement in judged if judgement.what == "pattern"
    ]
    return [Heading("Patterns"), Table(["claimed", "verdict", "measured"], rows)] if rows else []


def _causes(replication: Replication) -> list[object]:
    """Leaks and mistakes that explain numbers, each with the numbers without it."""
    blocks: list[object] = []
    header = ["number", "printed", "measured without it", "with it"]
    for cause in replication.causes:
        rows = [[name, printed, f"{own:.5f}", f"{with_cause:.5f}"] for name, printed, own, with_cause in cause.numbers]
        sentence = f"{cause.sentence[:1].upper()}{cause.sentence[1:]}."
        blocks += [
            Heading(f"{cause.kind.capitalize()}: {cause.name}", level=3),
            sentence,
            Table(header, rows, header[1:]),
        ]
    return [Heading("What explains these numbers"), *blocks] if blocks else []


def _searches(replication: Replication) -> list[object]:
    """Protocols under which the numbers that differ come nearer to the printed ones."""
    blocks: list[object] = []
    for search in replication.searches:
        header = ["", "printed", "measured", "under the nearest protocol"]
        rows = [[label, printed, f"{own:.5f}", f"{near:.5f}"] for label, printed, own, near in search.rows]
        blocks += [
            Heading(search.metric, level=3),
            f"{search.sentence[:1].upper()}{search.sentence[1:]}. Off by {search.off[1]:.5f} (root of the mean "
            f"square), and {search.off[0]:.5f} under the claim's own.",
            Table(header, rows, header[1:]),
        ]
    return [Heading("What would come nearer"), *blocks] if blocks else []


def _open(claim: Claim) -> list[object]:
    rows = [
        [name or "protocol", *question] for name, setting in claim.settings.items() for question in questions(setting)
    ]
    header = ["", "decision", "question", "tried"]
    return [Heading("What the source leaves open"), Table(header, rows)] if rows else []


def _about(claim: Claim, replication: Replication) -> list[object]:
    facts: list[tuple[str, object]] = []
    if claim.data is not None:
        facts += [("data", claim.data.name), ("digest of the data", claim.data.digest)]
    for name, data in claim.further.items():
        facts += [(f"data {name}", data.name), (f"digest of the data {name}", data.digest)]
    facts += [(f"protocol {name}".strip(), setting.protocol.hash) for name, setting in claim.settings.items()]
    facts += [("seeds", ", ".join(map(str, claim.seeds)))]
    facts += [(f"{name}, as the claim names it", " ".join(pins)) for name, pins in claim.frameworks.items()]
    facts += list(replication.versions.items())
    facts += [("digest of the claim", claim.digest)]
    facts += [("the run finished in the journal", replication.journal)]
    notes = [part for part in claim.notes.strip().split("\n\n") if part]
    journal = Paragraph(Markup("The journal of the run is {}.").format(link(JOURNAL, JOURNAL)))
    return [
        Heading("About"),
        *notes,
        Table(["", ""], [fact for fact in facts if fact[1]]),
        *([journal] if replication.journal else []),
    ]
