"""All claims of a folder and how many numbers have which verdict, as a section of its README and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.replicate import VERDICTS, Replication
from repro.replicate.verdicts.judgement import VerdictName, counted, in_words
from repro.report.html import Heading, Paragraph, Table, link, page
from repro.report.replicate.claim_page import PAGE, STYLES
from repro.runs.written_files import keep_files

BEGIN, END = "<!-- verdicts: made by `repro replicate` -->", "<!-- end of verdicts -->"
README, INDEX = "README.md", "index.html"
TITLE = "Replications"


def write_index(folder: Path, replications: Sequence[tuple[Path, Replication]]) -> Path:
    """Write the page of verdicts into ``folder`` and its README; the path of the page.

    ``replications`` has the folder of each claim. In an existing README only the part between the marks is replaced;
    without marks, the verdicts are added at its end.
    """
    readme = folder / README
    section = f"{BEGIN}\n{_markdown(folder, replications)}\n{END}"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else f"# {TITLE}\n\n{BEGIN}\n{END}\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    text = before + section + after if begin and end else text.rstrip("\n") + f"\n\n{section}\n"
    keep_files(folder, {INDEX: _page(folder, replications).encode()}, shared={README: text.encode()})
    return folder / INDEX


def total(replications: Sequence[tuple[Path, Replication]]) -> dict[VerdictName, int]:
    """The number of each verdict over all claims."""
    return counted(judged for _, replication in replications for judged in replication.judgements)


def shown(counts: dict[VerdictName, int]) -> list[VerdictName]:
    """The verdicts that occur, in order."""
    return [verdict for verdict in VERDICTS if verdict in counts]


def _rows(folder: Path, replications: Sequence[tuple[Path, Replication]]) -> list[tuple[Replication, str, list[str]]]:
    """Each replication with its folder and its counts."""
    columns = shown(total(replications))
    return [
        (replication, path.relative_to(folder).as_posix(), _counts(replication, columns))
        for path, replication in replications
    ]


def _counts(replication: Replication, columns: Sequence[VerdictName]) -> list[str]:
    return [str(replication.counts().get(name, "")) for name in columns]


def _markdown(folder: Path, replications: Sequence[tuple[Path, Replication]]) -> str:
    columns = shown(total(replications))
    lines = [
        f"{len(replications)} claims: {in_words(total(replications))}.",
        "",
        f"| claim | source | {' | '.join(columns)} |",
        f"| --- | --- |{' ---: |' * len(columns)}",
    ]
    for replication, claim, numbers in _rows(folder, replications):
        title, source = (text.replace("|", "\\|") for text in (replication.title, replication.source))
        lines.append(f"| [{title}]({claim}) | {source} | {' | '.join(numbers)} |")
    meanings = "; ".join(f"*{name}*: {VERDICTS[name]}" for name in columns)
    return "\n".join([*lines, "", f"{meanings[:1]}{meanings[1:]}."])


def _page(folder: Path, replications: Sequence[tuple[Path, Replication]]) -> str:
    columns = shown(total(replications))
    rows = [
        [link(f"{claim}/{PAGE}", replication.title), replication.source, *numbers]
        for replication, claim, numbers in _rows(folder, replications)
    ]
    blocks = [
        Heading(TITLE, level=1),
        Paragraph(f"{len(replications)} claims: {in_words(total(replications))}", css="lead", strong=True),
        Table(["claim", "source", *columns], rows, columns),
        Heading("What the verdicts mean"),
        Table(["", ""], [[name, VERDICTS[name]] for name in columns]),
    ]
    return page(TITLE, blocks, STYLES)
