"""Rescore: recompute the numbers of a run from the scores, lists, values and predictions that it stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from repro.data import Interactions
from repro.errors import StudyError
from repro.evaluation.stored_lists import StoredFold
from repro.runs.fold_pooling import FinishedCells
from repro.runs.folder import csv_bytes
from repro.runs.journal import events
from repro.runs.results_table import results_table
from repro.runs.run import Run
from repro.runs.stored_files import PROTOCOL
from repro.study.fold_data import fold_data
from repro.study.plan import Plan
from repro.study.reload import reload_plan
from repro.types import Progress
from repro.verification.cells import CellCheck, differ, read_frame
from repro.verification.finding import Failure, Verification
from repro.verification.findings import check_findings
from repro.verification.record import FolderRecord
from repro.verification.untrusted import BROKEN, UntrustedRun, first_line


def check_rescore(
    path: Path,
    record: FolderRecord,
    verification: Verification,
    data: object = None,
    report_progress: Progress | None = None,
) -> None:
    """Recompute every number, as far as the stored tables allow; differences go into ``verification``.

    With the data of the run, which is downloaded if it is a named data set, the folds are made again, and more numbers
    can be recomputed.
    """
    if verification.kind != "run":
        raise StudyError(
            f"{path} is {'an audit' if record.is_audit else verification.kind}: it has no lists to compute from"
        )
    run = UntrustedRun(path, record.journal)
    try:
        verification.failures += [_failure(PROTOCOL, change.sentence) for change in run.protocol_changes]
        run.measures  # noqa: B018  # fails here, before anything is computed, if the study cannot be read
    except BROKEN as error:
        verification.failures.append(_failure("protocol.toml", f"it cannot be read: {first_line(error)}"))
        return
    plan = _plan(run, data, verification)
    lines = {cell: line.number for cell, line in record.journal.cell_ends.items()}
    unchecked: dict[str, str] = {}
    done = 0
    for fold, event in record.journal.folds.items():
        finished = record.journal.finished_cells.items()
        cells = {cell: end for cell, end in finished if cell.rpartition("/")[2] == fold}
        try:
            verification.failures += _test_part(run, event)
            stored_fold = _stored_fold(run, event, plan)
        except BROKEN as error:
            verification.failures.append(
                _failure(f"artifacts/{event.artifacts['test']}.parquet", first_line(error), fold)
            )
            continue
        for cell, end in cells.items():
            check = CellCheck(run, end, lines[cell], stored_fold, verification.sources, unchecked)
            verification.failures += check.failures()
            done += 1
            if report_progress:
                report_progress("rescore", done, len(record.journal.finished_cells))
    verification.unchecked += [f"{what} beyond the averages: {why}" for what, why in unchecked.items()]
    verification.failures += _results(run, record)
    if not _fails(verification):  # findings follow from the numbers
        verification.failures += check_findings(run, record, verification)
    if not _fails(verification):
        verification.checked["rescore"] = f"the numbers of {done:,} cells are the same when computed again, bit for bit"


def _plan(run: Run, data: object, verification: Verification) -> Plan | None:
    """The data and the folds of the run; None, with the reason among ``unchecked``, if they are not available."""
    try:
        return reload_plan(run, data)
    except BROKEN as error:
        verification.unchecked.append(f"everything that needs the data of the run: {first_line(error)}")
        return None


def _test_part(run: Run, event: events.FoldMade) -> Iterator[Failure]:
    digest = event.artifacts["test"]
    rows = Interactions.from_frame(read_frame(run.files.artifact(digest)))
    if len(rows) != event.test_rows or rows.digest != event.test_digest:
        yield _failure(f"artifacts/{digest}.parquet", f"the test part of {event.fold} is not the one that was made")


def _stored_fold(run: Run, event: events.FoldMade, plan: Plan | None) -> StoredFold:
    """A fold with its data, made again, or with its stored test rows alone."""
    if plan is None:
        test = Interactions.from_frame(read_frame(run.files.artifact(event.artifacts["test"])))
        return StoredFold(test, run.protocol, run.started.seed)
    data = fold_data(plan, next(fold for fold in plan.split.folds if fold.name == event.fold))
    return StoredFold(data.test, plan.study.protocol, plan.study.seed, data)


def _fails(verification: Verification) -> bool:
    return any(failure.level == "rescore" for failure in verification.failures)


def _results(run: Run, record: FolderRecord) -> Iterator[Failure]:
    """The tables of results follow from the numbers of the cells."""
    written = [line for line in record.journal.lines if line.event.event == "results.written"]
    try:
        frameworks = {entry["label"]: entry["use"].partition("/")[0] for entry in run.study["algorithms"]}
        cells = FinishedCells(run.files, record.journal.finished_cells, frameworks, list(record.journal.folds))
        table = results_table(cells, run.measures, run.protocol, run.scale)
        stored = read_frame(run.files.place("results.parquet"))
        if not {"lowest", "highest"} & set(stored):  # runs of versions that did not know the extremes
            table = table.drop_columns(["lowest", "highest"])
        same_csv = (run.folder / "results.csv").read_bytes() == csv_bytes(table)
    except BROKEN as error:
        yield _failure("results.parquet", f"it cannot be compared with the journal: {first_line(error)}")
        return
    line = written[-1].number if written else None
    yield from _rows_that_differ(stored, table.to_pandas(), line)
    if not same_csv:
        yield Failure("rescore", "results.csv", "it is not the table that the numbers of the cells give", line)


def _rows_that_differ(stored: pd.DataFrame, recomputed: pd.DataFrame, line: int | None) -> Iterator[Failure]:
    if list(stored) != list(recomputed) or len(stored) != len(recomputed):
        message = f"it has {len(stored):,} rows, and the numbers of the cells give {len(recomputed):,}"
        yield Failure("rescore", "results.parquet", message, line)
        return
    wrong = {}
    for column in stored:
        missing = stored[column].isna().to_numpy() & recomputed[column].isna().to_numpy()
        wrong[column] = differ(stored[column].to_numpy(), recomputed[column].to_numpy()) & ~missing
    for row in np.flatnonzero(np.any(list(wrong.values()), axis=0)):
        columns = [column for column in stored if wrong[column][row]]
        before, after = (
            ", ".join(f"{column} {frame[column][row]}" for column in columns) for frame in (stored, recomputed)
        )
        cell = f"{recomputed['algorithm'][row]}/{recomputed['fold'][row]}"
        message = f"it says {before}; the cells give {after}"
        yield Failure("rescore", "results.parquet", message, line, cell, str(recomputed["metric"][row]))


def _failure(artefact: str, what: str, cell: str = "") -> Failure:
    return Failure("rescore", artefact, what, cell=cell)
