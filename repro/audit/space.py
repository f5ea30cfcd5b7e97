"""The hypotheses: every way in which the decisions that bear on a metric can be taken.

They come from the registry of decisions: an option that is added there is searched here. The product of all of them
is far too large to be listed, so decisions are *opened* one aspect after the other (:mod:`repro.audit.aspects`): as
long as questions have nothing in them that a decision could touch, it stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

from repro.audit.questions.question import HIGHEST
from repro.errors import ProtocolError
from repro.evaluation.metrics import EXTREMES, Metric
from repro.evaluation.metrics.metric import DEEPEST
from repro.evaluation.stages import StageKeys
from repro.protocol import BEFORE_FITTING, OF_LISTS, OF_PREDICTIONS, Decision, Protocol, Value, registry

# What metrics may need that no question has.
NOT_THERE = frozenset({"features", "previous", "timestamps"})
NOT_AUDITED: Mapping[str, str] = {
    "practical-accuracy": "it is the product of two others; audit these",
}
# A protocol has a split; no question hangs on how rows were drawn, and plain ones have users without training rows.
SPLIT: Mapping[str, Value] = {"split.strategy": "ratio", "split.test_ratio": 0.2, "split.unseen_users": "keep"}
Values = Mapping[str, Value]
_NUMBERS: dict[Hashable, int] = {}  # of decisions that were met, so that they are compared quickly


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One way to take all decisions that have an effect on the metric; ``variants`` are what the metric is given."""

    values: Values
    variants: Values

    @cached_property
    def keys(self) -> StageKeys:
        """The decisions of each stage as a number, which is compared quickly."""
        keys = StageKeys.of(self.values)
        keys = replace(keys, measured=(keys.measured, *self.variants.items()))
        names = (field.name for field in fields(keys))
        return StageKeys(*(_NUMBERS.setdefault(getattr(keys, name), len(_NUMBERS)) for name in names))

    @cached_property
    def protocol(self) -> Protocol:
        """The decisions as the rooms upstream take them, without the checks of a file."""
        values = {**SPLIT, **self.values}
        return Protocol(values, dict.fromkeys(values, "hypothesis"))


class Space:
    """The decisions that bear on a metric, in the order of the registry, and what is tried of each."""

    def __init__(self, metric: Metric) -> None:
        if metric.name in NOT_AUDITED or NOT_THERE & set(metric.needs):
            why = NOT_AUDITED.get(metric.name, f"it needs {', '.join(metric.needs)}, which questions do not have")
            raise ProtocolError(f"{metric.name} cannot be audited: {why}")
        self.metric = metric
        named = {decision.id for decision in metric.variants} | set(metric.shared)
        stages = {*BEFORE_FITTING, *(OF_PREDICTIONS if metric.kind == "prediction" else OF_LISTS)}
        if metric.kind == "collection":  # one number about all lists: nothing is averaged
            stages.remove("average")
        self.decisions: dict[str, Decision] = {
            key: decision
            for key, decision in registry().items()
            if key in named or (decision.stage in stages and decision.searchable)
        }
        self.thresholds: set[float] = set()  # that lie between those that are met in practice
        neutral = {key: one.neutral for key, one in self.decisions.items() if one.neutral is not None}
        self.start = next(self._ways({}, neutral, frozenset()))  # all held-out items of first questions are relevant

    def tried(self, key: str) -> tuple[Value, ...]:
        """The values of a decision that are searched."""
        decision = self.decisions[key]
        further = sorted(self.thresholds) if key == "relevance.threshold" else []
        values = dict.fromkeys((*decision.tried, *further))
        return tuple(value for value in values if (option := decision.option(value)) is None or option.searchable)

    def below(self, prefixes: Iterable[str]) -> frozenset[str]:
        """The decisions with these ids, or of these families."""
        wanted = tuple(prefixes)
        return frozenset(
            key for key in self.decisions if key in wanted or key.startswith(tuple(f"{one}." for one in wanted))
        )

    def opened(self, hypotheses: Iterable[Hypothesis], keys: Collection[str]) -> list[Hypothesis]:
        """Each hypothesis with every way to take the decisions ``keys``; the others as they are. No two are alike."""
        return list(self.ways(hypotheses, keys))

    def ways(self, hypotheses: Iterable[Hypothesis], keys: Collection[str]) -> Iterator[Hypothesis]:
        """The same one after the other, where there may be more than anybody wants."""
        known: set[frozenset[object]] = set()
        for hypothesis in hypotheses:
            for way in self._ways(hypothesis.values, {}, frozenset(keys)):
                values = frozenset(way.values.items())
                if values not in known:
                    known.add(values)
                    yield way

    def changed(self, hypothesis: Hypothesis, changes: Values) -> list[Hypothesis]:
        """The hypothesis with some decisions taken otherwise, and what has to be decided then, in all ways."""
        return list(self._ways(hypothesis.values, changes, frozenset()))

    def hypothesis(self, values: Values) -> Hypothesis:
        """The hypothesis that decisions are taken so; the metric is given its variants by short names."""
        variants = {short: values[key] for short, key in self.metric.variant_ids.items() if key in values}
        read = {key.rpartition(".")[2]: values[key] for key in self.metric.reads if key in values}
        return Hypothesis(values, variants | read)

    def _ways(self, old: Values, fixed: Values, keys: frozenset[str]) -> Iterator[Hypothesis]:
        """All hypotheses in which decisions are ``fixed``, or of ``keys`` and taken in every way, or as in ``old``."""
        known = registry()
        order = list(self.decisions.items())

        def choices(key: str, decision: Decision) -> tuple[Value, ...]:
            if key in fixed:
                return (fixed[key],)
            if key in keys:
                return self.tried(key)
            if key in old:
                return (old[key],)
            return self.tried(key) if decision.required or old else (decision.default,)  # type: ignore[return-value]

        def walk(number: int, values: dict[str, Value]) -> Iterator[Hypothesis]:
            while number < len(order):
                key, decision = order[number]
                number += 1
                if not known.active(decision, values):
                    continue
                for value in choices(key, decision):
                    if known.allows(decision, value, values):
                        yield from walk(number, {**values, key: value})
                return
            candidate = self.hypothesis({key: value for key, value in values.items() if key not in SPLIT})
            if self._possible(candidate):
                yield candidate

        return walk(0, dict(SPLIT))

    def _possible(self, hypothesis: Hypothesis) -> bool:
        """Whether the metric can be had under the hypothesis, with what questions have in them."""
        values = hypothesis.values
        if values.get("relevance.threshold") == HIGHEST and not values["relevance.inclusive"]:
            return False  # nothing could ever be relevant
        if self.metric.also_needs and NOT_THERE & set(self.metric.also_needs(hypothesis.variants)):
            return False
        if values.get("candidates.relevant") == "one" and (
            self.metric.undefined_in_1r or values["candidates.base"] == "user-test-items"
        ):
            return False
        if values.get("ties.break") in EXTREMES:
            k = None if self.metric.cutoff == "none" else DEEPEST
            if isinstance(self.metric.order_of_ties(k, hypothesis.variants), str):
                return False
        objection = self.metric.objection
        return objection is None or not objection(hypothesis.variants, hypothesis.protocol)
