"""Distances of a reproduced run from the original: the measures of Breuer et al. (SIGIR 2020), with repro_eval.

Order of the lists: Kendall's tau union and rank-biased overlap. Numbers of the users: root mean square error. Effect
over a baseline: effect ratio and delta relative improvement.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

RBO_P = 0.95  # repro_eval's own default
_NAME = "value"

Scores = Mapping[str, float]


def order_distances(before: pd.DataFrame, after: pd.DataFrame) -> tuple[float, float]:
    """Kendall's tau union and rank-biased overlap of stored lists, each the mean over the lists that are in both.

    Lists of different lengths are compared as far as both go. Tau of lists with one item is not defined: such lists
    do not count in it.
    """
    first, second = _runs(before), _runs(after)
    both = [key for key in first if key in second]
    if not both:
        return math.nan, math.nan
    pairs = {key: min(len(first[key]), len(second[key])) for key in both}
    runs = [{key: _scored(run[key][: pairs[key]]) for key in both} for run in (first, second)]
    order = _module("repro_eval.measure.document_order")
    taus: dict[str, float] = {}
    overlaps: dict[str, float] = {}
    for length in set(pairs.values()):  # at a greater depth than its own, a list would not even overlap with itself
        chosen = [{key: run[key] for key in both if pairs[key] == length} for run in runs]
        overlaps |= order.RBO(*chosen, RBO_P, length, False, True)
        taus |= order.KTU(*chosen, per_topic=True) if length > 1 else {}
    return _mean(taus.values()), _mean(overlaps.values())


def rmse(before: Scores, after: Scores) -> float:
    """Root mean square error between the users' numbers."""
    errors = _module("repro_eval.measure.effectiveness").RMSE(_topics(before), _topics(after))
    return float(errors[_NAME])


def effects(before: Scores, base_before: Scores, after: Scores, base_after: Scores) -> tuple[float, float]:
    """Effect ratio (1: the same improvement over the baseline) and delta relative improvement (0: the same one)."""
    overall = _module("repro_eval.measure.overall_effects")
    runs = [_topics(scores) for scores in (before, base_before, after, base_after)]
    with np.errstate(all="ignore"):
        values = [float(measure(*runs)[_NAME]) for measure in (overall.ER, overall.DRI)]
    return (*(value if math.isfinite(value) else math.nan for value in values),)  # type: ignore[return-value]


def _topics(scores: Scores) -> dict[str, dict[str, Any]]:
    return {user: {_NAME: np.float64(value)} for user, value in scores.items()}


def _runs(lists: pd.DataFrame) -> dict[str, list[str]]:
    """The items of each list in order, by user and, in 1R, target."""
    whose = lists["user"].map(str)
    if "target" in lists:
        whose = whose + "/" + lists["target"].map(str)
    ordered = lists.assign(whose=whose, item=lists["item"].map(str)).sort_values(["whose", "rank"], kind="stable")
    return {str(key): items.tolist() for key, items in ordered.groupby("whose", sort=False)["item"]}


def _scored(items: list[str]) -> dict[str, float]:
    return {item: float(len(items) - place) for place, item in enumerate(items)}


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if value == value]
    return math.fsum(known) / len(known) if known else math.nan


def _module(name: str) -> ModuleType:
    """A module of repro_eval, which is imported when something differs, and warns of its own imports."""
    import importlib

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)
