"""Which decision moved a number, and by how much: the gap between two evaluations, shared out among decisions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.errors import JournalError, ProtocolError, ReproError, StudyError
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain.mixing import Change, Mixture, Switch, changes
from repro.explain.scored_run import ScoredRun
from repro.explain.shapley import EXACT_PLAYERS, Game, Shares, exact_shares, sampled_shares
from repro.explain.variants import measure_variants
from repro.protocol import BEFORE_FITTING, Protocol, registry, resolve
from repro.study import RunOptions, Study, run_study

ORDERS = 400
THRESHOLD = 0.05  # of the gap, above which an interaction is shown
_NOISE = 1e-9  # below which it is none
FITS = Switch(("what was fitted",))  # all that makes scores differ, together

Tell = Callable[[str, int, int], None]
Vector = npt.NDArray[np.float64]
Chosen = frozenset[Switch]


@dataclass(frozen=True, eq=False)
class Part:
    """What one switch accounts for: of each algorithm, and its standard error (0 where it is exact).

    ``changes`` are the decisions that are switched; ``riding`` are those that gain or lose their effect by that.
    """

    name: str
    changes: tuple[Change, ...]
    riding: tuple[Change, ...]
    values: Vector
    errors: Vector

    @property
    def sentence(self) -> str:
        """What is switched, from what to what."""
        return "; ".join(f"{one.decision}: {one.before} -> {one.after}" for one in self.changes) or self.name


@dataclass(frozen=True, eq=False)
class Interaction:
    """How much more switching one changes once the other is switched: of each algorithm, and its standard error."""

    first: str
    second: str
    values: Vector
    errors: Vector


@dataclass(frozen=True, eq=False)
class Explanation:
    """The gap between two numbers of each algorithm, and the parts of it.

    before, after  the numbers of each algorithm at both ends; the parts add up to the difference
    orders         how many orders of switching were sampled; None where all were counted
    needs_refit    decisions that differ, and are not accounted for without a refit
    left_out       algorithms without a number at some point between the two, and why
    notes          what else is to be known
    evidence       the journal lines with which the runs finished, and the hashes of the protocols
    """

    first: str
    second: str
    metric: str
    algorithms: tuple[str, ...]
    before: Vector
    after: Vector
    parts: tuple[Part, ...]
    interactions: tuple[Interaction, ...]
    orders: int | None
    needs_refit: tuple[Change, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    question: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)

    @property
    def gap(self) -> Vector:
        return self.after - self.before

    def notable(self, threshold: float = THRESHOLD) -> list[tuple[str, str, str, float]]:
        """Interactions above a share of the gap: algorithm, both decisions, by how much; the largest first."""
        found = [
            (label, one.first, one.second, float(one.values[place]))
            for one in self.interactions
            for place, label in enumerate(self.algorithms)
            if abs(one.values[place]) > max(threshold * abs(self.gap[place]), _NOISE)
        ]
        return sorted(found, key=lambda one: -abs(one[3]))

    def to_frame(self) -> pd.DataFrame:
        """One row for each algorithm and part: algorithm, decision, from, to, part, share of the gap, error."""
        rows = []
        for place, label in enumerate(self.algorithms):
            gap = float(self.gap[place])
            for part in self.parts:
                value = float(part.values[place])
                rows.append(
                    {
                        "algorithm": label,
                        "decision": part.name,
                        "from": ", ".join(str(change.before) for change in part.changes),
                        "to": ", ".join(str(change.after) for change in part.changes),
                        "part": value,
                        "share": value / gap if gap else float("nan"),
                        "error": float(part.errors[place]),
                    }
                )
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "metric": self.metric,
            "orders": "all" if self.orders is None else self.orders,
            "algorithms": [
                {
                    "algorithm": label,
                    "before": float(self.before[place]),
                    "after": float(self.after[place]),
                    "gap": float(self.gap[place]),
                    "parts": [
                        {"decision": p.name, "part": float(p.values[place]), "error": float(p.errors[place])}
                        for p in self.parts
                    ],
                    "interactions": [
                        {
                            "first": one.first,
                            "second": one.second,
                            "value": float(one.values[place]),
                            "error": float(one.errors[place]),
                        }
                        for one in self.interactions
                    ],
                }
                for place, label in enumerate(self.algorithms)
            ],
            "changes": [change.to_dict() for part in self.parts for change in (*part.changes, *part.riding)],
            "needs_refit": [change.to_dict() for change in self.needs_refit],
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "evidence": dict(self.evidence),
        }


def explain(
    first: ScoredRun | str | Path,
    second: ScoredRun | Protocol | str | Path,
    metric: str | None = None,
    *,
    algorithms: Sequence[str] | None = None,
    refit: bool = False,
    orders: int = ORDERS,
    seed: int = 0,
    workers: int = 1,
    tell: Tell | None = None,
) -> Explanation:
    """How much of the gap between two evaluations each decision that differs accounts for.

    first    a run that kept its scores (`repro run --keep-scores`), or its folder
    second   another one, or the protocol that the first run is taken to
    metric   by its short name, such as ``ndcg@10``; the first run's first one by default
    refit    fit again wherever decisions about data or split are switched, and account for each of them
    orders   of switching, sampled where more than ten decisions differ

    >>> found = repro.explain.explain("run", "other-run", "ndcg@10")
    >>> found.to_frame()[["algorithm", "decision", "from", "to"]]  # and part, share, error
        algorithm    decision      from         to
    0  popularity  ties.break  item-asc  item-desc
    1         knn  ties.break  item-asc  item-desc
    2        EASE  ties.break  item-asc  item-desc
    """
    run = first if isinstance(first, ScoredRun) else ScoredRun.open(first)
    other = second if isinstance(second, ScoredRun | Protocol) else _opened(second)
    name = metric or run.run.measures[0].name
    labels = _labels(run, other, algorithms)
    with tempfile.TemporaryDirectory(prefix="repro-") as scratch:
        gap = _Gap(run, other, name, labels, _Fits(run, other, Path(scratch), workers, tell) if refit else None)
        return gap.shared_out(orders, seed, tell)


def _opened(given: str | Path) -> ScoredRun | Protocol:
    return ScoredRun.open(given) if Path(given).is_dir() else Protocol.load(given)


def _labels(run: ScoredRun, other: ScoredRun | Protocol, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The algorithms that are in both runs, or those of them that are asked for."""
    shared = [label for label in run.chosen(wanted) if isinstance(other, Protocol) or label in other.algorithms]
    if not shared:
        raise StudyError("the two runs have no algorithm in common (they are told apart by their labels)")
    return tuple(shared)


