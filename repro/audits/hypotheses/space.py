"""The space of hypotheses: every combination of the decisions that affect a metric.

The decisions and their options come from the registry: an option that is added there is searched here. There are far
too many combinations to list, so decisions are *freed* aspect by aspect (:mod:`repro.audits.questions.aspects`): as
long as no question has features that a decision acts on, it keeps its value.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar
from weakref import WeakValueDictionary

from repro.audits.questions.question import HIGHEST
from repro.errors import ProtocolError
from repro.evaluation.metrics import EXTREMES, Metric
from repro.evaluation.metrics.metric import DEEPEST
from repro.evaluation.stages import StageKeys
from repro.protocol import BEFORE_FITTING, Decision, Protocol, Value, registry

# Inputs of metrics that no question has.
NOT_THERE = frozenset({"features", "previous", "timestamps"})
# A protocol has a split, though no answer depends on it; plain questions have users without training rows.
SPLIT: Mapping[str, Value] = {"split.strategy": "ratio", "split.test_ratio": 0.2, "split.unseen_users": "keep"}
Values = Mapping[str, Value]


class _Key:
    """Stands for a combination of decisions: equal combinations have the same key, as long as anything holds it."""

    __slots__ = ("__weakref__",)
    _keys: ClassVar[WeakValueDictionary[Hashable, _Key]] = WeakValueDictionary()

    @classmethod
    def of(cls, decisions: Hashable) -> _Key:
        key = cls._keys.get(decisions)
        if key is None:
            key = cls._keys[decisions] = cls()
        return key


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A value for each decision that affects the metric; ``variants`` are those that the metric itself reads."""

    values: Values
    variants: Values

    @cached_property
    def keys(self) -> StageKeys:
        """The decisions of each stage as one object, which is compared quickly."""
        keys = StageKeys.of(self.values)
        keys = replace(keys, measured=(keys.measured, *self.variants.items()))
        names = (field.name for field in fields(keys))
        return StageKeys(*(_Key.of(getattr(keys, name)) for name in names))

    @cached_property
    def protocol(self) -> Protocol:
        """The decisions as a protocol, without the checks of a file."""
        values = {**SPLIT, **self.values}
        return Protocol(values, dict.fromkeys(values, "hypothesis"))


class Space:
    """The decisions that affect a metric, in the order of the registry, and the values that are searched."""

    def __init__(self, metric: Metric) -> None:
        if metric.not_audited or NOT_THERE & set(metric.needs):
            why = metric.not_audited or f"it needs {', '.join(metric.needs)}, which questions do not have"
            raise ProtocolError(f"{metric.name} cannot be audited: {why}")
        self.metric = metric
        named = {decision.id for decision in metric.variants} | set(metric.shared)
        stages = (*BEFORE_FITTING, *metric.stages)
        self.decisions: dict[str, Decision] = {
            key: decision
            for key, decision in registry().items()
            if key in named or (decision.stage in stages and decision.searchable)
        }
        self.thresholds: set[float] = set()  # beyond those that the registry lists
        neutral = {key: decision.neutral for key, decision in self.decisions.items() if decision.neutral is not None}
        self.start = next(
            self._combinations({}, neutral, frozenset())
        )  # all held-out items of plain questions are relevant

    def tried(self, key: str) -> tuple[Value, ...]:
        """The values of a decision that are searched."""
        decision = self.decisions[key]
        further = sorted(self.thresholds) if key == "relevance.threshold" else []
        values = dict.fromkeys((*decision.tried, *further))
        return tuple(value for value in values if (option := decision.option(value)) is None or option.searchable)

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """The decisions with these ids, or of these families."""
        ids = frozenset(names)
        prefixes = tuple(f"{name}." for name in ids)
        return frozenset(key for key in self.decisions if key in ids or key.startswith(prefixes))

    def expand(self, hypotheses: Iterable[Hypothesis], keys: Collection[str]) -> list[Hypothesis]:
        """The hypotheses with every combination of the decisions ``keys``, without repetitions."""
        return list(self.enumerate(hypotheses, keys))

    def enumerate(self, hypotheses: Iterable[Hypothesis], keys: Collection[str]) -> Iterator[Hypothesis]:
        """The same, one hypothesis at a time."""
        yielded: set[frozenset[object]] = set()
        for hypothesis in hypotheses:
            for expanded in self._combinations(hypothesis.values, {}, frozenset(keys)):
                values = frozenset(expanded.values.items())
                if values not in yielded:
                    yielded.add(values)
                    yield expanded

    def with_changes(self, hypothesis: Hypothesis, changes: Values) -> list[Hypothesis]:
        """The hypothesis with some decisions changed, and every choice for decisions that only then have an effect."""
        return list(self._combinations(hypothesis.values, changes, frozenset()))

    def hypothesis(self, values: Values) -> Hypothesis:
        """The hypothesis with these values; the metric reads its variants by their short names."""
        variants = {short: values[key] for short, key in self.metric.variant_ids.items() if key in values}
        read = {key.rpartition(".")[2]: values[key] for key in self.metric.reads if key in values}
        return Hypothesis(values, variants | read)

    def _combinations(self, initial: Values, fixed: Values, free: frozenset[str]) -> Iterator[Hypothesis]:
        """All hypotheses with ``fixed`` values, any value of ``free`` decisions, and ``initial`` values otherwise."""
        decisions = registry()
        order = list(self.decisions.items())

        def choices(key: str, decision: Decision) -> tuple[Value, ...]:
            if key in fixed:
                return (fixed[key],)
            if key in free:
                return self.tried(key)
            if key in initial:
                return (initial[key],)
            return self.tried(key) if decision.required or initial else (decision.default,)  # type: ignore[return-value]

        def walk(position: int, values: dict[str, Value]) -> Iterator[Hypothesis]:
            while position < len(order):
                key, decision = order[position]
                position += 1
                if not decisions.active(decision, values):
                    continue
                for value in choices(key, decision):
                    if decisions.allows(decision, value, values):
                        yield from walk(position, {**values, key: value})
                return
            candidate = self.hypothesis({key: value for key, value in values.items() if key not in SPLIT})
            if self._is_possible(candidate):
                yield candidate

        return walk(0, dict(SPLIT))

    def _is_possible(self, hypothesis: Hypothesis) -> bool:
        """Whether the metric can be computed under the hypothesis from the inputs that questions have."""
        values = hypothesis.values
        if values.get("relevance.threshold") == HIGHEST and not values["relevance.inclusive"]:
            return False  # no item would be relevant
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
