"""The page of a run: the answer first, then what lies behind it, last the journal."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from repro.errors import StudyError
from repro.report.run.answer import answer_section, values_section
from repro.report.run.curves import curves_section
from repro.report.run.decisions import protocol_section, touched_section
from repro.report.run.differences import differences_section
from repro.report.run.distributions import distributions_section
from repro.report.run.embedded import NOTICE, own, packed, policy, vega
from repro.report.run.identity import identity_section
from repro.report.run.journal import journal_section
from repro.report.run.material import Material
from repro.report.run.significance import matrix_section
from repro.report.run.timing import timing_section
from repro.report.run.told import notes_section, tuning_section
from repro.report.run.tradeoffs import tradeoffs_section
from repro.runs.run import Run
from repro.runs.written_files import keep_files

REPORT = "report.html"
# From the run folder, wherever that is: a report names no place of the machine that made it.
REPLAY = "repro replay . --into ../replayed"

SECTIONS = (
    answer_section,
    touched_section,
    values_section,
    distributions_section,
    differences_section,
    matrix_section,
    tradeoffs_section,
    timing_section,
    curves_section,
    tuning_section,
    notes_section,
    protocol_section,
    identity_section,
    journal_section,
)


def write_report(run: Run, into: Path | None = None) -> Path:
    """Write ``report.html`` into the run folder, or the report to the file ``into``; its path.

    One in the run folder has its digest in the journal; one elsewhere leaves the run as it is.
    """
    material = Material.read(run)
    content = _page(material).encode()
    if into is None:
        keep_files(run.folder, {REPORT: content}, tested=material.stated)
        return run.folder / REPORT
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        into.write_bytes(content)
    except OSError as error:
        raise StudyError(f"the report cannot be written to {into}: {error.strerror or error}") from None
    return into


def render(run: Run) -> str:
    """The report as HTML: one file that needs nothing else, and asks for nothing."""
    return _page(Material.read(run))


def _page(run: Material) -> str:
    parts = [part for make in SECTIONS if (part := make(run))]
    script, library = own("script.js"), vega()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy([script, library])}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(run.title)}</title><style>{own('style.css')}</style></head><body>\n"
        f"<header><h1>{escape(run.title)}</h1>{_replay()}</header>\n{_contents(parts)}\n<main>\n"
        + "\n".join(parts)
        + f"\n</main>\n<footer><p>Made by repro. {escape(NOTICE)}</p></footer>\n"
        + packed("vega", library.encode())
        + f"\n<script>{script}</script>\n</body></html>\n"
    )


def _replay() -> str:
    return (
        f'<p class="replay">To run it again, in the run folder: <code id="replay">{REPLAY}</code> '
        '<button type="button" id="copy" hidden>Copy</button> <span id="copied" role="status"></span></p>'
    )


def _contents(parts: list[str]) -> str:
    """Links to the sections."""
    found = (re.match(r'<section id="([a-z]+)"><h2>([^<]*)</h2>', part) for part in parts)
    links = "".join(f'<li><a href="#{one[1]}">{one[2]}</a></li>' for one in found if one)
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'
