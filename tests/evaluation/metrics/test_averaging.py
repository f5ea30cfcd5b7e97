"""Averages over lists and users: small lists of numerators and denominators with averages worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data.impact import Impact
from repro.errors import ProtocolError
from repro.evaluation.metrics import ListOwners, Ratio, average


@pytest.fixture(scope="session")
def averaged(protocol, measure):
    """The average of lists given as (user, numerator, denominator, stratum, empty)."""

    def computed(rows, **changes):
        users, numerators, denominators, strata, empty = zip(*rows, strict=True) if rows else [()] * 5
        return average(
            measure("recall"),
            Ratio(np.array(numerators, dtype=float), np.array(denominators, dtype=float)),
            ListOwners(np.array(users, dtype=np.int32), np.array(strata, dtype=np.int32), np.array(empty, dtype=bool)),
            protocol(average__folds="pooled", **{f"average__{key}": value for key, value in changes.items()}),
        )

    return computed


# User 1 has two lists (1/2 and 3/4); user 2 has one (1/5); user 3 has no relevant items; user 4 has no list.
LISTS = [(1, 1, 2, 0, False), (1, 3, 4, 0, False), (2, 1, 5, 0, False), (3, 0, 0, 0, False), (4, 0, 2, 0, True)]


def test_average_over_users_lists_and_pooled(averaged):
    assert averaged(LISTS).value == pytest.approx((0.625 + 0.2 + 0) / 3)
    assert averaged(LISTS, over="lists").value == pytest.approx((0.5 + 0.75 + 0.2 + 0) / 4)
    assert averaged(LISTS, over="pooled").value == pytest.approx((1 + 3 + 1) / (2 + 4 + 5 + 2))


def test_users_without_relevant_items(averaged):
    total = 0.625 + 0.2 + 0
    assert averaged(LISTS, no_relevant="skip").value == pytest.approx(total / 3)
    assert averaged(LISTS, no_relevant="zero").value == pytest.approx(total / 4)
    assert averaged(LISTS, no_relevant="one").value == pytest.approx((total + 1) / 4)
    assert math.isnan(averaged(LISTS, no_relevant="nan").value)
    assert math.isnan(averaged(LISTS, no_relevant="nan", over="pooled").value)
    with pytest.raises(ProtocolError, match='adds nothing to this average; use "skip"'):
        averaged(LISTS, no_relevant="one", over="pooled")


def test_users_without_a_list(averaged):
    assert averaged(LISTS, no_list="skip").value == pytest.approx((0.625 + 0.2) / 2)
    assert averaged(LISTS, no_list="skip", over="pooled").value == pytest.approx(5 / 11)


def test_without_relevant_items_it_does_not_matter_whether_there_is_a_list(averaged):
    both = [(1, 1, 2, 0, False), (2, 0, 0, 0, True)]
    assert averaged(both).value == 0.5
    assert averaged(both, no_relevant="zero", no_list="skip").value == 0.25


def test_strata_count_the_same(averaged):
    # Stratum 0: users 1 (1) and 2 (0); stratum 1: user 1 (1/2) only.
    rows = [(1, 1, 1, 0, False), (2, 0, 1, 0, False), (1, 1, 2, 1, False)]
    assert averaged(rows).value == pytest.approx((0.5 + 0.5) / 2)
    assert averaged(rows, over="pooled").value == pytest.approx((1 / 2 + 1 / 2) / 2)
    rows.append((3, 1, 1, 1, False))
    assert averaged(rows).value == pytest.approx((0.5 + 0.75) / 2)


def test_each_user_alone(averaged):
    result = averaged(LISTS)
    assert result.users.tolist() == [1, 2, 4]
    assert result.values.tolist() == [0.625, 0.2, 0.0]
    assert result.users_counted == 3
    pooled = averaged(LISTS, over="pooled", no_list="skip")
    assert pooled.users.tolist() == [1, 2]
    assert pooled.values == pytest.approx([4 / 6, 1 / 5])


def test_impacts_count_whom_the_decisions_touch(averaged):
    relevant, neither, empty = averaged([*LISTS, (5, 0, 0, 0, True)], no_relevant="zero", neither="skip").impacts
    assert relevant == Impact("average.no_relevant", "zero", 1, 6, "lists", "without relevant items")
    both = "with neither a list nor relevant items"
    assert neither == Impact("average.neither", "skip", 1, 6, "lists", both)
    assert empty == Impact("average.no_list", "zero", 1, 6, "lists", "with an empty list")
    assert averaged(LISTS[1:]).impacts[0].unit == "test users"


def test_nothing_to_average(averaged):
    result = averaged([])
    assert math.isnan(result.value)
    assert result.users_counted == 0
    assert math.isnan(averaged([(1, 0, 0, 0, False)]).value)
    assert math.isnan(averaged([(1, 0, 0, 0, False)], over="pooled").value)


ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.floats(0, 1), st.floats(0.5, 3), st.integers(0, 2), st.booleans()),
    min_size=1,
    max_size=30,
)


@settings(max_examples=50, deadline=None)
@given(rows=ROWS, random=st.randoms(use_true_random=False), over=st.sampled_from(["users", "lists", "pooled"]))
def test_the_order_of_the_lists_does_not_move_a_bit(rows, random, over, averaged):
    shuffled = rows.copy()
    random.shuffle(shuffled)
    first, second = averaged(rows, over=over), averaged(shuffled, over=over)
    assert first.value == second.value
    assert first.users.tolist() == second.users.tolist()
    assert first.values.tolist() == second.values.tolist()
