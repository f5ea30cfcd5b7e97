"""Lists before ranking: for a block of users, the items of each list and their judgements."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray

Offsets = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]

# Places from here on are those of relevant items that the file of candidates does not list.
UNLISTED = 1 << 40


@dataclass(frozen=True, eq=False)
class ListBlock:
    """The lists of some users, as columns of the score matrix ``users`` by ``items``.

    Ragged parts are stored end to end: the part of list ``n`` is ``[offsets[n], offsets[n + 1])``.

    users    the users of the block, ascending; one row of scores each
    items    the items to score, ascending; one column of scores each
    rows     for each list, the row of its user; ascending
    targets  for each list of 1R, the code of its relevant item; -1 in AR
    strata   for each list, its stratum; 0 without strata
    listed   whether ``columns`` are the candidates (True), or the items excluded from ``items`` (False)
    columns  for each list, ascending columns (by ``offsets``)
    judged_* for each list, its held-out items: ``judged_items`` (codes, ascending), ``judged_columns`` (-1
             where the item is not among ``items``; being a column does not make it a candidate),
             ``judged_relevant`` (0 or 1) and ``judged_grades``. A list of 1R has one relevant item, its target.
    places   where the candidates come from a file, an ascending key of its order for each of ``columns``, from
             ``UNLISTED`` on for relevant items that it does not list; empty elsewhere
    """

    users: CodeArray
    items: CodeArray
    rows: npt.NDArray[np.int32]
    targets: CodeArray
    strata: npt.NDArray[np.int32]
    listed: bool
    offsets: Offsets
    columns: npt.NDArray[np.int32]
    judged_offsets: Offsets
    judged_items: CodeArray
    judged_columns: npt.NDArray[np.int32]
    judged_relevant: npt.NDArray[np.uint8]
    judged_grades: FloatArray
    places: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.rows)


class CandidatesDigest:
    """SHA-256 of the users, lists and candidates of a fold; blocks are added in the order of users.

    Each column of the lists is hashed separately, so that the boundaries of blocks have no effect.
    """

    def __init__(self) -> None:
        self._columns = [hashlib.sha256() for _ in range(5)]
        self._base = b""

    def add(self, block: ListBlock) -> None:
        parts = (
            block.users[block.rows],
            block.targets,
            block.strata,
            np.diff(block.offsets).astype(np.int32),
            block.items[block.columns],
        )
        for column, part in zip(self._columns, parts, strict=True):
            column.update(np.ascontiguousarray(part, dtype="<i4").tobytes())
        if not block.listed:  # the columns are excluded from these items
            self._base = np.ascontiguousarray(block.items, dtype="<i4").tobytes()

    def hexdigest(self) -> str:
        return hashlib.sha256(b"".join([*(column.digest() for column in self._columns), self._base])).hexdigest()
