"""Metrics, and measures: a metric with its cut-off and the values of all its variants."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, reduce
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from repro.data.interactions import FloatArray
from repro.errors import ProtocolError, nearest
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.prediction_pairs import Predictions
from repro.evaluation.metrics.tie_order import ByItems, Extreme, TieOrder, in_extreme_orders
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import OF_LISTS, OF_PREDICTIONS, Decision, Protocol, Stage, Value, registry

# The deepest cut-off there may be, and that of a metric without one: ranks are kept doubled, in 32 bits.
DEEPEST = 2**29

# What a list without a value counts, by the option that the protocol has for it; "skip" leaves it out.
FILLERS = {"zero": 0.0, "half": 0.5, "one": 1.0, "nan": math.nan}

Kind = Literal["ranking", "collection", "prediction"]
Task = Literal["recommendation", "rating prediction"]
Need = Literal["ratings", "train", "test", "catalogue", "timestamps", "features", "previous", "scores"]
Better = Literal["higher", "lower", "neither"]
Range = tuple[float, float]
Variants = Mapping[str, Value]
RangeOf = Callable[[int | None, Variants, Protocol], Range]
TieOrderOf = Callable[[int | None, Variants], TieOrder | str]
Tied = Literal["best", "worst"]
EXTREMES: tuple[Tied, ...] = ("best", "worst")


def add_up(blocks: Sequence[FloatArray]) -> FloatArray:
    """The sum of the arrays of all blocks, one after the other."""
    return reduce(np.add, blocks)


def worth_nothing(variants: Mapping[str, Value]) -> float:
    """The value of an empty list under most metrics."""
    return 0.0


# Why a list has no value: what the numerator is where the denominator is 0.
NO_RELEVANT, NO_NEGATIVES, NONE_LISTED = 0.0, 1.0, 2.0


class Ratio(NamedTuple):
    """A metric of each list as numerator and denominator.

    The value is their ratio. The denominator is 0 exactly where the metric is undefined (``RankingMetric.undefined``).
    The numerator then says why: 0, the list has no relevant items; 1, it has some and no negatives; 2, it has some
    and ranks none of them, and the metric leaves out what is not ranked. Kept apart, they can also be pooled.
    """

    numerator: FloatArray
    denominator: FloatArray

    @property
    def values(self) -> FloatArray:
        """The value of each list, not a number where it is undefined."""
        undefined = self.denominator == 0
        return np.where(undefined, np.nan, self.numerator / np.where(undefined, 1.0, self.denominator))

    @staticmethod
    def joined(parts: Sequence[Ratio]) -> Ratio:
        """The numbers of several blocks or folds, one after the other."""
        numerators, denominators = zip(*parts, strict=True)
        return Ratio(np.concatenate(numerators), np.concatenate(denominators))


@dataclass(frozen=True)
class Metric:
    """What all metrics have: :class:`RankingMetric`, :class:`CollectionMetric` and :class:`PredictionMetric`.

    name        as it is written in a study: ``ndcg``
    title       its name in words
    cutoff      whether the name takes ``@k``; without one the whole list counts
    variants    decisions ``metric.NAME.VARIANT``
    shared      decisions outside ``metric.NAME`` that the name can state like a variant, by their last name
                (``predict.average`` as ``average``)
    reads       other decisions that variants depend on; where they have an effect, ``compute`` gets them among
                the variants by their last name (``relevance.threshold`` as ``threshold``)
    needs       what must be known besides the lists, in the background or as scores of listed items
    also_needs  ``also_needs(variants)`` names what these variants need besides that
    whole_list  whether all held-out items of a list must have their ranks, those below the cut-off too
    objection   ``objection(variants, protocol)`` says why these variants cannot be computed under the protocol, and
                what to ask for instead; an empty text where they can
    parts       ``parts(k, variants)`` names the measures whose numbers ``join(values)`` makes this one of; where
                it names none, the metric computes by itself
    better      which of two values is the better one
    range       the lowest and the highest value that there can be, or ``range(k, variants, protocol)``, which gives
                them; infinite where there is no bound, or none is known
    tie_order   which order of tied items gives the highest and which the lowest value, or ``tie_order(k, variants)``,
                which gives that order, or says in words why there is none; None where it is not known
    aliases     other names, with the variants that they state
    undefined_in_1r  why it says nothing when a list has one relevant item, and what to ask for instead
    not_audited      why it cannot be audited, and what to audit instead
    cite        where it comes from
    """

    kind: ClassVar[Kind]
    task: ClassVar[Task] = "recommendation"
    stages: ClassVar[tuple[Stage, ...]]

    name: str
    title: str
    _: KW_ONLY
    cutoff: Literal["required", "optional", "none"] = "none"
    variants: tuple[Decision, ...] = ()
    shared: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    also_needs: Callable[[Variants], tuple[Need, ...]] | None = None
    whole_list: bool = False
    objection: Callable[[Variants, Protocol], str] | None = None
    parts: Callable[[int | None, Variants], tuple[str, ...]] | None = None
    join: Callable[[Sequence[float]], float] | None = None
    better: Better = "higher"
    range: Range | RangeOf = (-math.inf, math.inf)
    tie_order: TieOrder | TieOrderOf | None = None
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    undefined_in_1r: str = ""
    not_audited: str = ""
    cite: str = ""

    @property
    def variant_ids(self) -> dict[str, str]:
        """The decisions that a name can state, by the short names they have there."""
        return {key.rpartition(".")[2]: key for key in (*(d.id for d in self.variants), *self.shared)}

    def order_of_ties(self, k: int | None, variants: Mapping[str, Value]) -> TieOrder | str:
        """The order of tied items that gives the highest (reversed, the lowest) value; or why there is none."""
        if self.tie_order is None:
            return "the metric does not state which order of tied items gives its highest value (Metric.tie_order)"
        return self.tie_order(k, variants) if callable(self.tie_order) else self.tie_order

    def extreme(self, which: Tied) -> Extreme:
        """Whether the best (worst) value is the highest or the lowest one; the highest is best where neither is."""
        return "highest" if (which == "best") == (self.better != "lower") else "lowest"

    def widest_range(self, protocol: Protocol) -> Range:
        """The range over all variants and cut-offs, for lists that are ranked as the protocol says."""
        if not callable(self.range):
            return self.range
        names = [decision.id.rpartition(".")[2] for decision in self.variants]
        every = product(*(decision.tried or (decision.minimum or 0.0,) for decision in self.variants))
        k = DEEPEST if self.cutoff == "required" else None
        ranges = [self.range(k, dict(zip(names, values, strict=True)), protocol) for values in every]
        return min(low for low, _ in ranges), max(high for _, high in ranges)


@dataclass(frozen=True)
class RankingMetric(Metric):
    """A metric of each list: ``compute(ranked, k, variants, background)`` gives a Ratio for the lists of a block.

    undefined   what it means that the denominator of a list is 0: "no-relevant", the list has no relevant items,
                and ``average.no_relevant`` says what counts; "left-out", there is nothing to say of the list
    empty       ``empty(variants)`` is the value of an empty list where that does not depend on what is relevant; not a
                number where there is none
    negatives   whether a list without negative items has no value, so that ``average.no_negatives`` applies
    pooled      ``pooled(variants)`` says whether numerators and denominators are added up over lists before they
                are divided, whatever ``average.over`` says
    """

    kind: ClassVar[Kind] = "ranking"
    stages: ClassVar[tuple[Stage, ...]] = OF_LISTS

    compute: Callable[[Ranked, int | None, Variants, Background], Ratio]
    _: KW_ONLY
    undefined: Literal["no-relevant", "left-out"] = "no-relevant"
    empty: Callable[[Variants], float] = worth_nothing
    negatives: bool = False
    pooled: Callable[[Variants], bool] | None = None


@dataclass(frozen=True)
class CollectionMetric(Metric):
    """One number about all lists together.

    compute   ``compute(ranked, k, variants, background)`` gives an array for a block (all lists of a user are in one
              block)
    finish    ``finish(merged, variants, background)`` makes the number of the arrays of all blocks
    merge     joins the arrays of blocks, in the order of users; by default it adds them up
    """

    kind: ClassVar[Kind] = "collection"
    stages: ClassVar[tuple[Stage, ...]] = tuple(stage for stage in OF_LISTS if stage != "average")

    compute: Callable[[Ranked, int | None, Variants, Background], FloatArray]
    finish: Callable[[FloatArray, Variants, Background], float]
    _: KW_ONLY
    merge: Callable[[Sequence[FloatArray]], FloatArray] = add_up


@dataclass(frozen=True)
class PredictionMetric(Metric):
    """A metric of predicted ratings: ``compute(predictions, variants)`` gives the number of some test pairs."""

    kind: ClassVar[Kind] = "prediction"
    task: ClassVar[Task] = "rating prediction"
    stages: ClassVar[tuple[Stage, ...]] = OF_PREDICTIONS

    compute: Callable[[Predictions, Variants], float]


@dataclass(frozen=True)
class Measure:
    """A metric with its cut-off and variants: ``ndcg[discount=log2,gain=binary,ideal=min]@10``.

    ``variants`` holds what ``compute`` needs: the metric's variants, and the decisions it ``reads``. A measure
    with ``parts`` is made of their numbers. ``stated`` are the variants that differ from the protocol's. ``by_extreme``
    says whether the protocol wants tied items in the best or in the worst order. ``recorded`` is the full name that a
    run gave it, where the metric has got more variants since.
    """

    metric: Metric
    cutoff: int | None
    variants: Mapping[str, Value]
    parts: tuple[Measure, ...] = ()
    stated: frozenset[str] = frozenset()
    by_extreme: bool = False
    recorded: str = ""

    @cached_property
    def name(self) -> str:
        """The short name, complete together with the protocol: ``ndcg@10``, or ``ndcg[gain=exp2]@10`` where the
        protocol says otherwise."""
        return self._named(self.stated)

    @cached_property
    def full_name(self) -> str:
        """The name that says everything and reads back."""
        return self.recorded or self._named(self.metric.variant_ids.keys() & self.variants.keys())

    @cached_property
    def short_name(self) -> str:
        """The name with the variants that differ from their defaults: another variant does not change it."""
        known = registry()
        own = self.metric.variant_ids
        return self._named(
            {key for key in own.keys() & self.variants.keys() if self.variants[key] != known[own[key]].default}
        )

    @property
    def decisions(self) -> dict[str, Value]:
        """The decisions that its name states, with their values."""
        return {key: self.variants[name] for name, key in self.metric.variant_ids.items() if name in self.variants}

    def _named(self, shown: AbstractSet[str]) -> str:
        inside = ",".join(f"{key}={_text(self.variants[key])}" for key in sorted(shown))
        bracket = f"[{inside}]" if inside else ""
        return self.metric.name + bracket + (f"@{self.cutoff}" if self.cutoff is not None else "")

    @property
    def needs(self) -> tuple[Need, ...]:
        """What must be known besides the lists."""
        also = self.metric.also_needs(self.variants) if self.metric.also_needs else ()
        return (*self.metric.needs, *also, *(("scores",) if self._sorts_items else ()))

    @property
    def reach(self) -> int | None:
        """How far down lists must be ranked for it; None where they must be to the end."""
        return None if self.metric.whole_list or self._sorts_items else self.cutoff

    @cached_property
    def tie_order(self) -> TieOrder | str:
        """The order of tied items that gives the highest (reversed, the lowest) value; or why there is none."""
        for part in self.parts:
            if isinstance(part.tie_order, str):
                return f"{part.name} is a part of it, and {part.tie_order}"
        return self.metric.order_of_ties(self.cutoff, self.variants)

    @property
    def _sorts_items(self) -> bool:
        """Whether all listed items are ordered anew, not only hits."""
        return self.by_extreme and isinstance(self.tie_order, ByItems)

    @property
    def per_user(self) -> bool:
        """Whether the measure has a value for each user."""
        return not self.parts and self.metric.kind != "collection"

    def of_lists(self, ranked: Ranked, background: Background) -> Any:
        """The Ratio of the lists of a block, or, of a collection, what ``merge`` takes."""
        if ranked.ties == "best" or ranked.ties == "worst":
            return self.of_extreme_order(ranked, background, ranked.ties)
        assert isinstance(self.metric, RankingMetric | CollectionMetric), self.name
        return self.metric.compute(ranked, self.cutoff, self.variants, background)

    def of_extreme_order(self, ranked: Ranked, background: Background, which: Tied) -> Any:
        """As :meth:`of_lists`, with tied items in the best or in the worst order for this measure.

        It takes lists that were ranked under any tie rule. Where :func:`has_exact_extremes` says so, no order of tied
        items gives a better (worse) value of any list, nor of their average.
        """
        assert not isinstance(self.tie_order, str), self.tie_order
        extreme = self.metric.extreme(which)
        orders = in_extreme_orders(ranked, self.tie_order, extreme, self.cutoff, self.variants, background)
        first, *others = (self.of_lists(ordered, background) for ordered in orders)
        if not others:
            return first
        further = np.maximum if extreme == "highest" else np.minimum
        return Ratio(further.reduce([first.numerator, *(other.numerator for other in others)]), first.denominator)

    def merged(self, blocks: Sequence[FloatArray]) -> FloatArray:
        """The arrays of several blocks as one."""
        assert isinstance(self.metric, CollectionMetric), self.name
        return self.metric.merge(blocks)

    def of_collection(self, blocks: Sequence[FloatArray], background: Background) -> float:
        """The number that all blocks together give."""
        assert isinstance(self.metric, CollectionMetric), self.name
        return float(self.metric.finish(self.metric.merge(blocks), self.variants, background))

    @property
    def pooled(self) -> bool:
        """Whether lists are added up before anything is divided, whatever the protocol says."""
        pooled = self.metric.pooled if isinstance(self.metric, RankingMetric) else None
        return pooled is not None and pooled(self.variants)

    def range(self, protocol: Protocol) -> Range:
        """The lowest and the highest value that there can be under the protocol; infinite where nothing bounds it.

        A list without a value counts what the protocol says of it, whatever the metric's own values are.
        """
        bounds = self.metric.range
        low, high = bounds(self.cutoff, self.variants, protocol) if callable(bounds) else bounds
        if not isinstance(self.metric, RankingMetric) or self.parts:
            return low, high
        rules = ["average.nobody"]
        if self.metric.undefined == "no-relevant":
            rules += ["average.no_relevant", "average.neither"]
        if self.metric.negatives:
            rules.append("average.no_negatives")
        fillers = [FILLERS.get(str(protocol.get(rule)), math.nan) for rule in rules]
        if protocol.get("average.neither") == "no-list":
            fillers.append(self.metric.empty(self.variants))
        stated = [filler for filler in fillers if not math.isnan(filler)]
        return min([low, *stated]), max([high, *stated])

    def joined(self, values: Mapping[str, tuple[float, int]]) -> tuple[float, int]:
        """The value of the measure and the users behind it, from those of the measures it is made of (or itself)."""
        if not self.parts:
            return values[self.full_name]
        assert self.metric.join is not None
        parts = [part.joined(values) for part in self.parts]
        return self.metric.join([value for value, _ in parts]), min(users for _, users in parts)


def has_exact_extremes(measure: Measure) -> bool:
    """Whether the best and the worst value over all orders of tied items can be computed, for lists of any tie rule.

    ``measure.of_extreme_order(ranked, background, "worst")`` and ``"best"`` then give, list by list, the ends of the
    interval in which the value lies whatever the order of tied items; average both as the value itself. "Best" is the
    lowest value where lower is better. Where this is False, ``measure.tie_order`` says why, or is a ``ByItems``: then
    lists must be ranked to the end and have their scores, as they are under ``ties.break = "best"`` or ``"worst"``.
    A measure with parts has no lists of its own: ask for the ends of each part, and join them.
    """
    order = measure.tie_order
    return not isinstance(order, str) and (measure.by_extreme or not isinstance(order, ByItems))


def simple_measures(measures: Iterable[Measure]) -> list[Measure]:
    """The measures that compute by themselves: those given, or the parts of them; each once."""
    simple: dict[str, Measure] = {}
    for measure in measures:
        for part in simple_measures(measure.parts) if measure.parts else [measure]:
            simple.setdefault(part.full_name, part)
    return list(simple.values())


def by_any_name(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Metrics by their names and aliases."""
    return {alias: metric for metric in metrics.values() for alias in (metric.name, *metric.aliases)}


