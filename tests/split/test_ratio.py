"""Shares of all rows, and of every user's."""

from dataclasses import replace
from itertools import pairwise
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ProtocolError
from repro.split import make_folds


def test_half_a_quarter_and_a_quarter_of_all_rows(protocol, rows):
    data = rows("a1 a2 a3 a4 b1 b2 b3 b4")
    (fold,) = make_folds(data, protocol("ratio", test_ratio=0.25, validation_ratio=0.25), 1).folds
    assert (len(fold.train), len(fold.validation), len(fold.test)) == (4, 2, 2)


def test_halves_are_rounded_up(protocol, rows):
    (fold,) = make_folds(rows("a1 a2 a3 a4 b1"), protocol("ratio", test_ratio=0.5), 1).folds
    assert (len(fold.train), len(fold.test), fold.validation) == (2, 3, None)


def test_the_latest_rows_are_the_test_and_those_before_them_validation(protocol, rows, written):
    data = rows("a1 a2 a3 b1 b2 b3 b4 c1", [70, 10, 30, 20, 80, 60, 40, 50])
    split = make_folds(data, protocol("time-ratio", test_ratio=0.25, validation_ratio=0.375), 1)
    (fold,) = split.folds
    assert written(split, fold.test) == "a1 b2"
    assert written(split, fold.validation) == "b3 b4 c1"
    assert written(split, fold.train) == "a2 a3 b1"


def test_equal_times_by_item_then_user(protocol, rows, written):
    data = rows("b2 a2 c1 a1", [5, 5, 5, 5])
    split = make_folds(data, protocol("ratio", order="time", test_ratio=0.25), 1)
    assert written(split, split.folds[0].test) == "b2"  # the order is a1, c1, a2, b2
    split = make_folds(data, protocol("ratio", order="time", test_ratio=0.5), 1)
    assert written(split, split.folds[0].test) == "a2 b2"


def test_equal_times_as_in_the_source(protocol, rows, written):
    data = rows("b2 a2 c1 a1", [5, 5, 5, 5])
    split = make_folds(data, protocol("ratio", order="time", test_ratio=0.5, equal_times="source"), 1)
    assert written(split, split.folds[0].test) == "a1 c1"


def test_equal_times_at_random_hang_on_the_seed_and_on_no_row_order(protocol, random_rows, pairs):
    data = replace(random_rows(), timestamps=np.zeros(len(random_rows()), dtype=np.int64))
    stated = protocol("user-ratio", order="time", equal_times="random")
    mirrored = data.select(np.arange(len(data))[::-1])
    original, reflected = make_folds(data, stated, 1), make_folds(mirrored, stated, 1)
    assert pairs(original, original.folds[0].test) == pairs(reflected, reflected.folds[0].test)
    assert not np.array_equal(original.folds[0].test, make_folds(data, stated, 2).folds[0].test)


def test_the_journal_can_say_where_equal_times_decided(protocol, rows):
    data = rows("a1 a2 a3 b1 b2 b3", [1, 2, 2, 1, 1, 2])
    split = make_folds(data, protocol("user-ratio", order="time", test_ratio=0.3), 1)
    sentences = [impact.sentence for impact in split.impacts]
    assert "split.equal_times=item-asc: 1 of 2 borders between parts lie between rows of equal time" in sentences
    assert "split.rounding=round: 2 of 2 users have a test share that is no whole number of rows" in sentences


@pytest.mark.parametrize(("rounding", "to_whole"), [("floor", floor), ("ceil", ceil)])
def test_every_user_gives_the_share(rounding, to_whole, protocol, random_rows):
    data = random_rows()
    (fold,) = make_folds(data, protocol("user-ratio", test_ratio=0.25, rounding=rounding), 1).folds
    for user in range(data.n_users):
        assert (data.users[fold.test] == user).sum() == to_whole((data.users == user).sum() / 4)


def test_validation_gets_at_most_what_the_test_leaves(protocol, rows, written):
    data = rows("a1 a2 b1 c1 c2 c3 c4", [1, 2, 1, 1, 2, 3, 4])
    stated = protocol("user-time-ratio", test_ratio=0.5, validation_ratio=0.25, rounding="ceil")
    split = make_folds(data, stated, 1)
    (fold,) = split.folds
    assert written(split, fold.test) == "a2 b1 c3 c4"
    assert written(split, fold.validation) == "a1 c2"
    assert written(split, fold.train) == "c1"


@settings(max_examples=25, deadline=None)
@given(data_seed=st.integers(0, 1000), equal_times=st.sampled_from(["item-asc", "source", "random"]))
def test_no_test_row_is_earlier_than_a_training_row_of_its_user(data_seed, equal_times, protocol, random_rows):
    data = random_rows(10, 12, 0.7, data_seed)
    stated = protocol("user-ratio", order="time", test_ratio=0.3, validation_ratio=0.3, equal_times=equal_times)
    (fold,) = make_folds(data, stated, 1).folds
    for user in range(data.n_users):
        parts = [data.timestamps[part[data.users[part] == user]] for part in (fold.train, fold.validation, fold.test)]
        for earlier, later in pairwise(parts):
            assert not len(earlier) or not len(later) or earlier.max() <= later.min()


def test_random_rows_are_held_out_evenly(protocol, rows):
    """Each of 4 rows of a user is held out in about a quarter of 2,000 drawings (5 standard deviations: 97)."""
    data = rows("a1 a2 a3 a4")
    stated = protocol("user-ratio", test_ratio=0.25, repeats=2000)
    held_out = np.bincount([int(fold.test[0]) for fold in make_folds(data, stated, 1).folds])
    assert (abs(held_out - 500) < 97).all()


def test_a_share_of_nothing_is_refused(protocol, rows):
    with pytest.raises(ProtocolError, match=r"without any test row .the data has 2.; change split.test_ratio"):
        make_folds(rows("a1 a2"), protocol("ratio", test_ratio=0.2), 1)
    with pytest.raises(ProtocolError, match=r'without any test row .* split.rounding = "ceil"'):
        make_folds(rows("a1 a2 b1 b2"), protocol("user-ratio", test_ratio=0.2), 1)
    with pytest.raises(ProtocolError, match=r"without any validation row"):
        make_folds(rows("a1 a2 a3 a4"), protocol("ratio", test_ratio=0.5, validation_ratio=0.1), 1)
