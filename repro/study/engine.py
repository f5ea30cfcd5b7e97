"""Run a study into a folder, write every step to the journal, and resume an interrupted run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from repro.data import Impact, Interactions
from repro.errors import ReproError, StudyError, nearest
from repro.evaluation.blocks import BLOCK_USERS, ExecutionOptions
from repro.plugin import plugins
from repro.plugin.host.placement import JOURNALLED
from repro.protocol import registry
from repro.runs.fold_pooling import FinishedCells
from repro.runs.folder import RunFolder, csv_bytes, parquet_bytes
from repro.runs.journal import Contents, Journal, events, has_journal, read_journal
from repro.runs.results_table import results_table
from repro.runs.run import Run
from repro.study.cell import CellOutput
from repro.study.environment import freeze, machine, versions
from repro.study.executors import Executor, open_executor, tasks_of
from repro.study.executors.processes import stoppable
from repro.study.findings import facts_entry, findings_made, value_entry
from repro.study.model import Study
from repro.study.plan import Cell, Plan, make_plan
from repro.study.progress import Silent, Watcher
from repro.study.reload import changed_input
from repro.study.tuning.loop import Tuning
from repro.study.tuning.settings import Range


@dataclass(frozen=True)
class RunOptions:
    """Options for running a study; none of them changes a number.

    workers      cells run in that many processes: by default in this one, or on all cores of a cluster
    executor     "local", or "ray": cells run on a Ray cluster, and this process only writes the folder
    address      of the cluster: "auto" (the one that runs on this machine), "ray://host:port", "host:port", or "local"
    block_users  users are ranked and measured in blocks of about this many
    time_limit   how many seconds a framework in a separate process may take to fit, or to score a block
    keep_scores  keep the scores of all test users for all items, for `repro explain` and `repro multiverse`
    cell_seconds how long a cell may take to be tuned, and to be fitted and measured; one that takes longer is stopped
                 and fails, and the run goes on
    drop         labels of algorithms that the run goes on without: the results leave them out
    only         labels of the only algorithms to run; the others are dropped
    resume       finish an interrupted run in the folder; start one where there is none
    fresh        replace a run that is in the folder
    watcher      receives progress events
    """

    workers: int | None = None
    executor: str = "local"
    address: str | None = None
    block_users: int = BLOCK_USERS
    time_limit: float | None = None
    keep_scores: bool = False
    cell_seconds: float | None = None
    drop: Collection[str] = ()
    only: Collection[str] = ()
    resume: bool = False
    fresh: bool = False
    watcher: Watcher | None = None

    def __post_init__(self) -> None:
        if isinstance(self.drop, str) or isinstance(self.only, str):
            raise StudyError("drop and only are lists of labels, such as drop=['EASE']")
        if (self.workers is not None and self.workers < 1) or self.block_users < 1:
            raise StudyError(f"workers = {self.workers} and block_users = {self.block_users} must be at least 1")

    def dropped(self, study: Study) -> dict[str, str]:
        """The labels of the algorithms of a study that are dropped, with the reason."""
        labels = [entry.label for entry in study.entries]
        for label in (*self.drop, *self.only):
            if label not in labels:
                raise StudyError(
                    f"there is no algorithm '{label}'{nearest(label, labels)} There are: {', '.join(labels)}"
                )
        others = {label: f"only {', '.join(self.only)} ran" for label in labels if self.only and label not in self.only}
        dropped = others | dict.fromkeys(self.drop, "the run was continued without it")
        if len(dropped) == len(labels):
            raise StudyError("all algorithms of the study are dropped; leave at least one")
        return dropped

    @property
    def of_cells(self) -> ExecutionOptions:
        """The options that each cell is executed with."""
        return ExecutionOptions(self.block_users, self.time_limit, self.keep_scores)


def run_study(study: Study, into: str | Path | None = None, options: RunOptions | None = None) -> Run:
    """Run ``study`` into the folder ``into``, by default a temporary one.

    >>> study = repro.Study.load("study.toml")
    >>> run = repro.study.run_study(study, "new-run", repro.study.RunOptions(keep_scores=True))
    """
    options = options or RunOptions()
    folder = RunFolder(Path(into) if into is not None else Path(tempfile.mkdtemp(prefix="repro-")) / "run")
    _check_target(folder, options)
    with open_executor(options.executor, options.workers, options.address, options.cell_seconds) as executor:
        # Before the folder is touched: a study that cannot be planned leaves nothing behind.
        dropped = options.dropped(study)
        plan = make_plan(study, without=dropped)
        engine = _Engine(plan, folder, executor, options, dropped)
        if not options.resume or not has_journal(folder.journal):
            folder.create(replace=options.fresh and not options.resume)
        with folder.locked(), stoppable(folder.path):
            # Under the lock: no other process writes to the journal.
            contents = read_journal(folder.journal) if has_journal(folder.journal) else None
            engine.execute(contents)
    return Run(folder.path)


def _check_target(folder: RunFolder, options: RunOptions) -> None:
    """Refuse to replace a run, unless the options say so."""
    if not has_journal(folder.journal):
        return
    with folder.locked():
        if options.fresh and not options.resume:
            return  # the run is replaced, even if its journal cannot be read
        contents = read_journal(folder.journal)
    if options.resume:
        return
    state = "a finished run" if _is_complete(contents) else "an interrupted run"
    raise StudyError(
        f"{folder.path} holds {state}; --resume finishes it, --fresh replaces it, --into takes another folder"
    )


def _is_complete(contents: Contents) -> bool:
    """Whether the run ended, and without failed cells."""
    ends = contents.events("run.finished")
    return bool(ends) and not ends[-1].failed


class _Engine:
    """Executes a plan: runs its cells, writes the journal and the tables, and resumes an interrupted run."""

    def __init__(
        self, plan: Plan, folder: RunFolder, executor: Executor, options: RunOptions, dropped: Mapping[str, str]
    ) -> None:
        self.study = study = plan.study
        self.plan = plan
        self.dropped = dict(dropped)
        self.folder = folder
        self.executor = executor
        self.options = options
        self.watcher = options.watcher or Silent()
        self.protocol = study.protocol_in_use
        self.texts = {"study.toml": study.to_toml(), "protocol.toml": self.protocol.to_toml()}
        self.finished: dict[str, events.CellFinished] = {}
        self.tuned: dict[str, events.TuningFinished] = {}

    def execute(self, contents: Contents | None) -> None:
        """Run what is not finished according to the journal's ``contents``, which are None in a new folder."""
        started = time.perf_counter()
        earlier = contents if contents is not None and contents.lines else None
        if earlier is not None:
            self._require_same_study(earlier)
            self._restore_files(earlier)
            self._restore_finished(earlier)
            all_finished = len(self.finished) == len(self.plan.cells)
            same = earlier.dropped == self.dropped
            if _is_complete(earlier) and self._has_results(earlier) and all_finished and same:
                return
        self.journal = Journal(self.folder.journal, contents, lambda line: plugins().observe(self.folder.path, line))
        if earlier is None:
            self._start()
        else:
            self._resume(earlier)
        if self.dropped != (earlier.dropped if earlier is not None else {}):
            self.journal.write(events.AlgorithmsDropped(labels=self.dropped))
        failures = self._run_cells()
        self._write_results()
        self.journal.write(
            events.RunFinished(cells=len(self.finished), failed=len(failures), seconds=time.perf_counter() - started)
        )
        self.journal.close()
        if failures:
            errors = "\n".join(f"  {cell}: {error}" for cell, error in failures.items())
            raise StudyError(
                f"{len(failures)} of {len(self.plan.cells)} cells failed:\n{errors}\n"
                f"The others are in {self.folder.path}; --resume tries the failed ones again."
            )

    def _session(self) -> dict[str, Any]:
        """The software and the machine, for the event that starts or resumes the run."""
        return {
            "versions": {**versions(self.study), **self.executor.versions},
            "machine": machine(),
            "workers": self.executor.workers,
            "executor": self.executor.name,
        }

    def _start(self) -> None:
        study = self.study
        self._write_study()
        self.journal.write(
            events.RunStarted(
                question=study.question,
                study_digest=study.digest,
                protocol_hash=study.protocol.hash,
                seed=study.seed,
                block_users=self.options.block_users,
                left_out=study.left_out,
                **self._session(),
            )
        )
        self._write_decisions()
        self._write_models()
        self._write_data_and_split()

    def _write_models(self) -> None:
        """Record the models that were given in Python: no folder has their code."""
        for entry in self.study.entries:
            if entry.given is not None:
                record = entry.given.record()
                self.journal.write(
                    events.ModelGiven(label=entry.label, algorithm=entry.use, **record, fitted=entry.given.fitted)
                )

    def _write_study(self) -> None:
        """Write the study and its protocol; their digests go into the journal with those of the results."""
        self.written = {name: self.folder.write(name, text.encode()) for name, text in self.texts.items()}

    def _restore_files(self, contents: Contents) -> None:
        """Keep the study and protocol files, and the names of metrics, that the run was started with.

        The study is the same, but this version of repro may have further decisions or variants of metrics.
        """
        for event in contents.events("decisions.resolved"):
            self.study.measures = tuple(
                replace(measure, recorded=entry.full_name)
                for measure, entry in zip(self.study.measures, event.measures, strict=True)
            )
            try:
                if Study.load(self.folder.path / "study.toml").digest == self.study.digest:
                    self.texts = {name: (self.folder.path / name).read_text(encoding="utf-8") for name in self.texts}
            except ReproError:
                continue  # incomplete or damaged files are written again

    def _write_decisions(self) -> None:
        study, decisions = self.study, registry()
        self.journal.write(
            events.DecisionsResolved(
                protocol=study.protocol.name,
                decisions=[
                    events.DecisionEntry(
                        decision=key,
                        value=value,
                        meaning=decisions[key].meaning(value),
                        origin=self.protocol.origins[key],
                    )
                    for key, value in self.protocol.items()
                ],
                left_open_by_source=list(study.protocol.open),
                measures=[events.MeasureEntry(name=m.name, full_name=m.full_name) for m in study.measures],
            )
        )

    def _write_data_and_split(self) -> None:
        plan, prepared = self.plan, self.plan.interactions
        self.journal.write(events.DataLoaded(data=self.study.data_name, files=plan.files, **_sizes(plan.source)))
        self.journal.write(
            events.DataPrepared(impacts=_impacts(plan.data_impacts), scale=plan.scale, **_sizes(prepared))
        )
        for fold in plan.split.folds:
            test = prepared.select(fold.test)
            validation = None if fold.validation is None else prepared.select(fold.validation)
            parts = {"test": test} if validation is None else {"test": test, "validation": validation}
            self.journal.write(
                events.FoldMade(
                    fold=fold.name,
                    train_rows=len(fold.train),
                    validation_rows=0 if validation is None else len(validation),
                    test_rows=len(fold.test),
                    train_digest=prepared.select(fold.train).digest,
                    validation_digest=None if validation is None else validation.digest,
                    test_digest=test.digest,
                    artifacts={name: self.folder.store(_rows(part)) for name, part in parts.items()},
                )
            )
        self.journal.write(events.SplitMade(folds=len(plan.split.folds), impacts=_impacts(plan.split.impacts)))

    def _require_same_study(self, contents: Contents) -> None:
        if contents.events("run.started")[0].study_digest != self.study.digest:
            raise StudyError(
                f"the study is not the one in {self.folder.path} (its algorithms, metrics, seed, data or protocol "
                "changed since); run it into another folder with --into, or replace that run with --fresh"
            )
        for loaded in contents.events("data.loaded"):
            if change := changed_input(loaded, self.plan, self.folder.path):
                raise StudyError(f"{change}; replace that run with --fresh")

    def _has_results(self, contents: Contents) -> bool:
        """Whether the tables of the run exist and are intact."""
        files = contents.events("results.written")[-1].files
        return all(self.folder.holds(name, digest) for name, digest in files.items())

    def _restore_finished(self, contents: Contents) -> None:
        """Keep the tunings and cells that finished and whose artefacts exist and are intact.

        A cell that was tuned again after it finished, or whose tuning is lost, runs again.
        """
        for line in contents.lines:
            event = line.event
            if isinstance(event, events.TuningFinished):
                self.finished.pop(event.cell, None)
                self.tuned.pop(event.cell, None)
                if event.chosen is not None and self._intact(event.artifacts):
                    self.tuned[event.cell] = event
            elif isinstance(event, events.CellFinished) and self._usable(event):
                self.finished[event.cell] = event
        planned = {cell.id for cell in self.plan.cells}
        self.finished = {cell: event for cell, event in self.finished.items() if cell in planned}
        for cell in self.plan.cells:
            if cell.entry.space and cell.id not in self.tuned:
                self.finished.pop(cell.id, None)

    def _usable(self, cell: events.CellFinished) -> bool:
        """Whether a finished cell has all tables: also its scores, if these are kept and it has lists."""
        needs_scores = self.options.keep_scores and "lists" in cell.artifacts
        return self._intact(cell.artifacts) and (not needs_scores or "scores" in cell.artifacts)

    def _intact(self, artifacts: Mapping[str, str]) -> bool:
        return all(self.folder.has(digest) for digest in artifacts.values())

    def _resume(self, contents: Contents) -> None:
        self.journal.write(
            events.RunResumed(
                cells_kept=sorted(self.finished),
                tunings_kept=sorted(self.tuned),
                torn_bytes_dropped=contents.torn,
                **self._session(),
            )
        )
        self.folder.discard_strays(contents)
        self._write_study()
        if not contents.events("decisions.resolved"):
            self._write_decisions()
            self._write_models()
        if not contents.events("split.made"):
            self._write_data_and_split()

    def _run_cells(self) -> dict[str, str]:
        """Run the cells that are not finished; returns the errors of those that failed."""
        remaining = [cell for cell in self.plan.cells if cell.id not in self.finished]
        self.watcher.planned(self.plan, len(remaining))
        failures: dict[str, str] = {}
        tasks = tasks_of(remaining, {cell: event.chosen or {} for cell, event in self.tuned.items()})
        announced: set[str] = set()
        for step in self.executor.run(self.plan, tasks, self.options.of_cells, self.watcher.cell_progress):
            cell = step.cell
            if step.kind in ("tuning", "started") and cell.id not in announced:
                announced.add(cell.id)
                self.watcher.cell_started(cell)
            if step.tuning is not None:
                self._tuning_finished(cell, step.tuning)
            elif step.kind == "started":
                self.journal.write(cell_started(cell, self.study))
            elif step.output is not None:
                self._cell_finished(cell, step.output, step.node)
                self.watcher.cell_ended(cell, None)
            elif step.error is not None:
                failures[cell.id] = str(step.error)
                self.journal.write(events.CellFailed(cell=cell.id, error=str(step.error)))
                self.watcher.cell_ended(cell, str(step.error))
        return failures

    def _cell_finished(self, cell: Cell, output: CellOutput, node: str | None) -> None:
        numbers = zip(self.study.measures, output.values, output.intervals, strict=True)
        self.finished[cell.id] = events.CellFinished(
            cell=cell.id,
            values=[value_entry(measure, value, users, interval) for measure, (value, users), interval in numbers],
            impacts=_impacts(output.impacts),
            artifacts={name: self.folder.store(content) for name, content in output.tables.items()},
            digests=output.digests,
            seconds=events.SecondsEntry(**output.seconds),
            notes=output.notes,
            node=node,
            facts=facts_entry(output.facts),
        )
        self.journal.write(self.finished[cell.id])

    def _tuning_finished(self, cell: Cell, tuning: Tuning) -> None:
        """Write the chosen parameters into the journal, before anything is scored on the test part."""
        tune = self.study.tune
        assert tune is not None
        self.journal.write(
            events.TuningFinished(
                cell=cell.id,
                algorithm=cell.entry.use,
                fold=cell.fold.name,
                metric=events.MeasureEntry(name=tune.measure.name, full_name=tune.measure.full_name),
                better="lower" if tune.measure.metric.better == "lower" else "higher",
                search=tuning.search,
                seed=tuning.seed,
                budget=events.BudgetEntry(trials=tune.trials, seconds=tune.seconds),
                space={
                    name: events.RangeEntry(**asdict(domain)) if isinstance(domain, Range) else domain.plain()
                    for name, domain in cell.entry.space.items()
                },
                left_out=dict(cell.entry.left_out),
                trials=[
                    events.TrialEntry(**(asdict(t) | {"value": t.value if t.state == "complete" else None}))
                    for t in tuning.trials
                ],
                chosen=None if tuning.best is None else tuning.chosen,
                artifacts={"trials": self.folder.store(parquet_bytes(tuning.table()))},
                seconds=tuning.seconds,
            )
        )

    def _write_results(self) -> None:
        study, folds = self.study, [fold.name for fold in self.plan.split.folds]
        frameworks = {entry.label: entry.framework for entry in study.entries if entry.label not in self.dropped}
        cells = FinishedCells(self.folder, self.finished, frameworks, folds)
        table = results_table(cells, study.measures, study.protocol, self.plan.scale)
        self.journal.write(findings_made(study, folds, self.finished, table))
        files = {
            **self.written,
            "results.parquet": self.folder.write("results.parquet", parquet_bytes(table)),
            "results.csv": self.folder.write("results.csv", csv_bytes(table)),
        }
        for name in sorted(set(frameworks.values())):
            path = f"environments/{name}.txt"
            packages = plugins().freeze(name)  # None where the framework runs in this process
            text = freeze() if packages is None else "\n".join(packages) + "\n"
            files[path] = self.folder.write(path, text.encode())
        self.journal.write(events.ResultsWritten(files=files))


