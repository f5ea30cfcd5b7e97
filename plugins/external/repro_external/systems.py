"""The output of another system as an algorithm: numbers for some pairs of users and items; others are unscored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, IdArray, Interactions
from repro.errors import DataError
from repro.plugin import FALLBACK, SCORED, UNSCORED, Queries, Scores

if TYPE_CHECKING:
    import pandas as pd

Gives = Literal["scores", "predictions", "lists"]
GIVES: tuple[Gives, ...] = ("scores", "predictions", "lists")

_TAKEN = "taken by the system: "
# Lists do not show how these were decided; with scores, all but the first are still open.
TAKEN: Mapping[Gives, Mapping[str, str]] = {
    "lists": {
        "gives": "lists: places, not scores",
        "candidates.*": _TAKEN + "which items could be listed, and how many; others have no place",
        "missing.*": _TAKEN + "whether items without a score were listed, and where",
        "ties.*": _TAKEN + "the order of items with the same score",
    },
    "scores": {
        "gives": "scores",
        "candidates.*": _TAKEN + "which pairs have a score; others are unscored, and missing.* says what that means",
    },
    "predictions": {
        "gives": "predictions on the rating scale",
        "candidates.*": _TAKEN
        + "which pairs have a prediction; others are unscored, and missing.* says what that means",
    },
}


_STATES = {"scored": SCORED, "unscored": UNSCORED, "fallback": FALLBACK}


class Given:
    """Numbers for pairs, by the codes of a data set.

    ``unknown`` counts the rows that name a user or an item that is not in the data set.
    """

    def __init__(self, table: pd.DataFrame, data: Interactions, gives: Gives, label: str) -> None:
        users, items = codes_of(table["user"], data.user_ids), codes_of(table["item"], data.item_ids)
        known = (users >= 0) & (items >= 0)
        self.unknown = int((~known).sum())
        self.rows = len(table)
        if not self.rows:
            raise DataError(f"{label} has no rows; one for each user and item was expected")
        if self.unknown == self.rows:
            raise DataError(
                f"{label} has no user and item of the data set together: its first row is of user "
                f"{table['user'].iloc[0]!r} and item {table['item'].iloc[0]!r}, and the data set has users like "
                f"{data.user_ids[0]!r} and items like {data.item_ids[0]!r}"
            )
        values = _positions(table, users, label) if gives == "lists" else _numbers(table, label)
        keys = users.astype(np.int64) * data.n_items + items
        order = np.flatnonzero(known)[np.argsort(keys[known], kind="stable")]
        self._n_items = data.n_items
        self._keys, self._values, self._state = keys[order], values[order], _states(table, values, label)[order]
        again = np.flatnonzero(self._keys[1:] == self._keys[:-1])
        if len(again):
            row = order[again[0]]
            raise DataError(
                f"{label} has user {table['user'].iloc[row]} and item {table['item'].iloc[row]} twice; one number for "
                "each pair was expected"
            )

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        """The scores of users (rows) and items (columns)."""
        keys = users.astype(np.int64)[:, None] * self._n_items + items.astype(np.int64)
        return self.pairs(keys)

    def pairs(self, keys: npt.NDArray[np.int64]) -> Scores:
        """The scores of pairs, by user * number of items + item."""
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        known = self._keys[at] == keys
        return Scores(
            np.where(known, self._values[at], np.nan), np.where(known, self._state[at], UNSCORED).astype(np.uint8)
        )

    def key(self, users: CodeArray, items: CodeArray) -> npt.NDArray[np.int64]:
        return users.astype(np.int64) * self._n_items + items


class System:
    """Another system as a recommender; ``given`` has its output once it is fitted."""

    def __init__(self, gives: Gives) -> None:
        self._gives: Gives = gives
        self.notes: dict[str, str] = {}

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.given.block(queries.users, items)

    def take(self, table: pd.DataFrame, data: Interactions, label: str) -> None:
        """Store the output of the system, and note which decisions it took."""
        self.given = Given(table, data, self._gives, label)
        self.notes |= TAKEN[self._gives]
        self.notes["rows"] = f"{self.given.rows:,}"
        if self.given.unknown:
            self.notes["rows"] += f", of which {self.given.unknown:,} name users or items that are not in the data set"


class Predicts:
    """The additional method of a system that gives predictions on the rating scale."""

    given: Given

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return self.given.pairs(self.given.key(queries.users, items))


def codes_of(column: pd.Series, ids: IdArray) -> npt.NDArray[np.int64]:
    """The code of each external id, or -1 if the data set does not have it; 7 and "7" are the same id."""
    import pandas as pd

    positions, distinct = pd.factorize(column.to_numpy())
    known = pd.Index([str(id_) for id_ in ids])
    return np.append(known.get_indexer(pd.Index([str(id_) for id_ in distinct])), -1)[positions]


def _numbers(table: pd.DataFrame, label: str) -> FloatArray:
    if "score" not in table:
        raise DataError(f'{label} has ranks and no scores; say that the system gives = "lists"')
    return table["score"].to_numpy(dtype=np.float64)


def _positions(table: pd.DataFrame, users: npt.NDArray[np.int64], label: str) -> FloatArray:
    """Minus the position of each item in the list of its user.

    Positions are by rank, or by score if there is no rank, or by the order of rows, which also decides ties.
    """
    if "rank" in table:
        merit = table["rank"].to_numpy(dtype=np.float64)
    elif "score" in table:
        merit = -table["score"].to_numpy(dtype=np.float64)
    else:
        merit = np.zeros(len(table))
    if np.isnan(merit).any():
        row = table.iloc[int(np.argmax(np.isnan(merit)))]
        raise DataError(
            f"{label} has no {'rank' if 'rank' in table else 'score'} of user {row['user']} and item {row['item']}; "
            "without it, the item has no place in the list"
        )
    order = np.lexsort((merit, users))
    sorted_users = users[order]
    first = np.searchsorted(sorted_users, sorted_users, side="left")
    positions = np.empty(len(table))
    positions[order] = first - np.arange(len(table)) - 1.0
    return positions


def _states(table: pd.DataFrame, values: FloatArray, label: str) -> npt.NDArray[np.uint8]:
    state = np.full(len(values), SCORED, dtype=np.uint8)
    if "state" in table:
        words = table["state"].to_numpy()
        if unknown := set(words) - _STATES.keys():
            raise DataError(f"{label} has the state {min(map(str, unknown))!r}; it may be {', '.join(_STATES)}")
        state = np.array([_STATES[word] for word in words], dtype=np.uint8)
    state[np.isnan(values)] = UNSCORED
    return state
