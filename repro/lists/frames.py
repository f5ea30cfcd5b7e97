"""Recommendations, truth and training rows as arrays, with one coding of users and items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import CodeArray, FloatArray, Interactions, RowArray
from repro.data.io.ids import Values, encode_together
from repro.data.io.values import numbers, numbers_or_missing, plain_values, seconds
from repro.data.memory import Input
from repro.errors import DataError, ProtocolError
from repro.evaluation.candidates.relevance import Judgements, judge
from repro.evaluation.metrics import Background
from repro.lists.inputs import Features, previous_inputs, read_features, read_inputs, require_positions
from repro.plugin import FALLBACK, SCORED, UNSCORED
from repro.protocol import Protocol, Value

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames as arrays with one coding of users and items.

    users, items, scores  the recommendations by user, each user's in the order of the frame; NaN where there is
                          no score
    has_scores            whether there are scores; otherwise ``scores`` are the negative ranks
    truth, train          the held-out and the training rows
    data_items            the items of the training rows and then of the held-out rows, each in the order of its frame;
                          None where there are no training rows
    state                 the state of each score, as in :class:`repro.plugin.Scores`; None where all are scores
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
        """The truth, judged by the ``relevance.*`` decisions; cached by these decisions."""
        decisions = tuple((key, value) for key, value in protocol.values_.items() if key.startswith("relevance."))
        if decisions not in self._judged:
            if self.train is None and protocol["relevance.rule"] == "user-mean":
                raise ProtocolError('relevance.rule = "user-mean" needs the training rows; give them as train=')
            train = self.truth.select(np.arange(0)) if self.train is None else self.train
            self._judged[decisions] = judge(train, self.truth, protocol)
        return self._judged[decisions]

    @cached_property
    def background(self) -> Background:
        """The inputs of metrics besides the lists. The catalogue is all items in any of the frames."""
        return Background(self.truth, np.arange(self.truth.n_items, dtype=np.int32), self.train, self.features)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of items recommended to each user."""
        return np.bincount(self.users, minlength=self.truth.n_users)


def read_frames(
    recommendations: Input,
    truth: Input | None,
    train: Input | None = None,
    columns: Mapping[str, str] | None = None,
    features: Features | None = None,
    previous: Input | Sequence[Input] = (),
) -> Frames:
    """Read and check the frames, or the files; see :func:`repro.lists.evaluate`."""
    earlier = previous_inputs(previous)
    inputs = {"recommendations": recommendations, "truth": truth, "train": train, **earlier}
    tables = read_inputs(inputs, columns)
    if not len(tables["truth"].values["user"]):
        raise DataError("truth has no rows: there are no users to evaluate")
    with ThreadPoolExecutor(2) as pool:  # Arrow lets other threads run while it encodes text
        coded = pool.map(
            lambda role: encode_together({label: table.values[role] for label, table in tables.items()}, role),
            ("user", "item"),
        )
        (users, user_ids), (items, item_ids) = coded
    require_positions(tables, "user", user_ids)
    require_positions(tables, "item", item_ids)
    rows = {}
    for label, table in ((label, table.values) for label, table in tables.items()):
        if label not in ("truth", "train"):
            continue
        order = _by_user_and_item(users[label], items[label], len(item_ids)) if label == "truth" else slice(None)
        explicit = "rating" in table
        ratings = numbers(table["rating"], "rating", label) if explicit else np.ones(len(users[label]))
        times = seconds(table["timestamp"], label)[order] if "timestamp" in table else None
        rows[label] = Interactions(
            users[label][order], items[label][order], ratings[order], times, user_ids, item_ids, explicit
        )
    lists = []
    for label in ("recommendations", *earlier):
        order = _by_user(users[label])
        scores, has_scores = _scores(tables[label].values, label)
        state = _states(tables[label].values, label)
        lists.append(
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
    weights = None if features is None else read_features(features, columns).of_items(item_ids)
    return replace(lists[0], features=weights, previous=tuple(lists[1:]))


def _scores(table: Mapping[str, Values], label: str) -> tuple[FloatArray, bool]:
    """Scores (NaN where there is none), or negative ranks; and whether they are scores."""
    if "score" not in table:
        return -numbers(table["rank"], "rank", label), False
    scores = numbers_or_missing(table["score"], "score", label)
    if "rank" in table and len(scores) and np.isnan(scores).all():
        raise DataError(f"{label} have ranks and only empty scores; leave the column 'score' out")
    return scores, True


def _states(table: Mapping[str, Values], label: str) -> npt.NDArray[np.uint8] | None:
    """The state of each score; None where there is no column of states."""
    if "state" not in table:
        return None
    states = pd.Series(plain_values(table["state"]))
    codes = states.map({"scored": SCORED, "unscored": UNSCORED, "fallback": FALLBACK}).to_numpy(np.float64, na_value=-1)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        raise DataError(
            f"{label}: state is {str(states.iloc[row])!r} in row {row + 1:,}; it may be 'scored', 'unscored' or "
            "'fallback' (a fallback score of the framework)"
        )
    return codes.astype(np.uint8)


def _by_user(users: CodeArray) -> RowArray | slice:
    """The rows sorted by user, otherwise in their order. Where all rows of a user are adjacent, whole users move."""
    if not len(users):
        return slice(None)
    heads = np.concatenate([[0], np.flatnonzero(users[1:] != users[:-1]) + 1])
    of_heads = users[heads]
    if (of_heads[1:] > of_heads[:-1]).all():
        return slice(None)
    order = np.argsort(of_heads, kind="stable")
    if (np.diff(of_heads[order]) == 0).any():
        return np.argsort(users, kind="stable")
    lengths = np.diff(heads, append=len(users))[order]
    shifts = heads[order] - np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.arange(len(users)) + np.repeat(shifts, lengths)


def _by_user_and_item(users: CodeArray, items: CodeArray, n_items: int) -> RowArray:
    """The rows by user, then item. One key of 64 bits sorts several times faster than two columns."""
    return np.argsort(users.astype(np.int64) * n_items + items, kind="stable")
