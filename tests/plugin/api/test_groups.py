"""Rows of scores in groups: the same bits whatever they are asked with, and no more work than is asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.plugin import GroupedRows

USERS, ITEMS, SIZE = 11, 7, 4
TABLE = np.arange(USERS * ITEMS, dtype=np.float32).reshape(USERS, ITEMS)


def grouped(computed=None):
    """Rows of a table; ``asked`` remembers which."""

    def rows(first, end):
        if computed is not None:
            computed.append((first, end))
        return TABLE[first:end]

    return GroupedRows(USERS, SIZE, rows)


@given(
    st.lists(st.integers(0, USERS - 1), max_size=20).map(lambda codes: np.array(codes, dtype=np.int32)),
    st.lists(st.integers(0, ITEMS - 1), max_size=12).map(lambda codes: np.array(codes, dtype=np.int32)),
)
def test_any_users_and_items_in_any_order_are_found(users, items):
    actual = grouped().block(users, items)
    assert actual.dtype == np.float64
    np.testing.assert_array_equal(actual, TABLE[np.ix_(users, items)])


def test_groups_are_always_the_same_and_the_last_is_shorter():
    computed = []
    rows = grouped(computed)
    rows.block(np.array([9, 0, 10]), np.arange(2))
    assert computed == [(0, 4), (8, 11)]


def test_who_goes_on_in_a_group_does_not_compute_it_again():
    computed = []
    rows = grouped(computed)
    for users in ([0, 1], [2, 3, 4], [5, 6]):
        rows.block(np.array(users), np.arange(ITEMS))
    assert computed == [(0, 4), (4, 8)]


def test_what_is_given_can_be_written_to():
    """A block of a whole group, or of nobody, is the caller's own."""
    rows = grouped()
    rows.block(np.arange(4), np.arange(ITEMS))[:] = -1
    np.testing.assert_array_equal(rows.block(np.arange(4), np.arange(ITEMS)), TABLE[:4])
    assert rows.block(np.arange(0), np.arange(ITEMS)).shape == (0, ITEMS)


@pytest.mark.parametrize("width", [1, 5, 64])
def test_products_have_the_same_bits_in_every_block(width):
    rng = np.random.default_rng(width)
    users, items = rng.normal(size=(100, width)).astype(np.float32), rng.normal(size=(90, width)).astype(np.float32)
    rows = GroupedRows(100, 16, lambda first, end: users[first:end] @ items.T)
    whole = rows.block(np.arange(100), np.arange(90))
    np.testing.assert_allclose(whole, users.astype(float) @ items.astype(float).T, atol=1e-5 * width**0.5)
    for _ in range(20):
        some_users, some_items = rng.choice(100, 9), rng.choice(90, 13)
        actual = rows.block(some_users, some_items)
        assert actual.tobytes() == whole[np.ix_(some_users, some_items)].tobytes()
