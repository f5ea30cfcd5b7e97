"""The runs behind a claim: one study for each seed and for each protocol that needs another fit.

Protocols that differ only in how scores are evaluated share a run: their numbers come from its kept scores.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow.parquet as pq

from repro.errors import PluginError, ReproError, StudyError
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.explain import ScoredRun
from repro.explain.design import read_axes
from repro.explain.variants import measure_variants
from repro.plugin import how_to_install, plugins
from repro.plugin.isolation import environment
from repro.protocol import BEFORE_FITTING, Protocol, registry
from repro.replicate.claim import Cell, Claim, Operand, Setting
from repro.replicate.granularity import FoldLists
from repro.runs.folder import JOURNAL, RunFolder
from repro.runs.journal import read_journal
from repro.runs.results_table import ALL_FOLDS
from repro.runs.run import Run
from repro.study import RunOptions, Study, make_plan, run_study
from repro.study.engine import Watcher

RUN = "run"
FIRST = 0  # the place of the claim's own seed

Key = tuple[object, ...]
Numbers = dict[tuple[str, str], float]


@dataclass
class Need:
    """What a run has to give: the protocol it is run under, and algorithms, metrics and seeds."""

    protocol: Protocol
    labels: dict[str, None] = field(default_factory=dict)
    metrics: dict[str, None] = field(default_factory=dict)
    seeds: dict[int, dict[str, None]] = field(default_factory=dict)
    several: bool = False

    def add(self, protocol: Protocol, labels: Sequence[str], metric: str, seeds: Sequence[int]) -> None:
        """A further number that is asked of it."""
        self.labels |= dict.fromkeys(labels)
        self.metrics[metric] = None
        self.several |= protocol.hash != self.protocol.hash
        for seed in seeds:
            self.seeds.setdefault(seed, {}).update(dict.fromkeys(labels))


@dataclass(frozen=True)
class Options:
    """How the runs of a claim are carried out.

    installed  take frameworks as they are here, whatever is pinned
    build      build environments that are missing; it is called with each line that this has to tell
    """

    workers: int = 1
    fresh: bool = False
    installed: bool = False
    time_limit: float | None = None
    watcher: Watcher | None = None
    build: Callable[[str], None] | None = None


class Runs:
    """The runs of a claim, each begun, finished or taken as it is when it is first asked for."""

    def __init__(self, claim: Claim, options: Options, seeds: Sequence[int]) -> None:
        self.claim, self.options, self.seeds = claim, options, tuple(seeds)
        self.not_run: dict[str, str] = {}
        self.folders: dict[tuple[Key, int], Path] = {}
        self._kept: dict[Path, ScoredRun] = {}
        self._needs: dict[Key, Need] = {}
        with self.environment():
            self._leave_out_missing()
        self.labels = tuple(one for one in claim.labels if one not in claim.systems)
        for cell in self.cells:
            setting = claim.setting(cell.place.under, cell.place.changes)
            self._ask(setting.protocol, [cell.place.algorithm], cell.place.metric, self.seeds_of(cell))
        for operand in (side for one in claim.patterns for side in (one.left, one.right) if side.measure):
            protocol = claim.setting(operand.under, operand.changes).protocol
            labels = self.labels if operand.dp else self.named(operand)
            self._ask(protocol, labels, operand.measure, self.seeds, apart=bool(operand.dp))

    @property
    def cells(self) -> list[Cell]:
        """The printed numbers of algorithms."""
        return [cell for cell in self.claim.cells if cell.place.algorithm in self.labels]

    @property
    def able(self) -> frozenset[str]:
        """The algorithms that work here."""
        return frozenset(self.labels) - self.not_run.keys()

    @property
    def needs(self) -> list[Need]:
        """All that has to be run."""
        return list(self._needs.values())

    def seeds_of(self, cell: Cell) -> tuple[int, ...]:
        """The seeds that a cell is judged by: the claim's own first."""
        return tuple(dict.fromkeys((self.seeds[FIRST], *(cell.tolerance.seeds or self.seeds))))

    def named(self, operand: Operand) -> list[str]:
        """The algorithms that one side of a pattern is about."""
        found = [one for one in self.claim.labels if any(fnmatchcase(one, name) for name in operand.algorithms)]
        if not found:
            raise StudyError(
                f"{self.claim.path}: no algorithm is called {' or '.join(operand.algorithms)}, which a pattern is "
                f"about; there are: {', '.join(self.claim.labels)}"
            )
        return [one for one in found if one in self.labels]

    @contextlib.contextmanager
    def environment(self) -> Iterator[None]:
        """Within it, frameworks have the versions that the claim pins."""
        if not self.claim.frameworks or self.options.installed:
            yield
            return
        from repro.plugin import pinned

        with pinned(self.claim.frameworks):
            yield

    def _leave_out_missing(self) -> None:
        """Algorithms whose framework does not work here are not run, each with the reason; the others are."""
        frameworks = dict.fromkeys(one.framework for one in self.claim.algorithms)
        reasons = {name: self._why_missing(name) for name in frameworks}
        self.not_run |= {one.label: reasons[one.framework] for one in self.claim.algorithms if reasons[one.framework]}

    def _why_missing(self, framework: str) -> str:
        """Why a framework cannot be run here; empty where it can. Its environment is built where that is asked for."""
        try:
            needs = plugins().environment_of(framework)
            if self.options.build and needs is not None and plugins().location(framework) == "missing":
                environment.build(framework, needs, self.options.build)
            if plugins().location(framework) == "missing":
                return how_to_install(plugins().framework(framework))
            plugins().framework(framework)  # where versions are pinned, this asks its environment for them
        except (PluginError, OSError) as error:
            return str(error)
        return ""

    def _ask(
        self, protocol: Protocol, labels: Sequence[str], metric: str, seeds: Sequence[int], *, apart: bool = False
    ) -> None:
        wanted = [one for one in labels if one not in self.not_run]
        if wanted:
            key = (*fit_key(protocol), protocol.hash) if apart else fit_key(protocol)
            self._needs.setdefault(key, Need(protocol)).add(protocol, wanted, metric, seeds)

    def values(self, protocol: Protocol, names: Sequence[str], seed: int) -> Numbers:
        """The numbers of all algorithms that were asked for, by algorithm and metric, under a protocol."""
        need = self._needs.get(fit_key(protocol))
        if need is None or not self._able(need, seed):
            return {}
        folder = self.folder(need, seed)
        labels = self._able(need, seed)
        if not labels:
            return {}
        if need.protocol.hash == protocol.hash:
            return _read(folder, protocol, names, labels)
        found = measure_variants(self.kept(protocol, seed), [protocol], names, labels)
        return {
            (label, name): float(found.values[0, row, column])
            for row, label in enumerate(labels)
            for column, name in enumerate(names)
        }

    def kept(self, protocol: Protocol, seed: int) -> ScoredRun:
        """The run with its scores, as if it had been run under this protocol."""
        need = self._needs[fit_key(protocol)]
        folder = self.folder(need, seed)
        if folder not in self._kept:
            with self.environment():
                plan = make_plan(self._study(need, seed), to_fit=False)
            self._kept[folder] = ScoredRun(Run(folder), plan)
        kept = self._kept[folder]
        study = copy.copy(kept.study)
        study.protocol = protocol
        return ScoredRun(kept.run, replace(kept.plan, study=study))

    def run_apart(self, protocol: Protocol, seed: int) -> Path:
        """The folder of a run under this protocol and no other, for what needs its lists."""
        return self.folder(self._needs[*fit_key(protocol), protocol.hash], seed)

    def refit(self, base: Protocol, protocol: Protocol) -> None:
        """Ask a protocol that needs a fit of its own for what is asked of ``base``, with the claim's own seed."""
        need = self._needs[fit_key(base)]
        for metric in need.metrics:
            self._ask(protocol, list(need.labels), metric, self.seeds[:1])

    def folds(self, setting: Setting) -> int | None:
        """Over how many folds numbers are averaged; None where that is open, or nothing was run."""
        if any(registry()[axis.decision].needs_refit for axis in read_axes(setting.open, setting.protocol, refit=True)):
            return None
        try:
            return len(self.kept(setting.protocol, self.seeds[FIRST]).plan.split.folds)
        except (ReproError, KeyError):
            return None

    def lists(self, protocol: Protocol, label: str, measure: Measure) -> list[FoldLists]:
        """The lists behind a number of the claim's own seed, fold by fold; none where they were not stored."""
        need = self._needs.get(fit_key(protocol))
        if need is None or need.protocol.hash != protocol.hash or measure.metric.kind != "ranking":
            return []
        run = Run(self.folder(need, self.seeds[FIRST]))
        found = []
        for cell in run.cells.get(label, {}).values():
            table = pq.read_table(RunFolder(run.folder).artifact(cell.artifacts["values"]))
            column = f"{measure.full_name} denominator"
            if column not in table.column_names:
                return []
            parts = (table[name].to_numpy() for name in ("user", column, "length", "stratum"))
            found.append(FoldLists(*parts))
        return found

    def split_is_drawn(self, protocol: Protocol) -> bool:
        """Whether another seed holds out other rows."""
        need, first = self._needs[fit_key(protocol)], self.seeds[FIRST]
        labels, found = self._able(need, first), []
        for seed in (first, first + 1):
            with self.environment():
                study = self.claim.study(need.protocol, _usable(need), seed, labels, self.able)
                split = make_plan(study, to_fit=False).split
            found.append([split.interactions.select(fold.test).digest for fold in split.folds])
        return found[0] != found[1]

    def own(self) -> Path | None:
        """The folder of the run with the claim's own seed and protocol; None where nothing was run."""
        return next(iter(self.folders.values()), None)

    def folder(self, need: Need, seed: int) -> Path:
        """The folder of a run; it is run first if it is not there yet."""
        key = (tuple(sorted(need.metrics)), need.protocol.hash), seed
        if key not in self.folders:
            with self.environment():
                study = self._study(need, seed)
                self.folders[key] = self._run(study, need.several or seed == self.seeds[FIRST])
        return self.folders[key]

    def _able(self, need: Need, seed: int) -> list[str]:
        """The algorithms of a run that work here."""
        return [label for label in need.seeds.get(seed, {}) if label not in self.not_run]

    def _study(self, need: Need, seed: int) -> Study:
        return self.claim.study(need.protocol, _usable(need), seed, self._able(need, seed), self.able)

    def _run(self, study: Study, keep_scores: bool) -> Path:
        options, pins = self.options, sorted(self.claim.frameworks.items())
        name = study.digest + ("" if options.installed or not pins else repr(pins))
        folder = self.claim.folder / RUN / f"seed-{study.seed}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"
        try:
            how = RunOptions(
                workers=options.workers,
                time_limit=options.time_limit,
                keep_scores=keep_scores,
                resume=not options.fresh,
                fresh=options.fresh,
                watcher=options.watcher,
            )
            run_study(study, folder, how)
        except StudyError:
            failures = _failed(folder)
            if not failures:
                raise
            self.not_run |= failures  # the others are there
        return folder


