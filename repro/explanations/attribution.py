"""Attribute the gap between two evaluations to the decisions that differ, with Shapley values."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from repro.errors import JournalError, ProtocolError, StudyError
from repro.evaluation.metrics import MetricName, metric_text, metrics, parse_measure
from repro.explanations.explanation import Contribution, Explanation, Interaction, Vector
from repro.explanations.interpolate import Change, ProtocolPath, Switch, changes
from repro.explanations.refits import Refits, evaluated_as, fits_differ, shared_labels
from repro.explanations.scored_run import ScoredRun
from repro.explanations.shapley import EXACT_PLAYERS, Game, Shares, exact_shares, sampled_shares
from repro.explanations.variants import measure_variants
from repro.progress import Shown, progress_reporter
from repro.protocol import Protocol
from repro.runs.run import Run
from repro.types import Progress

ORDERS = 400
FITS = Switch(("what was fitted",))  # stands for all reasons together why scores differ

SwitchSet = frozenset[Switch]


@dataclass(frozen=True)
class AttributionOptions:
    """Options for the attribution of a gap.

    refit    fit models for the data and the split of intermediate protocols, and attribute these decisions too
    orders   the number of orders to sample if more than ten decisions differ
    seed     the seed of the sampled orders
    workers  the number of processes for refits
    """

    refit: bool = False
    orders: int = ORDERS
    seed: int = 0
    workers: int = 1


def explain(
    first: ScoredRun | Run | str | Path,
    second: ScoredRun | Run | Protocol | str | Path,
    metric: MetricName | None = None,
    *,
    algorithms: Sequence[str] | None = None,
    data: object = None,
    models: Mapping[str, Any] | None = None,
    options: AttributionOptions | None = None,
    progress: Shown = True,
) -> Explanation:
    """Attribute the gap between two evaluations to the decisions that differ.

    first       a run with stored scores (`repro run --keep-scores`), or its folder
    second      another run, or a protocol under which the first run is evaluated
    metric      the short name of a metric, such as ``ndcg@10``, or :class:`repro.Metric`; by default the first one of
                the first run
    algorithms  labels of algorithms; by default all that both runs have
    data        the data of the runs, or its path, if it has moved or was given in code
    models      models that were given in Python, by label: a refit needs them again, as no run folder has their code
    options     refits and sampling (:class:`repro.explanations.AttributionOptions`)
    progress    whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns an :class:`repro.explanations.Explanation`: ``to_frame()`` is a table, ``plot()`` a chart of it.

    >>> explanation = repro.explain("run", "other-run", "ndcg@10")
    >>> explanation.to_frame()[["algorithm", "decision", "from", "to"]]  # and part, share, error
        algorithm    decision      from         to
    0  popularity  ties.break  item-asc  item-desc
    1         knn  ties.break  item-asc  item-desc
    2        EASE  ties.break  item-asc  item-desc
    """
    run, other = ScoredRun.open(first, data, models), _second(second, data, models)
    labels = shared_labels(run, other, algorithms)
    options = options or AttributionOptions()
    with tempfile.TemporaryDirectory(prefix="repro-") as scratch, progress_reporter(progress) as report_progress:
        fits = Refits(run, other, Path(scratch), options.workers, report_progress) if options.refit else None
        name = run.run.measures[0].name if metric is None else metric_text(metric)
        gap = _Gap(run, other, name, labels, fits)
        return gap.attribute(options, report_progress)


def _second(
    second: ScoredRun | Run | Protocol | str | Path, data: object, models: Mapping[str, Any] | None
) -> ScoredRun | Protocol:
    """The run or the protocol that the first run is compared with."""
    if isinstance(second, Protocol):
        return second
    if isinstance(second, ScoredRun | Run) or Path(second).is_dir():
        return ScoredRun.open(second, data, models)
    return Protocol.load(second)


class _Gap:
    """The path from one evaluation to another, by switches."""

    def __init__(
        self, run: ScoredRun, other: ScoredRun | Protocol, metric: str, labels: tuple[str, ...], fits: Refits | None
    ) -> None:
        self.run, self.other, self.metric, self.labels, self.fits = run, other, metric, labels, fits
        self.target = target = other if isinstance(other, Protocol) else other.protocol
        known_metrics = metrics()
        for protocol in (run.protocol, target):
            parse_measure(metric, protocol, known_metrics)  # raises an error if the metric is undefined at either end

        def objection(protocol: Protocol) -> str:
            try:
                parse_measure(metric, protocol, known_metrics)
            except ProtocolError as error:
                return str(error)
            return ""

        fitted = [change for change in changes(run.protocol, target) if change.needs_refit]
        self.unattributed: tuple[Change, ...] = ()
        self.fits_together = False
        end = target
        if fits is None and isinstance(other, Protocol):
            # Stored scores suffice for the data and the split of the run only.
            self.unattributed = tuple(fitted)
            end = evaluated_as(run.protocol, target)
        elif fits is None and isinstance(other, ScoredRun):
            self.fits_together = bool(fitted) or fits_differ(run, other, labels)
        self.path = ProtocolPath(run.protocol, end, objection)
        self.fitting = [switch for switch in self.path.switches if self.fits_together and switch.needs_refit]
        self.players = tuple(switch for switch in self.path.switches if switch not in self.fitting)
        if self.fits_together or (fits is not None and fits.others_differ):
            self.players += (FITS,)
        self.numbers: dict[SwitchSet, Vector] = {}

    def attribute(self, options: AttributionOptions, progress: Progress | None) -> Explanation:
        first, second = self._names()
        self._measure(self._planned(options), progress)
        shares = self._shapley(self.numbers.__getitem__, options)
        before, after = self.numbers[frozenset()], self.numbers[frozenset(self.players)]
        ends = [self.run, self.other] if isinstance(self.other, ScoredRun) else [self.run]
        for end, values in zip(ends, (before, after), strict=False):
            _require_same_numbers(end, self.metric, self.labels, values)
        numbers = np.array(list(self.numbers.values())).reshape(-1, len(self.labels))
        defined = np.isfinite(numbers).all(axis=0)
        labels = tuple(np.array(self.labels)[defined].tolist())
        if not labels:
            raise StudyError(f"no algorithm has a number for {self.metric} under all protocols between the two")
        return Explanation(
            first=first,
            second=second,
            metric=self.metric,
            algorithms=labels,
            before=before[defined],
            after=after[defined],
            contributions=tuple(
                Contribution(switch.name, *self._changes(switch), shares.values[n][defined], shares.errors[n][defined])
                for n, switch in enumerate(self.players)
            ),
            interactions=tuple(
                Interaction(first_switch.name, second_switch.name, values[defined], errors[defined])
                for (first_switch, second_switch), (values, errors) in shares.interactions.items()
            ),
            orders=shares.orders,
            needs_refit=self.unattributed,
            left_out={
                label: f"has no number for {self.metric} under some protocol between the two"
                for label in self.labels
                if label not in labels
            },
            notes=tuple(dict.fromkeys(note for end in ends for note in end.notes)),
            question=self.run.study.question,
            evidence=self._evidence(),
            run=self.run.run.folder,
        )

    def _names(self) -> tuple[str, str]:
        """The names of the two ends: those of their protocols if these differ, and otherwise their folders."""
        first, second = self.run.protocol.name, self.target.name
        if first and second and first != second:
            return first, second
        if isinstance(self.other, Protocol):
            return str(self.run.run.folder), f"protocol {self.target.hash[:12]}"
        return str(self.run.run.folder), str(self.other.run.folder)

    def _evidence(self) -> dict[str, str]:
        evidence = {"first journal": self.run.run.journal.end.cited(), "first protocol": self.run.protocol.hash}
        if isinstance(self.other, Protocol):
            return {**evidence, "second protocol": self.target.hash, "with the split of the first": self.path.b.hash}
        journal = self.other.run.journal.end.cited()
        return {**evidence, "second journal": journal, "second protocol": self.target.hash}

    def _planned(self, options: AttributionOptions) -> list[SwitchSet]:
        """The sets of switches whose numbers are needed."""
        needed: dict[SwitchSet, None] = {}

        def record(chosen: SwitchSet) -> Vector:
            needed[chosen] = None
            return np.zeros(1)

        self._shapley(record, options)
        return list(needed)

    def _shapley(self, game: Game[Switch], options: AttributionOptions) -> Shares[Switch]:
        if len(self.players) <= EXACT_PLAYERS:
            return exact_shares(self.players, game)
        return sampled_shares(self.players, game, options.orders, options.seed)

    def _measure(self, needed: Sequence[SwitchSet], progress: Progress | None) -> None:
        """Compute the numbers of sets of switches, those with the same scores together."""
        by_source: dict[int, tuple[ScoredRun, list[SwitchSet]]] = {}
        for number, chosen in enumerate(needed):
            source = self._source(chosen)
            by_source.setdefault(id(source), (source, []))[1].append(chosen)
            if progress and self.fits is not None:
                progress("protocols planned", number + 1, len(needed))
        for source, sets in by_source.values():
            protocols = [self.path.protocol(self._switches(chosen)) for chosen in sets]
            measured = measure_variants(source, protocols, [self.metric], self.labels, progress)
            for (number, _), why in measured.refusals.items():
                names = ", ".join(switch.name for switch in self.players if switch in sets[number]) or "nothing"
                raise StudyError(
                    f"with {names} switched, there is no number: {why}. Explain the gap to a protocol that differs in "
                    "fewer decisions"
                )
            self.numbers |= {chosen: measured.values[number, :, 0] for number, chosen in enumerate(sets)}

    def _switches(self, chosen: SwitchSet) -> list[Switch]:
        """The switches of the path; ``FITS`` stands for all that need a refit."""
        switches = [switch for switch in chosen if switch != FITS]
        return switches + (self.fitting if self.fits_together and FITS in chosen else [])

    def _source(self, chosen: SwitchSet) -> ScoredRun:
        if self.fits is not None:
            protocol = self.path.protocol(self._switches(chosen))
            return self.fits.run(protocol, of_second=FITS in chosen)
        return self.other if FITS in chosen and isinstance(self.other, ScoredRun) else self.run

    def _changes(self, switch: Switch) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """The decisions that a switch changes, and those that depend on them."""
        switched = self.fitting if switch == FITS else [switch]

        def change(key: str) -> Change:
            return Change(key, self.path.a.get(key), self.path.b.get(key))

        switched_changes = tuple(change(key) for member in switched for key in member.decisions)
        return switched_changes, tuple(change(key) for member in switched for key in member.dependents)


def _require_same_numbers(run: ScoredRun, metric: str, labels: Sequence[str], values: Vector) -> None:
    """Raise an error if the stored scores do not give the number of their own run."""
    table = run.run.table()
    if metric in table.columns and not np.array_equal(table.loc[list(labels), metric], values, equal_nan=True):
        raise JournalError(
            f"the scores stored in {run.run.folder} do not give the run's own {metric}; another version of repro made "
            "the run: run the study again"
        )