class _Gap:
    """The way from one evaluation to another, by switches."""

    def __init__(
        self,
        run: ScoredRun,
        other: ScoredRun | Protocol,
        metric: str,
        labels: tuple[str, ...],
        fits: _Fits | None,
    ) -> None:
        self.run, self.other, self.metric, self.labels, self.fits = run, other, metric, labels, fits
        theirs = other if isinstance(other, Protocol) else other.protocol
        known = metrics()
        for protocol in (run.protocol, theirs):
            parse_measure(metric, protocol, known)  # what cannot be had at either end is told at once

        def objection(protocol: Protocol) -> str:
            try:
                parse_measure(metric, protocol, known)
            except ProtocolError as error:
                return str(error)
            return ""

        fitted = [change for change in changes(run.protocol, theirs) if change.needs_refit]
        self.open: tuple[Change, ...] = ()
        self.together = False
        goal = theirs
        if fits is None and isinstance(other, Protocol):
            # Kept scores answer for the run's own data and split alone.
            self.open = tuple(fitted)
            goal = _evaluated_as(run.protocol, theirs)
        elif fits is None and isinstance(other, ScoredRun):
            self.together = bool(fitted) or _fits_differ(run, other, labels)
        self.mixture = Mixture(run.protocol, goal, objection)
        own = [switch for switch in self.mixture.switches if not (self.together and switch.needs_refit)]
        self.fitting = [switch for switch in self.mixture.switches if switch not in own]
        rest = fits is not None and fits.others_differ
        self.players: tuple[Switch, ...] = (*own, *((FITS,) if self.together or rest else ()))
        self.numbers: dict[Chosen, Vector] = {}

    def shared_out(self, orders: int, seed: int, tell: Tell | None) -> Explanation:
        players = self.players
        first, second = _called(self.run, self.other)
        shares = self._shares(self._planned(orders, seed), orders, seed, tell)
        before, after = self.numbers[frozenset()], self.numbers[frozenset(players)]
        _require_same_numbers(self.run, self.metric, self.labels, before)
        if isinstance(self.other, ScoredRun):
            _require_same_numbers(self.other, self.metric, self.labels, after)
        every = np.array(list(self.numbers.values())).reshape(-1, len(self.labels))
        fine = np.isfinite(every).all(axis=0)
        labels = tuple(label for label, good in zip(self.labels, fine, strict=True) if good)
        if not labels:
            raise StudyError(f"no algorithm has a number for {self.metric} all the way between the two protocols")
        return Explanation(
            first=first,
            second=second,
            metric=self.metric,
            algorithms=labels,
            before=before[fine],
            after=after[fine],
            parts=tuple(
                Part(switch.name, *self._changes(switch), shares.values[n][fine], shares.errors[n][fine])
                for n, switch in enumerate(players)
            ),
            interactions=tuple(
                Interaction(one.name, two.name, values[fine], errors[fine])
                for (one, two), (values, errors) in shares.interactions.items()
            ),
            orders=shares.orders,
            needs_refit=self.open,
            left_out={
                label: f"has no number for {self.metric} at some point between the two"
                for label, good in zip(self.labels, fine, strict=True)
                if not good
            },
            notes=tuple(
                dict.fromkeys((*self.run.notes, *(() if isinstance(self.other, Protocol) else self.other.notes)))
            ),
            question=self.run.study.question,
            evidence=self._evidence(),
        )

    def _evidence(self) -> dict[str, str]:
        found = {"first journal": self.run.run.journal.end.cited(), "first protocol": self.run.protocol.hash}
        if isinstance(self.other, Protocol):
            return {**found, "second protocol": self.other.hash, "with the split of the first": self.mixture.b.hash}
        return {
            **found,
            "second journal": self.other.run.journal.end.cited(),
            "second protocol": self.other.protocol.hash,
        }

    def _planned(self, orders: int, seed: int) -> list[Chosen]:
        """The sets of switches whose numbers are needed."""
        needed: dict[Chosen, None] = {}

        def asked(chosen: Chosen) -> Vector:
            needed[chosen] = None
            return np.zeros(1)

        self._of(asked, orders, seed)
        return list(needed)

    def _of(self, game: Game[Switch], orders: int, seed: int) -> Shares[Switch]:
        if len(self.players) <= EXACT_PLAYERS:
            return exact_shares(self.players, game)
        return sampled_shares(self.players, game, orders, seed)

    def _shares(self, needed: Sequence[Chosen], orders: int, seed: int, tell: Tell | None) -> Shares[Switch]:
        by_source: dict[int, tuple[ScoredRun, list[Chosen]]] = {}
        for number, chosen in enumerate(needed):
            source = self._source(chosen)
            by_source.setdefault(id(source), (source, []))[1].append(chosen)
            if tell and self.fits is not None:
                tell("protocols planned", number + 1, len(needed))
        for source, sets in by_source.values():
            protocols = [self.mixture.protocol(self._switches(chosen)) for chosen in sets]
            found = measure_variants(source, protocols, [self.metric], self.labels, tell)
            for (number, _), why in found.refusals.items():
                names = ", ".join(switch.name for switch in self.players if switch in sets[number]) or "nothing"
                raise StudyError(
                    f"between the two, with {names} switched, there is no number: {why}. Explain the way to a "
                    "protocol that differs in fewer decisions"
                )
            self.numbers |= {chosen: found.values[number, :, 0] for number, chosen in enumerate(sets)}
        return self._of(self.numbers.__getitem__, orders, seed)

    def _switches(self, chosen: Chosen) -> list[Switch]:
        """The switches of the mixture: what was fitted stands for all that change it."""
        own = [switch for switch in chosen if switch != FITS]
        return own + (self.fitting if self.together and FITS in chosen else [])

    def _source(self, chosen: Chosen) -> ScoredRun:
        if self.fits is not None:
            protocol = self.mixture.protocol(self._switches(chosen))
            return self.fits.of(protocol, theirs=FITS in chosen)
        return self.other if FITS in chosen and isinstance(self.other, ScoredRun) else self.run

    def _changes(self, switch: Switch) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """What a switch changes, and what comes along."""
        switched = self.fitting if switch == FITS else [switch]

        def change(key: str) -> Change:
            return Change(key, self.mixture.a.get(key), self.mixture.b.get(key))

        own = tuple(change(key) for each in switched for key in each.decisions)
        return own, tuple(change(key) for each in switched for key in each.riding)


