"""Errors of predicted ratings: their declaration, and the units in which they compare across rating scales.

A unit is the range of the scale, or the error of chance: that of a rating and a prediction that are drawn
independently of each other, each uniformly from the scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from repro.errors import ProtocolError
from repro.evaluation.metrics.metric import PredictionMetric, Predictions, Range, Variants
from repro.evaluation.metrics.shared.declarations import NOT_NEGATIVE
from repro.evaluation.metrics.tie_order import UNAFFECTED
from repro.protocol import Decision, Option, Protocol, When


def error_metric(
    name: str, title: str, compute: Callable[[Predictions, Variants], float], **declared: Any
) -> PredictionMetric:
    """A metric of errors: lower is better, and it can be averaged over users ("umae") or items ("imae")."""
    long_name = title.lower().replace(" ", "-")
    aliases = {f"u{name}": {"average": "users"}, f"i{name}": {"average": "items"}, long_name: {}}
    return PredictionMetric(
        name,
        title,
        compute,
        shared=("predict.average",),
        better="lower",
        tie_order=UNAFFECTED,
        **{"range": NOT_NEGATIVE, "cite": "Herlocker et al. 2004", "aliases": aliases, **declared},
    )


@dataclass(frozen=True)
class NormalisedError:
    """An error in units; not a number if the scale has a single rating.

    The error of chance is ``of_chance(n, step)`` for n ratings that are a step apart, range / ``divisor`` for a
    continuum.
    """

    error: Callable[[Predictions, Variants], float]
    of_chance: Callable[[int, float], float]
    divisor: float

    def __call__(self, predictions: Predictions, variants: Variants) -> float:
        error = self.error(predictions, variants)
        unit = predictions.scale[1] - predictions.scale[0]
        if variants["by"] == "uniform":
            step = float(variants["step"])
            unit = self.of_chance(_ratings_of_scale(predictions.scale, step), step)
        elif variants["by"] == "continuous":
            unit /= self.divisor
        return error / unit if unit else math.nan

    def range(self, k: int | None, variants: Variants, protocol: Protocol) -> Range:
        """If predictions are clipped to the scale, at most its range: below ``divisor`` times the error of chance."""
        if protocol["predict.clip"] != "scale" or protocol["data.scale"] != "observed":
            return NOT_NEGATIVE
        return 0.0, 1.0 if variants["by"] == "range" else self.divisor


def normalised_metric(name: str, title: str, error: NormalisedError, **declared: Any) -> PredictionMetric:
    """A metric of errors in units, which its variants choose."""
    by = Decision.choice(
        f"metric.{name}.by",
        "By what is the error divided?",
        Option("range", "highest minus lowest rating of the scale", cite="Goldberg et al. 2001"),
        Option("uniform", "the error of chance, all ratings of the scale equally likely", cite="Marlin 2004"),
        Option("continuous", "the error of chance, all numbers within the scale equally likely"),
    )
    step = Decision(
        f"metric.{name}.step",
        "How far apart are the ratings of the scale?",
        "number",
        default=1.0,
        typical=(0.5, 1.0),
        minimum=0.000001,
        when=(When(by.id, ("uniform",)),),
    )
    return error_metric(name, title, error, variants=(by, step), range=error.range, aliases={}, **declared)


def _ratings_of_scale(scale: Range, step: float) -> int:
    steps = (scale[1] - scale[0]) / step
    if abs(steps - round(steps)) > 1e-9 * max(1.0, steps):
        raise ProtocolError(
            f"the rating scale from {scale[0]:g} to {scale[1]:g} is not made of steps of {step:g}; state its step, as "
            "in nmae[by=uniform,step=0.5], or the scale in data.scale_min and data.scale_max, or use by = "
            '"continuous"'
        )
    return round(steps) + 1
