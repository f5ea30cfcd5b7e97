"""Measures: a metric with its cut-off and the values of all its variants, as a name such as ``ndcg@10`` states them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import ProtocolError, nearest
from repro.evaluation.metrics.background import Background
from repro.evaluation.metrics.metric import (
    DEEPEST,
    EXTREMES,
    FILLERS,
    CollectionMetric,
    Kind,
    Metric,
    Need,
    RankingMetric,
    Ratio,
    Tied,
)
from repro.evaluation.metrics.shared.declarations import Range, Variants
from repro.evaluation.metrics.tie_order import ByItems, TieOrder, in_extreme_orders
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import BEFORE_FITTING, OF_LISTS, OF_PREDICTIONS, Decision, Protocol, Stage, Value, registry


@dataclass(frozen=True)
class Measure:
    """A metric with its cut-off and variants: ``ndcg[discount=log2,gain=binary,ideal=min]@10``.

    variants    what ``compute`` needs: the metric's variants, and the decisions it ``reads``
    parts       the measures whose values are combined into this one
    stated      the variants that differ from the protocol's
    by_extreme  whether the protocol puts tied items in the best or in the worst order
    recorded    the full name that a run recorded, if the metric has got more variants since
    """

    metric: Metric
    cutoff: int | None
    variants: Variants
    parts: tuple[Measure, ...] = ()
    stated: frozenset[str] = frozenset()
    by_extreme: bool = False
    recorded: str = ""

    @cached_property
    def name(self) -> str:
        """The short name: ``ndcg@10``, or ``ndcg[gain=exp2]@10`` if a variant differs from the protocol's."""
        return self._named(self.stated)

    @cached_property
    def full_name(self) -> str:
        """The name that states every variant and can be parsed."""
        return self.recorded or self._named(self.metric.variant_ids.keys() & self.variants.keys())

    @cached_property
    def short_name(self) -> str:
        """The name with the variants that differ from their defaults: another variant does not change it."""
        all_decisions = registry()
        return self._named(
            {name for name, key in self._ids.items() if self.variants[name] != all_decisions[key].default}
        )

    @property
    def decisions(self) -> dict[str, Value]:
        """The decisions that its name states, with their values."""
        return {key: self.variants[name] for name, key in self._ids.items()}

    @property
    def _ids(self) -> dict[str, str]:
        """The decisions of the variants that it has, by their short names."""
        return {name: key for name, key in self.metric.variant_ids.items() if name in self.variants}

    def _named(self, shown: AbstractSet[str]) -> str:
        inside = ",".join(f"{key}={_text(self.variants[key])}" for key in sorted(shown))
        bracket = f"[{inside}]" if inside else ""
        return self.metric.name + bracket + (f"@{self.cutoff}" if self.cutoff is not None else "")

    @property
    def needs(self) -> tuple[Need, ...]:
        """The inputs of the measure besides the lists."""
        also = self.metric.also_needs(self.variants) if self.metric.also_needs else ()
        return (*self.metric.needs, *also, *(("scores",) if self._sorts_items else ()))

    @property
    def reach(self) -> int | None:
        """The depth to which lists must be ranked; None if they must be ranked to the end."""
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
        """Whether all listed items are reordered, not only hits."""
        return self.by_extreme and isinstance(self.tie_order, ByItems)

    @property
    def per_user(self) -> bool:
        """Whether the measure has a value for each user."""
        return not self.parts and self.metric.kind != "collection"

    def of_lists(self, ranked: Ranked, background: Background) -> Any:
        """The Ratio of the lists of a block, or, for a collection, the array that ``merge`` takes."""
        if ranked.ties == "best" or ranked.ties == "worst":
            return self.of_extreme_order(ranked, background, ranked.ties)
        assert isinstance(self.metric, RankingMetric | CollectionMetric), self.name
        return self.metric.compute(ranked, self.cutoff, self.variants, background)

    def of_extreme_order(self, ranked: Ranked, background: Background, which: Tied) -> Any:
        """The result of :meth:`of_lists` with tied items in the best or in the worst order for this measure.

        It takes lists that were ranked under any tie rule. If :func:`has_exact_extremes`, no order of tied items gives
        a better (worse) value of any list, nor of their average.
        """
        assert not isinstance(self.tie_order, str), self.tie_order
        extreme = self.metric.extreme(which)
        orders = in_extreme_orders(ranked, self.tie_order, extreme, self.cutoff, self.variants, background)
        first, *rest = (self.of_lists(ordered, background) for ordered in orders)
        if not rest:
            return first
        further = np.maximum if extreme == "highest" else np.minimum
        return Ratio(further.reduce([first.numerator, *(ratio.numerator for ratio in rest)]), first.denominator)

    def merged(self, blocks: Sequence[FloatArray]) -> FloatArray:
        """The arrays of several blocks as one."""
        assert isinstance(self.metric, CollectionMetric), self.name
        return self.metric.merge(blocks)

    def of_collection(self, blocks: Sequence[FloatArray], background: Background) -> float:
        """The number of all blocks together."""
        assert isinstance(self.metric, CollectionMetric), self.name
        return float(self.metric.finish(self.metric.merge(blocks), self.variants, background))

    @property
    def pooled(self) -> bool:
        """Whether lists are added up before anything is divided, whatever the protocol says."""
        pooled = self.metric.pooled if isinstance(self.metric, RankingMetric) else None
        return pooled is not None and pooled(self.variants)

    def range(self, protocol: Protocol) -> Range:
        """The lowest and the highest possible value under the protocol; infinite if there is no bound.

        It includes the values that the protocol gives to lists without a value.
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
            fillers.append(self.metric.of_empty_list(self.variants))
        numbers = [filler for filler in fillers if not math.isnan(filler)]
        return min([low, *numbers]), max([high, *numbers])

    def joined(self, values: Mapping[str, tuple[float, int]]) -> tuple[float, int]:
        """The value of the measure and its number of users, from those of its parts (or its own)."""
        if not self.parts:
            return values[self.full_name]
        parts = [part.joined(values) for part in self.parts]
        return self.combined([value for value, _ in parts]), min(users for _, users in parts)

    def combined(self, values: Sequence[float]) -> float:
        """The value of the measure from those of its parts, in their order."""
        assert self.metric.join is not None
        return self.metric.join(values, self.variants)


def has_exact_extremes(measure: Measure) -> bool:
    """Whether the best and the worst value over all orders of tied items can be computed, for lists of any tie rule.

    ``measure.of_extreme_order(ranked, background, "worst")`` and ``"best"`` then give the ends of the interval of each
    list's value; average both as the value itself. "Best" is the lowest value if lower is better. If this is False,
    ``measure.tie_order`` says why, or is a ``ByItems``: then lists must be ranked to the end and have their scores, as
    under ``ties.break = "best"`` or ``"worst"``. For a measure with parts, compute the ends of each part and join them.
    """
    order = measure.tie_order
    return not isinstance(order, str) and (measure.by_extreme or not isinstance(order, ByItems))


def has_tie_interval(measure: Measure) -> bool:
    """Whether the worst and best value over all orders of tied items follow from the places of held-out items."""
    ranks = measure.metric.kind == "ranking" and not measure.parts
    return ranks and has_exact_extremes(measure) and not isinstance(measure.tie_order, ByItems)


def with_rows(ratio: Ratio, rows: npt.NDArray[np.integer], replacement: Ratio) -> Ratio:
    """The numbers of all lists, with those of some lists replaced."""
    replaced = Ratio(ratio.numerator.copy(), ratio.denominator.copy())
    replaced.numerator[rows], replaced.denominator[rows] = replacement
    return replaced


def simple_measures(measures: Iterable[Measure], *kinds: Kind) -> list[Measure]:
    """The measures that compute by themselves: ``measures``, or their parts; each once, of some kinds or of all."""
    simple: dict[str, Measure] = {}
    for measure in measures:
        for part in simple_measures(measure.parts) if measure.parts else [measure]:
            simple.setdefault(part.full_name, part)
    return [measure for measure in simple.values() if not kinds or measure.metric.kind in kinds]


def bearing(decisions: Iterable[str], measures: Sequence[Measure]) -> list[str]:
    """Those of ``decisions`` that can affect the numbers of these measures.

    Decisions about the data and the split affect all of them; those about lists and about predictions, the metrics of
    each. A variant affects its own metric. A decision of an unknown stage may affect anything.
    """
    simple = simple_measures(measures)
    of_predictions = {measure.metric.kind == "prediction" for measure in simple}
    stages: set[Stage | None] = {*BEFORE_FITTING, None}
    if False in of_predictions:
        stages |= set(OF_LISTS)
    if True in of_predictions:
        stages |= set(OF_PREDICTIONS)
    stated = {key for measure in (*measures, *simple) for key in (*measure.decisions, *measure.metric.reads)}
    all_decisions = registry()
    return [key for key in decisions if key in stated | {"average.folds"} or all_decisions.stage_of(key) in stages]


def by_any_name(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Metrics by their names and aliases."""
    return {alias: metric for metric in metrics.values() for alias in (metric.name, *metric.aliases)}