def named(name: str, metrics: Mapping[str, Metric]) -> Metric:
    """The metric with that name or alias."""
    known = by_any_name(metrics)
    if name.lower() not in known:
        raise ProtocolError(f"there is no metric '{name}'{nearest(name, known)} Metrics: {', '.join(metrics)}")
    return known[name.lower()]


_NAME = re.compile(r"^\s*([A-Za-z][\w-]*)\s*(?:\[([^\]]*)\])?\s*(?:@\s*(\S+))?\s*$")


def parse_measure(text: str, protocol: Protocol, metrics: Mapping[str, Metric]) -> Measure:
    """The measure called ``text``; variants it does not name are those of the protocol."""
    matched = _NAME.match(text)
    if not matched:
        raise ProtocolError(f"'{text}' is not a metric name; write it like ndcg@10 or ndcg[gain=exp2]@10")
    name, inside, cut = matched.groups()
    name = name.lower()
    metric = named(name, metrics)
    cutoff = _cutoff(text, metric, cut)
    changes = _variant_changes(text, metric, metric.aliases.get(name, {}), inside or "")
    resolved = protocol.replace(changes, f"metric {text}") if changes else protocol
    variants = {short: resolved[key] for short, key in metric.variant_ids.items() if key in resolved}
    variants |= {key.rpartition(".")[2]: protocol[key] for key in metric.reads if key in protocol}
    if metric.undefined_in_1r and protocol.get("candidates.relevant") == "one":
        raise ProtocolError(f'metric {text} contradicts candidates.relevant = "one" (1R): {metric.undefined_in_1r}')
    if metric.objection and (why := metric.objection(variants, protocol)):
        raise ProtocolError(f"metric {text} cannot be computed under this protocol: {why}")
    rule = protocol["ties.break"]
    order = metric.order_of_ties(cutoff, variants) if rule in EXTREMES else None
    if isinstance(order, str):
        raise ProtocolError(
            f'metric {text} has no ties.break = "{rule}": {order}; use a tie rule that gives one order, such as '
            '"item-asc" or "random"'
        )
    parts = metric.parts(cutoff, variants) if metric.parts else ()
    return Measure(
        metric,
        cutoff,
        variants,
        tuple(parse_measure(part, protocol, metrics) for part in parts),
        frozenset(
            short
            for short, key in metric.variant_ids.items()
            if short in variants and variants[short] != protocol.get(key)
        ),
        rule in EXTREMES,
    )