def _called(run: ScoredRun, other: ScoredRun | Protocol) -> tuple[str, str]:
    """How the two ends are called: by their protocols, where these have different names, else by their folders."""
    theirs = other if isinstance(other, Protocol) else other.protocol
    if run.protocol.name and theirs.name and run.protocol.name != theirs.name:
        return run.protocol.name, theirs.name
    beside = f"protocol {theirs.hash[:12]}" if isinstance(other, Protocol) else str(other.run.folder)
    return str(run.run.folder), beside


def _evaluated_as(own: Protocol, theirs: Protocol) -> Protocol:
    """``theirs``, with data and split as in ``own``."""
    known = registry()
    values = {key: value for key, value in theirs.items() if not known[key].needs_refit}
    values |= {key: value for key, value in own.items() if known[key].needs_refit}
    resolved = resolve(values, {**own.origins, **theirs.origins}, strict=frozenset())
    stating = {key: own if known[key].needs_refit else theirs for key in resolved.files}
    folders = {key: one.folders.get(key, one.folder) for key, one in stating.items()}
    return Protocol(resolved.values_, resolved.origins, theirs.name, folders=folders)


def _fits_differ(one: ScoredRun, two: ScoredRun, labels: Sequence[str]) -> bool:
    """Whether what was held out, the seed, or the scores of any algorithm differ."""
    if _held_out(one) != _held_out(two) or one.study.seed != two.study.seed or one.scale != two.scale:
        return True
    return not all(one.same_fit(label, two) for label in labels)


