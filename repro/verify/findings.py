"""What a run says is suspicious about its numbers, found again from its table and from what its cells counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from repro.data.io.parquet import read_parquet
from repro.errors import ReproError
from repro.runs.folder import JOURNAL, RunFolder
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study.findings import findings_made
from repro.study.model import Study
from repro.verify.finding import Failure, Verification
from repro.verify.record import FolderRecord

About = tuple[str, str, str, str, tuple[str, ...]]


def check_findings(run: Run, record: FolderRecord, found: Verification) -> Iterator[Failure]:
    """Findings that are missing, made up, or have other figures; the words may differ between versions of repro."""
    made = [line for line in record.journal.lines if isinstance(line.event, events.FindingsMade)]
    if not made:  # the order of events says whether they are missing
        return
    line = made[-1]
    assert isinstance(line.event, events.FindingsMade)
    told = line.event.findings
    try:
        study = Study.load(run.folder / "study.toml")
        study.measures = run.measures
        folds = list(record.journal.folds)
        table = read_parquet(RunFolder(run.folder).place("results.parquet"))
        again = findings_made(study, folds, record.journal.finished_cells, table).findings
    except (ReproError, pa.ArrowException, OSError, LookupError, ValueError) as error:
        found.unchecked.append(f"what is suspicious about the numbers: {str(error).partition(chr(10))[0]}")
        return

    def failure(about: About, what: str) -> Failure:
        return Failure("rescore", JOURNAL, f"the finding {about[0]} {what}", line.number, about[2], about[3])

    before, after = Counter(map(_about, told)), Counter(map(_about, again))
    for about in after - before:
        yield failure(about, "follows from the numbers, and is not there")
    for about in before - after:
        yield failure(about, "does not follow from the numbers")
    if before != after:
        return
    for one, other in zip(sorted(told, key=_about), sorted(again, key=_about), strict=True):
        for name in sorted(one.figures.keys() & other.figures.keys()):
            if one.figures[name] != other.figures[name]:
                what = f"has {name} {one.figures[name]}, and the numbers give {other.figures[name]}"
                yield failure(_about(one), what)


def _about(one: events.FindingEntry) -> About:
    """What makes a finding the same one."""
    return one.code, one.severity, one.algorithm, one.metric, one.others
