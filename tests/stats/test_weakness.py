"""Intervals and tests say where they are weak, and how weak they say they are is what simulations give."""

import importlib.util
import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import ReproWarning
from repro.stats import TESTS, Settings, compare, comparison, paired_test
from repro.stats.intervals import METHODS
from repro.stats.weakness import (
    BOOTSTRAP,
    COVERAGE,
    ENOUGH,
    ENOUGH_FOR_BOOTSTRAP,
    FALSE_ALARMS,
    OF_RANKS,
    folds_caution,
    mean_weakness,
    weaknesses,
)

SIMULATION = Path(__file__).parents[2] / "benchmarks" / "weak_statistics.py"


def few_differ(users, differing):
    """Two systems that are the same but for some users."""
    base = np.linspace(0, 1, users)
    other = base.copy()
    other[:differing] += np.linspace(0.1, 0.5, differing)
    return pd.DataFrame({"a": other, "b": base}, index=[f"u{n}" for n in range(users)])


@pytest.mark.parametrize(("differing", "warned"), [(ENOUGH - 1, True), (ENOUGH, False)])
@pytest.mark.parametrize("interval", METHODS)
def test_few_differing_users_are_warned_of_in_every_result(differing, warned, interval, tmp_path):
    values = few_differ(200, differing)
    result = comparison(values, Settings(interval=interval, samples=500))
    text = f"Only {differing} of 200 users differ"
    assert any(text in caution for caution in result.cautions) == warned
    assert (text in result.pairs["caution"][0]) == warned
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare(values, Settings(interval=interval, samples=500))
    assert (
        any(issubclass(warning.category, ReproWarning) and text in str(warning.message) for warning in caught) == warned
    )
    for system in values:
        frame = pd.DataFrame({"user": values.index, "metric": "ndcg@10", "value": values[system]})
        frame.to_csv(tmp_path / f"{system}.csv", index=False)
    call = ["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--interval", interval, "--samples", "500"]
    assert (f"caution: {text}" in CliRunner().invoke(cli, call).output) == warned
    plain = json.loads(CliRunner().invoke(cli, [*call, "--json"]).output)[0]
    assert (text in " ".join(plain["cautions"])) == warned == (text in plain["pairs"][0]["caution"])


@pytest.mark.parametrize("test", ["randomisation", "wilcoxon", "sign"])
@pytest.mark.parametrize("differing", range(1, 9))
def test_too_few_differing_users_to_show_anything(test, differing):
    """By brute force, over all signs of the differences: a caution exactly where the smallest p exceeds 5%."""
    sizes = np.linspace(0.1, 0.5, differing)
    smallest = min(
        paired_test(test, np.r_[sizes * signs, 0.0, 0.0], np.zeros(differing + 2)).p
        for signs in itertools.product((-1, 1), repeat=differing)
    )
    sentence = weaknesses(test, "t", differing + 2, 2, 0.05).get("power", "")
    assert bool(sentence) == (smallest > 0.05)
    assert not sentence or f"p cannot be below {smallest:.3g}" in sentence


def test_which_tests_say_what():
    for test in TESTS:
        many = weaknesses(test, "t", 5000, 100, 0.05)
        assert set(many) == ({"ranks"} if test in OF_RANKS else set())
    assert "ties" in weaknesses("wilcoxon", "t", 5000, 2501, 0.05)
    assert "ties" not in weaknesses("wilcoxon", "t", 5000, 2500, 0.05)
    assert "in 9.0% of cases" in weaknesses("bootstrap", "t", 10, 0, 0.05)["bootstrap"]
    assert "bootstrap" not in weaknesses("bootstrap", "t", ENOUGH_FOR_BOOTSTRAP, 0, 0.05)
    assert weaknesses("t", "t", 9, 9, 0.05) == {
        "same": "All 9 users have the same value under both systems: there is nothing to test."
    }
    assert "82% of cases" in weaknesses("t", "t", 200, 194, 0.05)["interval"]


def test_the_interval_of_a_mean_that_few_users_make():
    assert "only 6 of 200 users differ from the most frequent value" in mean_weakness(np.r_[np.zeros(194), np.ones(6)])
    assert not mean_weakness(np.random.default_rng(0).random(200))
    assert not mean_weakness(np.zeros(200))


def test_folds_are_not_independent():
    assert folds_caution(1) == ()
    (sentence,) = folds_caution(5)
    assert "5 folds, which are not independent" in sentence


@pytest.fixture(scope="module")
def simulation():
    spec = importlib.util.spec_from_file_location("weak_statistics", SIMULATION)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def spread(share, experiments):
    """Four standard errors of a share."""
    return 4 * (share * (1 - share) / experiments) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("differing", "users"), [(6, 200), (6, 6), (10, 10), (20, 20), (20, 80), (40, 40)])
def test_no_interval_covers_less_than_stated(simulation, differing, users):
    experiments = 1500
    for population in ("gains", "mixed"):
        result = simulation.coverage(population, users, differing / users, experiments, seed=7)
        for method, share in result.items():
            stated = COVERAGE[method][differing]
            assert share > stated - 0.01 - spread(stated, experiments), (population, method)
    worst = simulation.coverage("gains", 200, 0.03, experiments, seed=8)
    assert worst["t"] == pytest.approx(COVERAGE["t"][6], abs=0.01 + spread(0.82, experiments))


@pytest.mark.slow
@pytest.mark.parametrize(("differing", "users"), [(10, 10), (20, 20), (40, 40), (10, 333)])
def test_tests_of_means_have_no_more_false_alarms_than_stated(simulation, differing, users):
    experiments = 1000
    result = simulation.false_alarms("skewed", users, differing / users, experiments, seed=7, samples=500)
    for test, measured in FALSE_ALARMS.items():
        assert result[test] < measured[differing] + 0.01 + spread(measured[differing], experiments), test


@pytest.mark.slow
def test_false_alarms_at_small_samples_and_of_ranks(simulation):
    even = simulation.false_alarms("symmetric", 10, 1.0, 1500, seed=7, samples=500)
    assert even["bootstrap"] == pytest.approx(BOOTSTRAP[10], abs=0.01 + spread(0.09, 1500))
    assert even["randomisation"] < 0.05 + spread(0.05, 1500)
    skewed = simulation.false_alarms("skewed", 200, 1.0, 300, seed=7, samples=500)
    for test, measured in OF_RANKS.items():
        assert skewed[test] == pytest.approx(measured[200], abs=0.01 + spread(0.99, 300))
    assert skewed["randomisation"] < 0.08 + spread(0.06, 300)
