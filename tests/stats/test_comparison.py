"""Comparisons of tables: pairs, corrections, verdicts, missing users, tuning."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from repro.errors import DataError, StudyError
from repro.stats import Settings, compare, comparison, correct, select_settings, selection_users


@pytest.fixture
def values():
    draws = np.random.default_rng(0)
    base = draws.beta(1, 3, 60)
    columns = {"weak": base, "strong": base + 0.1 + draws.normal(0, 0.05, 60), "like": base + draws.normal(0, 0.1, 60)}
    return pd.DataFrame(columns, index=[f"u{n}" for n in range(60)])


def rows(frame):
    return {frozenset((row["a"], row["b"])): row for row in frame.to_dict("records")}


def test_each_pair_is_tested_and_corrected(values):
    result = rows(compare(values, Settings(test="wilcoxon", correct="holm")))
    pairs = [("weak", "strong"), ("weak", "like"), ("strong", "like")]
    p = [stats.wilcoxon(values[a] - values[b], method="approx").pvalue for a, b in pairs]
    for pair, own, adjusted in zip(pairs, p, correct(p, "holm"), strict=True):
        row = result[frozenset(pair)]
        assert (row["p"], row["p_corrected"]) == pytest.approx((own, adjusted), abs=1e-12)
        assert row["significant"] == (adjusted <= 0.05)
        assert row["difference"] == pytest.approx(row["mean_a"] - row["mean_b"], abs=1e-15)
        assert row["mean_a"] >= row["mean_b"], "the better one comes first"
        assert row["low"] < row["difference"] < row["high"]


def test_verdicts_in_words(values):
    result = rows(compare(values))
    assert result[frozenset(("weak", "strong"))]["verdict"] == "strong is better"
    assert result[frozenset(("weak", "like"))]["verdict"] == "no difference shown"
    lower = rows(compare(values, Settings(better="lower")))[frozenset(("weak", "strong"))]
    assert (lower["a"], lower["verdict"]) == ("weak", "weak is better")
    assert lower["superiority"] > 0.5 and lower["difference"] < 0
    neither = rows(compare(values, Settings(better="neither")))[frozenset(("weak", "strong"))]
    assert neither["verdict"] == "strong is higher"


def test_a_mean_raised_by_few_users_differs_from_ranks():
    a = np.r_[np.full(30, 0.5), np.full(2, 0.0)]
    b = np.r_[np.full(30, 0.4), np.full(2, 5.0)]
    result = compare(pd.DataFrame({"many": a, "few": b}), Settings(test="sign")).iloc[0]
    assert result["verdict"] == "many is better by the test, few by the mean"


def test_the_smallest_p_comes_first(values):
    assert compare(values, Settings(test="t"))["p_corrected"].is_monotonic_increasing


def test_a_baseline_has_only_its_own_pairs(values):
    result = compare(values, Settings(baseline="like", test="t"))
    assert list(result["b"]) == ["like", "like"] and set(result["a"]) == {"weak", "strong"}
    assert result["p_corrected"].tolist() == pytest.approx(correct(result["p"], "holm").tolist(), abs=1e-15)


def test_pairs_with_one_system_have_the_p_of_all_pairs_and_the_signs_of_that_system():
    values = pd.DataFrame(
        {"a": [0.9, 0.8, 0.7, 0.95, 0.6], "b": [0.5, 0.6, 0.3, 0.55, 0.4], "c": [0.52, 0.55, 0.35, 0.6, 0.3]},
        index=list("vwxyz"),
    )
    result = comparison(values, Settings(test="t"))
    plain = {pair: stats.ttest_rel(values[pair[0]], values[pair[1]]).pvalue for pair in ("ab", "ac", "bc")}
    # Holm: the smallest of three times 3, the next times 2, the last as it is, and none below one before it.
    first, second, third = sorted(plain.values())
    corrected = [min(1, 3 * first), min(1, max(3 * first, 2 * second)), min(1, max(3 * first, 2 * second, third))]
    for reference in "abc":
        against = result.against(reference)
        only = compare(values, Settings(test="t", correct="none", baseline=reference)).set_index("a")
        for other in sorted(set("abc") - {reference}):
            row, p = against.loc[other], plain["".join(sorted(reference + other))]
            assert row["p_corrected"] == pytest.approx(corrected[sorted(plain.values()).index(p)])
            for name in ("mean_a", "mean_b", "difference", "low", "high", "relative", "cohen_dz", "superiority"):
                assert row[name] == pytest.approx(only.loc[other, name]), (reference, other, name)
    assert result.against("a")["difference"].to_dict() == pytest.approx({"b": -0.32, "c": -0.326})


def test_users_that_only_one_has_are_left_out_of_that_pair_only(values):
    values.iloc[:5, 0] = math.nan
    result = comparison(values, Settings(test="t"))
    pairs = rows(result.pairs)
    assert pairs[frozenset(("weak", "strong"))]["left_out"] == 5
    assert pairs[frozenset(("strong", "like"))]["left_out"] == 0
    expected = stats.ttest_rel(values["weak"][5:], values["like"][5:]).pvalue
    assert pairs[frozenset(("weak", "like"))]["p"] == pytest.approx(expected, abs=1e-12)
    assert result.friedman.users == 55
    assert any("In 2 of 3 pairs" in note and "up to 5" in note for note in result.notes)
    assert any("55 of 60 users" in note for note in result.notes)


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_a_pair_has_the_same_p_whether_others_lack_users_or_not(values, test):
    whole = rows(compare(values, Settings(test=test, samples=500)))[frozenset(("strong", "like"))]["p"]
    values.iloc[:5, 0] = math.nan
    assert rows(compare(values, Settings(test=test, samples=500)))[frozenset(("strong", "like"))]["p"] == whole


def test_neither_the_order_of_users_nor_of_systems_changes_a_pair(values):
    first = rows(compare(values, Settings(samples=500, interval="bca")))
    turned = rows(
        compare(
            values.sample(frac=1, random_state=1)[["like", "weak", "strong"]], Settings(samples=500, interval="bca")
        )
    )
    for pair, row in first.items():
        for name in ("p", "low", "high", "mean_a", "cohen_dz", "rank_biserial"):
            assert turned[pair][name] == pytest.approx(row[name], abs=1e-14)


def test_friedman_is_on_top_of_more_than_two(values):
    result = comparison(values, Settings(test="t"))
    expected = stats.friedmanchisquare(*values.to_numpy().T)
    assert result.friedman.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert min(result.ranks, key=result.ranks.get) == "strong"
    assert comparison(values[["weak", "like"]], Settings(test="t")).friedman is None


def test_nemenyi_is_not_corrected_again(values):
    result = comparison(values, Settings(test="nemenyi"))
    assert result.pairs["p"].equals(result.pairs["p_corrected"])
    assert any("not corrected again" in note for note in result.notes)


def test_two_users_are_too_few_only_where_there_are_fewer():
    single = pd.DataFrame({"a": [0.1, 0.2, math.nan], "b": [math.nan, 0.3, 0.4], "c": [0.2, 0.5, 0.9]})
    result = rows(compare(single, Settings(test="t")))
    assert result[frozenset("ab")]["verdict"] == "cannot be tested: fewer than two users"
    assert not math.isnan(result[frozenset("ac")]["p_corrected"])


def test_incomparable_values_raise_errors(values):
    with pytest.raises(StudyError, match="the baseline 'stron' is not a system; did you mean 'strong'"):
        compare(values, Settings(baseline="stron"))
    with pytest.raises(StudyError, match="nothing to compare"):
        compare(values[["weak"]])
    with pytest.raises(StudyError, match="level = 2"):
        compare(values, Settings(level=2))
    with pytest.raises(StudyError, match="better = 'up'"):
        compare(values, Settings(better="up"))
    with pytest.raises(DataError, match="must be numbers"):
        compare(values.assign(weak="x"))
    with pytest.raises(DataError, match="infinite"):
        compare(values.assign(weak=math.inf))
    with pytest.raises(DataError, match="occurs twice"):
        compare(pd.concat([values, values]))


def test_selection_users_are_a_share_by_id_whatever_their_order():
    users = np.array([f"u{n}" for n in range(101)])
    chosen = selection_users(users, 0.3, seed=2)
    assert chosen.sum() == 30
    order = np.random.default_rng(0).permutation(101)
    assert set(users[order][selection_users(users[order], 0.3, seed=2)]) == set(users[chosen])
    assert set(users[selection_users(users, 0.3, seed=3)]) != set(users[chosen])
    with pytest.raises(StudyError, match="between 0 and 1"):
        selection_users(users, 1.0)


def test_the_best_setting_is_chosen_on_some_users_and_tested_on_others(values):
    algorithms = {"weak": "knn", "strong": "knn", "like": "mf"}
    result = select_settings(values, algorithms, 0.5)
    assert result.chosen == {"knn": "strong", "mf": "like"}
    assert list(result.values.columns) == ["strong", "like"]
    on = values[selection_users(values.index, 0.5)]
    assert not set(on.index) & set(result.values.index) and len(on) + len(result.values) == 60
    assert result.means == pytest.approx(on.mean().to_dict(), abs=1e-14)
    assert select_settings(values, algorithms, 0.5, better="lower").chosen["knn"] == "weak"
    with pytest.raises(StudyError, match="without a better direction"):
        select_settings(values, algorithms, 0.5, better="neither")
