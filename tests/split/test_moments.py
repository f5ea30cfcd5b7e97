"""Held out by time: one point, or sampled moments of sampled users."""

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.split import make_folds, moments

TEXT, TIMES = "a1 a2 a3 b1 b2 b3 c1 c2", [10, 20, 30, 15, 25, 35, 12, 22]


def test_what_comes_after_a_point_in_time(protocol, rows, written):
    split = make_folds(rows(TEXT, TIMES), protocol("time-point", time=22), 1)
    (fold,) = split.folds
    assert written(split, fold.test) == "a3 b2 b3"
    assert written(split, fold.train) == "a1 a2 b1 c1 c2"  # the row at 22 is not after it


@pytest.mark.parametrize(("time", "noun"), [(9, "training"), (35, "test")])
def test_a_point_outside_of_the_data_is_refused(time, noun, protocol, rows):
    with pytest.raises(ProtocolError, match=f"without any {noun} row .*; move split.time into the time span"):
        make_folds(rows(TEXT, TIMES), protocol("time-point", time=time), 1)


@pytest.mark.parametrize("seed", range(8))
def test_one_moment_for_all_test_users_and_the_others_are_not_cut(seed, protocol, rows):
    data = rows(TEXT, TIMES)
    (fold,) = make_folds(data, protocol("time-users", test_users=2, clock="shared"), seed).folds
    moment = data.timestamps[fold.test].min()
    tested = np.unique(data.users[fold.test])
    assert 1 <= len(tested) <= 2  # a sampled user may have no row after the moment
    later = np.flatnonzero(data.timestamps >= moment)
    assert set(fold.test) == {row for row in later if data.users[row] in tested}
    assert len(fold.train) + len(fold.test) == len(data)


def test_one_moment_for_everybody_is_a_point_in_time(protocol, rows):
    data = rows(TEXT, TIMES)
    for seed in range(10):
        (fold,) = make_folds(data, protocol("time-users"), seed).folds
        assert data.timestamps[fold.train].max() < data.timestamps[fold.test].min()


def test_the_moment_lies_before_the_rows_of_its_time(protocol, rows, written):
    """All later actions are at time 2, so that is the moment, whatever is drawn."""
    data = rows("a1 a2 b1 b2", [1, 2, 1, 2])
    for clock in ("shared", "own"):
        split = make_folds(data, protocol("time-users", clock=clock), 1)
        assert written(split, split.folds[0].test) == "a2 b2"


@pytest.mark.parametrize("seed", range(8))
def test_a_moment_of_their_own_cuts_each_test_user_only(seed, protocol, random_rows):
    data = random_rows()
    split = make_folds(data, protocol("time-users", test_users=10, clock="own"), seed)
    (fold,) = split.folds
    tested = np.unique(data.users[fold.test])
    assert len(tested) == 10
    assert len(fold.train) + len(fold.test) == len(data)
    for user in tested:
        own_train = data.timestamps[fold.train[data.users[fold.train] == user]]
        own_test = data.timestamps[fold.test[data.users[fold.test] == user]]
        assert not len(own_train) or own_train.max() < own_test.min()


def test_every_action_of_a_user_is_as_likely_to_come_next(protocol, rows):
    """User a acts at 1, 2, 3 and 4, b at 0: over 300 seeds each is the moment about 75 times (5 sd: 38)."""
    data = rows("b1 a1 a2 a3 a4", [0, 1, 2, 3, 4])
    moments_drawn = [
        int(data.timestamps[make_folds(data, protocol("time-users", clock="own"), seed).folds[0].test].min())
        for seed in range(300)
    ]
    drawn = np.bincount(moments_drawn)
    assert drawn[0] == 0
    assert (abs(drawn[1:] - 75) < 38).all()


def test_a_training_set_for_each_test_user(protocol, random_rows):
    data = random_rows()
    split = make_folds(data, protocol("time-users", test_users=12, clock="each"), 1)
    assert len(split.folds) == 12
    users = []
    for fold in split.folds:
        (user,) = np.unique(data.users[fold.test])
        users.append(user)
        moment = data.timestamps[fold.test].min()
        assert fold.train.tolist() == np.flatnonzero(data.timestamps < moment).tolist()
        assert fold.test.tolist() == np.flatnonzero((data.timestamps >= moment) & (data.users == user)).tolist()
    assert users == sorted(set(users))
    left_out = sum(len(data) - len(fold.train) - len(fold.test) for fold in split.folds)
    (impact,) = [impact for impact in split.impacts if impact.decision == "split.clock"]
    assert (impact.touched, impact.total) == (left_out, 12 * len(data))


def test_own_and_each_draw_the_same_moments(protocol, random_rows, pairs):
    data = random_rows()
    own = make_folds(data, protocol("time-users", test_users=7, clock="own"), 3)
    each = make_folds(data, protocol("time-users", test_users=7, clock="each"), 3)
    assert pairs(own, own.folds[0].test) == set().union(*(pairs(each, fold.test) for fold in each.folds))


def test_folds_of_users_without_a_past_are_passed_over_where_unseen_users_are_dropped(protocol, rows):
    data = rows("a1 a2 b1 c1", [1, 2, 3, 4])  # b and c have one row: their moment is before all they did
    split = make_folds(data, protocol("time-users", clock="each"), 1)
    dropped = make_folds(data, protocol("time-users", clock="each", unseen_users="drop"), 1)
    assert [fold.test.tolist() for fold in split.folds] == [[1], [2], [3]]
    assert [(fold.name, fold.test.tolist()) for fold in dropped.folds] == [("1", [1])]


def test_too_many_training_sets_are_refused(monkeypatch, protocol, rows):
    monkeypatch.setattr(moments, "MOST_ROW_NUMBERS", 4)
    with pytest.raises(ProtocolError, match=r"a training set for each of 3 test users.* lower split.test_users"):
        make_folds(rows(TEXT, TIMES), protocol("time-users", clock="each"), 1)


def test_one_time_for_all_rows_leaves_nobody_to_test(protocol, rows):
    with pytest.raises(ProtocolError, match=r"all rows of the data set have the same timestamp"):
        make_folds(rows("a1 b1", [5, 5]), protocol("time-users"), 1)
