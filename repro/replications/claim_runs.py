"""The runs of a claim: a study for each seed and for each protocol that needs another fit.

Protocols that differ only in the evaluation of scores share a run: their numbers come from its stored scores.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from repro.errors import PluginError, ReproError, StudyError
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.explanations import ScoredRun
from repro.explanations.design import read_axes
from repro.explanations.refits import fit_key
from repro.explanations.variants import measure_variants
from repro.plugin import how_to_install, plugins
from repro.plugin.isolation import environment
from repro.protocol import Protocol, registry
from repro.replications.claims.claim import Cell, Claim, Operand, Setting
from repro.replications.errata.granularity import FoldLists
from repro.runs.folder import JOURNAL, RunFolder
from repro.runs.journal import read_journal
from repro.runs.results_table import ALL_FOLDS
from repro.runs.run import Run
from repro.study import RunOptions, Study, make_plan, run_study
from repro.study.progress import Watcher

if TYPE_CHECKING:
    from repro.replications.verdicts.judgement import Judgement, Replication

RUN = "run"
FIRST = 0  # the position of the seed of the source among the seeds of a claim

Key = tuple[object, ...]
Numbers = dict[tuple[str, str], float]


@dataclass
class RunRequest:
    """A requested run: its protocol, and the algorithms, metrics and seeds that it must provide.

    keep_scores  whether to keep scores, because numbers under further protocols are computed from them
    """

    protocol: Protocol
    labels: dict[str, None] = field(default_factory=dict)
    metrics: dict[str, None] = field(default_factory=dict)
    seeds: dict[int, dict[str, None]] = field(default_factory=dict)
    keep_scores: bool = False

    def add(self, protocol: Protocol, labels: Sequence[str], metric: str, seeds: Sequence[int]) -> None:
        """Request a further number from the run."""
        self.labels |= dict.fromkeys(labels)
        self.metrics[metric] = None
        self.keep_scores |= protocol.hash != self.protocol.hash
        for seed in seeds:
            self.seeds.setdefault(seed, {}).update(dict.fromkeys(labels))


@dataclass(frozen=True)
class Options:
    """Execution options for the runs of a claim.

    fresh       ignore existing runs
    installed   use the installed versions of frameworks instead of the pinned ones
    time_limit  seconds for each fit
    build       called with each line of output while a missing environment is built; None builds no environment
    known       called with each judgement by the claim's own setting, as soon as it is known
    own         called with all of these before the search begins
    say         called with a line about the search: what it does, and about how long it takes
    """

    workers: int = 1
    fresh: bool = False
    installed: bool = False
    time_limit: float | None = None
    watcher: Watcher | None = None
    build: Callable[[str], None] | None = None
    known: Callable[[Judgement], object] | None = None
    own: Callable[[Replication], object] | None = None
    say: Callable[[str], object] | None = None


class Runs:
    """The runs of a claim; each is started, resumed or read at first use."""

    def __init__(self, claim: Claim, options: Options, seeds: Sequence[int]) -> None:
        self.claim, self.options, self.seeds = claim, options, tuple(seeds)
        self.not_run: dict[str, str] = {}
        self.folders: dict[tuple[Key, int], Path] = {}
        self._scored_runs: dict[Path, ScoredRun] = {}
        self.requests: dict[Key, RunRequest] = {}
        with self.environment():
            frameworks = dict.fromkeys(algorithm.framework for algorithm in claim.algorithms)
            reasons = {framework: self._why_missing(framework) for framework in frameworks}
        for algorithm in claim.algorithms:
            if reasons[algorithm.framework]:
                self.not_run[algorithm.label] = reasons[algorithm.framework]
        self.labels = tuple(label for label in claim.labels if label not in claim.systems)
        for cell in self.cells:
            setting = claim.setting(cell.key.under, cell.key.changes)
            self._request(setting.protocol, [cell.key.algorithm], cell.key.metric, self.seeds_of(cell))
        for cell in self.means:
            for under in cell.key.protocols:
                protocol = claim.setting(under, cell.key.changes).protocol
                self._request(protocol, [cell.key.algorithm], cell.key.metric, self.seeds_of(cell))
        for operand in (operand for operand in claim.operands if operand.measures):
            protocol, of_all = claim.setting(operand.under, operand.changes).protocol, bool(operand.property_of_metric)
            labels = self.labels if of_all else self.matching_labels(operand)
            for metric in operand.measures:
                self._request(protocol, labels, metric, self.seeds, separate=of_all)

    @property
    def cells(self) -> list[Cell]:
        """The printed numbers of algorithms."""
        return [cell for cell in self._cells_of_algorithms if len(cell.key.protocols) == 1]

    @property
    def means(self) -> list[Cell]:
        """The printed numbers of algorithms that are the mean over several protocols."""
        return [cell for cell in self._cells_of_algorithms if len(cell.key.protocols) > 1]

    @property
    def _cells_of_algorithms(self) -> list[Cell]:
        return [cell for cell in self.claim.cells if cell.key.algorithm in self.labels]

    @property
    def runnable(self) -> frozenset[str]:
        """The labels of the algorithms that can run here."""
        return frozenset(self.labels) - self.not_run.keys()

    def seeds_of(self, cell: Cell) -> tuple[int, ...]:
        """The seeds with which a cell is judged, the first of the claim first."""
        return tuple(dict.fromkeys((self.seeds[FIRST], *(cell.tolerance.seeds or self.seeds))))

    def matching_labels(self, operand: Operand) -> list[str]:
        """The labels of algorithms that match one side of a pattern."""
        labels = operand.matching(self.claim.labels)
        if not labels:
            raise StudyError(
                f"{self.claim.path}: no algorithm matches {' or '.join(operand.algorithms)} of a pattern; "
                f"algorithms: {', '.join(self.claim.labels)}"
            )
        return [label for label in labels if label in self.labels]

    @contextlib.contextmanager
    def environment(self) -> Iterator[None]:
        """Use the versions of frameworks that the claim pins within this context."""
        if not self.claim.frameworks or self.options.installed:
            yield
            return
        from repro.plugin import pinned

        with pinned(self.claim.frameworks):
            yield

    def _why_missing(self, framework: str) -> str:
        """The reason why a framework cannot run here, or "". Builds its environment if ``options.build`` is set."""
        try:
            requirements = plugins().environment_of(framework)
            if self.options.build and requirements is not None and plugins().location(framework) == "missing":
                environment.build(framework, requirements, self.options.build)
            if plugins().location(framework) == "missing":
                return how_to_install(plugins().framework(framework))
            plugins().framework(framework)  # with pinned versions, this starts its environment
        except (PluginError, OSError) as error:
            return str(error)
        return ""

    def _request(
        self, protocol: Protocol, labels: Sequence[str], metric: str, seeds: Sequence[int], *, separate: bool = False
    ) -> None:
        """Request a metric of the algorithms that can run; ``separate`` requests a run under exactly this protocol."""
        runnable = [label for label in labels if label not in self.not_run]
        if runnable:
            key = (*fit_key(protocol), protocol.hash) if separate else fit_key(protocol)
            self.requests.setdefault(key, RunRequest(protocol)).add(protocol, runnable, metric, seeds)

    def values(self, protocol: Protocol, names: Sequence[str], seed: int) -> Numbers:
        """The values of metrics under a protocol for all requested algorithms, by algorithm and metric."""
        request = self.requests.get(fit_key(protocol))
        if request is None or not self._runnable(request, seed):
            return {}
        folder = self.folder(request, seed)
        labels = self._runnable(request, seed)  # without those that failed in the run
        if not labels:
            return {}
        if request.protocol.hash == protocol.hash:
            return _read(folder, protocol, names, labels)
        return measure_variants(self.scored_run(protocol, seed), [protocol], names, labels).of(0)

    def fold_values(self, protocol: Protocol, label: str, metric: str) -> list[float]:
        """The value of each fold, with the first seed; empty where the run was evaluated under another protocol."""
        request, seed = self.requests.get(fit_key(protocol)), self.seeds[FIRST]
        if request is None or request.protocol.hash != protocol.hash or label not in self._runnable(request, seed):
            return []
        table = Run(self.folder(request, seed)).results
        name = parse_measure(metric, protocol, metrics()).full_name
        own = (table["algorithm"] == label) & (table["measure"] == name) & (table["fold"] != ALL_FOLDS)
        return [float(value) for value in table.loc[own, "value"]]

    def seconds_of(self, protocol: Protocol, label: str) -> dict[str, float]:
        """The seconds that an algorithm took to fit and to score a fold, with the first seed; empty without a run."""
        request, seed = self.requests.get(fit_key(protocol)), self.seeds[FIRST]
        if request is None or label not in self._runnable(request, seed):
            return {}
        seconds = Run(self.folder(request, seed)).seconds()
        return {str(name): float(value) for name, value in seconds.loc[label].items()} if label in seconds.index else {}

    def scored_run(self, protocol: Protocol, seed: int) -> ScoredRun:
        """The run whose scores give the numbers under this protocol, with this protocol in place of its own."""
        request = self.requests[fit_key(protocol)]
        folder = self.folder(request, seed)
        if folder not in self._scored_runs:
            with self.environment():
                plan = make_plan(self._study(request, seed), to_fit=False)
            self._scored_runs[folder] = ScoredRun(Run(folder), plan)
        scored = self._scored_runs[folder]
        study = copy.copy(scored.study)
        study.protocol = protocol
        return ScoredRun(scored.run, replace(scored.plan, study=study))

    def separate_run(self, protocol: Protocol, seed: int) -> Path:
        """The folder of a run under exactly this protocol, for computations that need its lists."""
        return self.folder(self.requests[*fit_key(protocol), protocol.hash], seed)

    def refit(self, base: Protocol, protocol: Protocol) -> None:
        """Request the numbers that ``base`` provides under a protocol with another fit too, with the first seed."""
        request = self.requests[fit_key(base)]
        for metric in request.metrics:
            self._request(protocol, list(request.labels), metric, self.seeds[:1])

    def seconds(self, protocol: Protocol) -> float:
        """The time that the run of a protocol took, with the first seed."""
        request = self.requests.get(fit_key(protocol))
        if request is None:
            return 0.0
        ends = read_journal(self.folder(request, self.seeds[FIRST]) / JOURNAL).events("run.finished")
        return math.fsum(end.seconds for end in ends)

    def folds(self, setting: Setting) -> int | None:
        """The number of folds over which numbers are averaged; None if it is open, or if nothing ran."""
        if any(registry()[axis.decision].needs_refit for axis in read_axes(setting.open, setting.protocol, refit=True)):
            return None
        try:
            return len(self.scored_run(setting.protocol, self.seeds[FIRST]).plan.split.folds)
        except (ReproError, KeyError):
            return None

    def lists(self, protocol: Protocol, label: str, measure: Measure) -> list[FoldLists]:
        """The lists of an algorithm in each fold of the first seed; empty if they were not stored."""
        request = self.requests.get(fit_key(protocol))
        if request is None or request.protocol.hash != protocol.hash or measure.metric.kind != "ranking":
            return []
        run = Run(self.folder(request, self.seeds[FIRST]))
        folds = []
        for cell in run.cells.get(label, {}).values():
            table = pq.read_table(RunFolder(run.folder).artifact(cell.artifacts["values"]))
            column = f"{measure.full_name} denominator"
            if column not in table.column_names:
                return []
            folds.append(FoldLists(*(table[name].to_numpy() for name in ("user", column, "length", "stratum"))))
        return folds

    def split_is_drawn(self, protocol: Protocol) -> bool:
        """Whether the split is random: another seed holds out other rows."""
        request, first = self.requests[fit_key(protocol)], self.seeds[FIRST]
        labels, test_digests = self._runnable(request, first), []
        for seed in (first, first + 1):
            with self.environment():
                study = self.claim.study(request.protocol, _defined_metrics(request), seed, labels, self.runnable)
                split = make_plan(study, to_fit=False).split
            test_digests.append([split.interactions.select(fold.test).digest for fold in split.folds])
        return test_digests[0] != test_digests[1]

    def main_run(self) -> Path | None:
        """The folder of the run with the first seed and the main protocol; None if nothing ran."""
        return next(iter(self.folders.values()), None)

    def folder(self, request: RunRequest, seed: int) -> Path:
        """The folder of a run, which is executed first if necessary."""
        key = (tuple(sorted(request.metrics)), request.protocol.hash), seed
        if key not in self.folders:
            with self.environment():
                study = self._study(request, seed)
                self.folders[key] = self._run(study, request.keep_scores or seed == self.seeds[FIRST])
        return self.folders[key]

    def _runnable(self, request: RunRequest, seed: int) -> list[str]:
        """The labels of the algorithms of a run that can run here."""
        return [label for label in request.seeds.get(seed, {}) if label not in self.not_run]

    def _study(self, request: RunRequest, seed: int) -> Study:
        labels = self._runnable(request, seed)
        return self.claim.study(request.protocol, _defined_metrics(request), seed, labels, self.runnable)

    def _run(self, study: Study, keep_scores: bool) -> Path:
        options, pins = self.options, sorted(self.claim.frameworks.items())
        name = study.digest + ("" if options.installed or not pins else repr(pins))
        folder = self.claim.folder / RUN / f"seed-{study.seed}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"
        run_options = RunOptions(
            workers=options.workers,
            time_limit=options.time_limit,
            keep_scores=keep_scores,
            resume=not options.fresh,
            fresh=options.fresh,
            watcher=options.watcher,
        )
        try:
            run_study(study, folder, run_options)
        except StudyError:
            failures = _failed(folder)
            if not failures:
                raise
            self.not_run |= failures  # the other algorithms have results
        return folder


def _defined_metrics(request: RunRequest) -> list[str]:
    """The metrics that are defined under the protocol of the run; others are computed from its scores."""
    names_by_measure: dict[str, str] = {}
    for name in request.metrics:
        try:
            names_by_measure.setdefault(parse_measure(name, request.protocol, metrics()).full_name, name)
        except ReproError:
            continue
    return list(names_by_measure.values())


def _read(folder: Path, protocol: Protocol, names: Sequence[str], labels: Sequence[str]) -> Numbers:
    table = Run(folder).results
    table = table[table["fold"] == ALL_FOLDS]
    keys = zip(table["algorithm"], table["measure"], strict=True)
    values = dict(zip(keys, table["value"].tolist(), strict=True))
    full_names = {name: parse_measure(name, protocol, metrics()).full_name for name in names}
    return {(label, name): values.get((label, full_names[name]), math.nan) for label in labels for name in names}


def _failed(folder: Path) -> dict[str, str]:
    """The algorithms that failed on a fold, with the error; empty if the run did not finish."""
    try:
        journal = read_journal(folder / JOURNAL)
    except ReproError:
        return {}
    finishes = journal.events("run.finished")
    finished = {event.cell for event in journal.events("cell.finished")}
    if not finishes or not finishes[-1].failed:
        return {}
    return {
        event.cell.rpartition("/")[0]: f"it failed: {event.error.splitlines()[0]}"
        for event in journal.events("cell.failed")
        if event.cell not in finished
    }


def versions_of(folder: Path) -> Mapping[str, str]:
    """The versions of the frameworks of a run, by name."""
    started = read_journal(folder / JOURNAL).events("run.started")[0]
    prefix = "framework:"
    return {key.removeprefix(prefix): value for key, value in started.versions.items() if key.startswith(prefix)}
