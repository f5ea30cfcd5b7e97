"""Retrain: everything fitted again, here, and held against what the run has."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from repro.errors import ReproError, StudyError, nearest
from repro.runs.journal import events
from repro.runs.run import Run
from repro.study import Study, make_plan, run_study
from repro.study.again import require_same, study_again
from repro.study.environment import machine, versions
from repro.study.plan import Plan
from repro.study.run import Watcher, cell_started
from repro.verify.compare import TOLERANCE, Comparison, Number, compare_runs
from repro.verify.finding import Failure, Verification
from repro.verify.integrity import Tell
from repro.verify.record import Record

MACHINE = ("system", "architecture", "processor")


def check_retrain(
    path: Path,
    record: Record,
    found: Verification,
    *,
    data: object = None,
    tell: Tell | None = None,
    algorithms: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    baseline: str | None = None,
    workers: int = 1,
    time_limit: float | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Fit every cell again (or those of some algorithms) in a temporary folder, and compare.

    A number must be identical where its algorithm says that it is deterministic and runs with the same software on the
    same kind of machine; elsewhere it must be within ``tolerance``, a share of the original.
    """
    run = Run(path)
    try:
        study = study_again(run, data)
        keep_algorithms(study, algorithms)
        plan = make_plan(study)
        require_same(run, plan)
    except ReproError as error:
        found.failures.append(Failure("retrain", "journal.jsonl", f"nothing can be fitted again: {error}"))
        return
    if different := list(_otherwise_stated(record, plan)):  # what would be fitted is not what the run says it fitted
        found.failures += different
        return
    with tempfile.TemporaryDirectory(prefix="repro-retrain-") as folder:
        into = Path(folder) / "run"
        failed = run_again(study, into, workers=workers, time_limit=time_limit, watcher=watcher)
        again = Run(into)
        compared = compare_runs(
            run, again, tolerance=tolerance, baseline=baseline, algorithms=[entry.label for entry in study.entries]
        )
    compared.notes += failed
    changes = changed_software(run, versions(study))
    compared.notes += [f"{name}: {then} then, {now} now" for name, (then, now) in changes.items()]
    found.refitted = compared
    failures = _failures(record, compared, same_software=not changes)
    found.failures += failures
    if not failures:
        found.checked["retrain"] = compared.summary


def _otherwise_stated(record: Record, plan: Plan) -> Iterator[Failure]:
    """Cells of which the journal states another seed, other parameters or another kind of algorithm than their study
    gives now. Parameters that were tuned are chosen again."""
    planned = {cell.id: cell_started(cell, plan.study) for cell in plan.cells}
    for line in record.contents.lines:
        event = line.event
        if not isinstance(event, events.CellStarted) or event.cell not in planned:
            continue
        now = planned[event.cell]
        for name in ("algorithm", "seed", "unmapped", "tuned", "fitted_on", *(() if event.tuned else ("parameters",))):
            then, given = _plain(getattr(event, name)), _plain(getattr(now, name))
            if then != given:
                what = f"{name} was {then}, and the study gives {given}"
                yield Failure("retrain", "journal.jsonl", what, line.number, event.cell)
        if event.framework_version == now.framework_version and event.deterministic != now.deterministic:
            said = "is deterministic" if now.deterministic else "is not deterministic"
            what = f"its framework says that it {said}, and the journal says otherwise"
            yield Failure("retrain", "journal.jsonl", what, line.number, event.cell)


def _plain(value: object) -> str:
    """A value as text, its type too: 1, 1.0 and true are different parameters."""
    return repr(dict(sorted(value.items())) if isinstance(value, dict) else value)


def keep_algorithms(study: Study, algorithms: Sequence[str] | None) -> None:
    """Leave only these algorithms in a study; their seeds do not hang on the others."""
    known = [entry.label for entry in study.entries]
    for label in algorithms or ():
        if label not in known:
            raise StudyError(f"there is no algorithm '{label}'{nearest(label, known)} There are: {', '.join(known)}")
    if algorithms:
        study.entries = tuple(entry for entry in study.entries if entry.label in algorithms)


def run_again(
    study: Study,
    into: Path,
    *,
    workers: int = 1,
    time_limit: float | None = None,
    keep_scores: bool = False,
    watcher: Watcher | None = None,
) -> list[str]:
    """Run a study to its end; cells that fail are told, and do not stop what can be compared."""
    try:
        run_study(study, into, workers=workers, time_limit=time_limit, keep_scores=keep_scores, watcher=watcher)
    except StudyError as error:
        if not (into / "results.parquet").is_file():
            raise
        return str(error).splitlines()
    return []


def changed_software(run: Run, now: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What is not as it was when the run was made: packages, frameworks that are run again, the kind of machine."""
    began = run.journal.events("run.started")[0]
    then = {**began.versions, **{name: str(began.machine.get(name)) for name in MACHINE}}
    here = {**now, **{name: str(machine().get(name)) for name in MACHINE}}
    return {name: (then[name], here[name]) for name in then if name in here and then[name] != here[name]}


def _failures(record: Record, compared: Comparison, same_software: bool) -> list[Failure]:
    started = {event.cell: event for event in record.contents.events("cell.started")}
    deterministic: dict[str, bool] = {}
    for cell, event in started.items():
        label = cell.rpartition("/")[0]
        deterministic[label] = deterministic.get(label, True) and event.deterministic
    found = []
    for number in compared.numbers:
        exact = same_software and deterministic.get(number.algorithm, False)
        if number.verdict == "different" or (exact and number.verdict != "identical"):
            found.append(_failure(record, number, exact))
    for label, order in compared.orders.items():
        if same_software and deterministic.get(label, False) and not order.same:
            what = f"its lists are others (tau union {order.ktu:.4f}, RBO {order.rbo:.4f})"
            found.append(Failure("retrain", "artifacts", what, cell=label))
    return found


def _failure(record: Record, number: Number, exact: bool) -> Failure:
    cell = f"{number.algorithm}/{number.fold}"
    found = record.cells.get(cell)
    event, line = (None, None) if found is None else (found.event, found.number)
    artefact = "results.parquet"
    if isinstance(event, events.CellFinished) and "values" in event.artifacts:
        artefact = f"artifacts/{event.artifacts['values']}.parquet"
    wanted = "it must be identical: the algorithm says that it is deterministic" if exact else "beyond the tolerance"
    what = f"{number.before!r} then, {number.after!r} when fitted again; {wanted}"
    return Failure("retrain", artefact, what, line, cell, number.metric, number.differing)
