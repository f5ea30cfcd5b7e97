"""Head items, unseen users and items, and the impacts that report them."""

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.errors import DataError, ProtocolError
from repro.split import make_folds

# item 1 has 4 rows, items 2 and 3 have 2, items 4 and 5 have 1; the last five rows are the test
TEXT = "a1 b1 c1 b2 a3 d1 a2 c3 d4 d5"
TIMES = [1, 1, 1, 1, 1, 9, 9, 9, 9, 9]


def sentences(split):
    return [impact.sentence for impact in split.impacts]


def test_nothing_is_excluded_unless_asked(protocol, rows):
    split = make_folds(rows(TEXT, TIMES), protocol("time-point", time=5), 1)
    assert split.removed_items.tolist() == []
    assert split.removed_items.dtype == np.int32
    assert split.target_items is None
    assert split.folds[0].test.tolist() == [5, 6, 7, 8, 9]
    assert sentences(split)[-3:] == [
        "split.head=0.0: 0 of 5 items are left out of the test (0 of 5 held-out rows)",
        "split.unseen_users=keep: 3 of 5 held-out rows are of users without training rows, and tested",
        "split.unseen_items=keep: 2 of 5 held-out rows are of items without training rows, and tested",
    ]
    assert sentences(split)[0] == "split.strategy=time-point: 5 of 10 rows are held out for testing"


def test_the_head_leaves_the_test_and_not_the_training(protocol, rows, written):
    """A fifth of five items is item 1; 0.3 of them, rounded up, is two: 1, and 2 before 3 by its id."""
    data = rows(TEXT, TIMES)
    split = make_folds(data, protocol("time-point", time=5, head=0.2), 1)
    assert data.item_ids[split.removed_items].tolist() == [1]
    assert written(split, split.folds[0].test) == "a2 c3 d4 d5"
    assert written(split, split.folds[0].train) == "a1 a3 b1 b2 c1"
    split = make_folds(data, protocol("time-point", time=5, head=0.3), 1)
    assert data.item_ids[split.removed_items].tolist() == [1, 2]
    assert written(split, split.folds[0].test) == "c3 d4 d5"
    assert "split.head=0.3: 2 of 5 items are left out of the test (2 of 5 held-out rows)" in sentences(split)


@pytest.mark.parametrize(
    ("stated", "left"),
    [
        ({"unseen_users": "drop"}, "a2 c3"),
        ({"unseen_items": "drop"}, "a2 c3 d1"),
        ({"unseen_users": "drop", "unseen_items": "drop"}, "a2 c3"),
    ],
)
def test_rows_of_the_unseen_are_dropped(stated, left, protocol, rows, written):
    split = make_folds(rows(TEXT, TIMES), protocol("time-point", time=5, **stated), 1)
    assert written(split, split.folds[0].test) == left
    assert written(split, split.folds[0].train) == "a1 a3 b1 b2 c1"


def test_validation_follows_the_same_rules(protocol, rows, written):
    data = rows("a1 a2 b1 b2 a3 c1 a4 c2", [1, 2, 3, 4, 5, 6, 7, 8])
    stated = {"order": "time", "test_ratio": 0.25, "validation_ratio": 0.25}
    split = make_folds(data, protocol("ratio", unseen_users="drop", **stated), 1)
    (fold,) = split.folds
    assert (written(split, fold.validation), written(split, fold.test)) == ("a3", "a4")
    split = make_folds(data, protocol("ratio", head=0.5, **stated), 1)  # items 1 and 2
    (fold,) = split.folds
    assert (written(split, fold.validation), written(split, fold.test)) == ("a3", "a4")


def test_each_fold_has_its_own_unseen_users(protocol, rows):
    """b has one row: in the fold that tests it, b is unseen."""
    data = rows("a1 a2 a3 b1")
    split = make_folds(data, protocol("kfold", folds=2, unseen_users="drop"), 1)
    tested = np.concatenate([fold.test for fold in split.folds])
    assert data.user_ids[data.users[tested]].tolist() == ["a", "a", "a"]
    assert "split.strategy=kfold: 3 of 8 rows are held out for testing, over 2 folds" in sentences(split)
    assert (
        "split.unseen_users=drop: 1 of 4 held-out rows are of users without training rows, and left out"
        in sentences(split)
    )


@pytest.mark.parametrize("stated", [{"head": 1.0}, {"unseen_users": "drop"}])
def test_rules_that_leave_nothing_are_refused(stated, protocol, rows):
    data = rows("a1 b1", [1, 2])
    with pytest.raises(ProtocolError, match=r"fold 1 loses all its 1 test rows to the rules .* lower split.head"):
        make_folds(data, protocol("time-point", time=1, **stated), 1)
    data = rows("a1 b1 c1", [1, 2, 3])
    with pytest.raises(ProtocolError, match=r"no fold has test rows"):
        make_folds(data, protocol("time-users", clock="each", **stated), 1)


def test_data_without_rows_is_refused(protocol, rows):
    data = rows("a1")
    empty = data.select(np.zeros(1, dtype=bool))
    assert isinstance(empty, Interactions)
    with pytest.raises(DataError, match=r"no rows left to split"):
        make_folds(empty, protocol("kfold"), 1)
