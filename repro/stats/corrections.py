"""Corrections for multiple tests: with more tests, a false difference by chance is more likely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError, StudyError, nearest


@dataclass(frozen=True)
class Correction:
    """A correction of p-values; ``controls`` is the error rate that stays below the level."""

    name: str
    title: str
    meaning: str
    controls: str
    statsmodels: str
    cite: str = ""


_ANY_ERROR = "the probability of any false difference"
_SHARE = "the expected share of false ones among the differences found"

CORRECTIONS = {
    correction.name: correction
    for correction in (
        Correction("none", "none", "each test by itself", "nothing over all tests", ""),
        Correction("bonferroni", "Bonferroni", "p times the number of tests", _ANY_ERROR, "bonferroni", "Dunn 1961"),
        Correction(
            "holm",
            "Holm",
            "from the smallest p on, times the number of remaining tests; never weaker than Bonferroni",
            _ANY_ERROR,
            "holm",
            "Holm 1979",
        ),
        Correction(
            "hochberg",
            "Hochberg",
            "Holm's factors from the largest p on; needs tests without negative dependence",
            _ANY_ERROR,
            "simes-hochberg",
            "Hochberg 1988",
        ),
        Correction(
            "sidak",
            "Šidák",
            "1 - (1 - p)^N: each of N tests at the level 1 - (1 - level)^(1/N)",
            _ANY_ERROR,
            "sidak",
            "Šidák 1967; Gunawardana & Shani 2009, section 4.4",
        ),
        Correction(
            "benjamini-hochberg",
            "Benjamini-Hochberg",
            "from the largest p on, times the number of tests over its rank",
            _SHARE,
            "fdr_bh",
            "Benjamini & Hochberg 1995",
        ),
    )
}


def correction(name: str) -> Correction:
    """The correction called ``name``."""
    if name not in CORRECTIONS:
        raise StudyError(
            f"there is no correction '{name}'{nearest(name, CORRECTIONS)} Corrections: {', '.join(CORRECTIONS)}"
        )
    return CORRECTIONS[name]


def correct(p: npt.ArrayLike, method: str = "holm") -> FloatArray:
    """Corrected p-values, in the same order, to be compared with the level itself.

    NaN (nothing to test) stays NaN, and does not count as a test.
    """
    chosen = correction(method)
    values = np.asarray(p, dtype=np.float64)
    tested = ~np.isnan(values)
    if ((values[tested] < 0) | (values[tested] > 1)).any():
        raise DataError("p-values must be between 0 and 1")
    corrected = values.copy()
    if tested.any() and chosen.statsmodels:
        from statsmodels.stats.multitest import multipletests

        with np.errstate(divide="ignore"):  # Šidák's logarithm of 1 - p for p = 1
            corrected[tested] = multipletests(values[tested], method=chosen.statsmodels)[1]
    return corrected


def level_of_each(level: float, tests: int) -> float:
    """1 - (1 - level)^(1/N): the level of each of N independent tests that keeps ``level`` for all of them.

    The best of N + 1 algorithms, chosen on other users, is the best with confidence 1 - level if it outperforms
    each of the N others at this level (Gunawardana & Shani 2009).
    """
    if not 0 < level < 1 or tests < 1:
        raise DataError(f"level = {level} must be between 0 and 1, and tests = {tests} at least 1")
    return -math.expm1(math.log1p(-level) / tests)
