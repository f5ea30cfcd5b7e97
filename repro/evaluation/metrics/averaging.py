"""From a metric of each list to one number: who counts, and what is averaged (``average.*``).

Each list counts by the first of these rules that applies to it:

1. It is empty and has no relevant items: ``average.neither``.
2. It has no relevant items, or the metric leaves out all that it has: ``average.no_relevant``.
3. It is empty: ``average.no_list``, with "zero" by the value that the metric gives an empty list.
4. It has no negative items, and the metric compares relevant items with them: ``average.no_negatives``.
5. Otherwise its value counts.

A metric that does not depend on relevance (``Metric.undefined = "left-out"``) has only rules 3 and 5, and leaves out
lists for which it has no value. In a pooled average a list without a value adds nothing, unless it counts as
not a number. If no list is left, ``average.nobody`` is the value.

Sums are exact before they are rounded once, so that no number depends on the order of the lists or on how they
were cut into blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, FloatArray
from repro.errors import DataError
from repro.evaluation.metrics.measure import Measure
from repro.evaluation.metrics.metric import FILLERS, NO_NEGATIVES, NO_RELEVANT, Mask, RankingMetric, Ratio
from repro.evaluation.metrics.shared.exact import exact_mean, exact_sum
from repro.evaluation.ranking import Ranked
from repro.protocol import Protocol

Rows = npt.NDArray[np.intp]
NO_USERS: CodeArray = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Averaged:
    """One number, and its parts.

    users_counted  the number of users in it
    users, values  these users, ascending, and the value of each of them
    impacts        which lists the decisions about averaging touched
    """

    value: float
    users_counted: int
    users: CodeArray
    values: FloatArray
    impacts: tuple[Impact, ...] = ()


@dataclass(frozen=True, eq=False)
class ListOwners:
    """The users of the measured lists: what averages need besides the numbers of the lists.

    users, strata  of each list
    empty          whether a list has no item
    unlisted       the test users who have no list because each list is about one relevant item (1R), and they have none
    """

    users: CodeArray
    strata: npt.NDArray[np.int32]
    empty: Mask
    unlisted: CodeArray = field(default_factory=lambda: NO_USERS)

    @classmethod
    def of(cls, ranked: Ranked, unlisted: CodeArray = NO_USERS) -> ListOwners:
        """The owners of ranked lists."""
        return cls(ranked.users, ranked.strata, ranked.lengths == 0, unlisted)

    @classmethod
    def joined(cls, parts: Sequence[ListOwners]) -> ListOwners:
        """The owners of the lists of several blocks or folds, one after the other."""
        names = (column.name for column in fields(cls))
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def average(measure: Measure, ratio: Ratio, owners: ListOwners, protocol: Protocol) -> Averaged:
    """The average of a metric of lists under the ``average.*`` decisions.

    Lists in strata are averaged within each stratum first; then the strata count the same (Bellogín 2012, section
    4.6.1). A user without a list counts as one with a list that has no relevant items.
    """
    if n := len(owners.unlisted):
        none = ListOwners(owners.unlisted, np.zeros(n, dtype=owners.strata.dtype), np.zeros(n, dtype=np.bool_))
        ratio = Ratio.joined([ratio, Ratio(np.zeros(n), np.zeros(n))])
        owners = ListOwners.joined([owners, none])
    users, strata = owners.users, owners.strata
    values, counted, touched = _count(measure, ratio, owners.empty, protocol)
    over = "pooled" if measure.pooled else protocol.text("average.over")
    rows = np.flatnonzero(counted)
    ratio = Ratio(np.where(ratio.denominator == 0, 0.0, ratio.numerator), ratio.denominator)
    counted_users, user_values = _user_values(ratio, values, users, rows, over)
    if not len(rows):
        value = _without_users(measure, protocol)
    elif strata.any():
        parts = [rows[strata[rows] == stratum] for stratum in np.unique(strata[rows])]
        value = exact_mean(np.array([_average_lists(ratio, values, users, part, over) for part in parts]))
    elif over == "users":
        value = exact_mean(user_values)
    else:
        value = _average_lists(ratio, values, users, rows, over)
    return Averaged(value, len(counted_users), counted_users, user_values, _impacts(users, touched, protocol))


def _count(
    measure: Measure, ratio: Ratio, empty: Mask, protocol: Protocol
) -> tuple[FloatArray, Mask, dict[str, tuple[Mask, str]]]:
    """The value of each list, whether it counts, and which lists each decision touched, with a note about them."""
    metric = measure.metric
    assert isinstance(metric, RankingMetric), measure.name
    undefined = ratio.denominator == 0
    values = ratio.values
    counted = ~undefined
    touched = {"average.no_list": (empty & ~undefined, "with an empty list")}
    if protocol["average.no_list"] == "skip":
        counted &= ~empty
    if metric.undefined == "left-out":
        none = np.zeros(len(values), dtype=np.bool_)
        return values, counted, {"average.no_relevant": (none, "without relevant items"), **touched}
    no_relevant = protocol.text("average.no_relevant")
    neither, no_negatives = protocol.get("average.neither", "no-relevant"), protocol.text("average.no_negatives")
    without_negatives = undefined & (ratio.numerator == NO_NEGATIVES)
    both = undefined & empty & (ratio.numerator == NO_RELEVANT)
    without_relevant = undefined & ~without_negatives
    if neither != "no-relevant":
        without_relevant &= ~both
    rules = {
        "average.no_relevant": (without_relevant, "without relevant items", no_relevant),
        "average.neither": (both, "with neither a list nor relevant items", neither),
        "average.no_negatives": (without_negatives, "without negative items", no_negatives),
    }
    for lists, _, rule in rules.values():
        if rule == "no-list":
            filler = math.nan if protocol["average.no_list"] == "skip" else metric.of_empty_list(measure.variants)
            counts = not math.isnan(filler)
        else:
            rule = no_relevant if rule == "no-relevant" else rule
            filler, counts = FILLERS.get(str(rule), math.nan), rule != "skip"
        values[lists], counted[lists] = filler, counts
    applied = {key: (lists, note) for key, (lists, note, _) in rules.items() if key in protocol}
    if not metric.negatives:
        del applied["average.no_negatives"]
    return values, counted, {**applied, **touched}


def _without_users(measure: Measure, protocol: Protocol) -> float:
    """The value if no user is left to be averaged."""
    if protocol["average.nobody"] == "error":
        raise DataError(
            f'{measure.name} has nobody to average, and average.nobody = "error" stops there: no test user has what it '
            'needs (relevant items, a list); give other lists or judgements, or use average.nobody = "nan" or "zero"',
            decision="average.nobody",
        )
    return 0.0 if protocol["average.nobody"] == "zero" else math.nan


def _average_lists(ratio: Ratio, values: FloatArray, users: CodeArray, rows: Rows, over: str) -> float:
    if over == "pooled":
        return _pooled(ratio, values, rows)
    return exact_mean(values[rows] if over == "lists" else _user_values(ratio, values, users, rows, over)[1])


def _pooled(ratio: Ratio, values: FloatArray, rows: Rows) -> float:
    denominator = exact_sum(ratio.denominator[rows])
    if not denominator or np.isnan(values[rows]).any():
        return math.nan
    return exact_sum(ratio.numerator[rows]) / denominator


def _user_values(
    ratio: Ratio, values: FloatArray, users: CodeArray, rows: Rows, over: str
) -> tuple[CodeArray, FloatArray]:
    """The users with a list in ``rows``, ascending, and the average of each user's lists."""
    if _ascend(users[rows]):  # one list each, in order: nothing to gather
        return users[rows], values[rows]
    order = rows if _sorted(users[rows]) else rows[np.argsort(users[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(users[order], prepend=-1))
    present = users[order[starts]]
    if over == "pooled":
        groups = np.split(order, starts[1:])
        return present, np.array([values[g[0]] if len(g) == 1 else _pooled(ratio, values, g) for g in groups])
    ends, ordered = [*starts[1:].tolist(), len(order)], values[order].tolist()
    pairs = zip(starts.tolist(), ends, strict=True)
    return present, np.array([math.fsum(ordered[start:end]) / (end - start) for start, end in pairs])


def _ascend(users: CodeArray) -> bool:
    return bool((users[1:] > users[:-1]).all())


def _sorted(users: CodeArray) -> bool:
    return bool((users[1:] >= users[:-1]).all())


def _impacts(users: CodeArray, touched: dict[str, tuple[Mask, str]], protocol: Protocol) -> tuple[Impact, ...]:
    single = _ascend(users) if _sorted(users) else len(np.unique(users)) == len(users)
    unit = "test users" if single else "lists"
    return tuple(
        Impact(decision, protocol[decision], int(lists.sum()), len(users), unit, note)
        for decision, (lists, note) in touched.items()
    )
