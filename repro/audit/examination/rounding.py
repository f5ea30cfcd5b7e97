"""To how many decimals answers are rounded, where plain lists did not show it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from repro.audit.examination.inference import SINGLE_DECIMALS, Inference
from repro.audit.questions.aspects import ALL_TOGETHER

_LARGEST_DENOMINATOR = 100
_LEAST_ROUNDED = 3  # numbers next to simple fractions that show rounding


def decimals_shown(inference: Inference, numbers: Sequence[float]) -> int | None:
    """To how many decimals the answers of a black box are rounded; None where nothing shows that they are.

    They are those of single precision where the policy fails only by that little. Otherwise the ``numbers`` of all
    answers tell.
    """
    gaps = [case.residual for case in inference.unexplained if case.aspect == ALL_TOGETHER]
    if gaps and max(gaps) <= 0.5 * 10.0**-SINGLE_DECIMALS:
        return SINGLE_DECIMALS
    return rounded_decimals(numbers)


def rounded_decimals(numbers: Sequence[float]) -> int | None:
    """To how many decimals numbers are rounded; None where nothing shows that they are.

    Rounding shows in numbers next to simple fractions: 0.6667 is next to 2/3, and 0.25 is itself a fraction.
    """
    distinct = np.unique(np.asarray(numbers, dtype=np.float64))
    for decimals in range(2, SINGLE_DECIMALS):
        if (np.abs(distinct - np.round(distinct, decimals)) < 1e-12).all():
            largest = min(_LARGEST_DENOMINATOR, 10**decimals // 4)
            fractions = [float(Fraction(one).limit_denominator(largest)) for one in distinct.tolist()]
            gaps = np.abs(distinct - fractions)
            n_rounded = ((gaps > 1e-10) & (gaps <= 0.5 * 10.0**-decimals)).sum()
            return decimals if n_rounded >= _LEAST_ROUNDED else None
    return None
