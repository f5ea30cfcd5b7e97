"""Scores of a framework's own evaluation, measured by the core, and explanations of differences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.audits.hypotheses.space import Space
from repro.audits.policies import Policy, hypothesis_of
from repro.audits.questions.answers import close
from repro.audits.questions.aspects import aspects_of
from repro.data import Impact
from repro.data.filters import one_row_per_pair
from repro.data.interactions import FloatArray, Interactions
from repro.errors import ReproError
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import ReplayedScores
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.plugin import CheckedRecommender, PipelineFold
from repro.protocol import Protocol, Value, toml_value
from repro.split import without_unseen

NOTHING = np.empty(0, dtype=np.int32)
SINGLE = 1e-6  # the precision of sums in single precision
_MAX_TRIED = 200


@dataclass(frozen=True, eq=False)
class ScoredFold:
    """A fold of a framework's own evaluation, in the form that an evaluation takes."""

    parts: FoldData
    recommender: CheckedRecommender
    scale: tuple[float, float]
    reported: Mapping[str, float]

    @classmethod
    def of(cls, fold: PipelineFold, rows: Interactions, label: str) -> ScoredFold:
        train, test = rows.select(fold.train), rows.select(fold.test)
        scale = float(rows.ratings.min()), float(rows.ratings.max())
        parts = FoldData(rows, train, test, None, NOTHING)
        return cls(parts, ReplayedScores(fold.scores).checked(label), scale, fold.reported)


@dataclass(frozen=True, eq=False)
class Rescored:
    """The core's number for a fold, the number of users, and the impact of each decision.

    ``lengths`` and ``counts`` have the length of each list and what it adds to the number; they are empty where ratings
    are predicted.
    """

    value: float
    users: int
    impacts: tuple[Impact, ...]
    lengths: FloatArray
    counts: FloatArray


def rescore(fold: ScoredFold, metric: str, protocol: Protocol, seed: int = 0) -> Rescored:
    """Measure the scores of a fold under a protocol, with a ``metric`` such as ``ndcg@10``."""
    measure = parse_measure(metric, protocol, metrics())
    test, _ = one_row_per_pair(fold.parts.test, protocol.text("data.duplicates"))
    parts = replace(fold.parts, test=without_unseen(test, fold.parts.train, protocol))
    measured = Evaluation(parts, [measure], protocol, seed, fold.scale).measure(fold.recommender)
    value, users = measured.value(measure)
    impacts, lists = tuple(measured.impacts), measured.tables.get("values")
    if lists is None:
        return Rescored(value, users, impacts, np.empty(0), np.empty(0))
    return Rescored(value, users, impacts, lists["length"].to_numpy(), _counts(measure, lists))


def _counts(measure: Measure, lists: object) -> FloatArray:
    """The contribution of each list to the number; empty where the number is not a sum over lists."""
    name = f"{measure.full_name} numerator"
    return lists[name].to_numpy() if name in lists.column_names else np.empty(0)  # type: ignore[attr-defined,index]


def explanations(
    measure: Measure,
    name: str,
    folds: Sequence[ScoredFold],
    protocol: Protocol,
    policy: Policy,
    tolerance: float,
    quirk: str | None = None,
) -> list[str]:
    """Sentences that explain the difference; sentences about a full explanation come first.

    ``folds`` are those whose numbers differ, ``name`` is the framework's name of the measure, and ``quirk`` is a known
    peculiarity that the scores do not show.
    """
    trial = _Trial(measure, name, folds, protocol, tolerance)
    sentences = [*trial.of_precision(), *trial.of_decisions(), *trial.of_ties(), *([quirk] if quirk else [])]
    if not sentences:
        sentences.append("No other choice in one decision, and no other order of ties, gives the numbers reported.")
    return [*sentences, *trial.in_doubt(policy)]


