"""The claims of a folder with their numbers of verdicts, as a page and as a section of the README."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from repro.replications import VERDICTS, Replication
from repro.replications.verdicts.judgement import VerdictName, counted, in_words
from repro.reports.html import Heading, Paragraph, Table, link, page
from repro.reports.replicate.claim_page import PAGE, STYLES
from repro.runs.written_files import keep_files

BEGIN, END = "<!-- verdicts: made by `repro replicate` -->", "<!-- end of verdicts -->"
README, INDEX = "README.md", "index.html"
TITLE = "Replications"


def write_index(folder: Path, replications: Sequence[tuple[Path, Replication]]) -> Path:
    """Write the page of verdicts into ``folder``, and the same as a section of its README; returns the page's path.

    ``replications`` has the folder of each claim. In an existing README only the part between the marks is replaced;
    without marks, the verdicts are added at its end.
    """
    readme = folder / README
    counts = counted(judgement for _, replication in replications for judgement in replication.judgements)
    lead = f"{len(replications)} claims: {in_words(counts)}"
    rows = [
        _Row(
            replication.title,
            replication.source,
            path.relative_to(folder).as_posix(),
            [str(replication.counts().get(verdict, "")) for verdict in counts],
        )
        for path, replication in replications
    ]
    section = f"{BEGIN}\n{_markdown(lead, list(counts), rows)}\n{END}"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else f"# {TITLE}\n\n{BEGIN}\n{END}\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    text = before + section + after if begin and end else text.rstrip("\n") + f"\n\n{section}\n"
    index = _page(lead, list(counts), rows)
    keep_files(folder, {INDEX: index.encode()}, shared={README: text.encode()})
    return folder / INDEX


class _Row(NamedTuple):
    """A claim in the table: its title and source, its folder, and its number of each verdict."""

    title: str
    source: str
    folder: str
    counts: list[str]


def _markdown(lead: str, verdicts: Sequence[VerdictName], rows: Sequence[_Row]) -> str:
    lines = [
        f"{lead}.",
        "",
        f"| claim | source | {' | '.join(verdicts)} |",
        f"| --- | --- |{' ---: |' * len(verdicts)}",
    ]
    for row in rows:
        title, source = (text.replace("|", "\\|") for text in (row.title, row.source))
        lines.append(f"| [{title}]({row.folder}) | {source} | {' | '.join(row.counts)} |")
    meanings = "; ".join(f"*{verdict}*: {VERDICTS[verdict]}" for verdict in verdicts)
    return "\n".join([*lines, "", f"{meanings}."])


def _page(lead: str, verdicts: Sequence[VerdictName], rows: Sequence[_Row]) -> str:
    blocks = [
        Heading(TITLE, level=1),
        Paragraph(lead, css="lead", strong=True),
        Table(
            ["claim", "source", *verdicts],
            [[link(f"{row.folder}/{PAGE}", row.title), row.source, *row.counts] for row in rows],
            verdicts,
        ),
        Heading("What the verdicts mean"),
        Table(["", ""], [[verdict, VERDICTS[verdict]] for verdict in verdicts]),
    ]
    return page(TITLE, blocks, STYLES)
