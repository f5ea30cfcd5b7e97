"""Cross-validation of rows and of users."""

from collections import Counter

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.split import make_folds


@pytest.mark.parametrize("name", ["kfold", "kfold-per-user"])
@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_every_row_is_tested_once_and_parts_are_even(name, count, protocol, random_rows):
    data = random_rows()
    folds = make_folds(data, protocol(name, folds=count), 1).folds
    assert len(folds) == count
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(len(data)))
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(len(data)))


def test_parts_are_even_within_each_user(protocol, random_rows):
    data = random_rows()
    folds = make_folds(data, protocol("kfold-per-user", folds=4), 1).folds
    for user in range(data.n_users):
        sizes = [(data.users[fold.test] == user).sum() for fold in folds]
        assert max(sizes) - min(sizes) <= 1


def test_users_with_one_row_do_not_all_fall_into_the_first_part(protocol, rows):
    data = rows("a1 b1 c1 d1 e1 f1")
    folds = make_folds(data, protocol("kfold-per-user", folds=3), 1).folds
    assert [len(fold.test) for fold in folds] == [2, 2, 2]


def test_seven_rows_in_three_parts(protocol, rows):
    folds = make_folds(rows("a1 a2 a3 b1 b2 c1 c2"), protocol("kfold", folds=3), 1).folds
    assert sorted(len(fold.test) for fold in folds) == [2, 2, 3]


@pytest.mark.parametrize(
    ("stated", "held_out"),
    [
        ({"holdout": "ratio", "holdout_ratio": 0.5, "rounding": "floor"}, lambda count: count // 2),
        ({"holdout": "ratio", "holdout_ratio": 0.5}, lambda count: (count + 1) // 2),
        ({"holdout": "all-but-n", "holdout_n": 4}, lambda count: 4),
        ({"holdout": "given-n", "holdout_n": 4}, lambda count: count - 4),
    ],
)
@pytest.mark.parametrize("order", ["random", "time"])
def test_every_user_is_tested_once_and_gives_what_holdout_says(stated, held_out, order, protocol, random_rows):
    data = random_rows()
    folds = make_folds(data, protocol("kfold-users", folds=4, order=order, **stated), 1).folds
    tested = Counter(user for fold in folds for user in np.unique(data.users[fold.test]).tolist())
    assert tested == Counter(range(data.n_users))
    sizes = [len(np.unique(data.users[fold.test])) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for fold in folds:
        assert len(fold.train) + len(fold.test) == len(data)
        for user in np.unique(data.users[fold.test]):
            own_test = fold.test[data.users[fold.test] == user]
            own_train = fold.train[data.users[fold.train] == user]
            assert len(own_test) == held_out(len(own_test) + len(own_train))
            if order == "time":
                assert data.timestamps[own_train].max() <= data.timestamps[own_test].min()


def test_the_latest_row_of_the_users_of_each_part(protocol, rows, written):
    data = rows("a1 a2 b1 b2", [2, 1, 1, 2])
    split = make_folds(data, protocol("kfold-users", folds=2, holdout="all-but-n", holdout_n=1, order="time"), 1)
    assert sorted(written(split, fold.test) for fold in split.folds) == ["a1", "b2"]
    assert {written(split, fold.train) for fold in split.folds} == {"a2 b1 b2", "a1 a2 b1"}


def test_short_users_are_trained_on_or_left_out_in_every_fold(protocol, rows, written):
    data = rows("a1 a2 b1 c1 c2")
    stated = {"folds": 2, "holdout": "all-but-n", "holdout_n": 1}
    split = make_folds(data, protocol("kfold-users", **stated), 1)
    assert all("b1" in written(split, fold.train) for fold in split.folds)
    assert {len(fold.test) for fold in split.folds} == {1}
    dropped = make_folds(data, protocol("kfold-users", short_users="drop", **stated), 1)
    assert all("b1" not in written(dropped, fold.train) + written(dropped, fold.test) for fold in dropped.folds)
    assert "split.short_users=drop: 1 of 3 users have too few rows to be tested" in [
        impact.sentence for impact in dropped.impacts
    ]


def test_more_parts_than_rows_or_users_are_refused(protocol, rows):
    with pytest.raises(ProtocolError, match=r"leaves fold 4 without any test row .the data has 3.; lower split.folds"):
        make_folds(rows("a1 a2 b1"), protocol("kfold", folds=4), 1)
    with pytest.raises(ProtocolError, match=r"leaves fold 3 without any test row .the data has 4.; lower split.folds"):
        make_folds(rows("a1 a2 b1 b2"), protocol("kfold-users", folds=3, holdout_ratio=0.5), 1)
