"""The order of rows, the last of which are held out."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data.interactions import Interactions
from repro.rng import stream
from repro.split.order import hold_out_last, holdout_order, random_order
from repro.split.plan import TEST, TRAIN, VALIDATION

KEY = stream(1, "test")


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=40))
def test_equal_times_agree_with_a_plain_sort(rows, protocol):
    users, items, times = zip(*rows, strict=True)
    data = Interactions.from_frame(pd.DataFrame({"user": users, "item": items, "timestamp": times}))
    numbers = range(len(rows))
    by_item = protocol("ratio", order="time")
    by_source = protocol("ratio", order="time", equal_times="source")
    in_user = {"groups": data.users}
    assert holdout_order(data, by_item, KEY).tolist() == sorted(
        numbers, key=lambda row: (times[row], items[row], users[row], row)
    )
    assert holdout_order(data, by_item, KEY, **in_user).tolist() == sorted(
        numbers, key=lambda row: (users[row], times[row], items[row], row)
    )
    assert holdout_order(data, by_source, KEY, **in_user).tolist() == sorted(
        numbers, key=lambda row: (users[row], times[row], row)
    )


@pytest.mark.parametrize("by_user", [False, True])
def test_rows_of_one_pair_are_ordered_by_what_they_hold(by_user):
    frame = pd.DataFrame({"user": [1, 1, 1, 2, 2], "item": [7, 7, 7, 7, 8], "timestamp": [5, 3, 4, 1, 1]})
    orders = []
    for seed in range(6):
        data = Interactions.from_frame(frame.sample(frac=1, random_state=seed))
        ordered = data.select(random_order(data, KEY, data.users if by_user else None))
        orders.append((ordered.users.tolist(), ordered.items.tolist(), ordered.timestamps.tolist()))
    assert all(order == orders[0] for order in orders)


def test_the_last_rows_of_each_group_are_held_out():
    groups = np.array([1, 0, 1, 1, 0])
    parts = hold_out_last(np.array([1, 4, 3, 0, 2]), np.array([0, 1]), np.array([1, 1]), groups)
    assert parts.tolist() == [VALIDATION, TRAIN, TEST, TRAIN, VALIDATION]
