"""The frames that people have, read once: recommendations, truth and training rows under one coding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, IdArray, Interactions, RowArray
from repro.data.io.values import numbers, numbers_or_missing, seconds
from repro.errors import DataError, ProtocolError, nearest
from repro.evaluate.extra_inputs import Features, given_earlier, given_features
from repro.evaluate.ids import encode_together
from repro.evaluate.inputs import Given, column_name, given_frames
from repro.evaluation.candidates.relevance import Judgements, judge
from repro.evaluation.metrics import Background
from repro.plugin import FALLBACK, SCORED, UNSCORED
from repro.protocol import Protocol, Value


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames as arrays with one coding of users and items.

    users, items, scores  the recommendations by user, each user's in the order of the frame; NaN where there is
                          no score
    has_scores            whether there are scores; otherwise they are made of ranks
    truth, train          the held-out and the training rows
    data_items            the items of the training rows and then of the held-out rows, each in the order of its frame;
                          None where there are no training rows
    state                 what each score is, as in :class:`repro.plugin.Scores`; None where all are scores
    features              items by features, where there are any
    previous              the lists of earlier times, latest first, each with the same truth
    """

    users: CodeArray
    items: CodeArray
    scores: FloatArray
    has_scores: bool
    truth: Interactions
    train: Interactions | None
    data_items: CodeArray | None = None
    state: npt.NDArray[np.uint8] | None = None
    features: csr_array | None = None
    previous: tuple[Frames, ...] = ()
    _judged: dict[tuple[tuple[str, Value], ...], Judgements] = field(default_factory=dict, repr=False)

    def judged(self, protocol: Protocol) -> Judgements:
        """The truth as the ``relevance.*`` decisions see it; kept for the next time that they are the same."""
        decisions = tuple((key, value) for key, value in protocol.values_.items() if key.startswith("relevance."))
        if decisions not in self._judged:
            if self.train is None and protocol["relevance.rule"] == "user-mean":
                raise ProtocolError('relevance.rule = "user-mean" needs the training rows; give them as train=')
            train = self.truth.select(np.arange(0)) if self.train is None else self.train
            self._judged[decisions] = judge(train, self.truth, protocol)
        return self._judged[decisions]

    @cached_property
    def background(self) -> Background:
        """What metrics may need beside the lists. The catalogue is all items in any of the frames."""
        return Background(self.truth, np.arange(self.truth.n_items, dtype=np.int32), self.train, self.features)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many items each user is recommended."""
        return np.bincount(self.users, minlength=self.truth.n_users)


def read_frames(
    recommendations: Given,
    truth: Given | None,
    train: Given | None = None,
    columns: Mapping[str, str] | None = None,
    features: Features | None = None,
    previous: Given | Sequence[Given] = (),
) -> Frames:
    """Read and check the frames, or the files; see :func:`repro.evaluate.evaluate`."""
    frames, names = given_frames({"recommendations": recommendations, "truth": truth, "train": train}, columns)
    if not len(frames["truth"]):
        raise DataError("truth has no rows: there is nobody to evaluate")
    lists = {"recommendations": frames["recommendations"]}
    for label, earlier, called in given_earlier(previous, frames["truth"], columns):
        lists[label] = frames[label] = earlier
        names |= called
    users, user_ids = _codes(frames, "user", names)
    items, item_ids = _codes(frames, "item", names)
    rows = {}
    for label in [label for label in frames if label not in lists]:
        ratings = _ratings(frames[label], label, names)
        order = _by_user_and_item(users[label], items[label], len(item_ids)) if label == "truth" else slice(None)
        rows[label] = Interactions(
            users[label][order],
            items[label][order],
            np.ones(len(frames[label])) if ratings is None else ratings[order],
            _timestamps(frames[label], label, names, order),
            user_ids,
            item_ids,
            explicit=ratings is not None,
        )
    read = []
    for label, listed in lists.items():
        order = _by_user(users[label])
        scores, has_scores = _scores(listed, label, names)
        state = _states(listed, label, names)
        read.append(
            Frames(
                users[label][order],
                items[label][order],
                scores[order],
                has_scores,
                rows["truth"],
                rows.get("train"),
                np.concatenate([items["train"], items["truth"]]) if "train" in rows else None,
                None if state is None else state[order],
            )
        )
    known = None if features is None else given_features(features, columns).of_items(item_ids)
    return replace(read[0], features=known, previous=tuple(read[1:]))


def _codes(
    frames: Mapping[str, pd.DataFrame], role: str, columns: Mapping[str, str]
) -> tuple[dict[str, CodeArray], IdArray]:
    return encode_together({label: _column(f, role, label, columns) for label, f in frames.items()}, role)


def _column(frame: pd.DataFrame, role: str, label: str, columns: Mapping[str, str]) -> pd.Series:
    name = column_name(role, label, columns)
    if name not in frame.columns:
        available = [str(column) for column in frame.columns]
        raise DataError(
            f"{label} has no column '{name}'; it has {', '.join(available) or 'none'}{nearest(name, available)} "
            f'Other names can be given: columns={{"{role}": "..."}}, or {{"{label}.{role}": "..."}} for {label} alone'
        )
    return frame[name]


def _has(frame: pd.DataFrame, role: str, label: str, columns: Mapping[str, str]) -> bool:
    """Whether there is such a column; one whose name is stated for that frame alone must be there."""
    name = column_name(role, label, columns)
    return name in frame.columns or columns.get(f"{label}.{role}", role) != role


def _scores(recommendations: pd.DataFrame, label: str, columns: Mapping[str, str]) -> tuple[FloatArray, bool]:
    """Scores, NaN where there are none; from ranks where there is no such column. Whether they are scores."""
    ranked = _has(recommendations, "rank", label, columns)
    if _has(recommendations, "score", label, columns) or "score" in columns:
        given = _column(recommendations, "score", label, columns)
        scores = numbers_or_missing(given, "score", label)
        if ranked and len(scores) and np.isnan(scores).all():
            raise DataError(f"{label} have ranks and only empty scores; leave the column 'score' out")
        return scores, True
    if not ranked:
        raise DataError(
            f"{label} have neither a column 'score' nor 'rank'; "
            f"they have {', '.join(map(str, recommendations.columns))}"
        )
    ranks = _column(recommendations, "rank", label, columns)
    return -numbers(ranks.to_numpy(), "rank", label), False


def _states(recommendations: pd.DataFrame, label: str, columns: Mapping[str, str]) -> npt.NDArray[np.uint8] | None:
    """What each score is; None where nothing is said of it."""
    if not _has(recommendations, "state", label, columns):
        return None
    words = _column(recommendations, "state", label, columns)
    codes = words.map({"scored": SCORED, "unscored": UNSCORED, "fallback": FALLBACK}).to_numpy(np.float64, na_value=-1)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise DataError(
            f"{label}: state is {str(words.iloc[row])!r} in row {row + 1:,}; it may be 'scored', 'unscored' or "
            "'fallback' (a score that the framework made up)"
        )
    return codes.astype(np.uint8)


def _ratings(frame: pd.DataFrame, label: str, columns: Mapping[str, str]) -> FloatArray | None:
    if not _has(frame, "rating", label, columns):
        return None
    return numbers(_column(frame, "rating", label, columns).to_numpy(), "rating", label)


def _timestamps(
    frame: pd.DataFrame, label: str, columns: Mapping[str, str], order: RowArray | slice
) -> npt.NDArray[np.int64] | None:
    if not _has(frame, "timestamp", label, columns):
        return None
    return seconds(_column(frame, "timestamp", label, columns).to_numpy(), label)[order]


def _by_user(users: CodeArray) -> RowArray:
    """The rows by user, those of a user as they stand. Where they stand together, only whole users are moved."""
    heads = np.flatnonzero(np.diff(users, prepend=-1))
    order = np.argsort(users[heads], kind="stable")
    if (np.diff(users[heads][order]) == 0).any():
        return np.argsort(users, kind="stable")
    lengths = np.diff(heads, append=len(users))[order]
    shifts = heads[order] - np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.arange(len(users)) + np.repeat(shifts, lengths)


def _by_user_and_item(users: CodeArray, items: CodeArray, n_items: int) -> RowArray:
    """The rows by user, then item. One key of 64 bits sorts several times faster than two columns."""
    return np.argsort(users.astype(np.int64) * n_items + items, kind="stable")