@dataclass(frozen=True, eq=False)
class _Trial:
    """Tries whether precision, another option or the order of ties explains the reported numbers."""

    _measure: Measure
    _name: str
    _folds: Sequence[ScoredFold]
    _protocol: Protocol
    _tolerance: float

    def of_precision(self) -> Iterator[str]:
        """Whether single precision explains the difference."""
        gaps = [abs(fold.reported[self._name] - self._rescored(fold, self._protocol).value) for fold in self._folds]
        if all(gap <= SINGLE for gap in gaps):
            yield f"The numbers differ by {max(gaps):.1g} at most, as those do that were added up in single precision."

    def of_decisions(self) -> Iterator[str]:
        """The decisions of which another option gives the reported numbers."""
        fitting: dict[str, list[str]] = {}
        for key, value, changed in itertools.islice(self._changed_protocols(), _MAX_TRIED):
            options, option = fitting.setdefault(key, []), toml_value(value)
            if option not in options and all(self._equal(fold, changed) for fold in self._folds):
                options.append(option)
        for key, options in fitting.items():
            if options:
                stated = f"{key} = {' or '.join(options)} in place of {toml_value(self._protocol[key])}"
                yield f"With {stated} the numbers are those reported."

    def of_ties(self) -> Iterator[str]:
        """Whether the reported numbers lie between those of the worst and the best order of ties."""
        if "ties.break" not in self._protocol or isinstance(self._measure.tie_order, str):
            return
        n_touched = n_lists = 0
        for fold in self._folds:
            worst, best = (
                self._rescored(fold, self._protocol.replace({"ties.break": rule}, "tried"))
                for rule in ("worst", "best")
            )
            low, high = sorted((worst.value, best.value))
            if low == high or not low - self._tolerance <= fold.reported[self._name] <= high + self._tolerance:
                return
            n_touched += int((worst.counts != best.counts).sum())
            n_lists += len(worst.counts)
        scope = f", which make a difference to {n_touched:,} of {n_lists:,} lists" if n_lists else ""
        yield f"The numbers lie between what the worst and the best order of equal scores give{scope}."

    def in_doubt(self, policy: Policy) -> Iterator[str]:
        """The aspects that the policy does not explain, and how many lists or users they concern here."""
        if isinstance(policy, Protocol):
            return
        aspects = {aspect.name: aspect for aspect in aspects_of(self._measure.metric)}
        rescored = self._rescored(self._folds[0], self._protocol)
        for name in policy.doubtful:
            decisions = aspects[name].frees if name in aspects else ()
            touched = [self._short_lists(rescored)] if name == "short lists" else []
            touched += [
                impact.sentence
                for impact in rescored.impacts
                if impact.touched and any(f"{impact.decision}.".startswith(f"{family}.") for family in decisions)
            ]
            impacts = "; ".join(filter(None, touched)) or "nothing of the kind is counted here"
            yield f"The policy does not explain {name} ({impacts})."

    def _short_lists(self, rescored: Rescored) -> str:
        n_short = int((rescored.lengths < (self._measure.cutoff or 0)).sum())
        return f"{n_short:,} of {len(rescored.lengths):,} lists are" if n_short else ""

    def _changed_protocols(self) -> Iterator[tuple[str, Value, Protocol]]:
        """The protocol with one decision changed, with every choice for decisions that only then have an effect."""
        space = Space(self._measure.metric)
        hypothesis = hypothesis_of(self._protocol, space)
        for key in hypothesis.values:
            for value in space.tried(key):
                for other in space.with_changes(hypothesis, {key: value}) if value != hypothesis.values[key] else ():
                    changes = {name: new for name, new in other.values.items() if self._protocol.get(name) != new}
                    try:
                        yield key, value, self._protocol.replace(changes, "tried")
                    except ReproError:  # decisions that contradict each other
                        continue

    def _equal(self, fold: ScoredFold, protocol: Protocol) -> bool:
        try:
            return close(fold.reported[self._name], self._rescored(fold, protocol).value, self._tolerance)
        except ReproError:  # the core stops where the framework did not
            return False

    def _rescored(self, fold: ScoredFold, protocol: Protocol) -> Rescored:
        cutoff = self._measure.cutoff
        return rescore(fold, self._measure.metric.name + ("" if cutoff is None else f"@{cutoff}"), protocol)
