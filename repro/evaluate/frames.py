"""The frames that people have, read once: recommendations, truth and training rows under one coding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.candidates.relevance import Judgements, judge
from repro.data.columns import numbers, seconds
from repro.data.interactions import CodeArray, FloatArray, IdArray, Interactions, RowArray
from repro.errors import DataError, ProtocolError, nearest
from repro.evaluate.ids import encode_together
from repro.metrics import Background
from repro.protocol import Protocol, Value


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames as arrays with one coding of users and items.

    users, items, scores  the recommendations by user, each user's in the order of the frame; NaN where there is
                          no score
    has_scores            whether there are scores; otherwise they are made of ranks
    truth, train          the held-out and the training rows
    """

    users: CodeArray
    items: CodeArray
    scores: FloatArray
    has_scores: bool
    truth: Interactions
    train: Interactions | None
    _judged: dict[tuple[tuple[str, Value], ...], Judgements] = field(default_factory=dict, repr=False)

    def judged(self, protocol: Protocol) -> Judgements:
        """The truth as the ``relevance.*`` decisions see it; kept for the next time that they are the same."""
        decisions = tuple((key, value) for key, value in protocol.items() if key.startswith("relevance."))
        if decisions not in self._judged:
            if self.train is None and protocol["relevance.rule"] == "user-mean":
                raise ProtocolError('relevance.rule = "user-mean" needs the training rows; give them as train=')
            train = self.truth.select(np.arange(0)) if self.train is None else self.train
            self._judged[decisions] = judge(train, self.truth, protocol)
        return self._judged[decisions]

    @cached_property
    def background(self) -> Background:
        """What metrics may need beside the lists. The catalogue is all items in any of the frames."""
        return Background(self.truth, np.arange(self.truth.n_items, dtype=np.int32), self.train)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many items each user is recommended."""
        return np.bincount(self.users, minlength=self.truth.n_users)


def read_frames(
    recommendations: pd.DataFrame,
    truth: pd.DataFrame,
    train: pd.DataFrame | None = None,
    columns: Mapping[str, str] | None = None,
) -> Frames:
    """Read and check the frames; ``columns`` are other names of their columns."""
    names = dict(columns or {})
    frames = {"recommendations": recommendations, "truth": truth} | ({} if train is None else {"train": train})
    for label, frame in frames.items():
        if not isinstance(frame, pd.DataFrame):
            raise DataError(f"{label} is of type {type(frame).__name__}; give a pandas DataFrame")
        if not frame.columns.is_unique:
            again = frame.columns[frame.columns.duplicated()][0]
            raise DataError(f"{label} has two columns called '{again}'; rename or drop one of them")
    if not len(truth):
        raise DataError("truth has no rows: there is nobody to evaluate")
    users, user_ids = _codes(frames, "user", names)
    items, item_ids = _codes(frames, "item", names)
    scores, has_scores = _scores(recommendations, names)
    rows = {}
    for label in [label for label in frames if label != "recommendations"]:
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
    order = _by_user(users["recommendations"])
    listed_users, listed_items = users["recommendations"][order], items["recommendations"][order]
    return Frames(listed_users, listed_items, scores[order], has_scores, rows["truth"], rows.get("train"))


def _codes(
    frames: Mapping[str, pd.DataFrame], role: str, columns: Mapping[str, str]
) -> tuple[dict[str, CodeArray], IdArray]:
    return encode_together({label: _column(f, role, label, columns) for label, f in frames.items()}, role)


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


def _ratings(frame: pd.DataFrame, label: str, columns: Mapping[str, str]) -> FloatArray | None:
    if not _has(frame, "rating", columns):
        return None
    return numbers(_column(frame, "rating", label, columns).to_numpy(), "rating", label)


def _timestamps(
    frame: pd.DataFrame, label: str, columns: Mapping[str, str], order: RowArray | slice
) -> npt.NDArray[np.int64] | None:
    if not _has(frame, "timestamp", columns):
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
