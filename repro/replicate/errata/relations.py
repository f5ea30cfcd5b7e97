"""Relations between metrics that hold on any lists, and printed numbers of one system that violate them.

Linear relations that hold for every list also hold for averages over users, lists, strata and folds, as long as all
metrics are averaged in the same way. Pooled averages weigh lists by the denominators of each metric. For them, only
relations between metrics with the same denominators for all lists hold, and that of F1, which is exact. Lists without
relevant items count the same for all metrics, 0 or 1, and satisfy the relations as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from repro.replicate.errata.claimed_number import ClaimedNumber, Conflict

Pair = tuple[ClaimedNumber, ClaimedNumber]
Relation = Callable[[Sequence[ClaimedNumber]], Iterator[Conflict]]

# Metrics that are 0 for a list without a hit in the first k, and at most 1 for any list.
_BELOW_HIT = ("precision", "recall", "f1", "ap", "rr", "ndcg")


def conflicts_of_system(group: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """The contradictions among the numbers of one system."""
    yield from _errors(group)
    lists = [number for number in group if number.measure.metric.kind == "ranking" and not number.shares_ranks]
    for relation in RELATIONS:
        yield from relation(lists)


def _is_pooled(number: ClaimedNumber) -> bool:
    return number.measure.pooled or number.protocol["average.over"] == "pooled"


def _pairs(
    lists: Sequence[ClaimedNumber], first_name: str, second_name: str
) -> Iterator[tuple[ClaimedNumber, ClaimedNumber]]:
    """Pairs of two metrics with one cut-off."""
    for first, second in product(lists, lists):
        if first.name == first_name and second.name == second_name and first.k == second.k:
            yield first, second


def _deeper(lists: Sequence[ClaimedNumber]) -> Iterator[Pair]:
    """Pairs of the same metric with two cut-offs, the smaller first."""
    for shorter, longer in product(lists, lists):
        if (
            shorter.name == longer.name
            and shorter.measure.variants == longer.measure.variants
            and shorter.k
            and longer.k
            and shorter.k < longer.k
        ):
            yield shorter, longer


def _errors(group: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """RMSE >= MAE, and MSE >= RMSE^2, with equality if the average is taken over all pairs together."""
    for average in dict.fromkeys(str(number.measure.variants.get("average")) for number in group):
        of = {number.name: number for number in group if str(number.measure.variants.get("average")) == average}
        rmse, mae, mse = of.get("rmse"), of.get("mae"), of.get("mse")
        if rmse and mae and rmse.high < mae.low:
            yield Conflict(
                (rmse.cell, mae.cell),
                f"{rmse.shown} is below {mae.shown}: the root of the mean of squares is never below the mean of the "
                "same absolute errors",
            )
        if mse and rmse and mse.high < max(0.0, rmse.low) ** 2:
            yield Conflict(
                (mse.cell, rmse.cell),
                f"{mse.shown} is below the square of {rmse.shown}, {rmse.printed.value**2:.4g}: a mean of squares is "
                "never below the square of the mean",
            )
        if mse and rmse and average == "ratings" and mse.averaged_once and mse.low > rmse.high**2:
            yield Conflict(
                (mse.cell, rmse.cell),
                f"{mse.shown} is above the square of {rmse.shown}, {rmse.printed.value**2:.4g}: over all pairs "
                "together, RMSE is the root of MSE",
            )


def _below_hit(lists: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    for name in _BELOW_HIT:
        for hit, number in _pairs(lists, "hit", name):
            binary = number.measure.variants.get("gain", "binary") == "binary"
            alike = not _is_pooled(number) or name == "rr" or number.is_a("precision", denominator="k")
            if binary and alike and hit.high < number.low:
                yield Conflict(
                    (hit.cell, number.cell),
                    f"{hit.shown} is below {number.shown}: a list with a hit in its first {hit.k} items counts 1 for "
                    "the first and at most 1 for the second, and a list without a hit counts 0 for both",
                )


def _hits_of_precision(lists: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """k P@k is the mean number of hits: at least the hit rate, and equal to it with one relevant item in each list."""
    for hit, precision in _pairs(lists, "hit", "precision"):
        if not precision.is_a("precision", denominator="k") or precision.k is None:
            continue
        hits = f"{precision.k} x {precision.shown} = {precision.k * precision.printed.value:.4g}"
        if hit.low > precision.k * precision.high:
            yield Conflict(
                (hit.cell, precision.cell),
                f"{hit.shown} is above {hits}, the mean number of hits: a list with a hit has at least one",
            )
        one_relevant = (
            precision.protocol.get("candidates.relevant") == "one"
            and precision.protocol["average.no_relevant"] != "one"
        )
        if one_relevant and hit.high < precision.k * precision.low:
            yield Conflict(
                (hit.cell, precision.cell),
                f"{hit.shown} is below {hits}: with one relevant item in each list the hit rate is the mean number of "
                "hits",
            )


def _reciprocal_ranks(lists: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """Bounds of RR: the first hits as late, and as early, as the hit rates at all cut-offs allow."""
    for rr in (number for number in lists if number.name == "rr" and number.k is not None):
        assert rr.k is not None
        hits = sorted(
            (number for number in lists if number.name == "hit" and (number.k or 0) <= rr.k),
            key=lambda hit: hit.k or 0,
        )
        if not hits or hits[-1].k != rr.k:
            continue
        cuts = [hit.k or 0 for hit in hits]
        early = [1 / (cut + 1) for cut in (0, *cuts)]  # the first rank after each cut-off
        late = [*(1 / cut for cut in cuts), 0.0]
        early[-1] = 0.0  # there is no rank after the last cut-off
        most = sum(hit.high * (early[position] - early[position + 1]) for position, hit in enumerate(hits))
        least = sum(hit.low * (late[position] - late[position + 1]) for position, hit in enumerate(hits))
        hit_rates = " and ".join(hit.shown for hit in hits)
        cells = (rr.cell, *(hit.cell for hit in hits))
        if rr.low > most:
            yield Conflict(cells, f"{rr.shown} is above {most:.4g}, the maximum that {hit_rates} allow")
        if rr.high < least:
            yield Conflict(cells, f"{rr.shown} is below {least:.4g}, the minimum that {hit_rates} allow")


def _discounted(lists: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """nDCG is at least the number of hits times the last discount, divided by the DCG of k hits."""
    for ndcg, precision in _pairs(lists, "ndcg", "precision"):
        binary = ndcg.is_a("ndcg", gain="binary", discount="log2", ideal="min")
        if not binary or ndcg.k is None or not precision.is_a("precision", denominator="k") or _is_pooled(ndcg):
            continue
        worth = [1 / math.log2(rank + 1) for rank in range(1, ndcg.k + 1)]
        share = ndcg.k * worth[-1] / math.fsum(worth)
        if ndcg.high < share * precision.low:
            yield Conflict(
                (ndcg.cell, precision.cell),
                f"{ndcg.shown} is below {share:.4g} of {precision.shown}, the minimum, which is reached with all hits "
                f"at the end of the first {ndcg.k} items",
            )


def _harmonic(first: float, second: float) -> float:
    return 2 * first * second / (first + second) if first > 0 and second > 0 else 0.0


def _f1(lists: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """F1 against precision and recall.

    The harmonic mean is concave, so the mean of the F1 of lists (or folds) is at most the harmonic mean of the mean
    precision and recall. F1 of two averages that are taken over all lists together is equal to their harmonic mean.
    """
    for f1, precision in _pairs(lists, "f1", "precision"):
        for recall in (number for number in lists if number.name == "recall" and number.k == f1.k):
            variants = f1.measure.variants
            same = variants["precision"] == precision.measure.variants["denominator"]
            if not same or variants["recall"] != recall.measure.variants["denominator"]:
                continue
            cells = (f1.cell, precision.cell, recall.cell)
            both = f"{precision.shown} and {recall.shown}"
            middle = _harmonic(precision.printed.value, recall.printed.value)
            most = _harmonic(precision.high, recall.high)
            if _is_pooled(f1) and f1.protocol["average.no_relevant"] != "skip":
                continue
            joined = variants["average"] == "means" or _is_pooled(f1)
            if f1.low > most:
                reason = "the mean of harmonic means is never above the harmonic mean of the means"
                equal = "it is their harmonic mean"
                yield Conflict(
                    cells,
                    f"{f1.shown} is above the harmonic mean of {both}, {middle:.4g}: "
                    + (equal if joined and f1.averaged_once else reason),
                )
            least = _least_f1(f1, precision, recall, joined)
            if f1.high < least:
                reason_below = f"{f1.shown} is below {least:.4g}, the minimum that {both} allow"
                if joined and f1.averaged_once:
                    reason_below = (
                        f"{f1.shown} is below the harmonic mean of {both}, {middle:.4g}: it is their harmonic mean"
                    )
                yield Conflict(cells, reason_below)


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


def _growing(lists: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """Metrics that never decrease with k."""
    for shorter, longer in _deeper(lists):
        denominator = shorter.measure.variants.get("denominator", "relevant")
        if shorter.name not in ("hit", "recall", "rr", "arhr", "ap") or denominator != "relevant":
            continue
        if shorter.low > longer.high:
            yield Conflict(
                (shorter.cell, longer.cell),
                f"{shorter.shown} is above {longer.shown}: the first {longer.k} items contain the first {shorter.k}",
            )


def _hits_growing(lists: Sequence[ClaimedNumber]) -> Iterator[Conflict]:
    """k P@k, the mean number of hits, never decreases with k, and grows by at most the number of added ranks."""
    for shorter, longer in _deeper(lists):
        if not shorter.is_a("precision", denominator="k"):
            continue
        assert shorter.k is not None and longer.k is not None
        few, many = (
            f"{number.k} x {number.shown} = {number.k * number.printed.value:.4g}"
            for number in (shorter, longer)
            if number.k
        )
        if shorter.k * shorter.low > longer.k * longer.high:
            yield Conflict(
                (shorter.cell, longer.cell),
                f"{few} is above {many}: the first {longer.k} items contain the first {shorter.k}",
            )
        if longer.k * longer.low > shorter.k * shorter.high + (longer.k - shorter.k):
            yield Conflict(
                (shorter.cell, longer.cell),
                f"{many} is more than {longer.k - shorter.k} above {few}: the additional ranks have at most that "
                "many hits",
            )


RELATIONS: tuple[Relation, ...] = (
    _below_hit,
    _hits_of_precision,
    _reciprocal_ranks,
    _discounted,
    _f1,
    _growing,
    _hits_growing,
)
