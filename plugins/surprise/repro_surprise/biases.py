"""Mean plus biases: the estimate of BaselineOnly, and a part of that of others."""

from __future__ import annotations

from dataclasses import dataclass

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import Scores
from repro_surprise.fitted import Fitted


@dataclass(frozen=True, eq=False)
class Biases:
    """b(u, i) = mean + b(u) + b(i) (Koren 2010); an unknown user or item has a bias of 0.

    Surprise calls none of these estimates impossible, not even the mean for an unknown user and an unknown item: all
    are scored.
    """

    mean: float
    users: FloatArray
    items: FloatArray

    @classmethod
    def of(cls, fitted: Fitted) -> Biases:
        algorithm = fitted.algorithm
        return cls(fitted.mean, fitted.by_user(algorithm.bu), fitted.by_item(algorithm.bi))

    def at(self, users: CodeArray, items: CodeArray) -> FloatArray:
        """The biases of users and items that are broadcast against each other."""
        return (self.mean + self.users[users]) + self.items[items]

    def block(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self.at(users[:, None], items[None, :]))

    def pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        return Scores(self.at(users, items))
