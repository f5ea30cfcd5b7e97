"""Random ratings: what NormalPredictor estimates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import Scores
from repro.rng import KeyArray, child_keys, stream, uniform
from repro_surprise.fitted import Fitted

# The step of the uniform numbers is 2 ** -53; half a step replaces 0, whose quantile is infinite.
_LEAST = 2.0**-54


@dataclass(frozen=True, eq=False)
class NormalRatings:
    """A draw for each user and item from the normal distribution that Surprise fits to the training ratings.

    Surprise draws from NumPy's global generator in each prediction, so that a second call, or another order, gives
    other numbers. Here a pair has one draw, from the stream of the seed and the two ids. All pairs are scored.
    """

    mean: float
    deviation: float
    key: np.uint64
    user_keys: KeyArray
    item_keys: KeyArray

    @classmethod
    def of(cls, fitted: Fitted) -> NormalRatings:
        return cls(
            fitted.mean,
            float(fitted.algorithm.sigma),
            stream(fitted.seed, "surprise", "NormalPredictor"),
            fitted.train.user_keys,
            fitted.train.item_keys,
        )

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self._draws(*np.broadcast_arrays(self.user_keys[users][:, None], self.item_keys[items][None, :])))

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self._draws(self.user_keys[users], self.item_keys[items]))

    def _draws(self, users: KeyArray, items: KeyArray) -> FloatArray:
        from scipy.special import ndtri

        quantiles: FloatArray = ndtri(np.maximum(uniform(child_keys(self.key, users, items)), _LEAST))
        return self.mean + self.deviation * quantiles
