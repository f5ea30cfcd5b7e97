"""The interval of a measure over all orders of tied items: which measures have one, and the lists that decide it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.evaluation.metrics.metric import Measure, Ratio, has_exact_extremes
from repro.evaluation.metrics.tie_order import ByItems


def has_tie_interval(measure: Measure) -> bool:
    """Whether the worst and best value over all orders of tied items are known from the places of held-out items."""
    ranks = measure.metric.kind == "ranking" and not measure.parts
    return ranks and has_exact_extremes(measure) and not isinstance(measure.tie_order, ByItems)


def with_rows(ratio: Ratio, rows: npt.NDArray[np.integer], others: Ratio) -> Ratio:
    """The numbers of all lists, with those of some of them replaced."""
    replaced = Ratio(ratio.numerator.copy(), ratio.denominator.copy())
    replaced.numerator[rows], replaced.denominator[rows] = others
    return replaced
