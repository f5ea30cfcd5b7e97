"""A model of implicit's own base class whose scores are given: its own top-k and exclusion of liked items run."""

from __future__ import annotations

from typing import Any

import numpy as np
from implicit.cpu.matrix_factorization_base import MatrixFactorizationBase

from repro.data.interactions import FloatArray


class GivenScores(MatrixFactorizationBase):
    """The factors of a user are the user's scores, and those of an item a 1 in the item's place."""

    def __init__(self, scores: FloatArray) -> None:
        super().__init__(num_threads=1)
        self.user_factors = scores.view(TimesIdentity)
        self.item_factors = np.eye(scores.shape[1])

    def fit(self, user_items: Any, show_progress: bool = True, callback: Any = None) -> None:
        raise NotImplementedError("the scores are given")

    def save(self, fileobj_or_path: Any) -> None:
        raise NotImplementedError("the scores are given")


class TimesIdentity(np.ndarray):
    """A matrix that knows its product with the identity. Added up, a single NaN or infinity would make a whole row of
    NaN, as 0 times either is NaN."""

    def dot(self, other: Any, out: Any = None) -> FloatArray:  # type: ignore[override]
        return np.array(self, dtype=np.float64)
