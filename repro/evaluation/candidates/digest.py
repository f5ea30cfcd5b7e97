"""A digest of the candidates of a fold that does not depend on the division into blocks."""

from __future__ import annotations

import hashlib

import numpy as np

from repro.evaluation.candidates.lists import ListBlock


class CandidatesDigest:
    """SHA-256 of users, lists and candidates; blocks are added in the order of users.

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
