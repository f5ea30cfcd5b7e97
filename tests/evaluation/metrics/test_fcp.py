"""The fraction of concordant pairs: worked out by hand, and pair by pair in plain Python."""

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.evaluation.metrics import Predictions, average_predictions


@pytest.fixture(scope="session")
def fcp(measure):
    """``fcp("fcp[join=users]", pairs)``: pairs are (user, prediction, rating)."""

    def computed(name, pairs):
        return average_predictions(measure(name), as_predictions(pairs))

    return computed


def as_predictions(pairs):
    users, predicted, real = (np.array([pair[at] for pair in pairs], dtype=float) for at in range(3))
    items = np.arange(len(pairs), dtype=np.int32)
    return Predictions(users.astype(np.int32), items, real, predicted, ~np.isnan(predicted), (1.0, 5.0))


# User 1 has three pairs, two of them predicted in order and one tied; user 2 has one, predicted the other way
# round, and two ratings of 4 that do not make a pair; user 3 has no pair.
PAIRS = [(1, 2.0, 1), (1, 3.0, 3), (1, 3.0, 5), (2, 4.5, 2), (2, 1.5, 4), (2, 5.0, 4), (3, 2.0, 2)]


def test_pooled_over_users(fcp):
    # User 2: 4.5 before 1.5 is wrong, 4.5 before 5.0 is right.
    assert fcp("fcp", PAIRS).value == 3 / 5
    assert fcp("fcp[ties=half]", PAIRS).value == 3.5 / 5
    assert fcp("fcp[ties=left-out]", PAIRS).value == 3 / 4


def test_averaged_over_users(fcp):
    assert fcp("fcp[join=users]", PAIRS).value == pytest.approx((2 / 3 + 1 / 2) / 2, abs=1e-15)
    assert fcp("fcp[join=users,ties=half]", PAIRS).value == pytest.approx((2.5 / 3 + 1 / 2) / 2, abs=1e-15)
    assert fcp("fcp[join=users,ties=left-out]", PAIRS).value == pytest.approx((1 + 1 / 2) / 2, abs=1e-15)


def test_counts_averaged_over_the_users_that_have_any(fcp):
    # Concordant 2 and 1, discordant 1 and 1; left out, user 1 has no discordant pair.
    assert fcp("fcp[join=mean-counts]", PAIRS).value == pytest.approx(1.5 / 2.5, abs=1e-15)
    assert fcp("fcp[join=mean-counts,ties=left-out]", PAIRS).value == pytest.approx(1.5 / 2.5, abs=1e-15)
    without = [(1, 3.0, 1), (1, 3.0, 2), (2, 1.0, 2), (2, 4.0, 3), (2, 5.0, 4)]
    assert fcp("fcp[join=mean-counts]", without).value == pytest.approx(3 / (3 + 1), abs=1e-15)
    assert fcp("fcp", without).value == 3 / 4


def test_each_user_alone(fcp):
    result = fcp("fcp", PAIRS)
    assert result.users.tolist() == [1, 2]
    assert result.values == pytest.approx([2 / 3, 1 / 2], abs=1e-15)
    assert result.users_counted == 2


def test_missing_predictions_make_no_pairs(fcp):
    assert fcp("fcp", [(1, 2.0, 1), (1, math.nan, 5), (1, 3.0, 3)]).value == 1.0


def test_nothing_to_compare(fcp):
    for pairs in ([], [(1, 2.0, 3), (2, 1.0, 5)], [(1, 2.0, 3), (1, 4.0, 3)], [(1, math.nan, 2), (1, 3.0, 4)]):
        for join in ("pooled", "users", "mean-counts"):
            assert math.isnan(fcp(f"fcp[join={join}]", pairs).value)
    assert math.isnan(fcp("fcp[ties=left-out]", [(1, 3.0, 1), (1, 3.0, 5)]).value)


def pair_by_pair(pairs, join, ties):
    """Straight from the definition: a list of what each pair counts for each user."""
    counted = {}
    for (user, p, r), (other, q, s) in itertools.combinations(pairs, 2):
        if user != other or r == s or (p == q and ties == "left-out"):
            continue
        right = 1.0 if (p - q) * (r - s) > 0 else 0.0
        if p == q and ties == "half":
            right = 0.5
        counted.setdefault(user, []).append(right)
    if not counted:
        return math.nan
    if join == "pooled":
        return statistics.fmean(itertools.chain(*counted.values()))
    if join == "users":
        return statistics.fmean(map(statistics.fmean, counted.values()))
    right = [sum(flags) for flags in counted.values() if sum(flags)]
    wrong = [len(flags) - sum(flags) for flags in counted.values() if len(flags) - sum(flags)]
    means = [statistics.fmean(some) if some else 0.0 for some in (right, wrong)]
    return means[0] / sum(means)


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(2, 9).map(lambda n: n / 2), st.integers(1, 5)), max_size=20)
)
def test_agrees_with_the_definition_pair_by_pair(pairs, fcp):
    for join, ties in itertools.product(("pooled", "users", "mean-counts"), ("discordant", "half", "left-out")):
        expected = pair_by_pair(pairs, join, ties)
        assert fcp(f"fcp[join={join},ties={ties}]", pairs).value == pytest.approx(expected, abs=1e-12, nan_ok=True)
