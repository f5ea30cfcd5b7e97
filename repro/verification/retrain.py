"""Retrain: fit everything again on this machine, and compare with the run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from repro.errors import ReproError, StudyError
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study import Study, make_plan
from repro.study.engine import RunOptions, cell_started, run_study
from repro.study.environment import machine, versions
from repro.study.plan import Plan
from repro.study.reload import reload_study, require_same_data
from repro.verification.compare import Comparison, Number, RefitOptions, compare_runs
from repro.verification.finding import Failure, Verification
from repro.verification.record import FolderRecord
from repro.verification.stated import typed_text

MACHINE = ("system", "architecture", "processor")


def check_retrain(path: Path, record: FolderRecord, verification: Verification, options: RefitOptions) -> None:
    """Fit every cell again (or those of some algorithms) in a temporary folder, and compare.

    A number must be identical where its algorithm says that it is deterministic and runs with the same software on the
    same kind of machine; elsewhere it must be within the tolerance of the options.
    """
    run = Run(path)
    try:
        study = reload_study(run, options.data, options.models, options.algorithms)
        absent = keep_available(run, study)
        plan = make_plan(study)
        require_same_data(run, plan)
    except ReproError as error:
        verification.failures.append(Failure("retrain", "journal.jsonl", f"nothing can be fitted again: {error}"))
        return
    if different := list(_changed_cells(record, plan)):  # the fit would not be that of the run
        verification.failures += different
        return
    with tempfile.TemporaryDirectory(prefix="repro-retrain-") as folder:
        into = Path(folder) / "run"
        failed = run_again(study, into, options)
        labels = [entry.label for entry in study.entries]
        compared = compare_runs(run, Run(into), options.tolerance, options.baseline, labels)
    compared.notes += [*absent, *failed]
    verification.unchecked += absent
    changes = changed_software(run, versions(study))
    compared.notes += [f"{name}: {then} then, {now} now" for name, (then, now) in changes.items()]
    verification.refitted = compared
    failures = _failures(record, compared, same_software=not changes)
    verification.failures += failures
    if not failures:
        verification.checked["retrain"] = compared.summary


def _changed_cells(record: FolderRecord, plan: Plan) -> Iterator[Failure]:
    """Cells whose seed, parameters or algorithm in the journal are not those that their study gives now.

    Parameters that were tuned are chosen again.
    """
    planned = {cell.id: cell_started(cell, plan.study) for cell in plan.cells}
    for line in record.journal.lines:
        event = line.event
        if not isinstance(event, events.CellStarted) or event.cell not in planned:
            continue
        now = planned[event.cell]
        for name in ("algorithm", "seed", "unmapped", "tuned", "fitted_on", *(() if event.tuned else ("parameters",))):
            then, planned_value = (typed_text(getattr(start, name)) for start in (event, now))
            if then != planned_value:
                message = f"{name} was {then}, and the study gives {planned_value}"
                yield Failure("retrain", "journal.jsonl", message, line.number, event.cell)
        if event.framework_version == now.framework_version and event.deterministic != now.deterministic:
            claim = "is deterministic" if now.deterministic else "is not deterministic"
            message = f"its framework says that it {claim}, and the journal says otherwise"
            yield Failure("retrain", "journal.jsonl", message, line.number, event.cell)


def keep_available(run: Run, study: Study) -> list[str]:
    """Leave only the algorithms in a study that the run has not dropped and whose code is here; the sentences about the
    others. The seeds of an algorithm do not depend on the others."""
    absent = {entry.label: entry.given.absence for entry in study.entries if entry.given and not entry.given.is_here}
    absent |= {entry.label: "the run dropped it" for entry in study.entries if entry.label in run.journal.dropped}
    study.entries = tuple(entry for entry in study.entries if entry.label not in absent)
    sentences = [f"{label} was not fitted again: {why}" for label, why in absent.items()]
    if not study.entries:
        raise StudyError("; ".join(sentences))
    return sentences


def run_again(study: Study, into: Path, options: RefitOptions, *, keep_scores: bool = False) -> list[str]:
    """Run a study to its end; the sentences about cells that failed, which do not stop the comparison of the others."""
    how = RunOptions(
        workers=options.workers, time_limit=options.time_limit, keep_scores=keep_scores, watcher=options.watcher
    )
    try:
        run_study(study, into, how)
    except StudyError as error:
        if not (into / "results.parquet").is_file():
            raise
        return str(error).splitlines()
    return []


def changed_software(run: Run, now: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Packages, frameworks and properties of the machine that changed since the run: then and now."""
    started = run.started
    then = {**started.versions, **{name: str(started.machine.get(name)) for name in MACHINE}}
    here = {**now, **{name: str(machine().get(name)) for name in MACHINE}}
    return {name: (then[name], here[name]) for name in then if name in here and then[name] != here[name]}


def _failures(record: FolderRecord, compared: Comparison, same_software: bool) -> list[Failure]:
    started = {event.cell: event for event in record.journal.events("cell.started")}
    deterministic: dict[str, bool] = {}
    for cell, event in started.items():
        label = cell.rpartition("/")[0]
        deterministic[label] = deterministic.get(label, True) and event.deterministic
    failures = []
    for number in compared.numbers:
        exact = same_software and deterministic.get(number.algorithm, False)
        if number.verdict == "different" or (exact and number.verdict != "identical"):
            failures.append(_failure(record, number, exact))
    for label, order in compared.orders.items():
        if same_software and deterministic.get(label, False) and not order.same:
            message = f"its lists are different (tau union {order.ktu:.4f}, RBO {order.rbo:.4f})"
            failures.append(Failure("retrain", "artifacts", message, cell=label))
    return failures


def _failure(record: FolderRecord, number: Number, exact: bool) -> Failure:
    cell = f"{number.algorithm}/{number.fold}"
    end = record.journal.cell_ends.get(cell)
    event, line = (None, None) if end is None else (end.event, end.number)
    artefact = "results.parquet"
    if isinstance(event, events.CellFinished) and "values" in event.artifacts:
        artefact = f"artifacts/{event.artifacts['values']}.parquet"
    bound = "it must be identical: the algorithm says that it is deterministic" if exact else "beyond the tolerance"
    message = f"{number.before!r} then, {number.after!r} when fitted again; {bound}"
    return Failure("retrain", artefact, message, line, cell, number.metric, number.differing)
