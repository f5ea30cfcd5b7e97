"""The equations that factors meet if they were learnt in some way, and how far they are from meeting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from repro.data.interactions import FloatArray
from repro.definitions.optimality.hypotheses import Data, Hypothesis, factor, is_known
from repro.definitions.optimality.terms import (
    Divergence,
    Parts,
    Rows,
    SideName,
    Squares,
    Term,
    combined,
    half_step,
)

Kind = Literal["half-step", "multiplicative", "step", "stationary"]
# The weight of the difference that a step against the gradient makes: 1 over the learning rate.
STEP = "step"
# A part of the gradient that is smaller, relative to the whole of its parts, has no weight.
NEGLIGIBLE = 1e-5
# Numbers that are not 0 in any objective that has them: without them it is a simpler one.
MATTERS = ("alpha", "unobserved", STEP)


@dataclass(frozen=True, eq=False)
class Factors:
    """Factors of users and items that all have training rows, and what is added to their products.

    note  where they were read from, if the implementation does not offer them by itself
    """

    users: FloatArray
    items: FloatArray
    user_bias: FloatArray | None = None
    item_bias: FloatArray | None = None
    mean: float = 0.0
    note: str = ""

    def side(self, name: SideName) -> FloatArray:
        return self.users if name == "users" else self.items

    @property
    def has_biases(self) -> bool:
        """Whether anything is added to products."""
        return self.user_bias is not None or self.item_bias is not None or self.mean != 0.0

    def offsets(self, rows: Rows) -> FloatArray | None:
        """The value that is added to the product of each row; None where there is nothing."""
        if not self.has_biases:
            return None
        added = np.full(len(rows.values), self.mean)
        for bias, codes in ((self.user_bias, rows.users), (self.item_bias, rows.items)):
            if bias is not None:
                added += bias[codes]
        return added


@dataclass(frozen=True, eq=False)
class Observed:
    """Training rows, the factors that were learnt from them, and those of one epoch before, where they are known."""

    rows: Rows
    last: Factors
    before: Factors | None = None
    parts: dict[tuple[object, ...], Parts] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Equation:
    """The values that the factors of a side follow from: their own values before, and those of the other side."""

    side: SideName
    after: FloatArray
    fixed: FloatArray
    before: FloatArray | None = None


@dataclass(frozen=True)
class Method:
    """A way in which factors are learnt.

    kind   the exact solution for a side, a multiplicative update, a step against the gradient, or a gradient of zero
    order  which equations it gives: after an epoch, the side that is learnt first ("users", "items") or both
           "together"; of the factors at the end alone, the side that was learnt last ("users-last", "items-last"), or
           "both"
    """

    kind: Kind
    order: str

    @property
    def needs_epoch(self) -> bool:
        """Whether it needs the factors of one epoch before."""
        return self.order in ("users", "items", "together")

    @property
    def meaning(self) -> str:
        what = {
            "half-step": "the exact solution",
            "multiplicative": "a multiplicative update",
            "step": "a step against the gradient",
            "stationary": "no gradient",
        }[self.kind]
        how = {
            "users": "for users, then for items",
            "items": "for items, then for users",
            "together": "for both sides at once",
            "users-last": "for users, who are learnt last",
            "items-last": "for items, which are learnt last",
            "both": "for both sides at the end",
        }[self.order]
        return f"{what} {how}"

    def equations(self, observed: Observed) -> list[Equation]:
        last, before = observed.last, observed.before
        if not self.needs_epoch:
            sides: Sequence[SideName] = {"users-last": ("users",), "items-last": ("items",)}.get(
                self.order, ("users", "items")
            )  # type: ignore[assignment]
            return [Equation(side, last.side(side), last.side(other(side))) for side in sides]
        assert before is not None
        return [
            Equation(
                side,
                last.side(side),
                (before if self.order in (side, "together") else last).side(other(side)),
                before.side(side),
            )
            for side in ("users", "items")
        ]


def other(side: SideName) -> SideName:
    return "items" if side == "users" else "users"


@dataclass(frozen=True)
class Residual:
    """The distance of factors from meeting an equation, relative to their size, or to that of the gradient's parts.

    whole  of all users or items together
    worst  of the user or item that is furthest from it, relative to the mean size of all
    """

    whole: float
    worst: float

    def __or__(self, further: Residual) -> Residual:
        return Residual(max(self.whole, further.whole), max(self.worst, further.worst))


NONE = Residual(float("inf"), float("inf"))
MET = Residual(0.0, 0.0)


@dataclass(frozen=True, eq=False)
class System:
    """The equations of a hypothesis for some observations."""

    hypothesis: Hypothesis
    method: Method
    observations: Sequence[Observed]

    def _data(self, observed: Observed) -> Data:
        of = observed.before if self.method.kind == "step" and observed.before is not None else observed.last
        return Data(observed.rows, of.offsets(observed.rows))

    def _equations(self, observed: Observed) -> list[Equation]:
        return self.method.equations(observed)

    def _parts(self, observed: Observed, number: int, equation: Equation, term: Term) -> Parts:
        """The gradient of a part of the objective, computed once for each observation."""
        key = (self.hypothesis.algorithm, self.method, number, term.key)
        if key not in observed.parts:
            at_before = self.method.kind in ("step", "multiplicative")
            at = equation.before if at_before and equation.before is not None else equation.after
            side = observed.rows.side(equation.side)
            observed.parts[key] = term.gradient(side, equation.side, at, equation.fixed)
        return observed.parts[key]

    def estimated(self) -> dict[str, float] | None:
        """The numbers with which the equations hold best; None where these are negative, or not unique."""
        blocks: list[dict[str, FloatArray]] = []
        for observed in self.observations:
            terms = self.hypothesis.terms(self._data(observed))
            for number, equation in enumerate(self._equations(observed)):
                columns = {}
                chosen = np.ones(equation.after.shape, dtype=bool)
                if not self.hypothesis.negative:
                    chosen = equation.after > 0
                for name, term in terms.items():
                    lower, upper = self._parts(observed, number, equation, term)
                    columns[name] = self._column(equation, lower, upper)[chosen]
                if self.method.kind == "step":
                    assert equation.before is not None
                    columns[STEP] = (equation.after - equation.before)[chosen]
                upper, lower = self._parts(observed, number, equation, terms[""])
                size = float(np.linalg.norm(upper + lower))
                blocks.append({name: column / max(size, 1e-300) for name, column in columns.items()})
        names = list(dict.fromkeys(name for block in blocks for name in block if name))
        matrix = np.concatenate(
            [np.stack([block.get(name, np.zeros(len(block[""]))) for name in names], axis=1) for block in blocks]
        )
        given = -np.concatenate([block[""] for block in blocks])
        if not np.isfinite(matrix).all() or not np.isfinite(given).all():
            return None
        sizes = np.linalg.norm(matrix, axis=0)
        used = sizes > 0
        scaled = matrix[:, used] / sizes[used]
        values, _, rank, _ = np.linalg.lstsq(scaled, given, rcond=1e-9)
        if rank < used.sum():
            return None
        coefficients = dict(zip(np.array(names)[used].tolist(), (values / sizes[used]).tolist(), strict=True))
        negligible = {
            name: abs(coefficients[name]) * size < NEGLIGIBLE * len(blocks) ** 0.5
            for name, size in zip(names, sizes, strict=True)
            if name in coefficients
        }
        if any(value < 0 and not negligible[name] for name, value in coefficients.items()):
            return None
        if any(negligible.get(name, True) for name in names if name in MATTERS) or self._is_simpler(negligible):
            return None
        return _numbers({name: max(value, 0.0) for name, value in coefficients.items()})

    def _is_simpler(self, negligible: Mapping[str, bool]) -> bool:
        """Whether another hypothesis says the same with fewer words, because penalties have no weight."""
        squares = [none for name, none in negligible.items() if "regularisation" in name]
        absolute = [none for name, none in negligible.items() if "absolute" in name]
        setting = self.hypothesis.setting
        if setting.get("norm") == "both" and (all(squares) or all(absolute)):
            return True
        nothing = all(squares) and all(absolute) and bool(squares or absolute)
        return nothing and (setting.get("penalty", "constant") != "constant" or setting.get("norm") == "absolute")

    def _column(self, equation: Equation, lower: FloatArray, upper: FloatArray) -> FloatArray:
        if self.method.kind == "multiplicative":
            assert equation.before is not None
            return equation.after * lower - equation.before * upper
        return lower - upper

    def residual(self, numbers: Mapping[str, float]) -> Residual:
        """The distance of the factors from meeting the equations with these numbers."""
        residual = MET
        for observed in self.observations:
            terms = self.hypothesis.terms(self._data(observed))
            for number, equation in enumerate(self._equations(observed)):
                residual |= self._residual(observed, number, equation, terms, numbers)
        return residual

    def _residual(
        self,
        observed: Observed,
        number: int,
        equation: Equation,
        terms: Mapping[str, Term],
        numbers: Mapping[str, float],
    ) -> Residual:
        kind = self.method.kind
        if kind == "half-step":
            return self._distance(observed, equation, terms, numbers)
        weighted = [
            (factor(name, numbers), self._parts(observed, number, equation, term))
            for name, term in terms.items()
            if is_known(name, numbers)
        ]
        lower = np.sum([weight * parts[0] for weight, parts in weighted], axis=0)
        upper = np.sum([weight * parts[1] for weight, parts in weighted], axis=0)
        if kind == "multiplicative":
            assert equation.before is not None
            ratio = np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 0)
            return relative(equation.after - equation.before * ratio, equation.after)
        gradient = lower - upper
        if kind == "step":
            assert equation.before is not None
            return relative(numbers[STEP] * (equation.after - equation.before) + gradient, gradient)
        if not self.hypothesis.negative:
            gradient = np.where(equation.after > 0, gradient, np.minimum(gradient, 0.0))
        return relative(gradient, np.abs(lower) + np.abs(upper))

    def _distance(
        self, observed: Observed, equation: Equation, terms: Mapping[str, Term], numbers: Mapping[str, float]
    ) -> Residual:
        """The distance of the factors of a side from those that minimise the objective given the other side."""
        if any(isinstance(term, Divergence) or term.absolute for term in terms.values()):
            return NONE
        squares = [
            (factor(name, numbers), term)
            for name, term in terms.items()
            if isinstance(term, Squares) and is_known(name, numbers)
        ]
        solution = half_step(combined(squares), observed.rows.side(equation.side), equation.side, equation.fixed)
        if solution is None:
            return NONE
        return relative(equation.after - solution, solution)


def relative(difference: FloatArray, to: FloatArray) -> Residual:
    """The size of a difference, of all rows and of the worst one, relative to the size of ``to``."""
    size = float(np.linalg.norm(to))
    if not size > 0 or not np.isfinite(size):
        return NONE
    rows = np.linalg.norm(difference, axis=1)
    return Residual(float(np.linalg.norm(rows)) / size, float(rows.max()) / size * len(rows) ** 0.5)


def _numbers(coefficients: Mapping[str, float]) -> dict[str, float]:
    """The numbers, from the coefficients of products of them; one without a part of its own follows from others."""
    numbers = {name: value for name, value in coefficients.items() if "*" not in name}
    for name, value in coefficients.items():
        first, _, second = name.partition("*")
        if second and first not in numbers:
            numbers[first] = value / numbers[second] if numbers.get(second) else 0.0
    return numbers
