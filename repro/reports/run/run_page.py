"""The page of a run: the answer first, then the details, last the journal."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from repro.errors import StudyError
from repro.reports.html import render
from repro.reports.run.answer_section import answer_section
from repro.reports.run.curve_section import curves_section
from repro.reports.run.distribution_section import differences_section, distributions_section
from repro.reports.run.embedded import NOTICE, own, packed, policy, vega
from repro.reports.run.journal_section import journal_section
from repro.reports.run.record_sections import (
    identity_section,
    notes_section,
    protocol_section,
    touched_section,
    tuning_section,
)
from repro.reports.run.results_section import results_section
from repro.reports.run.run_view import RunView
from repro.reports.run.significance_section import matrix_section
from repro.reports.run.timing_section import timing_section
from repro.reports.run.tradeoff_section import tradeoffs_section
from repro.reports.run.values_section import values_section
from repro.runs.run import Run
from repro.runs.written_files import keep_files

REPORT = "report.html"
# To be run from the run folder: a report contains no path of the machine that made it.
REPLAY = "repro replay . --into ../replayed"

SECTIONS = (
    answer_section,
    results_section,
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


def report(run: Run | str | Path, into: str | Path | None = None) -> Path:
    """Write the report of a run, or of the run in a folder, as one HTML file; its path.

    >>> repro.report("run", "report.html")
    PosixPath('report.html')

    By default the report is ``report.html`` in the run folder, and its digest goes into the journal.
    """
    return write_report(run if isinstance(run, Run) else Run(run), None if into is None else Path(into))


def write_report(run: Run, into: Path | None = None) -> Path:
    """Write ``report.html`` into the run folder, or the report to the file ``into``; its path.

    The journal has the digest of a report in the run folder; a report elsewhere leaves the run as it is.
    """
    view = RunView(run)
    content = _page(view).encode()
    if into is None:
        keep_files(run.folder, {REPORT: content}, tested=view.test_description)
        return run.folder / REPORT
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        into.write_bytes(content)
    except OSError as error:
        raise StudyError(f"the report cannot be written to {into}: {error.strerror or error}") from None
    return into


def run_page(run: Run) -> str:
    """The report as HTML: one self-contained file."""
    return _page(RunView(run))


def _page(view: RunView) -> str:
    script, library = own("script.js"), vega()
    content = render(
        "run_page.html.j2",
        title=view.started.question or "Study",
        sections=[section for make in SECTIONS if (section := make(view))],
        policy=policy([script, library]),
        replay=REPLAY,
        notice=NOTICE,
        library=packed("vega", library.encode()),
        script=Markup(script),
    )
    return str(content)