def _cutoff(text: str, metric: Metric, cut: str | None) -> int | None:
    if cut is None:
        if metric.cutoff == "required":
            raise ProtocolError(f"metric '{text}' needs a cut-off, such as {metric.name}@10")
        return None
    if metric.cutoff == "none":
        raise ProtocolError(f"metric '{text}': {metric.name} takes no cut-off; write {metric.name}")
    if not cut.isdecimal() or not 1 <= int(cut) <= DEEPEST:
        raise ProtocolError(f"metric '{text}': the cut-off '{cut}' must be a whole number from 1 to {DEEPEST:,}")
    return int(cut)


def _variant_changes(text: str, metric: Metric, stated: Mapping[str, str], inside: str) -> dict[str, Value]:
    """The decisions that a name states: by what it is called (``stated``), or within brackets (``inside``)."""
    known = registry()
    own = metric.variant_ids
    changes: dict[str, Value] = {own[key]: _read(value, known[own[key]]) for key, value in stated.items()}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        key, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or key not in own:
            raise ProtocolError(
                f"metric '{text}': no variant '{key}'{nearest(key, own)} {metric.name} has: {', '.join(own) or 'none'}"
            )
        value = _read(written, known[own[key]])
        if key in stated and changes[own[key]] != value:
            raise ProtocolError(f"metric '{text}' states {key} twice: its name means {key}={stated[key]}")
        changes[own[key]] = value
    return changes


def _read(written: str, decision: Decision) -> Value:
    if decision.kind == "flag" and written in ("true", "false"):
        return written == "true"
    if decision.kind in ("integer", "number") and written not in decision.words:
        try:
            return float(written)
        except ValueError:
            return written
    return written


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
