"""The data container: users, items, ratings and timestamps of interactions."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from repro.errors import DataError
from repro.extras import needed_for
from repro.rng import KeyArray, id_keys

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from repro.data.memory.tables import Input

CodeArray = npt.NDArray[np.int32]
RowArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
IdArray = npt.NDArray[Any]


@dataclass(frozen=True)
class Origin:
    """The name of a data set or the path of a file, and the options with which it was loaded."""

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Interactions:
    """User, item, rating and timestamp of each row, in the order of the source.

    ``users`` and ``items`` are codes: positions in ``user_ids`` and ``item_ids``, which hold the external ids
    in ascending order (as numbers where all are whole numbers, else as text), so that a code never depends
    on the order of the rows. A part of a data set (:meth:`select`) keeps the ids of the whole.
    ``explicit`` is False where the source has no ratings; they are then 1.
    ``origin`` is where the whole was loaded from; a part, or a changed copy, has none.
    """

    users: CodeArray
    items: CodeArray
    ratings: FloatArray
    timestamps: npt.NDArray[np.int64] | None
    user_ids: IdArray
    item_ids: IdArray
    explicit: bool = True
    origin: Origin | None = field(default=None, init=False)

    def __len__(self) -> int:
        return len(self.users)

    @property
    def n_users(self) -> int:
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        return len(self.item_ids)

    @classmethod
    def from_frame(cls, frame: Input, columns: Mapping[str, str] | None = None) -> Interactions:
        """From a data frame of pandas, Polars or Arrow with the columns ``user``, ``item`` and, if there are any,
        ``rating`` and ``timestamp``; from ``{user: {item: rating}}``, ``{user: [items]}``, a sparse matrix, and every
        other form that :func:`repro.evaluate` takes as the truth. Common names of columns, such as ``movieId``, are
        understood; ``columns`` maps these four to other ones."""
        from repro.data.io.roles import INTERACTIONS
        from repro.data.io.values import interactions_from_columns
        from repro.data.memory import read_memory
        from repro.data.memory.tables import Target

        def choose(names: Sequence[str]) -> Mapping[str, str]:
            return INTERACTIONS.choose(names, columns, "the data frame")

        table = read_memory(frame, Target(INTERACTIONS, "the data frame", choose))
        return interactions_from_columns(table.values, "the data frame")

    def to_frame(self) -> pd.DataFrame:
        """The rows with their external ids."""
        import pandas as pd

        columns: dict[str, Any] = {"user": self.user_ids[self.users], "item": self.item_ids[self.items]}
        if self.explicit:
            columns["rating"] = self.ratings
        if self.timestamps is not None:
            columns["timestamp"] = self.timestamps
        return pd.DataFrame(columns)

    def loaded_from(self, name: str, options: Mapping[str, Any]) -> Interactions:
        """The same rows with their origin."""
        loaded = replace(self)
        object.__setattr__(loaded, "origin", Origin(name, dict(options)))
        return loaded

    def select(self, rows: npt.NDArray[Any]) -> Interactions:
        """Some rows (by index or mask), in that order, with the ids of the whole."""
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            ratings=self.ratings[rows],
            timestamps=None if self.timestamps is None else self.timestamps[rows],
        )

    def compact(self) -> Interactions:
        """The same rows with only the ids that occur in them."""
        has_user, has_item = self.user_counts() > 0, self.item_counts() > 0
        return replace(
            self,
            users=(np.cumsum(has_user, dtype=np.int32) - 1)[self.users].astype(np.int32),
            items=(np.cumsum(has_item, dtype=np.int32) - 1)[self.items].astype(np.int32),
            user_ids=self.user_ids[has_user],
            item_ids=self.item_ids[has_item],
        )

    def canonical_order(self) -> RowArray:
        """The rows sorted by user, item, timestamp and rating."""
        ties: list[npt.NDArray[Any]] = [] if self.timestamps is None else [self.timestamps]
        return _pair_order(self.users, self.items, self.n_items, [*ties, self.ratings])

    def canonical(self) -> Interactions:
        """The same rows in canonical order."""
        return self.select(self.canonical_order())

    def matrix(self) -> csr_array:
        """Users by items with the ratings as values, as a SciPy array; rows sorted by item."""
        with needed_for("Interactions.matrix()"):
            from scipy.sparse import csr_array

        order = np.lexsort((self.items, self.users))
        indptr = np.zeros(self.n_users + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.users, minlength=self.n_users), out=indptr[1:])
        return csr_array((self.ratings[order], self.items[order], indptr), shape=(self.n_users, self.n_items))

    def user_counts(self) -> npt.NDArray[np.int64]:
        """Rows of each user."""
        return np.bincount(self.users, minlength=self.n_users)

    def item_counts(self) -> npt.NDArray[np.int64]:
        """Rows of each item."""
        return np.bincount(self.items, minlength=self.n_items)

    @cached_property
    def user_keys(self) -> KeyArray:
        """The stream key of each user id."""
        return id_keys(self.user_ids)

    @cached_property
    def item_keys(self) -> KeyArray:
        """The stream key of each item id."""
        return id_keys(self.item_ids)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, whatever the order of the rows and the form of the ids (7 or "7")."""
        digest = hashlib.sha256()
        ranks = []
        for codes, ids in ((self.users, self.user_ids), (self.items, self.item_ids)):
            present = np.unique(codes)
            text = np.array([str(i) for i in ids[present]], dtype=object)
            order = np.argsort(text, kind="stable")
            rank = np.zeros(len(ids), dtype=np.int64)
            rank[present[order]] = np.arange(len(present))
            digest.update("\x1f".join(text[order]).encode() + b"\x1e")
            ranks.append(rank[codes])
        values: list[npt.NDArray[Any]] = [self.ratings] if self.explicit else []
        if self.timestamps is not None:
            values.append(self.timestamps)
        order = _pair_order(ranks[0], ranks[1], self.n_items, values)
        for column in (*ranks, *values):
            wide = column.astype("<f8" if column.dtype.kind == "f" else "<i8")
            digest.update(np.ascontiguousarray(wide[order]).tobytes() + b"\x1e")
        return digest.hexdigest()

    def user_codes(self, ids: Sequence[Hashable]) -> CodeArray:
        """The codes of these external user ids."""
        return _codes(ids, self.user_ids, "user")

    def item_codes(self, ids: Sequence[Hashable]) -> CodeArray:
        """The codes of these external item ids."""
        return _codes(ids, self.item_ids, "item")

    def _repr_html_(self) -> str:
        """In a notebook: the first rows, as pandas shows them."""
        first = self.select(np.arange(min(len(self), 5)))
        return f"<p>{escape(repr(self))}</p>" + first.to_frame().to_html(index=False)

    def __repr__(self) -> str:
        return f"Interactions({len(self):,} rows, {self.n_users:,} users, {self.n_items:,} items)"


def _pair_order(
    users: npt.NDArray[Any], items: npt.NDArray[Any], n_items: int, ties: Sequence[npt.NDArray[Any]]
) -> RowArray:
    """Rows by user, then item, and rows of the same pair by ``ties``, the most significant first."""
    pairs = users.astype(np.int64) * n_items + items
    order = np.argsort(pairs, kind="stable")
    ordered = pairs[order]
    if ties and (ordered[1:] == ordered[:-1]).any():  # several sort keys cost several sorts: only where needed
        order = np.lexsort([*ties[::-1], pairs])
    return order


def _codes(ids: Sequence[Hashable], vocabulary: IdArray, noun: str) -> CodeArray:
    positions = {str(value): code for code, value in enumerate(vocabulary)}
    try:
        return np.array([positions[str(value)] for value in ids], dtype=np.int32)
    except KeyError as error:
        raise DataError(f"there is no {noun} {error} in this data set of {len(vocabulary):,} {noun}s") from None
