"""Errata that follow from the printed numbers alone: numbers out of range, or in contradiction to each other.

A printed number stands for an interval of values, which depends on whether the table rounds or truncates. It is an
erratum only if no value of the interval is possible.

Numbers of one system contradict each other if they violate a relation between metrics that holds on any lists. Linear
relations that hold for every list also hold for averages over users, lists, strata and folds, as long as all metrics
are averaged in the same way. Pooled averages weigh lists by the denominators of each metric. For them, only relations
between metrics with the same denominators for all lists hold, and that of F1, which is exact. Lists without relevant
items count the same for all metrics, 0 or 1, and satisfy the relations as well.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from repro.errors import ReproError
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.grouping import grouped
from repro.protocol import Protocol
from repro.replications.claims.claim import Cell
from repro.replications.claims.printed import Printed, Rounding

# Metrics that are 0 for a list without a hit in the first k, and at most 1 for any list.
_BELOW_HIT = ("precision", "recall", "f1", "ap", "rr", "ndcg")


@dataclass(frozen=True, eq=False)
class ClaimedNumber:
    """A printed number with its measure, its protocol, and the rounding rule of its table.

    folds  the number of folds over which the source averages; None if it is unknown
    """

    cell: Cell
    measure: Measure
    protocol: Protocol
    rounding: Rounding
    folds: int | None = None

    @property
    def name(self) -> str:
        return self.measure.metric.name

    @property
    def k(self) -> int | None:
        return self.measure.cutoff

    @property
    def printed(self) -> Printed:
        return self.cell.printed

    @property
    def shown(self) -> str:
        """The metric and the printed number."""
        return f"{self.cell.key.metric} ({self.printed.text})"

    @property
    def low(self) -> float:
        """The lowest value that the printed number can stand for."""
        return self.rounding.interval(self.printed)[0]

    @property
    def high(self) -> float:
        """The highest value that the printed number can stand for."""
        return self.rounding.interval(self.printed)[1]

    @property
    def pooled(self) -> bool:
        """Whether hits of all lists are pooled."""
        return self.measure.pooled or self.protocol["average.over"] == "pooled"

    @property
    def times_k(self) -> str:
        """The arithmetic of k times the number: with k as its denominator, the mean number of hits."""
        return f"{self.k} x {self.shown} = {(self.k or 0) * self.printed.value:.4g}"

    @property
    def shares_ranks(self) -> bool:
        """Whether items can share a rank, so that more than k of them are among the first k."""
        return str(self.protocol.get("ties.break")).startswith("shared")

    @property
    def averaged_once(self) -> bool:
        """Whether the average is taken over all lists (or pairs) together, and not first within folds."""
        return self.folds == 1 or self.protocol.get("average.folds") == "pooled"

    def is_a(self, name: str, **variants: str) -> bool:
        """Whether the number is of this metric, with these variants."""
        stated = self.measure.variants
        return self.name == name and all(stated.get(key) == value for key, value in variants.items())


@dataclass(frozen=True)
class Conflict:
    """Printed numbers that contradict each other, with the arithmetic."""

    cells: tuple[Cell, ...]
    why: str


def numbers_under(
    cells: Iterable[Cell], protocol: Protocol, rounding: Rounding, folds: int | None = None
) -> list[ClaimedNumber]:
    """The printed numbers under a protocol, without those whose metric it does not define."""
    numbers = []
    for cell in cells:
        try:
            measure = parse_measure(cell.key.metric, protocol, metrics())
        except ReproError:
            continue
        numbers.append(ClaimedNumber(cell, measure, protocol, rounding, folds))
    return numbers


def out_of_range(claimed: ClaimedNumber) -> str:
    """The reason why a number is outside the range of its metric; empty if it may be inside."""
    low, high = claimed.measure.range(claimed.protocol)
    limits = f"is at least {low:g}" if high == math.inf else f"lies between {low:g} and {high:g}"
    within = f"{claimed.name} {limits}"
    if claimed.low > high:
        return f"{within}: {claimed.printed.text} is more"
    return f"{within}: {claimed.printed.text} is less" if claimed.high < low else ""


def bears_on_relations(decision: str, names: Collection[str], shared: bool) -> bool:
    """Whether a decision affects the range of some metrics, or the relations between them.

    Rules for ties do so only if tied items may share a rank (``shared``).
    """
    family, _, name = decision.partition(".")
    if family == "metric":
        return name.partition(".")[0] in names
    always = family == "average" or decision in ("predict.average", "candidates.relevant")
    return always or (shared and family == "ties")


def certain_range(cell: Cell, protocols: Sequence[Protocol], rounding: Rounding) -> str:
    """The reason why a number is out of range under every protocol; empty if it is within range under one of them."""
    numbers = (number for protocol in protocols for number in numbers_under([cell], protocol, rounding))
    reasons = list(map(out_of_range, numbers))
    return reasons[0] if reasons and all(reasons) else ""


def certain_conflicts(
    cells: Sequence[Cell], protocols: Sequence[Protocol], rounding: Rounding, folds: int | None
) -> list[Conflict]:
    """Contradictions that hold under every protocol, with the arithmetic of the first one."""
    certain = conflicts(numbers_under(cells, protocols[0], rounding, folds))
    for protocol in protocols[1:]:
        if certain:
            others = conflicts(numbers_under(cells, protocol, rounding, folds))
            contradictory = {conflict.cells for conflict in others}
            certain = [conflict for conflict in certain if conflict.cells in contradictory]
    return certain


def conflicts(claimed: Iterable[ClaimedNumber]) -> list[Conflict]:
    """All contradictions among the printed numbers of each system under one protocol."""
    related = (number for number in claimed if not (number.measure.metric.kind == "ranking" and number.shares_ranks))
    return [
        Conflict(tuple(number.cell for number in numbers), why)
        for group in grouped(related, lambda number: replace(number.cell.key, metric="")).values()
        for relation in RELATIONS
        for numbers, why in relation(group)
    ]


# The numbers that contradict each other, and the arithmetic.
Violation = tuple[tuple[ClaimedNumber, ...], str]


def _pairs(lists: Sequence[ClaimedNumber], first_name: str, second_name: str) -> Iterator[tuple[ClaimedNumber, ...]]:
    """Pairs of two metrics with one cut-off."""
    for first, second in product(lists, lists):
        if (first.name, second.name) == (first_name, second_name) and first.k == second.k:
            yield first, second


def _deeper(lists: Sequence[ClaimedNumber]) -> Iterator[tuple[ClaimedNumber, int, ClaimedNumber, int]]:
    """Pairs of the same metric with two cut-offs, the smaller first, each with its cut-off."""
    for shorter, longer in product(lists, lists):
        same = shorter.name == longer.name and shorter.measure.variants == longer.measure.variants
        if same and shorter.k and longer.k and shorter.k < longer.k:
            yield shorter, shorter.k, longer, longer.k


def _errors(group: Sequence[ClaimedNumber]) -> Iterator[Violation]:
    """RMSE >= MAE, and MSE >= RMSE^2, with equality if the average is taken over all pairs together."""
    for average in dict.fromkeys(str(number.measure.variants.get("average")) for number in group):
        of = {number.name: number for number in group if str(number.measure.variants.get("average")) == average}
        rmse, mae, mse = of.get("rmse"), of.get("mae"), of.get("mse")
        if rmse and mae and rmse.high < mae.low:
            why = "the root of the mean of squares is never below the mean of the same absolute errors"
            yield (rmse, mae), f"{rmse.shown} is below {mae.shown}: {why}"
        if not mse or not rmse:
            continue
        square = f"the square of {rmse.shown}, {rmse.printed.value**2:.4g}"
        if mse.high < max(0.0, rmse.low) ** 2:
            why = "a mean of squares is never below the square of the mean"
            yield (mse, rmse), f"{mse.shown} is below {square}: {why}"
        if average == "ratings" and mse.averaged_once and mse.low > rmse.high**2:
            yield (mse, rmse), f"{mse.shown} is above {square}: over all pairs together, RMSE is the root of MSE"


def _below_hit(lists: Sequence[ClaimedNumber]) -> Iterator[Violation]:
    for name in _BELOW_HIT:
        for hit, number in _pairs(lists, "hit", name):
            binary = number.measure.variants.get("gain", "binary") == "binary"
            alike = not number.pooled or name == "rr" or number.is_a("precision", denominator="k")
            if binary and alike and hit.high < number.low:
                yield (
                    (hit, number),
                    f"{hit.shown} is below {number.shown}: a list with a hit in its first {hit.k} items counts 1 for "
                    "the first and at most 1 for the second, and a list without a hit counts 0 for both",
                )


def _hits_of_precision(lists: Sequence[ClaimedNumber]) -> Iterator[Violation]:
    """k P@k is the mean number of hits: at least the hit rate, and equal to it with one relevant item in each list."""
    for hit, precision in _pairs(lists, "hit", "precision"):
        if not precision.is_a("precision", denominator="k") or precision.k is None:
            continue
        hits = precision.times_k
        if hit.low > precision.k * precision.high:
            why = "the mean number of hits: a list with a hit has at least one"
            yield (hit, precision), f"{hit.shown} is above {hits}, {why}"
        protocol = precision.protocol
        one_relevant = protocol.get("candidates.relevant") == "one" and protocol["average.no_relevant"] != "one"
        if one_relevant and hit.high < precision.k * precision.low:
            why = "with one relevant item in each list the hit rate is the mean number of hits"
            yield (hit, precision), f"{hit.shown} is below {hits}: {why}"


def _reciprocal_ranks(lists: Sequence[ClaimedNumber]) -> Iterator[Violation]:
    """Bounds of RR: the first hits as late, and as early, as the hit rates at all cut-offs allow."""
    for rr in lists:
        if rr.name != "rr" or rr.k is None:
            continue
        hits = [number for number in lists if number.name == "hit" and (number.k or 0) <= rr.k]
        hits.sort(key=lambda hit: hit.k or 0)
        if not hits or hits[-1].k != rr.k:
            continue
        cuts = [hit.k or 0 for hit in hits]
        early = [1 / (cut + 1) for cut in (0, *cuts)]  # the first rank after each cut-off
        late = [*(1 / cut for cut in cuts), 0.0]
        early[-1] = 0.0  # there is no rank after the last cut-off
        most = sum(hit.high * (early[position] - early[position + 1]) for position, hit in enumerate(hits))
        least = sum(hit.low * (late[position] - late[position + 1]) for position, hit in enumerate(hits))
        hit_rates = " and ".join(hit.shown for hit in hits)
        if rr.low > most:
            yield (rr, *hits), f"{rr.shown} is above {most:.4g}, the maximum that {hit_rates} allow"
        if rr.high < least:
            yield (rr, *hits), f"{rr.shown} is below {least:.4g}, the minimum that {hit_rates} allow"


def _discounted(lists: Sequence[ClaimedNumber]) -> Iterator[Violation]:
    """nDCG is at least the number of hits times the last discount, divided by the DCG of k hits."""
    for ndcg, precision in _pairs(lists, "ndcg", "precision"):
        binary = ndcg.is_a("ndcg", gain="binary", discount="log2", ideal="min")
        if not binary or ndcg.k is None or not precision.is_a("precision", denominator="k") or ndcg.pooled:
            continue
        discounts = [1 / math.log2(rank + 1) for rank in range(1, ndcg.k + 1)]
        share = ndcg.k * discounts[-1] / math.fsum(discounts)
        if ndcg.high < share * precision.low:
            why = f"the minimum, which is reached with all hits at the end of the first {ndcg.k} items"
            yield (ndcg, precision), f"{ndcg.shown} is below {share:.4g} of {precision.shown}, {why}"


def _harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second) if first > 0 and second > 0 else 0.0


def _f1(lists: Sequence[ClaimedNumber]) -> Iterator[Violation]:
    """F1 against precision and recall.

    The harmonic mean is concave, so the mean of the F1 of lists (or folds) is at most the harmonic mean of the mean
    precision and recall. F1 of two averages that are taken over all lists together is equal to their harmonic mean.
    """
    for f1, precision in _pairs(lists, "f1", "precision"):
        for recall in (number for number in lists if number.name == "recall" and number.k == f1.k):
            variants = f1.measure.variants
            denominators = (number.measure.variants["denominator"] for number in (precision, recall))
            if (variants["precision"], variants["recall"]) != tuple(denominators):
                continue
            if f1.pooled and f1.protocol["average.no_relevant"] != "skip":
                continue
            numbers, both = (f1, precision, recall), f"{precision.shown} and {recall.shown}"
            middle = f"the harmonic mean of {both}, {_harmonic(precision.printed.value, recall.printed.value):.4g}"
            joined = variants["average"] == "means" or f1.pooled
            exact = joined and f1.averaged_once
            if f1.low > _harmonic(precision.high, recall.high):
                reason = "the mean of harmonic means is never above the harmonic mean of the means"
                yield numbers, f"{f1.shown} is above {middle}: {'it is their harmonic mean' if exact else reason}"
            least = _least_f1(f1, precision, recall, joined)
            if f1.high < least and exact:
                yield numbers, f"{f1.shown} is below {middle}: it is their harmonic mean"
            elif f1.high < least:
                yield numbers, f"{f1.shown} is below {least:.4g}, the minimum that {both} allow"


def _least_f1(f1: ClaimedNumber, precision: ClaimedNumber, recall: ClaimedNumber, joined: bool) -> float:
    """The lowest F1 that precision and recall allow.

    A list with h hits and r relevant items has F1 = 2h / (k + r) and recall = h / r, so F1 / recall = 2r / (k + r),
    which is lowest for r = 1. With min(k, r) instead of r, F1 is at least h / k, the precision.
    """
    if joined:
        return _harmonic(precision.low, recall.low) if f1.averaged_once else 0.0
    if f1.k is None or f1.measure.variants["precision"] != "k":
        return 0.0
    of_recall = 2 * recall.low / (f1.k + 1)
    return max(of_recall, precision.low) if f1.measure.variants["recall"] == "min-relevant" else of_recall


def _growing(lists: Sequence[ClaimedNumber]) -> Iterator[Violation]:
    """Metrics that never decrease with k; k P@k, the mean number of hits, also grows by at most the added ranks."""
    for shorter, few_ranks, longer, many_ranks in _deeper(lists):
        contained = f"the first {many_ranks} items contain the first {few_ranks}"
        denominator = shorter.measure.variants.get("denominator", "relevant")
        if shorter.name in ("hit", "recall", "rr", "arhr", "ap") and denominator == "relevant":
            if shorter.low > longer.high:
                yield (shorter, longer), f"{shorter.shown} is above {longer.shown}: {contained}"
        elif shorter.is_a("precision", denominator="k"):
            few, many, further = shorter.times_k, longer.times_k, many_ranks - few_ranks
            if few_ranks * shorter.low > many_ranks * longer.high:
                yield (shorter, longer), f"{few} is above {many}: {contained}"
            if many_ranks * longer.low > few_ranks * shorter.high + further:
                why = "the additional ranks have at most that many hits"
                yield (shorter, longer), f"{many} is more than {further} above {few}: {why}"


RELATIONS = (
    _errors,
    _below_hit,
    _hits_of_precision,
    _reciprocal_ranks,
    _discounted,
    _f1,
    _growing,
)
