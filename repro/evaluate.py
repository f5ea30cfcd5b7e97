"""Evaluate recommendations that are already there: two data frames in, numbers out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from repro.candidates.relevance import Judgements, judge
from repro.data.columns import encode_ids, numbers
from repro.data.interactions import CodeArray, FloatArray, IdArray, Interactions, RowArray
from repro.errors import DataError, ProtocolError, nearest
from repro.metrics import (
    Averaged,
    Measure,
    Totals,
    TrainRatings,
    average,
    average_errors,
    parse_measure,
    resolve_predictions,
)
from repro.metrics import metrics as known_metrics
from repro.plugin import Scores
from repro.protocol import Protocol, resolve
from repro.ranking import GivenLists, Ranked, RankingRules, rank_lists

MEANS = ("user-mean", "item-mean", "global-mean")
DEFAULT_METRICS = ("ndcg@10", "precision@10", "recall@10")


def evaluate(
    recommendations: pd.DataFrame,
    truth: pd.DataFrame,
    protocol: Protocol | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    train: pd.DataFrame | None = None,
    per_user: bool = False,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure lists that were recommended elsewhere.

    recommendations  ``user``, ``item`` and ``score`` (higher is better; an empty one is a missing score) or,
                     without it, ``rank`` (lower is better); the order of the rows does not matter
    truth            the held-out ``user``, ``item`` and, if there are any, ``rating``. Its users are the test
                     users; one of them without recommendations has an empty list
    protocol         what is relevant, what missing and tied scores mean, the variants of metrics, who is averaged.
                     Splits and candidates are as given. By default a rating above 0 is relevant (as trec_eval
                     has it; without ratings, everything is), and the rest as in every protocol
    metrics          names such as ``"ndcg@10"`` or ``"ndcg[gain=exp2]@10"``
    train            ``user``, ``item`` and ``rating`` of the training rows, where decisions ask for their means
    per_user         one row for each user and metric, in place of averages
    columns          other names of the columns, such as ``{"user": "userId"}``
    seed             of ``ties.break = "random"``

    Gives the columns ``metric``, ``value`` and ``users`` (how many are averaged), or ``user``, ``metric`` and
    ``value``.
    """
    return prepare(recommendations, truth, train, columns).evaluate(protocol, metrics, per_user, seed)


def prepare(
    recommendations: pd.DataFrame,
    truth: pd.DataFrame,
    train: pd.DataFrame | None = None,
    columns: Mapping[str, str] | None = None,
) -> Prepared:
    """Read the frames once, to evaluate them under several protocols: arguments as of :func:`evaluate`."""
    names = dict(columns or {})
    frames = {"recommendations": recommendations, "truth": truth} | ({} if train is None else {"train": train})
    if not len(truth):
        raise DataError("truth has no rows: there is nobody to evaluate")
    users, user_ids = _encode(frames, "user", names)
    items, item_ids = _encode(frames, "item", names)
    scores, has_scores = _scores(recommendations, names)
    order = _by_user_and_item(users["recommendations"], items["recommendations"], len(item_ids))
    listed_users, listed_items = users["recommendations"][order], items["recommendations"][order]
    _require_single_rows(listed_users, listed_items, user_ids, item_ids)
    rows = {}
    for label in frames.keys() - {"recommendations"}:
        ratings = _ratings(frames[label], label, names)
        given = np.ones(len(frames[label])) if ratings is None else ratings
        rows[label] = Interactions(
            users[label], items[label], given, None, user_ids, item_ids, explicit=ratings is not None
        )
    return Prepared(listed_users, listed_items, scores[order], order, has_scores, rows["truth"], rows.get("train"))


@dataclass(frozen=True, eq=False)
class Prepared:
    """The frames as arrays with one coding of users and items.

    users, items, scores  the recommendations, by user and then item; NaN where there is no score
    source                the row of each in its frame
    has_scores            whether there are scores; otherwise they are made of ranks
    truth, train          the held-out and the training rows
    """

    users: CodeArray
    items: CodeArray
    scores: FloatArray
    source: RowArray
    has_scores: bool
    truth: Interactions
    train: Interactions | None

    def evaluate(
        self,
        protocol: Protocol | None = None,
        metrics: Sequence[str] = DEFAULT_METRICS,
        per_user: bool = False,
        seed: int = 0,
    ) -> pd.DataFrame:
        """The numbers of the metrics asked for: arguments and result as of :func:`evaluate`."""
        protocol = protocol or default_protocol(self.truth.explicit)
        names = [metrics] if isinstance(metrics, str) else metrics
        asked = {name.strip(): parse_measure(name, protocol, known_metrics()) for name in names}
        if not asked:
            raise ProtocolError(f"no metric is asked for; metrics: {', '.join(known_metrics())}")
        found = _measure(self, asked, protocol, seed)
        if per_user:
            return _user_table(found, asked, self.truth.user_ids)
        return pd.DataFrame(
            {
                "metric": list(found),
                "value": [averaged.value for averaged in found.values()],
                "users": [averaged.users_counted for averaged in found.values()],
            }
        )


