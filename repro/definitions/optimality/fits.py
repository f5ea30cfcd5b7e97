"""Hypotheses with their numbers, in the order of how well the learnt factors meet their equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from repro.definitions.optimality.equations import STEP, Method, Observed, Residual, System
from repro.definitions.optimality.hypotheses import Data, Hypothesis, factor, is_known
from repro.definitions.optimality.terms import Divergence, Squares, combined

# How a number of an objective may follow from a parameter.
CONVERSIONS = {
    "{}": lambda value: value,
    "2 * {}": lambda value: 2 * value,
    "{} / 2": lambda value: value / 2,
    "{} + 1": lambda value: value + 1,
    "{} - 1": lambda value: value - 1,
    "{} ** 2": lambda value: value**2,
    "1 / {}": lambda value: 1 / value if value else value,
}


@dataclass(frozen=True, eq=False)
class Fit:
    """A hypothesis with numbers, and how far the factors are from meeting its equations.

    sources  how a number follows from a parameter of the implementation; a number without one was estimated
    """

    hypothesis: Hypothesis
    method: Method
    numbers: Mapping[str, float]
    residual: Residual
    sources: Mapping[str, str]

    def on(self, observations: Sequence[Observed]) -> Residual:
        """The distance of other factors from meeting the equations, with the same numbers; the step may differ."""
        system = System(self.hypothesis, self.method, observations)
        numbers = dict(self.numbers)
        with threadpool_limits(1):  # more threads would add in another order
            if self.method.kind == "step":
                numbers |= {STEP: (system.estimated() or numbers)[STEP]}
            return system.residual(numbers)

    def same_objective(self, other: Fit, data: Sequence[Data]) -> bool:
        """Whether two hypotheses are the same objective, but for a factor, on some data."""
        return all(_proportional(self, other, each) for each in data)


def fitted(hypothesis: Hypothesis, method: Method, observations: Sequence[Observed]) -> Fit | None:
    """A hypothesis with the numbers that fit best; None where they are impossible or not unique."""
    system = System(hypothesis, method, observations)
    numbers = system.estimated()
    if numbers is None:
        return None
    return Fit(hypothesis, method, numbers, system.residual(numbers), {})


def with_parameters(fit: Fit, given: Mapping[str, float], observations: Sequence[Observed], tolerance: float) -> Fit:
    """The fit with numbers that are parameters, or follow from them, in place of estimates that are close to them."""
    numbers, sources = dict(fit.numbers), dict(fit.sources)
    for name, value in fit.numbers.items():
        if name == STEP:
            continue
        for text, exact in _exact(name, given):
            if abs(value - exact) <= tolerance * max(abs(exact), 1e-6):
                numbers[name], sources[name] = exact, text
                break
    if not sources:
        return fit
    residual = System(fit.hypothesis, fit.method, observations).residual(numbers)
    if residual.whole <= max(3 * fit.residual.whole, tolerance):
        return replace(fit, numbers=numbers, sources=sources, residual=residual)
    return fit


def _exact(name: str, given: Mapping[str, float]) -> list[tuple[str, float]]:
    """Numbers that an estimate may be, the simplest first."""
    constants = {"alpha": (1.0,), "unobserved": (1.0,)}.get(name, ())
    converted = [
        (text.format(parameter), convert(value))
        for text, convert in CONVERSIONS.items()
        for parameter, value in given.items()
    ]
    return [*(converted[: len(given)]), *(("", value) for value in (*constants, 0.0)), *converted[len(given) :]]


def _proportional(first: Fit, second: Fit, data: Data) -> bool:
    parts = []
    for fit in (first, second):
        terms = fit.hypothesis.terms(data)
        if any(isinstance(term, Divergence) or term.absolute for term in terms.values()):
            return str(first.hypothesis) == str(second.hypothesis)
        squares = [
            (factor(name, fit.numbers), term)
            for name, term in terms.items()
            if isinstance(term, Squares) and is_known(name, fit.numbers)
        ]
        total = combined(squares)
        penalties = total.penalties or {}
        count = len(data.rows.values)
        zeros = np.zeros(count)
        parts.append(
            np.concatenate(
                [
                    zeros if total.quadratic is None else total.quadratic,
                    zeros if total.linear is None else total.linear,
                    [total.everywhere],
                    *(penalties.get(side, np.zeros(data.rows.side(side).size)) for side in ("users", "items")),
                ]
            )
        )
    x, y = parts
    scale = float(x @ y) / max(float(x @ x), 1e-300)
    return bool(np.linalg.norm(y - scale * x) <= 1e-4 * np.linalg.norm(y))