def named(name: str, metrics: Mapping[str, Metric]) -> Metric:
    """The metric with that name or alias; capitals, hyphens, underscores and blanks make no difference."""
    return metrics[name] if name in metrics else _known(name, metrics)[0]


# A name, variants in brackets, and a cut-off: ``@10``, or as trec_eval and functions write it, ``P_10``,
# ``ndcg_cut_10``, ``recall_at_10``.
_NAME = re.compile(r"\s*([A-Za-z](?:[\w -]*\w)?)\s*(?:\[([^\]]*)\])?\s*(?:@\s*(\S+))?\s*")
_ENDS_IN_CUTOFF = re.compile(r"(.*?)(?:[ _-](?:cut|at))?[ _-](\d+)")


def plain_name(name: str) -> str:
    """A name without capitals, hyphens, underscores and blanks: ``Hit_Rate`` and ``hit-rate`` are one name."""
    return re.sub(r"[ _-]", "", name).lower()


def _known(name: str, metrics: Mapping[str, Metric]) -> tuple[Metric, str]:
    """The metric with a name, and the alias that the name is (or the metric's own name)."""
    plain = plain_name(name)
    for alias, metric in by_any_name(metrics).items():
        if plain_name(alias) == plain:
            return metric, alias
    raise ProtocolError(
        f"there is no metric '{name}'{_meant(plain) or nearest(name, by_any_name(metrics))} "
        f"Metrics: {', '.join(metrics)}"
    )


