"""The pairs of a test part with their real and their predicted ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, FloatArray

Mask = npt.NDArray[np.bool_]
Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Test pairs, their ratings, and what the ``predict.*`` decisions made of the predictions for them.

    values  the prediction of each pair; NaN where it has none, and the pair is left out
    own     whether the algorithm itself predicted it; False where there is nothing or a framework made it up
    scale   the lowest and the highest rating there may be
    spoils  whether a pair without a prediction is not left out: no error that it is in is a number then
    """

    users: CodeArray
    items: CodeArray
    ratings: FloatArray
    values: FloatArray
    own: Mask
    scale: Range
    impacts: tuple[Impact, ...] = ()
    spoils: bool = False

    def __len__(self) -> int:
        return len(self.users)

    @property
    def errors(self) -> FloatArray:
        """Prediction minus rating, of the pairs that are not left out."""
        errors = self.values - self.ratings
        return errors if self.spoils else errors[~np.isnan(errors)]

    def select(self, rows: npt.NDArray[np.intp] | Mask | slice) -> Predictions:
        """Some of the pairs, without what the decisions touched."""
        return Predictions(
            self.users[rows],
            self.items[rows],
            self.ratings[rows],
            self.values[rows],
            self.own[rows],
            self.scale,
            spoils=self.spoils,
        )
