"""Judgements of test items: which are relevant, and their grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, FloatArray, Interactions, RowArray
from repro.data.rating_means import RatingMeans
from repro.errors import DataError, ProtocolError
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.candidates.ragged import offsets_of, spread
from repro.protocol import Protocol

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Judgements:
    """The test items of each user: those of user ``u`` are ``[offsets[u], offsets[u + 1])``.

    items     item codes, ascending for each user
    ratings   the ratings of the test part
    relevant  1 if the item is relevant for the user, else 0
    grades    the rating of relevant items, or of all items (``relevance.grades``); else 0
    """

    offsets: Offsets
    items: CodeArray
    ratings: FloatArray
    relevant: npt.NDArray[np.uint8]
    grades: FloatArray

    def __len__(self) -> int:
        return len(self.items)

    @property
    def test_users(self) -> CodeArray:
        """All users with a test row, with or without relevant items; ascending."""
        return np.flatnonzero(np.diff(self.offsets)).astype(np.int32)

    @property
    def users(self) -> CodeArray:
        """The user of each test item."""
        return np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))

    def of_lists(self, users: CodeArray, targets: CodeArray | None) -> tuple[RowArray, Offsets]:
        """The positions of the test items of each list, end to end, and where those of a list begin.

        A list of 1R has a target, and none of the user's other relevant items; in AR, ``targets`` is None.
        """
        positions, offsets = spread(self.offsets, users)
        if targets is None:
            return positions, offsets
        own = (self.relevant[positions] == 0) | (self.items[positions] == np.repeat(targets, np.diff(offsets)))
        return positions[own], offsets_of(own)[offsets]


def judge(train: Interactions, test: Interactions, protocol: Protocol) -> Judgements:
    """Judge every row of the test part by the ``relevance`` decisions of the protocol."""
    _require_ratings(test, protocol)
    # A stable sort by a single key of 64 bits is several times faster than by two columns.
    order = np.argsort(test.users.astype(np.int64) * test.n_items + test.items, kind="stable")
    users, items, ratings = test.users[order], test.items[order], test.ratings[order]
    _require_single_rows(test, users, items)
    offsets = offsets_of(np.bincount(users, minlength=test.n_users))
    relevant = _is_relevant(users, ratings, train, protocol)
    graded = relevant | (protocol["relevance.grades"] == "judged")
    return Judgements(offsets, items, ratings, relevant.astype(np.uint8), np.where(graded, ratings, 0.0))


def relevant_in_train(train: Interactions, protocol: Protocol) -> Mask:
    """For each training row, whether it would be relevant as a test row."""
    _require_ratings(train, protocol)
    return _is_relevant(train.users, train.ratings, train, protocol)


def unlisted_users(judgements: Judgements, protocol: Protocol) -> CodeArray:
    """The test users without a list in 1R, because they have no relevant item, if ``average.no_relevant`` counts them.

    Ascending; empty in AR.
    """
    if protocol["candidates.relevant"] != "one" or protocol["average.no_relevant"] == "skip":
        return np.empty(0, dtype=np.int32)
    relevant = np.bincount(judgements.users, judgements.relevant, minlength=len(judgements.offsets) - 1)
    users = judgements.test_users
    return users[relevant[users] == 0]


def relevance_impacts(judgements: Judgements, train: Interactions, protocol: Protocol) -> list[Impact]:
    """The effects of the ``relevance`` decisions on test items and users."""
    rule = protocol["relevance.rule"]
    per_user = np.add.reduceat(judgements.relevant, judgements.offsets[judgements.test_users], dtype=np.int64)
    n_users = len(per_user)
    impacts = [
        Impact("relevance.rule", rule, int(per_user.sum()), len(judgements), "held-out items", "relevant"),
        Impact("relevance.rule", rule, int((per_user == 0).sum()), n_users, "test users", "without relevant items"),
    ]
    if rule == "user-mean":
        unseen = int((train.user_counts()[judgements.test_users] == 0).sum())
        note = "without training rows; judged by the mean of all training ratings"
        impacts.append(Impact("relevance.rule", rule, unseen, n_users, "test users", note))
    return impacts


def _is_relevant(users: CodeArray, ratings: FloatArray, train: Interactions, protocol: Protocol) -> Mask:
    bound: FloatArray
    match protocol["relevance.rule"]:
        case "any":
            return np.ones(len(ratings), dtype=np.bool_)
        case "user-mean":
            bound = RatingMeans.of(train).users[users]
        case _:
            bound = np.full(len(ratings), protocol.number("relevance.threshold"))
    return ratings >= bound if protocol["relevance.inclusive"] else ratings > bound


def _require_ratings(rows: Interactions, protocol: Protocol) -> None:
    if not rows.explicit and protocol["relevance.rule"] != "any":
        raise ProtocolError(
            f'relevance.rule = "{protocol["relevance.rule"]}" compares ratings, and this data set has none; '
            'use relevance.rule = "any"'
        )


def _require_single_rows(test: Interactions, users: CodeArray, items: CodeArray) -> None:
    repeated = np.flatnonzero((users[1:] == users[:-1]) & (items[1:] == items[:-1]))
    if len(repeated):
        user, item = test.user_ids[users[repeated[0]]], test.item_ids[items[repeated[0]]]
        raise DataError(
            f"user {user} and item {item} are in the test part more than once ({len(repeated):,} such rows); "
            "keep one of them (in a study that splits the data itself, data.duplicates does)"
        )
