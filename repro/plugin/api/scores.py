"""Scores, and the state of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

SCORED, UNSCORED, FALLBACK = 0, 1, 2
StateArray = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
ScoreKind = Literal["ratings", "ranking", "unknown"]


@dataclass(frozen=True)
class Scores:
    """Scores as the algorithm returned them, and the state of each.

    ``state`` has SCORED, UNSCORED (the algorithm has no score; the value is ignored) or FALLBACK (a number that the
    framework fills in where it has no score) for each value. Without ``state``, all are scored, except that NaN
    always counts as unscored. How each state is ranked is a decision of the protocol, never of a plug-in.
    """

    values: FloatArray
    state: StateArray | None = None

    @property
    def states(self) -> StateArray:
        """The state of each value."""
        return np.full(self.values.shape, SCORED, dtype=np.uint8) if self.state is None else self.state

    def __getitem__(self, cells: Any) -> Scores:
        """Some of the scores, by an index of their array."""
        return Scores(self.values[cells], None if self.state is None else self.state[cells])

    @classmethod
    def joined(cls, chunks: Sequence[Scores]) -> Scores:
        """Scores one below the other."""
        if len(chunks) == 1:
            return chunks[0]
        has_states = any(chunk.state is not None for chunk in chunks)
        state = np.concatenate([chunk.states for chunk in chunks]) if has_states else None
        return cls(np.concatenate([chunk.values for chunk in chunks]), state)

    @classmethod
    def from_nan(cls, values: FloatArray) -> Scores:
        """Scores in which NaN means unscored."""
        unscored = np.isnan(values)
        return cls(values, np.where(unscored, UNSCORED, SCORED).astype(np.uint8) if unscored.any() else None)

    @classmethod
    def where(cls, scored: Mask, values: FloatArray) -> Scores:
        """``values`` where ``scored``, which is broadcast to them; unscored, and NaN, elsewhere."""
        scored = np.broadcast_to(scored, values.shape)
        return cls(np.where(scored, values, np.nan), np.where(scored, SCORED, UNSCORED).astype(np.uint8))

    @classmethod
    def of_known(cls, values: FloatArray, users: Mask, items: Mask, *, complete: bool = False) -> Scores:
        """A block of scores in which ``values`` are those of the known users and items; the others are unscored.

        ``users`` and ``items`` mask the known ones of a request: ``values`` has a row for each known user and a column
        for each known item. NaN in it means unscored; ``complete`` states that it has none.
        """
        if values.shape == (len(users), len(items)):
            return cls(values) if complete else cls.from_nan(values)
        block = np.full((len(users), len(items)), np.nan)
        block[np.ix_(users, items)] = values
        return cls.from_nan(block)
