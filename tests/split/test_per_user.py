"""Given n, all but n, and a number drawn for each user."""

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.split import make_folds

TEXT, TIMES = "a1 a2 a3 b1 b2 c1", [30, 10, 20, 5, 6, 7]


def test_the_latest_row_of_each_user(protocol, rows, written):
    split = make_folds(rows(TEXT, TIMES), protocol("leave-one-last"), 1)
    (fold,) = split.folds
    assert written(split, fold.test) == "a1 b2"
    assert written(split, fold.train) == "a2 a3 b1 c1"


def test_the_latest_row_for_the_test_and_the_one_before_for_validation(protocol, rows, written):
    split = make_folds(rows(TEXT, TIMES), protocol("leave-one-last", validation_n=1, short_users="drop"), 1)
    (fold,) = split.folds
    assert [written(split, part) for part in (fold.train, fold.validation, fold.test)] == ["a2", "a3", "a1"]


def test_the_first_row_given(protocol, rows, written):
    split = make_folds(rows(TEXT, TIMES), protocol("given-n", n=1, order="time"), 1)
    (fold,) = split.folds
    assert written(split, fold.train) == "a2 b1 c1"
    assert written(split, fold.test) == "a1 a3 b2"


def test_users_without_a_row_beyond_the_given_ones_can_be_dropped(protocol, rows, written):
    split = make_folds(rows(TEXT, TIMES), protocol("given-n", n=2, order="time", short_users="drop"), 1)
    (fold,) = split.folds
    assert written(split, fold.train) == "a2 a3"
    assert written(split, fold.test) == "a1"
    assert "split.short_users=drop: 2 of 3 users have too few rows to be tested" in [
        impact.sentence for impact in split.impacts
    ]


@pytest.mark.parametrize("n", [1, 3, 8])
def test_counts_of_each_user(n, protocol, random_rows):
    data = random_rows(density=0.2)
    fold = make_folds(data, protocol("given-n", n=n), 1).folds[0]
    all_but = make_folds(data, protocol("all-but-n", n=n, validation_n=2), 1).folds[0]
    for user in range(data.n_users):
        count = int((data.users == user).sum())
        assert (data.users[fold.train] == user).sum() == min(count, n)
        short = count < n + 3
        assert (data.users[all_but.test] == user).sum() == (0 if short else n)
        assert (data.users[all_but.validation] == user).sum() == (0 if short else 2)


def test_all_users_short_is_refused(protocol, rows):
    with pytest.raises(ProtocolError, match=r"without any test row .*; lower split.n or split.validation_n"):
        make_folds(rows(TEXT), protocol("all-but-n", n=3), 1)


def test_a_number_of_rows_is_drawn_for_each_user_and_some_stay(protocol, random_rows):
    data = random_rows()
    (fold,) = make_folds(data, protocol("random-n"), 1).folds
    counts, held_out = np.bincount(data.users), np.bincount(data.users[fold.test])
    assert ((held_out >= 1) & (held_out <= counts - 1)).all()
    assert len(set(held_out.tolist())) > 4


def test_the_number_is_uniform_up_to_all_but_one(protocol, rows):
    """With 4 rows, 1, 2 and 3 are held out in a third of 3,000 drawings each (5 standard deviations: 129)."""
    folds = make_folds(rows("a1 a2 a3 a4"), protocol("random-n", repeats=3000), 1).folds
    drawn = np.bincount([len(fold.test) for fold in folds], minlength=5)
    assert drawn[0] == drawn[4] == 0
    assert (abs(drawn[1:4] - 1000) < 129).all()


def test_only_sampled_users_are_tested_and_those_with_one_row_never(protocol, rows):
    data = rows("a1 a2 b1 c1 c2 d1 d2 d3")
    seen = set()
    for fold in make_folds(data, protocol("random-n", test_users=2, repeats=50), 1).folds:
        tested = set(data.user_ids[data.users[fold.test]].tolist())
        assert len(tested) == 2
        seen |= tested
    assert seen == {"a", "c", "d"}


def test_more_test_users_than_there_are_is_refused(protocol, rows):
    with pytest.raises(ProtocolError, match=r"split.test_users = 2 asks for more users than can be tested: .* 1 of"):
        make_folds(rows("a1 a2 b1"), protocol("random-n", test_users=2), 1)