def default_protocol(rated: bool) -> Protocol:
    """The protocol of :func:`evaluate` where none is given; ``rated`` says whether the truth has ratings."""
    as_given = {"split.strategy": "files", "split.train_file": "-", "split.test_file": "-"}
    as_given |= {"candidates.base": "file", "candidates.file": "-"}
    relevance: dict[str, str | float | bool] = {"relevance.rule": "any"}
    if rated:
        relevance = {"relevance.rule": "threshold", "relevance.threshold": 0.0, "relevance.inclusive": False}
    stated = {**as_given, **relevance}
    return resolve(stated, dict.fromkeys(stated, "repro.evaluate"))


def _column(frame: pd.DataFrame, role: str, label: str, columns: Mapping[str, str]) -> pd.Series:
    name = columns.get(role, role)
    if name not in frame.columns:
        available = [str(column) for column in frame.columns]
        raise DataError(
            f"{label} has no column '{name}'; it has {', '.join(available) or 'none'}{nearest(name, available)} "
            f'Other names can be given: columns={{"{role}": "..."}}'
        )
    return frame[name]


def _has(frame: pd.DataFrame, role: str, columns: Mapping[str, str]) -> bool:
    return columns.get(role, role) in frame.columns


def _encode(
    frames: Mapping[str, pd.DataFrame], role: str, columns: Mapping[str, str]
) -> tuple[dict[str, CodeArray], IdArray]:
    """One coding of all frames' ids: the codes of each frame, and the ids."""
    parts = {label: _column(frame, role, label, columns) for label, frame in frames.items()}
    if len({part.dtype.kind in "iuf" for part in parts.values() if len(part)}) > 1:
        parts = {label: part.astype(str) for label, part in parts.items()}  # 7 and "7" are the same id
    joined = pd.concat(list(parts.values()), ignore_index=True)
    starts = np.cumsum([0, *(len(part) for part in parts.values())])

    def where(position: int) -> str:
        part = int(np.searchsorted(starts, position, side="right")) - 1
        return f"row {position - starts[part] + 1:,} of {list(parts)[part]}"

    codes, ids = encode_ids(joined.to_numpy(), role, "evaluate", where)
    return dict(zip(parts, np.split(codes, starts[1:-1]), strict=True)), ids


def _scores(recommendations: pd.DataFrame, columns: Mapping[str, str]) -> tuple[FloatArray, bool]:
    """Scores, NaN where there are none; from ranks where there is no such column. Whether they are scores."""
    if _has(recommendations, "score", columns):
        given = _column(recommendations, "score", "recommendations", columns)
        values = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        wrong = np.isnan(values) & given.notna().to_numpy()
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise DataError(
                f"recommendations: score is {str(given.iloc[row])!r}, not a number, in row {row + 1:,}; leave it "
                "empty where there is no score (missing.rank says what that means)"
            )
        return values, True
    if not _has(recommendations, "rank", columns):
        raise DataError(
            "recommendations have neither a column 'score' nor 'rank'; "
            f"they have {', '.join(map(str, recommendations.columns))}"
        )
    ranks = _column(recommendations, "rank", "recommendations", columns)
    return -numbers(ranks.to_numpy(), "rank", "recommendations"), False


def _by_user_and_item(users: CodeArray, items: CodeArray, n_items: int) -> RowArray:
    """The rows by user, then item. One key of 64 bits sorts several times faster than two columns."""
    return np.argsort(users.astype(np.int64) * max(n_items, 1) + items, kind="stable")


def _require_single_rows(users: CodeArray, items: CodeArray, user_ids: IdArray, item_ids: IdArray) -> None:
    again = np.flatnonzero((users[1:] == users[:-1]) & (items[1:] == items[:-1]))
    if len(again):
        user, item = user_ids[users[again[0]]], item_ids[items[again[0]]]
        raise DataError(
            f"recommendations: item {item} is recommended to user {user} more than once "
            f"({len(again):,} such rows); keep one row of each pair"
        )


def _ratings(frame: pd.DataFrame, label: str, columns: Mapping[str, str]) -> FloatArray | None:
    if not _has(frame, "rating", columns):
        return None
    return numbers(_column(frame, "rating", label, columns).to_numpy(), "rating", label)


def _measure(given: Prepared, asked: Mapping[str, Measure], protocol: Protocol, seed: int) -> dict[str, Averaged]:
    """The number of each measure asked for, by the name it was asked for."""
    train = given.truth.select(np.arange(0)) if given.train is None else given.train
    if given.train is None and protocol["relevance.rule"] == "user-mean":
        raise ProtocolError('relevance.rule = "user-mean" needs the training rows; give them as train=')
    judgements = judge(train, given.truth, protocol)
    found: dict[str, Averaged] = {}
    if any(measure.metric.kind != "prediction" for measure in asked.values()):
        ranked = _rank(given, judgements, protocol, _depth(given, asked.values()), seed)
        empty = ranked.lengths == 0
    for name, measure in asked.items():
        match measure.metric.kind:
            case "ranking":
                ratio = measure.metric.compute(ranked, measure.cutoff, measure.variants)
                found[name] = average(ratio, ranked.users, ranked.strata, empty, protocol)
            case "collection":
                found[name] = _about_all_lists(measure, ranked, given.truth.n_items)
            case _:
                found[name] = _of_predictions(measure, given, protocol)
    return found


