"""What explains that a framework reports another number than the core gives to its scores."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from repro.audit.aspects import aspects_of
from repro.audit.black_boxes.black_box import close
from repro.audit.pipelines.rescoring import Rescored, ScoredFold, rescore
from repro.audit.policies import Policy, hypothesis_of
from repro.audit.space import Space
from repro.errors import ReproError
from repro.evaluation.metrics import Measure
from repro.protocol import Protocol, Value, toml_value

SINGLE = 1e-6  # numbers that were added up in single precision are no better than this
_MOST_TRIED = 200


def explanations(
    measure: Measure,
    name: str,
    folds: Sequence[ScoredFold],
    protocol: Protocol,
    policy: Policy,
    tolerance: float,
    quirk: str | None = None,
) -> list[str]:
    """Sentences, those first that give the numbers that were reported.

    ``folds`` are those that differ, ``name`` is what the framework calls the measure, and ``quirk`` what is known of it
    that scores cannot tell.
    """
    trial = _Trial(measure, name, folds, protocol, tolerance)
    found = [*trial.of_precision(), *trial.of_decisions(), *trial.of_ties(), *([quirk] if quirk else [])]
    if not found:
        found.append("No other choice in one decision, and no other order of ties, gives the numbers reported.")
    return [*found, *trial.in_doubt(policy)]


class _Trial:
    def __init__(
        self, measure: Measure, name: str, folds: Sequence[ScoredFold], protocol: Protocol, tolerance: float
    ) -> None:
        self._measure = measure
        self._metric = measure.metric.name + ("" if measure.cutoff is None else f"@{measure.cutoff}")
        self._name = name
        self._folds = folds
        self._protocol = protocol
        self._tolerance = tolerance

    def of_precision(self) -> Iterator[str]:
        """Whether single precision is all there is to it."""
        gaps = [abs(fold.reported[self._name] - self._rescored(fold, self._protocol).value) for fold in self._folds]
        if all(gap <= SINGLE for gap in gaps):
            yield f"The numbers differ by {max(gaps):.1g} at most, as those do that were added up in single precision."

    def of_decisions(self) -> Iterator[str]:
        """The decisions of which other options give the numbers that were reported."""
        fitting: dict[str, list[str]] = {}
        for key, value, changed in itertools.islice(self._ways(), _MOST_TRIED):
            options, option = fitting.setdefault(key, []), toml_value(value)
            if option not in options and all(self._equal(fold, changed) for fold in self._folds):
                options.append(option)
        for key, options in fitting.items():
            if options:
                stated = f"{key} = {' or '.join(options)} in place of {toml_value(self._protocol[key])}"
                yield f"With {stated} the numbers are those reported."

    def of_ties(self) -> Iterator[str]:
        """Whether the numbers lie between what the worst and the best order of ties give."""
        if "ties.break" not in self._protocol or isinstance(self._measure.tie_order, str):
            return
        touched = lists = 0
        for fold in self._folds:
            worst, best = (
                self._rescored(fold, self._protocol.replace({"ties.break": rule}, "tried"))
                for rule in ("worst", "best")
            )
            low, high = sorted((worst.value, best.value))
            if low == high or not low - self._tolerance <= fold.reported[self._name] <= high + self._tolerance:
                return
            touched += int((worst.counts != best.counts).sum())
            lists += len(worst.counts)
        of = f", which make a difference to {touched:,} of {lists:,} lists" if lists else ""
        yield f"The numbers lie between what the worst and the best order of equal scores give{of}."

    def in_doubt(self, policy: Policy) -> Iterator[str]:
        """What the policy does not explain of the evaluator, and how much of that there is here."""
        if isinstance(policy, Protocol):
            return
        known = {aspect.name: aspect for aspect in aspects_of(self._measure.metric)}
        rescored = self._rescored(self._folds[0], self._protocol)
        for name in policy.doubtful:
            opens = known[name].opens if name in known else ()
            touched = [self._short_lists(rescored)] if name == "short lists" else []
            touched += [
                impact.sentence
                for impact in rescored.impacts
                if impact.touched and any(f"{impact.decision}.".startswith(f"{one}.") for one in opens)
            ]
            here = "; ".join(filter(None, touched)) or "nothing of the kind is counted here"
            yield f"The policy does not explain {name} ({here})."

    def _short_lists(self, rescored: Rescored) -> str:
        short = int((rescored.lengths < (self._measure.cutoff or 0)).sum())
        return f"{short:,} of {len(rescored.lengths):,} lists are" if short else ""

    def _ways(self) -> Iterator[tuple[str, Value, Protocol]]:
        """The protocol with one decision taken otherwise, and what has to be decided then in all ways."""
        space = Space(self._measure.metric)
        hypothesis = hypothesis_of(self._protocol, space)
        for key in hypothesis.values:
            for value in space.tried(key):
                for way in space.changed(hypothesis, {key: value}) if value != hypothesis.values[key] else ():
                    changes = {one: new for one, new in way.values.items() if self._protocol.get(one) != new}
                    try:
                        yield key, value, self._protocol.replace(changes, "tried")
                    except ReproError:  # not everything goes with everything
                        continue

    def _equal(self, fold: ScoredFold, protocol: Protocol) -> bool:
        try:
            return close(fold.reported[self._name], self._rescored(fold, protocol).value, self._tolerance)
        except ReproError:  # the run stops, where the framework's did not
            return False

    def _rescored(self, fold: ScoredFold, protocol: Protocol) -> Rescored:
        return rescore(fold, self._metric, protocol)
