"""Mean plus biases: the estimate of BaselineOnly, and a part of other estimates."""

from __future__ import annotations

from dataclasses import dataclass

from repro.data.interactions import CodeArray, FloatArray
from repro_surprise.fitted import Elementwise, Fitted


@dataclass(frozen=True, eq=False)
class Biases(Elementwise):
    """b(u, i) = mean + b(u) + b(i) (Koren 2010); an unknown user or item has a bias of 0.

    For Surprise no estimate is impossible, not even the mean for an unknown user and an unknown item: all are scored.
    """

    mean: float
    users: FloatArray
    items: FloatArray

    @classmethod
    def of(cls, fitted: Fitted) -> Biases:
        algorithm = fitted.algorithm
        return cls(fitted.mean, fitted.by_user(algorithm.bu), fitted.by_item(algorithm.bi))

    def at(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return (self.mean + self.users[users]) + self.items[items]
