"""Scores, and the state of each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray

SCORED, UNSCORED, FALLBACK = 0, 1, 2
StateArray = npt.NDArray[np.uint8]
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
