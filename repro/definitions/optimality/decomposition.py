"""Factors that are singular vectors: of which matrix, and how they are scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray
from repro.definitions.optimality.equations import Observed, Residual
from repro.definitions.optimality.hypotheses import Data, offset_of
from repro.plugin import ParameterValue
from repro.text import plural

VALUES = ("ratings", "binary")
SUBTRACTED = ("none", "mean", "user-mean", "item-mean", "biases")
# Powers of the singular values that the factors of a side may be multiplied by.
POWERS = (0.0, 0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Singular vectors of a matrix with 0 for missing pairs.

    setting   the values of the rows, and what is subtracted from them
    powers    of the singular values, by which the vectors of users and items are multiplied
    residual  how far the products of factors are from those of the vectors
    """

    setting: Mapping[str, ParameterValue]
    powers: tuple[float, float]
    residual: Residual

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.setting.items())

    @property
    def scaling(self) -> str:
        """The products as a formula."""
        users, items = self.powers
        return f"x = u s^{users:g}, y = v s^{items:g}"


@dataclass(frozen=True, eq=False)
class FactorDecomposition:
    """The finding that an implementation's factors are singular vectors.

    fit        the matrix and the scaling
    rivals     for each other combination of decisions, its residual
    confirmed  the largest residual on further training sets, and their number
    """

    label: str
    fit: Decomposition
    rivals: Sequence[Decomposition]
    parameters: Mapping[str, ParameterValue]
    confirmed: tuple[Residual, int]

    algorithm = "puresvd"

    @property
    def setting(self) -> dict[str, ParameterValue]:
        """The decisions."""
        return {**self.fit.setting, "user_power": self.fit.powers[0], "item_power": self.fit.powers[1]}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "status": "explained",
            "definition": "singular vectors",
            "objective": self.setting,
            "parameters_of_the_audit": dict(self.parameters),
            "residual": self.fit.residual.whole,
            "rivals": [
                {"objective": {**rival.setting, "power": sum(rival.powers)}, "residual": rival.residual.whole}
                for rival in self.rivals
            ],
            "confirmed": {"training_sets": self.confirmed[1], "residual": self.confirmed[0].whole},
        }

    def lines(self) -> list[str]:
        """The matrix and the scaling in text."""
        residual, sets = self.confirmed
        return [
            "the factors are singular vectors of the matrix of rows, 0 where there is none, with",
            *(f"  {name} = {value}" for name, value in self.fit.setting.items()),
            f"  scaled as {self.fit.scaling}, u and v of length 1, s the singular value",
            f"residual {self.fit.residual.whole:.1e}, "
            f"and {residual.whole:.1e} on {plural(sets, 'further training set')}",
            "the smallest residuals of others:",
            *(f"  {each}, s^{sum(each.powers):g}: {each.residual.whole:.1e}" for each in self.rivals[:3]),
        ]


def decompositions(observations: Sequence[Observed]) -> list[Decomposition]:
    """All matrices and powers, the best first; the scaling of each side follows from the lengths of its factors."""
    offsets = SUBTRACTED if observations[0].last.has_biases else SUBTRACTED[:-1]
    found = []
    for values, subtracted in product(VALUES, offsets):
        setting = {"values": values, "subtracted": subtracted}
        vectors = [_vectors(observed, setting) for observed in observations]
        for power in sorted({a + b for a, b in product(POWERS, POWERS)}):
            residual = Residual(0.0, 0.0)
            for observed, (left, singular, right) in zip(observations, vectors, strict=True):
                products = observed.last.users @ observed.last.items.T
                expected = (left * singular**power) @ right
                residual |= _distance(products, expected)
            found.append(Decomposition(setting, (power, 0.0), residual))
    ordered = sorted(found, key=lambda each: each.residual.whole)
    best = ordered[0]
    return [Decomposition(best.setting, _powers(best, observations), best.residual), *ordered[1:]]


def _vectors(observed: Observed, setting: Mapping[str, ParameterValue]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The largest singular values of the matrix and their vectors, as many as there are factors."""
    rows = observed.rows
    values = rows.values if setting["values"] == "ratings" else np.ones_like(rows.values)
    offsets = observed.last.offsets(rows)
    matrix = np.zeros(rows.shape)
    matrix[rows.users, rows.items] = values - offset_of(str(setting["subtracted"]), Data(rows, offsets), values)
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    width = observed.last.users.shape[1]
    return left[:, :width], singular[:width], right[:width]


def _distance(products: FloatArray, expected: FloatArray) -> Residual:
    size = float(np.linalg.norm(expected))
    if not size > 0:
        return Residual(float("inf"), float("inf"))
    rows = np.linalg.norm(products - expected, axis=1)
    return Residual(float(np.linalg.norm(rows)) / size, float(rows.max()) / size * len(rows) ** 0.5)


def _powers(best: Decomposition, observations: Sequence[Observed]) -> tuple[float, float]:
    """The powers that the lengths of the factors of users and items have; their sum is that of the products."""
    total = sum(best.powers)

    def error(power: float) -> float:
        worst = 0.0
        for observed in observations:
            singular = _vectors(observed, best.setting)[1]
            lengths = np.sort(np.linalg.norm(observed.last.users, axis=0))[::-1]
            worst = max(worst, float(np.abs(lengths - np.sort(singular**power)[::-1]).max() / lengths.max()))
        return worst

    users = min((power for power in POWERS if power <= total), key=error)
    return users, total - users
