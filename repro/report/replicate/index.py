"""All claims of a folder: how many numbers came out how, as a section of its README and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from repro.replicate import VERDICTS, Replication
from repro.replicate.verdict import Found, counted, in_words
from repro.report.pages import document, table
from repro.report.replicate.page import PAGE, STYLE
from repro.runs.written_files import keep_files

BEGIN, END = "<!-- verdicts: made by `repro replicate` -->", "<!-- end of verdicts -->"
README, INDEX = "README.md", "index.html"
TITLE = "Replications"


def write_index(folder: Path, found: Sequence[tuple[Path, Replication]]) -> Path:
    """Write the page of verdicts into ``folder`` and its README; the path of the page.

    ``found`` has the folder of each claim. Of a README that is there, only what stands between the marks is replaced;
    where there are none, the verdicts come at its end.
    """
    readme = folder / README
    section = f"{BEGIN}\n{_markdown(folder, found)}\n{END}"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else f"# {TITLE}\n\n{BEGIN}\n{END}\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    text = before + section + after if begin and end else text.rstrip("\n") + f"\n\n{section}\n"
    keep_files(folder, {INDEX: _page(folder, found).encode()}, shared={README: text.encode()})
    return folder / INDEX


def total(found: Sequence[tuple[Path, Replication]]) -> dict[Found, int]:
    """How many there are of each verdict, in all claims together."""
    return counted(one for _, replication in found for one in replication.judged)


def shown(counts: dict[Found, int]) -> list[Found]:
    """The verdicts that there are, in order."""
    return [verdict for verdict in VERDICTS if verdict in counts]


def _rows(folder: Path, found: Sequence[tuple[Path, Replication]]) -> list[tuple[Replication, str, list[str]]]:
    columns = shown(total(found))
    return [
        (one, (path / PAGE).relative_to(folder).as_posix(), [str(one.counts().get(name, "")) for name in columns])
        for path, one in found
    ]


def _markdown(folder: Path, found: Sequence[tuple[Path, Replication]]) -> str:
    columns = shown(total(found))
    lines = [
        f"{len(found)} claims: {in_words(total(found))}.",
        "",
        f"| claim | source | {' | '.join(columns)} |",
        f"| --- | --- |{' ---: |' * len(columns)}",
    ]
    for one, report, numbers in _rows(folder, found):
        title, source = (text.replace("|", "\\|") for text in (one.title, one.source))
        lines.append(f"| [{title}]({report}) | {source} | {' | '.join(numbers)} |")
    meanings = "; ".join(f"*{name}*: {VERDICTS[name]}" for name in columns)
    return "\n".join([*lines, "", f"{meanings[:1]}{meanings[1:]}."])


def _page(folder: Path, found: Sequence[tuple[Path, Replication]]) -> str:
    columns = shown(total(found))
    head = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in columns)
    lines = "".join(
        f'<tr><td><a href="{escape(report, quote=True)}">{escape(one.title)}</a></td><td>{escape(one.source)}</td>'
        + "".join(f'<td class="number">{number}</td>' for number in numbers)
        + "</tr>"
        for one, report, numbers in _rows(folder, found)
    )
    body = [
        f"<h1>{TITLE}</h1>",
        f'<p class="lead"><strong>{len(found)} claims: {escape(in_words(total(found)))}</strong></p>',
        '<div class="wide"><table><thead><tr><th scope="col">claim</th><th scope="col">source</th>'
        f"{head}</tr></thead><tbody>{lines}</tbody></table></div>",
        "<h2>What the verdicts mean</h2>",
        table(["", ""], [[name, VERDICTS[name]] for name in columns]),
    ]
    return document(TITLE, STYLE, body)