def _rank(given: Prepared, judgements: Judgements, protocol: Protocol, depth: int, seed: int) -> Ranked:
    """The lists of the test users; recommendations to others are left out."""
    users = judgements.test_users
    rows = np.flatnonzero(np.isin(given.users, users, kind="table"))
    if protocol["ties.break"] == "source":
        rows = rows[np.lexsort((given.source[rows], given.users[rows]))]
    lengths = np.bincount(given.users[rows], minlength=given.truth.n_users)[users]
    lists = GivenLists(
        users=users,
        strata=np.zeros(len(users), dtype=np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        items=given.items[rows],
        scores=given.scores[rows],
        judged_offsets=np.concatenate([judgements.offsets[users], judgements.offsets[-1:]]),
        judged_items=judgements.items,
        judged_relevant=judgements.relevant,
        judged_grades=judgements.grades,
    )
    rules = RankingRules.from_protocol(protocol, given.truth, train=given.train, seed=seed)
    return rank_lists(lists, rules, depth=depth)[0]


def _depth(given: Prepared, measures: Iterable[Measure]) -> int:
    """How far down lists must be ranked: to the deepest cut-off, or to the end where a metric has none."""
    cutoffs = [measure.cutoff for measure in measures if measure.metric.kind != "prediction"]
    longest = int(np.bincount(given.users).max(initial=1))
    return max(1, *(longest if cutoff is None else min(cutoff, longest) for cutoff in cutoffs))


def _about_all_lists(measure: Measure, ranked: Ranked, n_items: int) -> Averaged:
    """A number about all lists together; its catalogue is every item of the frames."""
    assert measure.metric.finish is not None
    counts = measure.metric.compute(ranked, measure.cutoff, measure.variants, n_items)
    value = measure.metric.finish(counts, Totals(len(ranked), n_items))
    return Averaged(value, len(ranked), ranked.users, np.empty(0))


def _of_predictions(measure: Measure, given: Prepared, protocol: Protocol) -> Averaged:
    """A metric of the scores as predictions of the held-out ratings."""
    if not given.has_scores or not given.truth.explicit:
        raise DataError(
            f"{measure.name} compares scores with ratings: it needs a column 'score' in recommendations and a "
            "column 'rating' in truth"
        )
    truth = given.truth
    wanted = truth.users.astype(np.int64) * truth.n_items + truth.items
    listed = given.users.astype(np.int64) * truth.n_items + given.items
    predicted = np.full(len(truth), np.nan)
    if len(listed):
        at = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
        predicted = np.where(listed[at] == wanted, given.scores[at], np.nan)
    pairs = resolve_predictions(
        Scores(predicted), truth.ratings, truth.users, truth.items, protocol, _train_ratings(given, protocol)
    )
    return average_errors(measure, pairs, protocol)


def _train_ratings(given: Prepared, protocol: Protocol) -> TrainRatings:
    """What the ``predict`` decisions need of the training rows."""
    for decision, values in (("predict.missing", MEANS), ("predict.clip", ("train",))):
        if given.train is None and protocol[decision] in values:
            raise ProtocolError(f'{decision} = "{protocol[decision]}" needs the training rows; give them as train=')
    train = given.truth.select(np.arange(0)) if given.train is None else given.train
    if protocol["data.scale"] == "stated":
        return TrainRatings.of(train, (protocol.number("data.scale_min"), protocol.number("data.scale_max")))
    ratings = np.concatenate([given.truth.ratings, train.ratings])
    return TrainRatings.of(train, (float(ratings.min()), float(ratings.max())))


def _user_table(found: Mapping[str, Averaged], asked: Mapping[str, Measure], user_ids: IdArray) -> pd.DataFrame:
    """One row for each user and metric."""
    for name, measure in asked.items():
        if measure.metric.kind == "collection":
            raise ProtocolError(f"metric {name} is about all users together; leave it out, or ask without per_user")
    return pd.DataFrame(
        {
            "user": np.concatenate([user_ids[averaged.users] for averaged in found.values()]),
            "metric": np.repeat(list(found), [len(averaged.users) for averaged in found.values()]),
            "value": np.concatenate([averaged.values for averaged in found.values()]),
        }
    )


class _Callable(ModuleType):
    """Lets ``repro.evaluate(...)`` work: importing a module puts it, not its function, at that name."""

    def __call__(self, *args: Any, **kwargs: Any) -> pd.DataFrame:
        return evaluate(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
