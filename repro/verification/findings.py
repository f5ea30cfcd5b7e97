"""Recompute the findings about suspicious numbers, from the table of the run and the counts of its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from repro.data.io.parquet import read_parquet
from repro.runs.folder import JOURNAL
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study.findings import findings_made
from repro.study.model import Study
from repro.verification.finding import Failure, Verification
from repro.verification.record import FolderRecord
from repro.verification.untrusted import BROKEN, first_line

About = tuple[str, str, str, str, tuple[str, ...]]


def check_findings(run: Run, record: FolderRecord, verification: Verification) -> Iterator[Failure]:
    """Findings that are missing, do not follow, or have other figures; versions of repro may word them differently."""
    findings_lines = [line for line in record.journal.lines if isinstance(line.event, events.FindingsMade)]
    if not findings_lines:  # the order of events says whether they are missing
        return
    line = findings_lines[-1]
    assert isinstance(line.event, events.FindingsMade)
    recorded = line.event.findings
    try:
        study = Study.load(run.folder / "study.toml")
        study.measures = run.measures
        folds = list(record.journal.folds)
        table = read_parquet(run.files.place("results.parquet"))
        recomputed = findings_made(study, folds, record.journal.finished_cells, table).findings
    except BROKEN as error:
        verification.unchecked.append(f"the findings about the numbers: {first_line(error)}")
        return

    def failure(about: About, what: str) -> Failure:
        return Failure("rescore", JOURNAL, f"the finding {about[0]} {what}", line.number, about[2], about[3])

    before, after = Counter(map(_about, recorded)), Counter(map(_about, recomputed))
    for about in after - before:
        yield failure(about, "follows from the numbers, and is not there")
    for about in before - after:
        yield failure(about, "does not follow from the numbers")
    if before != after:
        return
    for old, new in zip(sorted(recorded, key=_about), sorted(recomputed, key=_about), strict=True):
        for name in sorted(old.figures.keys() & new.figures.keys()):
            if old.figures[name] != new.figures[name]:
                yield failure(_about(old), f"has {name} {old.figures[name]}, and the numbers give {new.figures[name]}")


def _about(finding: events.FindingEntry) -> About:
    """The key that identifies a finding."""
    return finding.code, finding.severity, finding.algorithm, finding.metric, finding.others
