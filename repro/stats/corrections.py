"""Corrections for multiple tests: with more tests, a false difference by chance is more likely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError, StudyError, nearest


@dataclass(frozen=True)
class Correction:
    """A correction of p-values; ``corrected`` gets the p-values in ascending order.

    The formulas are written out here because the function of statsmodels collects the garbage of the whole process with
    each call, which takes longer than everything else in a comparison.
    """

    name: str
    title: str
    corrected: Callable[[FloatArray], FloatArray]
    meaning: str
    cite: str = ""


def _none(p: FloatArray) -> FloatArray:
    return p


def _bonferroni(p: FloatArray) -> FloatArray:
    return p * float(len(p))


def _holm(p: FloatArray) -> FloatArray:
    return np.maximum.accumulate(p * np.arange(len(p), 0, -1))


def _hochberg(p: FloatArray) -> FloatArray:
    return np.minimum.accumulate((np.arange(len(p), 0, -1) * p)[::-1])[::-1]


def _sidak(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # the logarithm of 1 - p for p = 1
        return -np.expm1(len(p) * np.log1p(-p))


def _benjamini_hochberg(p: FloatArray) -> FloatArray:
    shares = np.arange(1, len(p) + 1) / float(len(p))
    return np.minimum.accumulate((p / shares)[::-1])[::-1]


_HOLM_MEANING = "from the smallest p on, times the number of remaining tests; never weaker than Bonferroni"
_HOCHBERG_MEANING = "Holm's factors from the largest p on; needs tests without negative dependence"
_SIDAK_MEANING = "1 - (1 - p)^N: each of N tests at the level 1 - (1 - level)^(1/N)"
_BENJAMINI_MEANING = "from the largest p on, times the number of tests over its rank"
CORRECTIONS = {
    correction.name: correction
    for correction in (
        Correction("none", "none", _none, "each test by itself"),
        # Control of the probability of any false difference.
        Correction("bonferroni", "Bonferroni", _bonferroni, "p times the number of tests", "Dunn 1961"),
        Correction("holm", "Holm", _holm, _HOLM_MEANING, "Holm 1979"),
        Correction("hochberg", "Hochberg", _hochberg, _HOCHBERG_MEANING, "Hochberg 1988"),
        Correction("sidak", "Šidák", _sidak, _SIDAK_MEANING, "Šidák 1967; Gunawardana & Shani 2009, section 4.3"),
        # Control of the expected share of false ones among the differences.
        Correction(
            "benjamini-hochberg",
            "Benjamini-Hochberg",
            _benjamini_hochberg,
            _BENJAMINI_MEANING,
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
    order = np.argsort(values[tested], kind="stable")
    ascending = np.minimum(chosen.corrected(values[tested][order]), 1.0)
    corrected = values.copy()
    corrected[np.flatnonzero(tested)[order]] = ascending
    return corrected
