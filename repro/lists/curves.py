"""Precision-recall and ROC curves of recommendations: two data frames in, the points of a curve out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import FloatArray
from repro.data.memory import Input
from repro.errors import DataError, ProtocolError, nearest
from repro.evaluation.metrics import EXTREMES, Measure, metrics
from repro.evaluation.metrics.shared.curves import (
    Lengths,
    mean_precision_at_levels,
    mean_roc_at_levels,
    objection_to_shared_ranks,
    pooled_pairs,
    pooled_points,
    tally_places,
)
from repro.evaluation.metrics.tie_order import with_hits_by
from repro.evaluation.ranking import Ranked
from repro.lists import protocol_for
from repro.lists.frames import Frames, read_frames
from repro.lists.measuring import rank_frames
from repro.lists.mismatches import warn_of_mismatches
from repro.protocol import Protocol

Kind = Literal["precision-recall", "roc"]
Join = Literal["pooled", "lengths", "users"]
Rates = Literal["means", "totals"]

AXES = {"precision-recall": ("recall", "precision"), "roc": ("fpr", "tpr")}
JOINS = ("pooled", "lengths", "users")
RATES = ("means", "totals")
LEVELS = 101
MOST_POINTS = 1_000_000

# The metric that is the area below each curve. For the mean of users' curves it is the mean of their areas, which
# differs from the area below the drawn curve because that one is linear between two levels.
_AREAS = {
    ("roc", "pooled"): "groc",
    ("roc", "users"): "auc",
    ("precision-recall", "pooled"): "pr-auc[join=pooled]",
    ("precision-recall", "lengths"): "pr-auc[join=lengths]",
    ("precision-recall", "users"): "ap",
}


@dataclass(frozen=True)
class Curve:
    """The options of a curve; see :func:`curves`."""

    kind: Kind = "precision-recall"
    join: Join = "pooled"
    points: int | None = None
    rates: Rates = "means"
    perfect: bool = False

    def __post_init__(self) -> None:
        for name, known in (("kind", AXES), ("join", JOINS), ("rates", RATES)):
            value = getattr(self, name)
            if value not in known:
                raise ProtocolError(f"{name} is '{value}'{nearest(str(value), known)} It may be {' or '.join(known)}")
        if self.points is not None and self.points < 2:
            raise ProtocolError(f"points is {self.points}; a curve has at least 2")
        if self.perfect and (self.kind, self.join) != ("roc", "lengths"):
            raise ProtocolError('there is a perfect curve only for kind="roc" with join="lengths"; leave perfect out')


def area_metrics(
    kind: str, join: str, rates: str, perfect: bool = False, protocol: Protocol | None = None
) -> list[str]:
    """The names of the metrics that are the area below a curve; with a perfect curve, also as a share of its area."""
    if (kind, join) == ("roc", "lengths"):
        shares = [f"croc[normalised=perfect,rates={rates}]"] if perfect else []
        return [f"croc[rates={rates}]", *shares]
    without = protocol is not None and protocol["ties.break"] in ("expected", *EXTREMES)
    unnamed = (kind, join) == ("precision-recall", "lengths") and (rates == "totals" or without)
    return [] if unnamed else [_AREAS[kind, join]]


def curves(
    recommendations: Input,
    truth: Input | None,
    kind: Kind = "precision-recall",
    join: Join = "pooled",
    protocol: Protocol | str | Path | None = None,
    train: Input | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    points: int | None = None,
    rates: Rates = "means",
    perfect: bool = False,
) -> pd.DataFrame:
    """The points of a precision-recall or ROC curve, with users joined in one of three ways.

    recommendations, truth, protocol, train, columns, seed
              as in :func:`repro.evaluate`; a relevant item that is in no list is never found
    kind      "precision-recall" (columns ``recall`` and ``precision``) or "roc" (``fpr`` and ``tpr``, from 0, 0 on)
    join      "pooled": the (user, item) pairs of all users in one order by score; a point for each ``threshold``,
              with the pairs that reach it, so that equal scores come together whatever ``ties.break`` says. Their
              ROC curve is the GROC, and its area the metric groc; the other area is pr-auc.
              "lengths": a point for each list length ``n``, with mean precision and recall (mean true and false
              positive rate) of the first n items of each list; a list of fewer items keeps what it has. The areas
              are pr-auc[join=lengths] and croc[rates=means]. Under ``ties.break = "expected"`` all are expected values;
              under "best" ("worst") each list has its relevant items first (last) among equal scores.
              "users": a curve for each user, then their mean height at fixed recalls (false positive rates). The
              precision of a user at a recall is the highest at that recall or any beyond, 0 where that is never
              reached (with 11 points, TREC's interpolated precision); the true positive rate at a false positive
              rate is the highest at that rate, and its area near the metric auc
    points    the largest number of points, evenly spread; by default all (pooled: a million). For "users": the number
              of levels from 0 to 1, by default 101
    rates     for "lengths": "means" of users' rates, or "totals", where hits and false alarms of all users are added
              up and then divided; the ROC curve is then the CROC of Schein et al., and its area the metric croc
    perfect   adds ``perfect_fpr`` and ``perfect_tpr`` to a ROC curve of list lengths: those of lists that begin with
              all of their relevant items, whose area croc[normalised=perfect] divides by

    The column ``users`` is the number of users behind a point. Users without relevant items are left out of means;
    in a ROC curve for each user, those without other items too.
    """
    frames = read_frames(recommendations, truth, train, columns)
    chosen = protocol_for(protocol, frames)
    table = curves_of_frames(frames, Curve(kind, join, points, rates, perfect), chosen, seed)
    warn_of_mismatches(frames, chosen)
    return table


def curves_of_frames(
    frames: Frames, curve: Curve, protocol: Protocol | str | Path | None = None, seed: int = 0
) -> pd.DataFrame:
    """:func:`curves` for frames that :func:`read_frames` has read."""
    resolved = protocol_for(protocol, frames)
    if curve.join != "pooled":
        _refuse_ties(curve.join, resolved)
    # The metric says how far down lists are needed, and whether their scores are.
    metric = metrics()["groc" if curve.join == "pooled" else "croc"]
    ranked = rank_frames(frames, [Measure(metric, None, {})], resolved, seed)
    if ranked.ties in EXTREMES:
        first = 2.0 * ranked.relevant_gains - 1.0
        ranked = with_hits_by(ranked, first if ranked.ties == "best" else -first)
    _require_both(curve.kind, ranked)
    return {"pooled": _pooled, "lengths": _by_lengths, "users": _by_users}[curve.join](ranked, curve)


def _refuse_ties(join: str, protocol: Protocol) -> None:
    if why := objection_to_shared_ranks(protocol):
        raise ProtocolError(f'a curve with join="{join}" is not defined under this protocol: {why}')
    if join == "users" and protocol["ties.break"] == "expected":
        raise ProtocolError(
            'a curve with join="users" is not defined under this protocol: with ties.break = "expected" a list has '
            'no single curve; use join="lengths", or a tie rule that gives one order, such as "item-asc" or "random"'
        )


def _require_both(kind: str, ranked: Ranked) -> None:
    """Stop where one of the axes would be nothing divided by nothing."""
    if not ranked.n_relevant.any():
        raise DataError("no held-out item is relevant, so there is no curve; see the decisions relevance.*")
    hits = int(((ranked.relevant > 0) & (ranked.position > 0)).sum())
    if kind == "roc" and hits == int(ranked.lengths.sum()):
        raise DataError("all listed items are relevant, so there is no false positive rate; list other items too")


def _pooled(ranked: Ranked, curve: Curve) -> pd.DataFrame:
    pairs = pooled_pairs(ranked)
    thresholds, hits, others = pooled_points(pairs)
    relevant, n_others = int(pairs[0]), len(pairs) - 2 - int(pairs[1])
    if curve.kind == "roc":
        thresholds, hits, others = np.append(np.inf, thresholds), np.append(0, hits), np.append(0, others)
        x, y = others / n_others, hits / relevant
    else:
        x, y = hits / relevant, hits / (hits + others)
    return _table({"threshold": thresholds, **_axes(curve, x, y)}, len(ranked), curve.points or MOST_POINTS)


def _by_lengths(ranked: Ranked, curve: Curve) -> pd.DataFrame:
    lengths = Lengths(tally_places(ranked))
    users = int(lengths.with_relevant) if curve.rates == "means" else len(ranked)
    if curve.kind == "precision-recall":
        x, y = lengths.precision_recall(curve.rates)
        n = np.arange(1, max(lengths.longest, 1) + 1)
        return _table({"n": n, **_axes(curve, x[: len(n)], y[: len(n)])}, users, curve.points)
    x, y = lengths.roc(curve.rates)
    # Perfect lists are longer where relevant items are in no list.
    n = np.arange(len(x) - 1 if curve.perfect else lengths.longest + 1)
    columns = {"n": n, **_axes(curve, x[: len(n)], y[: len(n)])}
    if curve.perfect:
        best_x, best_y = lengths.roc(curve.rates, perfect=True)
        columns |= {"perfect_fpr": best_x[: len(n)], "perfect_tpr": best_y[: len(n)]}
    return _table(columns, users, curve.points)


def _by_users(ranked: Ranked, curve: Curve) -> pd.DataFrame:
    levels = curve.points or LEVELS
    heights, users = (mean_roc_at_levels if curve.kind == "roc" else mean_precision_at_levels)(ranked, levels)
    return _table(_axes(curve, np.arange(levels) / (levels - 1), heights), users, None)


def _axes(curve: Curve, x: FloatArray, y: FloatArray) -> dict[str, npt.NDArray[Any]]:
    return dict(zip(AXES[curve.kind], (x, y), strict=True))


def _table(columns: Mapping[str, npt.NDArray[Any]], users: int, points: int | None) -> pd.DataFrame:
    """The points as a frame, at most ``points`` of them, the first and the last included."""
    table = pd.DataFrame({**columns, "users": users})
    if points is None or len(table) <= points:
        return table
    return table.iloc[np.linspace(0, len(table) - 1, points).round().astype(int)].reset_index(drop=True)
