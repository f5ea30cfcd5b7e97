"""The report of a claim: verdicts first, then what would come nearer, what is open, and all that identifies it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from repro.replicate import VERDICTS, Claim, Judged, Replication
from repro.replicate.settings import questions
from repro.report.pages import READING, document, table
from repro.runs.folder import JOURNAL
from repro.runs.written_files import keep_files

PAGE = "report.html"
# Colours as in repro.report.charts, thin enough for text on any ground; the word says it too.
STYLE = (
    READING
    + """
body { max-width: 68rem; }
.lead { font-size: 1.1rem; } td.verdict { white-space: nowrap; }
.exact, .holds { background: #009E7344; } .within { background: #56B4E944; } .underspecified { background: #E69F0044; }
.differs, .does-not-hold { background: #D55E0033; } .erratum { background: #CC79A744; } .not-run { color: GrayText; }
"""
)


def write_page(claim: Claim, found: Replication) -> Path:
    """Write ``report.html`` beside the claim; its path."""
    keep_files(claim.folder, {PAGE: render(claim, found).encode()})
    return claim.folder / PAGE


def render(claim: Claim, found: Replication) -> str:
    """The report as HTML."""
    body = [
        f"<h1>{escape(claim.title)}</h1>",
        f"<p>{escape(claim.source)}{_link(claim.url)}</p>",
        *([f"<p>{escape(claim.cite)}</p>"] if claim.cite else []),
        f'<p class="lead"><strong>{escape(found.summary)}</strong></p>',
        *(f"<p>{escape(note)}</p>" for note in found.notes),
        *_numbers(claim, found.judged),
        *_patterns(found.judged),
        *_searches(found),
        *_open(claim),
        *_about(claim, found),
    ]
    return document(claim.title, STYLE, body)


def _link(url: str) -> str:
    return (
        f' (<a href="{escape(url, quote=True)}">{escape(url)}</a>)' if url.startswith(("https://", "http://")) else ""
    )


def _numbers(claim: Claim, judged: Sequence[Judged]) -> list[str]:
    """Printed numbers and facts, each with what was measured."""
    made = []
    for what, title in (("cell", "Printed numbers"), ("fact", "Figures of the data")):
        those = [one for one in judged if one.what == what]
        if those:
            made += [f"<h2>{title}</h2>", verdict_table(those)]
    if made:
        made.append(f"<p>Tolerance: {escape(claim.tolerance.sentence)}.</p>")
    return made


def verdict_table(judged: Sequence[Judged]) -> str:
    """A table of verdicts; columns that are empty throughout are left out."""
    rows = [_row(one) for one in judged]
    names = ["", "number", "under", "printed", "measured", "over the seeds", "installed here", "verdict", "why"]
    shown = [place for place, name in enumerate(names) if not name or any(row[place] for row in rows)]
    right = {"printed", "measured", "over the seeds", "installed here"}
    head = "".join(f'<th scope="col"{_number(names[at], right)}>{names[at]}</th>' for at in shown)
    lines = []
    for one, row in zip(judged, rows, strict=True):
        kinds = {
            at: f' class="verdict {one.verdict.replace(" ", "-")}" title="{escape(VERDICTS[one.verdict])}"'
            if names[at] == "verdict"
            else _number(names[at], right)
            for at in shown
        }
        lines.append("<tr>" + "".join(f"<td{kinds[at]}>{escape(row[at])}</td>" for at in shown) + "</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _number(name: str, right: set[str]) -> str:
    return ' class="number"' if name in right else ""


def _row(one: Judged) -> list[str]:
    printed = one.printed
    assert printed is not None
    under = ", ".join(filter(None, (one.under, *(f"{key} = {value}" for key, value in one.changes))))
    spread = "" if one.spread is None else " to ".join(printed.shown(end) for end in one.spread)
    return [
        one.algorithm,
        one.metric + (f", user {one.user}" if one.user else ""),
        under,
        printed.text,
        printed.shown(one.value) if one.values else "",
        spread,
        "" if one.newer is None else printed.shown(one.newer),
        one.verdict,
        one.why,
    ]


def _patterns(judged: Sequence[Judged]) -> list[str]:
    those = [one for one in judged if one.what == "pattern"]
    if not those:
        return []
    rows = "".join(
        f'<tr><td>{escape(one.algorithm)}</td><td class="verdict {one.verdict.replace(" ", "-")}">{one.verdict}</td>'
        f"<td>{escape(one.why)}</td></tr>"
        for one in those
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("claimed", "verdict", "measured"))
    return [
        "<h2>Patterns</h2>",
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>',
    ]


def _searches(found: Replication) -> list[str]:
    """What would come nearer to the numbers that differ."""
    made: list[str] = []
    for one in found.searches:
        rows = [[label, printed, f"{own:.5f}", f"{near:.5f}"] for label, printed, own, near in one.rows]
        header = ["", "printed", "measured", "under the nearest protocol"]
        made += [
            f"<h3>{escape(one.metric)}</h3>",
            f"<p>{escape(one.sentence[:1].upper() + one.sentence[1:])}. Off by {one.off[1]:.5f} (root of the mean "
            f"square), and {one.off[0]:.5f} under the claim's own.</p>",
            _wide(table(header, rows, header[1:])),
        ]
    return ["<h2>What would come nearer</h2>", *made] if made else []


def _open(claim: Claim) -> list[str]:
    rows = [
        [name or "protocol", *told]
        for name, setting in claim.settings.items()
        for told in (questions(setting) if setting.open else ())
    ]
    if not rows:
        return []
    return [
        "<h2>What the source leaves open</h2>",
        _wide(table(["", "decision", "question", "tried"], rows)),
    ]


def _about(claim: Claim, found: Replication) -> list[str]:
    facts: list[tuple[str, object]] = []
    if claim.data is not None:
        facts.append(("data", claim.data.name))
        facts += [("digest of the data", claim.data.digest)] if claim.data.digest else []
    facts += [(f"protocol {name}".strip(), setting.protocol.hash) for name, setting in claim.settings.items()]
    facts += [("seeds", ", ".join(map(str, claim.seeds)))]
    facts += [(f"{name}, as the claim names it", " ".join(pins)) for name, pins in claim.frameworks.items()]
    facts += list(found.versions.items())
    facts += [("digest of the claim", claim.digest)]
    facts += [("the run finished in the journal", found.journal)] if found.journal else []
    notes = [f"<p>{escape(part)}</p>" for part in claim.notes.strip().split("\n\n") if part]
    journal = f'<p>The journal of the run is <a href="{JOURNAL}">{JOURNAL}</a>.</p>' if found.journal else ""
    return ["<h2>About</h2>", *notes, _wide(table(["", ""], facts)), journal]


def _wide(inside: str | Iterable[str]) -> str:
    return f'<div class="wide">{inside}</div>'