def _held_out(run: ScoredRun) -> list[tuple[str | None, ...]]:
    made = run.run.journal.events("fold.made")
    return [(e.fold, e.train_digest, e.validation_digest, e.test_digest) for e in made]


def _studies_differ(one: ScoredRun, two: ScoredRun) -> bool:
    """Whether more than the protocol differs: data, seed, algorithms, tuning."""

    def rest(run: ScoredRun) -> object:
        described = run.study.describe()
        return [described.get(key) for key in ("seed", "algorithms", "tune")], run.plan.source.digest

    return rest(one) != rest(two)


def _require_same_numbers(run: ScoredRun, metric: str, labels: Sequence[str], found: Vector) -> None:
    """Refuse kept scores that do not give the numbers of their own run, where it measured the metric."""
    table = run.run.table()
    if metric in table.columns and not np.array_equal(table.loc[list(labels), metric], found, equal_nan=True):
        raise JournalError(
            f"the scores kept in {run.run.folder} do not give the run's own {metric}; it was made by another version "
            "of repro: run the study again"
        )


class _Fits:
    """Runs with other data or splits, made where they are needed, each once."""

    def __init__(
        self, run: ScoredRun, other: ScoredRun | Protocol, scratch: Path, workers: int, tell: Tell | None
    ) -> None:
        self._studies = (run.study, run.study if isinstance(other, Protocol) else other.study)
        self.others_differ = isinstance(other, ScoredRun) and (
            _studies_differ(run, other)
            or (
                _fitted(run.protocol) == _fitted(other.protocol) and _fits_differ(run, other, _labels(run, other, None))
            )
        )
        self._scratch, self._workers, self._tell = scratch, workers, tell
        self._made: dict[tuple[bool, tuple[object, ...]], ScoredRun] = {(False, _fitted(run.protocol)): run}
        if isinstance(other, ScoredRun):
            self._made.setdefault((self.others_differ, _fitted(other.protocol)), other)

    def of(self, protocol: Protocol, *, theirs: bool) -> ScoredRun:
        """The run of the first study, or of the other, with data and split as in the protocol."""
        key = (theirs, _fitted(protocol))
        if key not in self._made:
            study: Study = self._studies[theirs].with_protocol(_with_fitted(self._studies[theirs].protocol, protocol))
            folder = self._scratch / f"fit-{len(self._made)}"
            try:
                run_study(study, folder, RunOptions(keep_scores=True, workers=self._workers))
            except ReproError as error:
                raise StudyError(f"a fit between the two is not to be had: {error}") from None
            self._made[key] = ScoredRun.open(folder, study.data)
            if self._tell:
                self._tell("fits", len(self._made), len(self._made))
        return self._made[key]


def _fitted(protocol: Protocol) -> tuple[object, ...]:
    return tuple(protocol.of_stages(*BEFORE_FITTING).items())


def _with_fitted(own: Protocol, mixed: Protocol) -> Protocol:
    return _evaluated_as(mixed, own)
