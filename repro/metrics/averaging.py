"""From a metric of each list to one number: who counts, and what is averaged (``average.*``).

Sums are exact before they are rounded once, so that no number depends on the order of the lists or on how they
were cut into blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, FloatArray
from repro.metrics._exact import exact_sum
from repro.metrics.metric import NO_RELEVANT, Measure, Ratio
from repro.protocol import Protocol

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Averaged:
    """One number, and what it is made of.

    users_counted  how many users are in it
    users, values  these users, ascending, and the number of each of them alone
    impacts        whom the decisions about averaging touched
    """

    value: float
    users_counted: int
    users: CodeArray
    values: FloatArray
    impacts: tuple[Impact, ...] = ()


def average(
    measure: Measure,
    ratio: Ratio,
    users: CodeArray,
    strata: npt.NDArray[np.int32],
    empty: Mask,
    protocol: Protocol,
) -> Averaged:
    """The average of a metric of lists, as the ``average.*`` decisions say.

    ``users`` and ``strata`` are those of each list; ``empty`` marks lists without any item. Lists in strata are
    averaged within each stratum first; then the strata count the same (Bellogín 2012, section 4.6.1). A pooled
    average adds up numerators and denominators: a list without relevant items adds to neither of them, unless
    it spoils the number. Of a list about which the metric has nothing to say (``Metric.undefined``) it says
    nothing, whatever is decided about lists without relevant items.
    """
    undefined = ratio.denominator == 0
    values = _list_values(ratio, undefined, protocol)
    counted = np.ones(len(users), dtype=np.bool_)
    of_relevance = measure.metric.undefined == "no-relevant"
    if not of_relevance or protocol["average.no_relevant"] == "skip":
        counted &= ~undefined
    if protocol["average.no_list"] == "skip":
        counted &= undefined | ~empty  # having no relevant items comes first
    over = "pooled" if measure.pooled else protocol.text("average.over")
    rows = np.flatnonzero(counted)
    per_user, user_values = _user_values(ratio, values, users, rows, over)
    if strata.any():
        parts = [rows[strata[rows] == stratum] for stratum in np.unique(strata[rows])]
        value = exact_mean(np.array([_average_lists(ratio, values, users, part, over) for part in parts]))
    elif over == "users":
        value = exact_mean(user_values)
    else:
        value = _average_lists(ratio, values, users, rows, over)
    return Averaged(
        value=value,
        users_counted=len(per_user),
        users=per_user,
        values=user_values,
        impacts=_impacts(users, undefined & of_relevance, empty, protocol),
    )


def _list_values(ratio: Ratio, undefined: Mask, protocol: Protocol) -> FloatArray:
    """The value of each list; of an undefined one, what ``average.no_relevant`` makes it count."""
    filler = NO_RELEVANT.get(protocol.text("average.no_relevant"), math.nan)
    return np.where(undefined, filler, ratio.numerator / np.where(undefined, 1.0, ratio.denominator))


def _average_lists(ratio: Ratio, values: FloatArray, users: CodeArray, rows: Rows, over: str) -> float:
    match over:
        case "pooled":
            return _pooled(ratio, values, rows)
        case "lists":
            return exact_mean(values[rows])
        case _:
            return exact_mean(_user_values(ratio, values, users, rows, over)[1])


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


def exact_mean(values: FloatArray) -> float:
    """The mean, from the exact sum; not a number where there is nothing to average."""
    return exact_sum(values) / len(values) if len(values) else math.nan


def _impacts(users: CodeArray, undefined: Mask, empty: Mask, protocol: Protocol) -> tuple[Impact, ...]:
    single = _ascend(users) if _sorted(users) else len(np.unique(users)) == len(users)
    unit = "test users" if single else "lists"
    found = (
        ("average.no_relevant", undefined, "without relevant items"),
        ("average.no_list", empty & ~undefined, "with an empty list"),
    )
    return tuple(
        Impact(decision, protocol[decision], int(touched.sum()), len(users), unit, note)
        for decision, touched, note in found
    )
