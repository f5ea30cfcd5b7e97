"""The reproducibility measures, on lists and numbers small enough to work out by hand."""

import math

import pandas as pd
import pytest

from repro.verification.distances import effects, order_distances, rmse


def lists(**items):
    return pd.DataFrame(
        [(user, rank, item) for user, listed in items.items() for rank, item in enumerate(listed, 1)],
        columns=["user", "rank", "item"],
    )


def test_the_order_of_two_lists():
    """Of three pairs two are in the same order: tau is (2 - 1) / 3. Overlaps down to ranks 1, 2, 3: 1, 1/2, 1."""
    tau, overlap = order_distances(lists(a=[1, 2, 3]), lists(a=[1, 3, 2]))
    assert tau == pytest.approx(1 / 3)
    assert overlap == pytest.approx((1 + 0.95 / 2 + 0.95**2) / (1 + 0.95 + 0.95**2))


def test_users_count_the_same_and_lists_of_one_item_have_no_tau():
    tau, overlap = order_distances(lists(a=[1, 2], b=[5], c=[7]), lists(a=[2, 1], b=[5], d=[7]))
    assert tau == pytest.approx(-1.0)
    assert overlap == pytest.approx((0.95 / (1 + 0.95) + 1) / 2)  # b, a list of one item, stays as it is
    assert all(map(math.isnan, order_distances(lists(a=[1]), lists(b=[1]))))


def test_a_list_that_got_shorter_is_compared_as_far_as_both_go():
    assert order_distances(lists(a=[1, 2, 3, 4]), lists(a=[1, 2, 3])) == (1.0, pytest.approx(1.0))


def test_lists_of_one_relevant_item_are_kept_apart():
    before = lists(a=[1, 2]).assign(target=1)
    both = pd.concat([before, lists(a=[2, 1]).assign(target=2)])
    assert order_distances(both, both) == (1.0, pytest.approx(1.0))
    assert order_distances(before, both) == (1.0, pytest.approx(1.0))


def test_numbers_and_effects():
    """Improvements of 0.1 over a baseline of 0.4 then, and of 0.05 now: half of it, and 1/4 - 1/8 of it."""
    assert rmse({"a": 0.5, "b": 1.0}, {"a": 0.5, "b": 0.8}) == pytest.approx(math.sqrt(0.04 / 2))
    baseline = {"a": 0.5, "b": 0.3}
    ratio, change = effects({"a": 0.6, "b": 0.4}, baseline, {"a": 0.5, "b": 0.4}, baseline)
    assert ratio == pytest.approx(0.5)
    assert change == pytest.approx(0.25 - 0.125)
    ratio, _ = effects(baseline, baseline, {"a": 0.6, "b": 0.4}, baseline)
    assert math.isnan(ratio), "no effect then: there is nothing to divide by"
