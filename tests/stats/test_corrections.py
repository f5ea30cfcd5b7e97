"""Corrections worked out by hand, and from their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from repro.errors import DataError, StudyError
from repro.stats import CORRECTIONS, correct

P = [0.01, 0.04, 0.03, 0.005]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("none", P),
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        ("holm", [0.03, 0.06, 0.06, 0.02]),  # 0.005*4, 0.01*3, 0.03*2, then 0.04*1 not below its predecessor
        ("hochberg", [0.03, 0.04, 0.04, 0.02]),  # 0.04*1, 0.03*2 not above its successor, 0.01*3, 0.005*4
        ("sidak", [1 - 0.99**4, 1 - 0.96**4, 1 - 0.97**4, 1 - 0.995**4]),
        ("benjamini-hochberg", [0.02, 0.04, 0.04, 0.02]),  # 0.04*4/4, 0.03*4/3, 0.01*4/2, 0.005*4/1
    ],
)
def test_by_hand(method, expected):
    assert correct(P, method) == pytest.approx(expected, abs=1e-15)


def defined(p, method):
    """Corrected p-values straight from the definitions: the least level at which the procedure rejects each."""
    order, n = np.argsort(p, kind="stable"), len(p)
    ascending = np.array(p)[order]
    factors = {"holm": n - np.arange(n), "hochberg": n - np.arange(n), "benjamini-hochberg": n / (np.arange(n) + 1)}
    scaled = ascending * factors[method]
    for at in range(n) if method == "holm" else range(n - 1, -1, -1):
        ascending[at] = max(scaled[: at + 1]) if method == "holm" else min(scaled[at:])
    result = np.empty(n)
    result[order] = np.minimum(ascending, 1)
    return result


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=8, deadline=None)
def test_laws(p):
    result = {name: correct(p, name) for name in CORRECTIONS}
    for corrected in result.values():
        assert (corrected >= np.array(p) - 1e-15).all() and (corrected <= 1).all()
    for name in ("holm", "hochberg", "benjamini-hochberg"):
        assert result[name] == pytest.approx(defined(p, name), abs=1e-12)
    assert (result["holm"] <= result["bonferroni"] + 1e-15).all()
    assert (result["hochberg"] <= result["holm"] + 1e-15).all()
    assert (result["sidak"] <= result["bonferroni"] + 1e-15).all()


@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_the_bits_are_those_of_statsmodels(size):
    names = {
        "bonferroni": "bonferroni",
        "holm": "holm",
        "hochberg": "simes-hochberg",
        "sidak": "sidak",
        "benjamini-hochberg": "fdr_bh",
    }
    assert {*names, "none"} == {*CORRECTIONS}
    draws = np.random.default_rng(size)
    for p in (draws.random(size), draws.random(size) ** 6, draws.integers(0, 4, size) / 3):
        for name, theirs in names.items():
            with np.errstate(divide="ignore"):
                expected = multipletests(p, method=theirs)[1]
            assert correct(p, name).tolist() == expected.tolist()


def test_what_could_not_be_tested_is_no_test():
    assert correct([0.01, np.nan, 0.02], "bonferroni") == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


def test_invalid_corrections_raise_errors():
    with pytest.raises(StudyError, match="did you mean 'holm'"):
        correct(P, "hulm")
    with pytest.raises(DataError, match="between 0 and 1"):
        correct([1.2], "holm")
