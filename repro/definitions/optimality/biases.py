"""The kind of biases next to factors: learnt with them, or computed before from ratings alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray
from repro.definitions.optimality.equations import (
    NONE,
    Equation,
    Factors,
    Kind,
    Method,
    Observed,
    Residual,
    System,
    other,
)
from repro.definitions.optimality.hypotheses import REGULARISATION, Data, Hypothesis
from repro.definitions.optimality.terms import SideName, Squares, Term

# What is subtracted from ratings before the biases of a side are computed.
REMAINDERS = ("mean", "other bias", "product")
# The largest residual of steps of biases.
LARGEST_OF_STEPS = 0.05
MEANINGS = {
    "mean": "ratings less the mean",
    "other bias": "ratings less the mean and the other bias",
    "product": "ratings less the mean, the other bias and the product of factors",
}


@dataclass(frozen=True, eq=False)
class BiasFit:
    """A hypothesis about the biases of a side.

    of       what the bias is a damped mean of
    penalty  "constant": the number is a damping, a number of imagined ratings; "count": a penalty for each rating
    kind     whether the bias is the exact mean, or a step towards it
    margin   how many times larger the residual of the next hypothesis is
    """

    side: SideName
    of: str
    penalty: str
    kind: Kind
    number: float
    residual: Residual
    margin: float = 1.0

    def holds(self, limit: float) -> bool:
        """Whether the biases follow from the hypothesis; steps with biases that are not tiny add up only roughly."""
        if self.kind == "step":
            return self.residual.whole <= LARGEST_OF_STEPS
        return self.residual.whole <= limit and self.residual.worst <= 10 * limit

    @property
    def is_determined(self) -> bool:
        """Whether other hypotheses about biases that are learnt in steps are further away."""
        return self.kind != "step" or self.margin >= 2.0

    @property
    def meaning(self) -> str:
        if not self.is_determined:
            return "learnt in steps; their penalty is undetermined"
        how = "learnt in steps towards" if self.kind == "step" else "equal to"
        weight = "damping" if self.penalty == "constant" else "penalty for each rating"
        number = 0.0 if self.number < 1e-9 else self.number
        digits = 2 if self.kind == "step" else 6
        return f"{how} the mean of {MEANINGS[self.of]}, {weight} {number:.{digits}g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "of": self.of,
            "penalty": self.penalty,
            "number": self.number,
            "learnt": self.kind == "step",
            "determined": self.is_determined,
            "residual": self.residual.whole,
        }


def bias_fits(observations: Sequence[Observed]) -> Mapping[SideName, list[BiasFit]]:
    """For each side that has biases, all hypotheses about them, the best first."""
    fits: dict[SideName, list[BiasFit]] = {}
    sides: tuple[SideName, SideName] = ("users", "items")
    for side in sides:
        if all(_bias(observed.last, side) is None for observed in observations):
            continue
        kind: Kind = "step" if any(map(biases_move, observations)) else "half-step"
        tried = [_fit(observations, side, of, penalty, kind) for of in REMAINDERS for penalty in ("constant", "count")]
        ordered = sorted(tried, key=lambda fit: fit.residual.whole)
        others = [fit for fit in ordered[1:] if fit.number > 0 or ordered[0].number > 0 or fit.of != ordered[0].of]
        margin = others[0].residual.whole / max(ordered[0].residual.whole, 1e-12) if others else np.inf
        fits[side] = [replace(ordered[0], margin=float(margin)), *ordered[1:]]
    return fits


def biases_move(observed: Observed) -> bool:
    """Whether biases change in the last epoch."""
    before = observed.before
    if before is None:
        return False
    pairs = ((observed.last.user_bias, before.user_bias), (observed.last.item_bias, before.item_bias))
    return any(a is not None and b is not None and not np.array_equal(a, b) for a, b in pairs)


def _fit(observations: Sequence[Observed], side: SideName, of: str, penalty: str, kind: Kind) -> BiasFit:
    hypothesis = Hypothesis("bias", {"penalty": penalty}, _terms(side, penalty))
    method = Method(kind, "together" if kind == "step" else f"{side}-last")
    turned = [_as_factors(observed, side, of, kind) for observed in observations]
    system = _OneSide(hypothesis, method, turned, side)
    numbers = system.estimated()
    if numbers is None:
        return BiasFit(side, of, penalty, kind, 0.0, NONE)
    name = REGULARISATION[side]
    return BiasFit(side, of, penalty, kind, numbers.get(name, 0.0), system.residual(numbers))


def _terms(side: SideName, penalty: str) -> Any:
    def terms(data: Data) -> Mapping[str, Term]:
        ones = np.ones(len(data.rows.values))
        assert data.offsets is not None
        counts = data.rows.counts(side)
        scales = counts if penalty == "count" else np.ones(len(counts))
        return {
            "": Squares("bias", ones, data.rows.values - data.offsets),
            REGULARISATION[side]: Squares("penalty", penalties={side: scales}),
        }

    return terms


@dataclass(frozen=True, eq=False)
class _OneSide(System):
    """The equation of the biases of one side."""

    side: SideName = "users"

    def _equations(self, observed: Observed) -> list[Equation]:
        return [equation for equation in super()._equations(observed) if equation.side == self.side]

    def _data(self, observed: Observed) -> Data:
        assert isinstance(observed, _Turned)
        return Data(observed.rows, observed.offsets)


@dataclass(frozen=True, eq=False)
class _Turned(Observed):
    offsets: FloatArray | None = None


def _as_factors(observed: Observed, side: SideName, of: str, kind: Kind) -> _Turned:
    """The biases as the only factor of their side, beside ones."""

    def factors(learnt: Factors) -> Factors:
        own = np.zeros((observed.rows.side(side).size, 1)) if (b := _bias(learnt, side)) is None else b[:, None]
        ones = np.ones((observed.rows.side(side).others, 1))
        return Factors(own, ones) if side == "users" else Factors(ones, own)

    at = observed.before if kind == "step" and observed.before is not None else observed.last
    rows = observed.rows
    offsets = np.full(len(rows.values), at.mean)
    beside = _bias(at, other(side))
    if of != "mean" and beside is not None:
        offsets = offsets + beside[rows.side(side).other]
    if of == "product":
        offsets = offsets + rows.side("users").products(at.users, at.items)
    before = None if observed.before is None else factors(observed.before)
    return _Turned(rows, factors(observed.last), before, {}, offsets)


def _bias(learnt: Factors, side: SideName) -> FloatArray | None:
    return learnt.user_bias if side == "users" else learnt.item_bias
