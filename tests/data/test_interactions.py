"""The container: codes, parts, and a digest that is about content only."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data import Interactions
from repro.errors import DataError

ROWS = st.lists(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.sampled_from([0.5, 1.0, 3.0, 5.0]), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)


def frame(rows, dtype=int):
    table = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    return table.astype({"user": dtype, "item": dtype})


@settings(deadline=None)
@given(rows=ROWS, order=st.randoms(use_true_random=False))
def test_digest_does_not_depend_on_the_order_of_rows_or_the_form_of_ids(rows, order):
    shuffled = list(rows)
    order.shuffle(shuffled)
    expected = Interactions.from_frame(frame(rows)).digest
    assert Interactions.from_frame(frame(shuffled)).digest == expected
    assert Interactions.from_frame(frame(shuffled, dtype=str)).digest == expected


@pytest.mark.parametrize("changed", [(3, 2, 5.0, 1), (1, 3, 5.0, 1), (1, 2, 4.0, 1), (1, 2, 5.0, 2)])
def test_digest_tells_one_changed_cell(changed):
    rows = [(1, 2, 5.0, 1), (2, 2, 3.0, 1)]
    digest = Interactions.from_frame(frame(rows)).digest
    assert Interactions.from_frame(frame([changed, rows[1]])).digest != digest


def test_digest_of_a_part_is_that_of_the_same_rows_alone():
    rows = [(1, 2, 5.0, 1), (2, 2, 3.0, 1), (9, 7, 1.0, 1)]
    part = Interactions.from_frame(frame(rows)).select(np.array([2, 0]))
    assert part.n_users == 3
    assert part.digest == part.compact().digest == Interactions.from_frame(frame([rows[0], rows[2]])).digest


def test_codes_follow_the_ids_as_numbers_where_all_are():
    numbered = Interactions.from_frame(pd.DataFrame({"user": ["10", "9", "10"], "item": ["b", "a", "a"]}))
    assert numbered.user_ids.tolist() == [9, 10]
    assert numbered.users.tolist() == [1, 0, 1]
    assert numbered.item_ids.tolist() == ["a", "b"]
    assert not numbered.explicit
    assert numbered.ratings.tolist() == [1.0, 1.0, 1.0]


def test_ids_that_numbers_would_change_stay_text():
    interactions = Interactions.from_frame(pd.DataFrame({"user": ["007", "7", "-0"], "item": [1, 1, 1]}))
    assert sorted(interactions.user_ids) == ["-0", "007", "7"]


def test_canonical_order_is_by_user_item_timestamp_and_rating():
    rows = [(2, 1, 1.0, 0), (1, 2, 1.0, 0), (1, 1, 5.0, 9), (1, 1, 4.0, 9), (1, 1, 5.0, 3)]
    canonical = Interactions.from_frame(frame(rows)).canonical().to_frame()
    assert canonical.to_numpy().tolist() == [
        [1, 1, 5, 3],
        [1, 1, 4, 9],
        [1, 1, 5, 9],
        [1, 2, 1, 0],
        [2, 1, 1, 0],
    ]


@settings(deadline=None)
@given(rows=ROWS)
def test_compact_keeps_the_rows(rows):
    part = Interactions.from_frame(frame(rows)).select(np.arange(0, len(rows), 2))
    compact = part.compact()
    assert compact.to_frame().equals(part.to_frame())
    assert set(compact.users) == set(range(compact.n_users))
    assert set(compact.items) == set(range(compact.n_items))


def test_matrix_holds_each_rating_in_its_place():
    dense = Interactions.from_frame(frame([(1, 2, 5.0, 1), (2, 1, 3.0, 1)])).matrix().toarray()
    assert dense.tolist() == [[0, 5], [3, 0]]


def test_unknown_ids_are_named():
    data = Interactions.from_frame(frame([(1, 2, 5.0, 1)]))
    assert data.user_codes(["1"]).tolist() == [0]
    with pytest.raises(DataError, match="no item '3'"):
        data.item_codes([3])


def test_frame_without_an_item_column():
    with pytest.raises(DataError, match="has no column 'item'; it has user, itm; did you mean 'itm'"):
        Interactions.from_frame(pd.DataFrame({"user": [1], "itm": [1]}))


def test_dates_become_seconds():
    times = pd.to_datetime(["1970-01-02T00:00:00", "1970-01-01T00:01:00"])
    data = Interactions.from_frame(pd.DataFrame({"user": [1, 2], "item": [1, 2], "timestamp": times}))
    assert data.timestamps.tolist() == [86400, 60]


def test_large_whole_timestamps_keep_every_digit():
    nanoseconds = 1_700_000_000_123_456_789
    data = Interactions.from_frame(pd.DataFrame({"user": [1], "item": [1], "timestamp": [nanoseconds]}))
    assert data.timestamps.tolist() == [nanoseconds]


def test_ratings_written_as_text_are_read_to_the_last_bit():
    written = ["0.1", "0.30000000000000004", " 0.7853981633974483 ", "1e-3", 4, 2.675]
    for values in (written[:2], written):
        frame = pd.DataFrame({"user": range(len(values)), "item": 1, "rating": pd.Series(values, dtype=object)})
        assert Interactions.from_frame(frame).ratings.tolist() == [float(value) for value in values]
