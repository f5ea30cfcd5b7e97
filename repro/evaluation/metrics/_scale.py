"""What errors are divided by so that they compare across rating scales: the range, or the error of chance.

Chance is a rating and a prediction that are drawn independently of each other, each uniformly from the scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from repro.errors import ProtocolError
from repro.protocol import Decision, Option, Value, When

Range = tuple[float, float]


def normalising_variants(metric: str) -> tuple[Decision, ...]:
    """The decisions of a metric that :func:`absolute_error_unit` or :func:`squared_error_unit` divides."""
    return (
        Decision(
            f"metric.{metric}.by",
            "By what is the error divided?",
            options=(
                Option("range", "highest minus lowest rating of the scale", cite="Goldberg et al. 2001"),
                Option("uniform", "the error of chance, all ratings of the scale equally likely", cite="Marlin 2004"),
                Option("continuous", "the error of chance, all numbers within the scale equally likely"),
            ),
            default="range",
        ),
        Decision(
            f"metric.{metric}.step",
            "How far apart are the ratings of the scale?",
            "number",
            default=1.0,
            typical=(0.5, 1.0),
            minimum=0.000001,
            when=(When(f"metric.{metric}.by", ("uniform",)),),
        ),
    )


def absolute_error_unit(scale: Range, variants: Mapping[str, Value]) -> float:
    """The range, or E|X - Y|: for n ratings a step s apart s (n^2 - 1) / 3n, for a continuum range / 3."""
    span = scale[1] - scale[0]
    match variants["by"]:
        case "range":
            return span
        case "uniform":
            step = float(variants["step"])
            n = _ratings_of_scale(scale, step)
            return step * (n * n - 1) / (3 * n)
        case _:
            return span / 3


def squared_error_unit(scale: Range, variants: Mapping[str, Value]) -> float:
    """The range, or the root of E(X - Y)^2: for n ratings s sqrt((n^2 - 1) / 6), for a continuum range / sqrt(6)."""
    span = scale[1] - scale[0]
    match variants["by"]:
        case "range":
            return span
        case "uniform":
            step = float(variants["step"])
            n = _ratings_of_scale(scale, step)
            return step * math.sqrt((n * n - 1) / 6)
        case _:
            return span / math.sqrt(6)


def normalised(error: float, unit: float) -> float:
    """The error in units; not a number where the scale has a single rating."""
    return error / unit if unit else math.nan


def _ratings_of_scale(scale: Range, step: float) -> int:
    steps = (scale[1] - scale[0]) / step
    if abs(steps - round(steps)) > 1e-9 * max(1.0, steps):
        raise ProtocolError(
            f"the rating scale from {scale[0]:g} to {scale[1]:g} is not made of steps of {step:g}; state its step, as "
            "in nmae[by=uniform,step=0.5], or the scale in data.scale_min and data.scale_max, or use by = "
            '"continuous"'
        )
    return round(steps) + 1
