"""Printed spreads, as in 0.400 ± 0.002: what they may be the spread of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from repro.replications.claims.printed import Printed

NORMAL = 1.96  # standard errors to either side of the mean: 95% of a normal distribution


@dataclass(frozen=True)
class Spread:
    """A measured spread: what it is, in words, its value, and whether it rounds to the printed digits."""

    name: str
    value: float
    holds: bool


def spreads_of(printed: Printed, seeds: Sequence[float], folds: Sequence[float]) -> tuple[Spread, ...]:
    """The spreads of a number over seeds and over folds, compared with the printed one."""
    return tuple(
        Spread(f"{name} over {len(values)} {noun}", value, printed.matches_rounded(value))
        for noun, values in (("seeds", _finite(seeds)), ("folds", _finite(folds)))
        if len(values) > 1
        for name, value in _spreads(values)
    )


def sentence(printed: Printed, spreads: Sequence[Spread]) -> str:
    """The numbers that the printed spread agrees with, in words."""
    shown = f"± {printed.text}"
    if not spreads:
        return f"{shown} cannot be judged: one seed and one fold have no spread; add seeds"
    agreeing = [spread for spread in spreads if spread.holds]
    listed = ", ".join(f"{spread.name} {printed.shown(spread.value, 2)}" for spread in agreeing or spreads)
    return f"{shown} agrees with: {listed}" if agreeing else f"{shown} agrees with none of: {listed}"


def _spreads(values: Sequence[float]) -> Iterator[tuple[str, float]]:
    sample = float(np.std(values, ddof=1))
    error = sample / math.sqrt(len(values))
    yield "standard deviation (n - 1)", sample
    yield "standard deviation (n)", float(np.std(values))
    yield "standard error", error
    yield "95% interval", NORMAL * error


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]