def cell_started(cell: Cell, study: Study) -> events.CellStarted:
    """The journal event of a cell that starts."""
    framework, algorithm = plugins().framework(cell.entry.framework), cell.entry.algorithm
    return events.CellStarted(
        cell=cell.id,
        algorithm=cell.entry.use,
        framework=framework.name,
        framework_version=framework.version,
        fold=cell.fold.name,
        where=JOURNALLED[cell.entry.location],
        parameters=dict(cell.entry.parameters),
        unmapped=dict(cell.entry.unmapped),
        follows=cell.entry.follows,
        tuned=bool(cell.entry.space),
        fitted_on=study.protocol.text("split.fitted_on"),
        deterministic=algorithm.is_deterministic(cell.entry.parameters),
        seed=cell.seed,
    )


def _impacts(impacts: tuple[Impact, ...] | list[Impact]) -> list[events.ImpactEntry]:
    return [events.ImpactEntry(**asdict(impact), sentence=impact.sentence) for impact in impacts]


def _sizes(data: Interactions) -> dict[str, Any]:
    return {
        "digest": data.digest,
        "rows": len(data),
        "users": len(np.unique(data.users)),
        "items": len(np.unique(data.items)),
    }


def _rows(part: Interactions) -> bytes:
    """A part of a split as Parquet with external ids, in canonical order."""
    return parquet_bytes(pa.Table.from_pandas(part.canonical().to_frame(), preserve_index=False))
