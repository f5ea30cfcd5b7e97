"""What a metric is, and a metric asked for: with its cut-off and every variant named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from repro.data.interactions import FloatArray
from repro.errors import ProtocolError, nearest
from repro.protocol import Decision, Protocol, Value, registry

# The deepest cut-off there may be, and that of a metric without one: ranks are kept doubled, in 32 bits.
DEEPEST = 2**29

Kind = Literal["ranking", "collection", "prediction"]


class Ratio(NamedTuple):
    """A metric of each list as numerator and denominator.

    The value is their ratio. The denominator is 0 exactly where the metric is undefined, because the list has
    no relevant items; ``average.no_relevant`` says what counts then. Kept apart, they can also be pooled.
    """

    numerator: FloatArray
    denominator: FloatArray


class Totals(NamedTuple):
    """What a number about all lists together is a share of."""

    users: int
    items: int


@dataclass(frozen=True)
class Metric:
    """A metric: its name, where it comes from, its variants as decisions ``metric.NAME.VARIANT``, and its code.

    kind        "ranking": ``compute(ranked, k, variants)`` gives a Ratio for the lists of a block.
                "collection": a number about all lists together; ``compute(ranked, k, variants, n_items)`` gives
                an array of counts for a block (all lists of a user are in one block; ``n_items`` is the number
                of item codes, whether or not all are candidates); the counts are summed over blocks, and
                ``finish(counts, totals)`` makes the number of them.
                "prediction": ``compute(errors, variants)`` gives a number of a vector of errors.
    cutoff      whether the name takes ``@k``; without one the whole list counts
    reads       other decisions that variants hang on; where they have an effect, ``compute`` finds them among
                the variants by their last name (``relevance.threshold`` as ``threshold``)
    objection   ``objection(variants, protocol)`` says why these variants cannot be had under the protocol, and
                what to ask for instead; an empty text where they can
    undefined_in_1r  why it says nothing when a list has one relevant item, and what to ask for instead
    """

    name: str
    title: str
    kind: Kind
    compute: Callable[..., Any]
    cutoff: Literal["required", "optional", "none"] = "none"
    variants: tuple[Decision, ...] = ()
    reads: tuple[str, ...] = ()
    objection: Callable[[Mapping[str, Value], Protocol], str] | None = None
    finish: Callable[[FloatArray, Totals], float] | None = None
    aliases: tuple[str, ...] = ()
    undefined_in_1r: str = ""
    cite: str = ""

    @property
    def variant_names(self) -> list[str]:
        return [decision.id.rpartition(".")[2] for decision in self.variants]


@dataclass(frozen=True)
class Measure:
    """A metric with its cut-off and variants: ``ndcg[discount=log2,gain=binary,ideal=min]@10``.

    ``variants`` holds what ``compute`` needs: the metric's variants, and the decisions it ``reads``.
    """

    metric: Metric
    cutoff: int | None
    variants: Mapping[str, Value]

    @property
    def name(self) -> str:
        """The short name, ``ndcg@10``, which is complete together with the protocol."""
        return self.metric.name + (f"@{self.cutoff}" if self.cutoff is not None else "")

    @property
    def full_name(self) -> str:
        """The name that says everything and reads back."""
        own = sorted(set(self.metric.variant_names) & set(self.variants))
        inside = ",".join(f"{key}={_text(self.variants[key])}" for key in own)
        bracket = f"[{inside}]" if inside else ""
        return self.metric.name + bracket + (f"@{self.cutoff}" if self.cutoff is not None else "")


_NAME = re.compile(r"^\s*([A-Za-z][\w-]*)\s*(?:\[([^\]]*)\])?\s*(?:@\s*(\S+))?\s*$")


def parse_measure(text: str, protocol: Protocol, metrics: Mapping[str, Metric]) -> Measure:
    """The measure called ``text``; variants it does not name are those of the protocol."""
    matched = _NAME.match(text)
    if not matched:
        raise ProtocolError(f"'{text}' is not a metric name; write it like ndcg@10 or ndcg[gain=exp2]@10")
    name, inside, cut = matched.groups()
    known = {alias: metric for metric in metrics.values() for alias in (metric.name, *metric.aliases)}
    name = name.lower()
    if name not in known:
        raise ProtocolError(f"there is no metric '{name}'{nearest(name, known)} Metrics: {', '.join(metrics)}")
    metric = known[name]
    cutoff = _cutoff(text, metric, cut)
    changes = _variant_changes(text, metric, inside or "")
    resolved = protocol.replace(changes, f"metric {text}") if changes else protocol
    prefix = f"metric.{metric.name}."
    variants = {key.removeprefix(prefix): value for key, value in resolved.items() if key.startswith(prefix)}
    variants |= {key.rpartition(".")[2]: protocol[key] for key in metric.reads if key in protocol}
    if metric.undefined_in_1r and protocol.get("candidates.relevant") == "one":
        raise ProtocolError(f'metric {text} contradicts candidates.relevant = "one" (1R): {metric.undefined_in_1r}')
    if metric.objection and (why := metric.objection(variants, protocol)):
        raise ProtocolError(f"metric {text} cannot be had under this protocol: {why}")
    return Measure(metric, cutoff, variants)


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


def _variant_changes(text: str, metric: Metric, inside: str) -> dict[str, Value]:
    known = registry()
    changes: dict[str, Value] = {}
    own = {decision.id.rpartition(".")[2]: decision for decision in metric.variants}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        key, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or key not in own:
            raise ProtocolError(
                f"metric '{text}': no variant '{key}'{nearest(key, own)} {metric.name} has: {', '.join(own) or 'none'}"
            )
        changes[own[key].id] = _read(written, known[own[key].id])
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