# Words that stand for several metrics: none of them is chosen.
_SEVERAL = {
    "coverage": ("catalogue-coverage", "user-coverage", "prediction-coverage"),
    "diversity": ("intra-list-diversity", "inter-list-diversity", "temporal-diversity"),
    "shannonentropy": ("entropy",),
    "rprecision": ("precision", "recall"),
    "rprec": ("precision", "recall"),
}


def _meant(plain: str) -> str:
    """The end of a sentence about a word that stands for several metrics, or for one that others define otherwise."""
    if plain not in _SEVERAL:
        return ""
    return f"; see {', '.join(f'`repro metrics show {name}`' for name in _SEVERAL[plain])}."


def _split_name(text: str, metrics: Mapping[str, Metric]) -> tuple[Metric, str, str, str | None]:
    """The metric that ``text`` names, by which alias, and its variants and cut-off as written."""
    matched = _NAME.fullmatch(text)
    if not matched:
        raise ProtocolError(f"'{text}' is not a metric name; write it like ndcg@10 or ndcg[gain=exp2]@10")
    name, inside, cutoff = matched.groups()
    if name in metrics:
        return metrics[name], name, inside or "", cutoff
    ending = _ENDS_IN_CUTOFF.fullmatch(name)
    if ending and cutoff is None and not inside:
        with suppress(ProtocolError):
            return *_known(ending[1], metrics), "", ending[2]
    return *_known(name, metrics), inside or "", cutoff


def canonical_name(text: str, metrics: Mapping[str, Metric]) -> str:
    """``text`` with the metric's own name: ``ap@10`` for ``MAP@10``, ``ndcg@10`` for ``ndcg_cut_10``.

    An alias that states variants becomes these variants: ``rmse[average=users]`` for ``urmse``.
    """
    metric, alias, inside, cutoff = _split_name(text, metrics)
    stated = [f"{key}={value}" for key, value in metric.aliases.get(alias, {}).items()]
    written = [piece.strip() for piece in inside.split(",") if piece.strip()]
    variants = ",".join(dict.fromkeys((*stated, *written)))
    return metric.name + (f"[{variants}]" if variants else "") + (f"@{cutoff}" if cutoff else "")


def how_read(text: str, metrics: Mapping[str, Metric]) -> str:
    """A note on a name that has several definitions in the literature; empty for all other names."""
    metric, alias, _, _ = _split_name(text, metrics)
    if alias == metric.name or not metric.ambiguity:
        return ""
    return f"{text.strip()} is read as {canonical_name(text, metrics)}: {metric.ambiguity}"


def parse_measure(text: str, protocol: Protocol, metrics: Mapping[str, Metric]) -> Measure:
    """The measure called ``text``; variants it does not name are those of the protocol."""
    metric, alias, inside, written_cutoff = _split_name(text, metrics)
    cutoff = _cutoff(text, metric, written_cutoff)
    changes = _variant_changes(text, metric, metric.aliases.get(alias, {}), inside)
    resolved = protocol.replace(changes, f"metric {text}") if changes else protocol
    ids = {short: key for short, key in metric.variant_ids.items() if key in resolved}
    variants = {short: resolved[key] for short, key in ids.items()}
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
    names = metric.parts(cutoff, variants) if metric.parts else ()
    parts = tuple(parse_measure(part, protocol, metrics) for part in names)
    stated = frozenset(short for short, key in ids.items() if variants[short] != protocol.get(key))
    return Measure(metric, cutoff, variants, parts, stated, rule in EXTREMES)


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
    """The decisions that a name states: by its alias (``stated``), or within brackets (``inside``)."""
    all_decisions = registry()
    ids = metric.variant_ids
    changes: dict[str, Value] = {ids[key]: _read(value, all_decisions[ids[key]]) for key, value in stated.items()}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        key, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or key not in ids:
            raise ProtocolError(
                f"metric '{text}': no variant '{key}'{nearest(key, ids)} {metric.name} has: {', '.join(ids) or 'none'}"
            )
        value = _read(written, all_decisions[ids[key]])
        if key in stated and changes[ids[key]] != value:
            raise ProtocolError(f"metric '{text}' states {key} twice: its name means {key}={stated[key]}")
        changes[ids[key]] = value
    return changes


def _read(written: str, decision: Decision) -> Value:
    if decision.kind == "flag" and written in ("true", "false"):
        return written == "true"
    if decision.kind in ("integer", "number") and written not in decision.words:
        with suppress(ValueError):
            return float(written)
    return written


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
