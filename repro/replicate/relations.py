"""What holds between the numbers of one system on the same lists, whatever the lists are.

Relations that hold for every list and are linear hold for averages over users, lists, strata and folds too, as long as
all numbers are averaged alike. Pooled averages weigh lists by the denominators of each metric: there only relations
between metrics hold whose denominators are the same for all lists, and that of F1, which is exact. Lists without
relevant items count the same for all metrics, 0 or 1, for which the relations hold as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from repro.replicate.errata import Claimed, Conflict

Relation = Callable[[Sequence[Claimed]], Iterator[Conflict]]

# Of these a list without a hit down to k counts 0, and no list more than 1.
_BELOW_HIT = ("precision", "recall", "f1", "ap", "rr", "ndcg")


def of_system(group: Sequence[Claimed]) -> Iterator[Conflict]:
    """What is at odds among the numbers of one system."""
    yield from _errors(group)
    lists = [one for one in group if one.measure.metric.kind == "ranking" and not one.shares_ranks]
    for relation in RELATIONS:
        yield from relation(lists)


def _is_pooled(one: Claimed) -> bool:
    return one.measure.pooled or one.protocol["average.over"] == "pooled"


def _pairs(lists: Sequence[Claimed], left: str, right: str) -> Iterator[tuple[Claimed, Claimed]]:
    """Pairs of two metrics with one cut-off."""
    for one, two in product(lists, lists):
        if one.name == left and two.name == right and one.k == two.k:
            yield one, two


def _deeper(lists: Sequence[Claimed]) -> Iterator[tuple[Claimed, Claimed]]:
    """Pairs of one metric with two cut-offs, the smaller first."""
    for one, two in product(lists, lists):
        if one.name == two.name and one.measure.variants == two.measure.variants and one.k and two.k and one.k < two.k:
            yield one, two


def _errors(group: Sequence[Claimed]) -> Iterator[Conflict]:
    """RMSE >= MAE, and MSE >= RMSE^2; equal where nothing is averaged in between."""
    for average in dict.fromkeys(str(one.measure.variants.get("average")) for one in group):
        of = {one.name: one for one in group if str(one.measure.variants.get("average")) == average}
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
        if mse and rmse and average == "ratings" and mse.single and mse.low > rmse.high**2:
            yield Conflict(
                (mse.cell, rmse.cell),
                f"{mse.shown} is above the square of {rmse.shown}, {rmse.printed.value**2:.4g}: over all pairs at once "
                "RMSE is the root of MSE",
            )


def _below_hit(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    for name in _BELOW_HIT:
        for hit, one in _pairs(lists, "hit", name):
            binary = one.measure.variants.get("gain", "binary") == "binary"
            alike = not _is_pooled(one) or name == "rr" or one.is_a("precision", denominator="k")
            if binary and alike and hit.high < one.low:
                yield Conflict(
                    (hit.cell, one.cell),
                    f"{hit.shown} is below {one.shown}: a list with a hit among its first {hit.k} counts 1 for the one "
                    "and at most 1 for the other, and a list without counts 0 for both",
                )


def _hits_of_precision(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    """k P@k is the mean number of hits: at least the share of lists with a hit, and the same with one relevant item."""
    for hit, one in _pairs(lists, "hit", "precision"):
        if not one.is_a("precision", denominator="k") or one.k is None:
            continue
        hits = f"{one.k} x {one.shown} = {one.k * one.printed.value:.4g}"
        if hit.low > one.k * one.high:
            yield Conflict(
                (hit.cell, one.cell),
                f"{hit.shown} is above {hits}, the mean number of hits: a list with a hit has at least one",
            )
        alone = one.protocol.get("candidates.relevant") == "one" and one.protocol["average.no_relevant"] != "one"
        if alone and hit.high < one.k * one.low:
            yield Conflict(
                (hit.cell, one.cell),
                f"{hit.shown} is below {hits}: with one relevant item in each list the hit rate is the mean number of "
                "hits",
            )


def _reciprocal_ranks(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    """RR between what it is with each first hit as late and as early as the hit rates at all cut-offs allow."""
    for rr in (one for one in lists if one.name == "rr" and one.k is not None):
        assert rr.k is not None
        hits = sorted((one for one in lists if one.name == "hit" and (one.k or 0) <= rr.k), key=lambda one: one.k or 0)
        if not hits or hits[-1].k != rr.k:
            continue
        cuts = [one.k or 0 for one in hits]
        early = [1 / (cut + 1) for cut in (0, *cuts)]  # the first place after each cut-off
        late = [*(1 / cut for cut in cuts), 0.0]
        early[-1] = 0.0  # nothing comes after the last
        most = sum(one.high * (early[at] - early[at + 1]) for at, one in enumerate(hits))
        least = sum(one.low * (late[at] - late[at + 1]) for at, one in enumerate(hits))
        told = " and ".join(one.shown for one in hits)
        cells = (rr.cell, *(one.cell for one in hits))
        if rr.low > most:
            yield Conflict(cells, f"{rr.shown} is above {most:.4g}, what {told} allow with the earliest first hits")
        if rr.high < least:
            yield Conflict(cells, f"{rr.shown} is below {least:.4g}, what {told} allow with the latest first hits")


def _discounted(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    """nDCG with all hits at the end: at least hits times the last discount, over an ideal list of k hits."""
    for ndcg, one in _pairs(lists, "ndcg", "precision"):
        binary = ndcg.is_a("ndcg", gain="binary", discount="log2", ideal="min")
        if not binary or ndcg.k is None or not one.is_a("precision", denominator="k") or _is_pooled(ndcg):
            continue
        worth = [1 / math.log2(rank + 1) for rank in range(1, ndcg.k + 1)]
        share = ndcg.k * worth[-1] / math.fsum(worth)
        if ndcg.high < share * one.low:
            yield Conflict(
                (ndcg.cell, one.cell),
                f"{ndcg.shown} is below {share:.4g} of {one.shown}, which is the least with all hits at the end of the "
                f"first {ndcg.k}",
            )


def _harmonic(one: float, two: float) -> float:
    return 2 * one * two / (one + two) if one > 0 and two > 0 else 0.0


def _f1(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    """F1 against precision and recall.

    The harmonic mean is concave, so that the mean of those of lists (or folds) is never above that of the means; where
    F1 is made of two averages that are taken over everything at once, it is their harmonic mean.
    """
    for f1, precision in _pairs(lists, "f1", "precision"):
        for recall in (one for one in lists if one.name == "recall" and one.k == f1.k):
            own = f1.measure.variants
            same = own["precision"] == precision.measure.variants["denominator"]
            if not same or own["recall"] != recall.measure.variants["denominator"]:
                continue
            cells = (f1.cell, precision.cell, recall.cell)
            both = f"{precision.shown} and {recall.shown}"
            middle = _harmonic(precision.printed.value, recall.printed.value)
            most = _harmonic(precision.high, recall.high)
            if _is_pooled(f1) and f1.protocol["average.no_relevant"] != "skip":
                continue
            joined = own["average"] == "means" or _is_pooled(f1)
            if f1.low > most:
                reason = "the mean of harmonic means is never above that of the means"
                equal = "it is their harmonic mean"
                yield Conflict(
                    cells,
                    f"{f1.shown} is above the harmonic mean of {both}, {middle:.4g}: "
                    + (equal if joined and f1.single else reason),
                )
            least = _least_f1(f1, precision, recall, joined)
            if f1.high < least:
                told = f"{f1.shown} is below {least:.4g}, the least that {both} allow"
                if joined and f1.single:
                    told = f"{f1.shown} is below the harmonic mean of {both}, {middle:.4g}: it is their harmonic mean"
                yield Conflict(cells, told)


def _least_f1(f1: Claimed, precision: Claimed, recall: Claimed, joined: bool) -> float:
    """The least F1 that precision and recall allow.

    Of a list with h hits and r relevant items F1 is 2h / (k + r) and recall h / r, so that F1 / recall = 2r / (k + r),
    which is least for r = 1; with min(k, r) in the place of r, F1 is at least h / k, the precision.
    """
    if joined:
        return _harmonic(precision.low, recall.low) if f1.single else 0.0
    if f1.k is None or f1.measure.variants["precision"] != "k":
        return 0.0
    of_recall = 2 * recall.low / (f1.k + 1)
    return max(of_recall, precision.low) if f1.measure.variants["recall"] == "min-relevant" else of_recall


def _growing(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    """What can only grow with k."""
    for shorter, longer in _deeper(lists):
        denominator = shorter.measure.variants.get("denominator", "relevant")
        if shorter.name not in ("hit", "recall", "rr", "arhr", "ap") or denominator != "relevant":
            continue
        if shorter.low > longer.high:
            yield Conflict(
                (shorter.cell, longer.cell),
                f"{shorter.shown} is above {longer.shown}: what is among the first {shorter.k} is among the first "
                f"{longer.k} too",
            )


def _hits_growing(lists: Sequence[Claimed]) -> Iterator[Conflict]:
    """k P@k, the mean number of hits, can only grow with k, and by no more than the places that are added."""
    for shorter, longer in _deeper(lists):
        if not shorter.is_a("precision", denominator="k"):
            continue
        assert shorter.k is not None and longer.k is not None
        few, many = (f"{one.k} x {one.shown} = {one.k * one.printed.value:.4g}" for one in (shorter, longer) if one.k)
        if shorter.k * shorter.low > longer.k * longer.high:
            yield Conflict(
                (shorter.cell, longer.cell),
                f"{few} is above {many}: the hits among the first {shorter.k} are among the first {longer.k} too",
            )
        if longer.k * longer.low > shorter.k * shorter.high + (longer.k - shorter.k):
            yield Conflict(
                (shorter.cell, longer.cell),
                f"{many} is more than {longer.k - shorter.k} above {few}: so many further places have no more hits",
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
