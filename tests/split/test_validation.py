"""Validation rows out of the training rows of a fold."""

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.protocol import registry
from repro.rng import combine, id_keys, stream
from repro.split import STRATEGIES, make_folds

# a has four training rows, b two and c one; what comes after time 7 is the test
TEXT = "a1 a2 a3 a4 b1 b2 c1 a5 b3"
TIMES = [1, 2, 3, 4, 5, 6, 4, 9, 8]
OWN = {"ratio": "validation_ratio", "user-ratio": "validation_ratio", "all-but-n": "validation_n"}
STATED = {"given-n": {"n": 4}, "time-point": {"time": 20}, "time-users": {"test_users": 5}}
EVERY = sorted(set(STRATEGIES) - {*OWN, "files", "fold-table"})


def sentences(split):
    return [impact.sentence for impact in split.impacts]


@pytest.mark.parametrize(
    ("stated", "train", "validation"),
    [
        # 0.4 of seven training rows are 2.8, and so 3; of a4 and c1, which are as late, 1 is the smaller id and stays
        ({"validation_share": 0.4}, "a1 a2 a3 c1", "a4 b1 b2"),
        ({"validation_share": 0.5}, "a1 a2 a3", "a4 b1 b2 c1"),
        # of 4, 2 and 1 rows 2, 1 and 0.5, which is rounded up: c is not trained on
        ({"validation_share": 0.5, "validation_of": "users"}, "a1 a2 b1", "a3 a4 b2 c1"),
        ({"validation_share": 0.5, "validation_of": "users", "rounding": "floor"}, "a1 a2 b1 c1", "a3 a4 b2"),
        ({"validation_share": 0.3, "validation_of": "users", "rounding": "ceil"}, "a1 a2 b1", "a3 a4 b2 c1"),
    ],
)
def test_the_latest_training_rows_by_hand(stated, train, validation, protocol, rows, written):
    split = make_folds(rows(TEXT, TIMES), protocol("time-point", time=7, validation_order="time", **stated), 1)
    (fold,) = split.folds
    assert written(split, fold.train) == train
    assert written(split, fold.validation) == validation
    assert written(split, fold.test) == "a5 b3"


def test_what_is_said(protocol, rows):
    stated = {"validation_share": 0.5, "validation_of": "users", "validation_order": "time"}
    split = make_folds(rows(TEXT, [1, 2, 2, 4, 5, 6, 4, 9, 8]), protocol("time-point", time=7, **stated), 1)
    assert sentences(split)[2:5] == [
        "split.validation_share=0.5: 4 of 7 training rows are set apart for validation",
        "split.rounding=round: 1 of 3 users have a validation share that is no whole number of rows",
        "split.equal_times=item-asc: 1 of 2 borders between parts lie between rows of equal time",  # a2 and a3
    ]
    split = make_folds(rows(TEXT, TIMES), protocol("kfold", folds=3, validation_share=0.5), 1)
    assert "split.validation_share=0.5: 9 of 18 training rows are set apart for validation, over 3 folds" in (
        sentences(split)
    )


@pytest.mark.parametrize("of", ["rows", "users"])
@pytest.mark.parametrize("name", ["kfold", "kfold-per-user"])
def test_random_ones_agree_with_a_plain_sort(name, of, protocol, random_rows):
    """The key of a row is a hash of the named stream, its user and its item; those with the largest are set apart."""
    data = random_rows(items=41)
    folds = make_folds(data, protocol(name, folds=3, validation_share=0.25, validation_of=of), 7).folds
    users, items = id_keys(data.user_ids), id_keys(data.item_ids)
    for number, fold in enumerate(folds):
        key = stream(7, "split", name, "validation", number)
        with np.errstate(over="ignore"):
            keys = {
                row: int(combine(combine(key, users[data.users[row]]), items[data.items[row]]))
                for row in range(len(data))
            }
        trained = set(range(len(data))) - set(fold.test.tolist())
        groups = (
            [[r for r in trained if data.users[r] == u] for u in range(data.n_users)] if of == "users" else [trained]
        )
        expected = []
        for group in groups:
            ordered = sorted(group, key=keys.__getitem__, reverse=True)
            expected += ordered[: (len(ordered) + 2) // 4]  # a quarter, halves up
        assert fold.validation.tolist() == sorted(expected)


@pytest.mark.parametrize("stated", [{}, {"validation_of": "users"}, {"validation_order": "time"}], ids=str)
@pytest.mark.parametrize("name", EVERY)
def test_only_training_rows_are_set_apart(name, stated, protocol, random_rows):
    """The test part is the one that there is without validation, and so are training and validation together."""
    data = random_rows()
    without = make_folds(data, protocol(name, **STATED.get(name, {})), 1).folds
    parted = make_folds(data, protocol(name, validation_share=0.25, **stated, **STATED.get(name, {})), 1).folds
    assert len(without) == len(parted)
    for before, after in zip(without, parted, strict=True):
        assert before.validation is None
        assert np.array_equal(after.test, before.test)
        assert np.array_equal(np.sort(np.concatenate([after.train, after.validation])), before.train)
        share = len(after.validation) / len(before.train)
        assert share == pytest.approx(0.25, abs=0.06 if stated == {"validation_of": "users"} else 0.01)


def test_the_splitter_of_a_framework_too(protocol, random_rows):
    data = random_rows()
    without, parted = (
        make_folds(data, protocol("surprise/KFold", **stated), 1).folds for stated in ({}, {"validation_share": 0.25})
    )
    for before, after in zip(without, parted, strict=True):
        assert np.array_equal(after.test, before.test)
        assert np.array_equal(np.union1d(after.train, after.validation), before.train)
        assert len(after.validation) == round(len(before.train) / 4)


def test_each_fold_draws_anew(protocol, random_rows):
    folds = make_folds(random_rows(), protocol("kfold", folds=3, validation_share=0.5), 1).folds
    shared = set(folds[0].train) | set(folds[0].validation)
    shared &= set(folds[1].train) | set(folds[1].validation)
    assert {row for row in shared if row in set(folds[0].validation)} != {
        row for row in shared if row in set(folds[1].validation)
    }


def test_a_share_that_leaves_a_part_empty_is_refused(protocol, rows):
    data = rows("a1 a2 a3 b1 b2 b3")
    with pytest.raises(
        ProtocolError, match=r"validation_share = 0.05 leaves fold 1 without any validation row .*raise it"
    ):
        make_folds(data, protocol("kfold", folds=2, validation_share=0.05), 1)
    with pytest.raises(
        ProtocolError, match=r"validation_share = 1.0 leaves fold 1 without any training row .*lower it"
    ):
        make_folds(data, protocol("kfold", folds=2, validation_share=1), 1)


@pytest.mark.parametrize("name", OWN)
def test_strategies_with_a_validation_part_of_their_own_have_no_second_one(name, protocol):
    stated = {"n": 1} if name == "all-but-n" else {}
    with pytest.raises(ProtocolError, match=r"has no effect here: it applies when split.strategy is none of"):
        protocol(name, validation_share=0.2, **stated)
    assert f"split.{OWN[name]}" in registry()


def test_times_are_needed_for_the_latest_rows(protocol, rows):
    with pytest.raises(ProtocolError, match=r'^split.validation_order = "time" needs timestamps'):
        make_folds(rows("a1 a2 b1 b2"), protocol("kfold", folds=2, validation_share=0.5, validation_order="time"), 1)
