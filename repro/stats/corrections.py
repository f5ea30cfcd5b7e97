"""Corrections for multiple tests: with more tests, a false difference by chance is more likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.errors import DataError, StudyError, nearest
from repro.extras import needed_for


@dataclass(frozen=True)
class Correction:
    """A correction of p-values, with its name in statsmodels."""

    name: str
    title: str
    statsmodels: str
    meaning: str
    cite: str = ""


_HOLM = "from the smallest p on, times the number of remaining tests; never weaker than Bonferroni"
_HOCHBERG = "Holm's factors from the largest p on; needs tests without negative dependence"
_SIDAK = "1 - (1 - p)^N: each of N tests at the level 1 - (1 - level)^(1/N)"
_BENJAMINI = "from the largest p on, times the number of tests over its rank"
CORRECTIONS = {
    correction.name: correction
    for correction in (
        Correction("none", "none", "", "each test by itself"),
        # Control of the probability of any false difference.
        Correction("bonferroni", "Bonferroni", "bonferroni", "p times the number of tests", "Dunn 1961"),
        Correction("holm", "Holm", "holm", _HOLM, "Holm 1979"),
        Correction("hochberg", "Hochberg", "simes-hochberg", _HOCHBERG, "Hochberg 1988"),
        Correction("sidak", "Šidák", "sidak", _SIDAK, "Šidák 1967; Gunawardana & Shani 2009, section 4.4"),
        # Control of the expected share of false ones among the differences.
        Correction("benjamini-hochberg", "Benjamini-Hochberg", "fdr_bh", _BENJAMINI, "Benjamini & Hochberg 1995"),
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
        with needed_for(f"the correction by {chosen.title}"):
            from statsmodels.stats.multitest import multipletests

        with np.errstate(divide="ignore"):  # Šidák's logarithm of 1 - p for p = 1
            corrected[tested] = multipletests(values[tested], method=chosen.statsmodels)[1]
    return corrected