def fit_key(protocol: Protocol) -> Key:
    """What decides which scores there are: protocols with the same key share a run."""
    return tuple(protocol.of_stages(*BEFORE_FITTING).items())


def _usable(need: Need) -> list[str]:
    """The metrics that can be had under the protocol of the run; others are had from its scores."""
    found: dict[str, str] = {}
    for name in need.metrics:
        try:
            found.setdefault(parse_measure(name, need.protocol, metrics()).full_name, name)
        except ReproError:
            continue
    return list(found.values())


def _read(folder: Path, protocol: Protocol, names: Sequence[str], labels: Sequence[str]) -> Numbers:
    table = Run(folder).results
    table = table[table["fold"] == ALL_FOLDS]
    keys = zip(table["algorithm"], table["measure"], strict=True)
    known = dict(zip(keys, table["value"].tolist(), strict=True))
    full = {name: parse_measure(name, protocol, metrics()).full_name for name in names}
    return {(label, name): known.get((label, full[name]), math.nan) for label in labels for name in names}


def _failed(folder: Path) -> dict[str, str]:
    """The algorithms that failed on a fold, with the error; none where the run never came to its end."""
    try:
        journal = read_journal(folder / JOURNAL)
    except ReproError:
        return {}
    ends = journal.events("run.finished")
    finished = {event.cell for event in journal.events("cell.finished")}
    if not ends or not ends[-1].failed:
        return {}
    return {
        event.cell.rpartition("/")[0]: f"it failed: {event.error.splitlines()[0]}"
        for event in journal.events("cell.failed")
        if event.cell not in finished
    }


def versions_of(folder: Path) -> Mapping[str, str]:
    """The frameworks that a run was made with, by name."""
    began = read_journal(folder / JOURNAL).events("run.started")[0]
    named = {key: value for key, value in began.versions.items() if key.startswith("framework:")}
    return {key.removeprefix("framework:"): value for key, value in named.items()}
