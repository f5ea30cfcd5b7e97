"""Splits given as files."""

from __future__ import annotations

import pytest

from repro.errors import DataError
from repro.split import make_folds


@pytest.fixture
def files(tmp_path):
    """Writes files of ``user,item`` rows; ``files(train="a1 a2")``."""

    def write(header="user,item", **parts):
        for name, text in parts.items():
            lines = [",".join([pair[0], *pair[1:].split("/")]) for pair in text.split()]
            (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return tmp_path

    return write


TRAIN_TEST = {"train_file": "train.csv", "test_file": "test.csv"}


def test_the_files_are_the_split(files, protocol, rows, written):
    folder = files(train="b2 a1 a10", test="a2 c1", validation="b1")
    stated = protocol("files", folder, validation_file="validation.csv", **TRAIN_TEST)
    split = make_folds(rows("z1"), stated, 1)
    (fold,) = split.folds
    assert written(split, fold.train) == "a1 a10 b2"
    assert written(split, fold.validation) == "b1"
    assert written(split, fold.test) == "a2 c1"
    assert split.interactions.user_ids.tolist() == ["a", "b", "c"]
    assert split.interactions.item_ids.tolist() == [1, 2, 10]
    assert split.interactions.timestamps is None


def test_without_a_validation_file_there_is_no_validation(files, protocol, rows):
    folder = files(train="a1", test="a2")
    assert make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1).folds[0].validation is None


def test_ratings_and_times_are_kept(files, protocol, rows):
    folder = files("user,item,rating,timestamp", train="a1/4/100 b1/2/50", test="a2/5/200")
    split = make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)
    assert split.interactions.ratings.tolist() == [4, 2, 5]
    assert split.interactions.timestamps.tolist() == [100, 50, 200]
    assert split.interactions.explicit


def test_ids_that_are_numbers_in_one_file_only_are_text(files, protocol, rows, written):
    folder = files(train="a9 a10 b9", test="bx")
    split = make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)
    assert split.interactions.item_ids.tolist() == ["10", "9", "x"]
    assert written(split, split.folds[0].train) == "a10 a9 b9"


def test_the_rules_on_held_out_rows_apply(files, protocol, rows, written):
    folder = files(train="a1 b1 b2", test="a2 c1")
    split = make_folds(rows("z1"), protocol("files", folder, unseen_users="drop", **TRAIN_TEST), 1)
    assert written(split, split.folds[0].test) == "a2"


def test_a_pair_in_both_files_is_refused_by_name(files, protocol, rows):
    folder = files(train="a1 b1 b2", test="b2 a1 c1")
    with pytest.raises(DataError, match=r"user a and item 1 are in both .*train.csv and .*test.csv \(2 such pairs\)"):
        make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)


def test_a_pair_twice_in_a_file_is_refused(files, protocol, rows):
    folder = files(train="a1 b1 a1", test="a2")
    with pytest.raises(DataError, match=r"user a and item 1 are twice in .*train.csv \(1 such pairs\)"):
        make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)


def test_files_with_and_without_ratings_are_refused(files, protocol, rows):
    files("user,item,rating", train="a1/4 b1/2")
    folder = files(test="a2")
    with pytest.raises(DataError, match=r"train.csv has ratings and .*test.csv has none; .* add the ratings"):
        make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)


def test_a_missing_file_is_refused(files, protocol, rows):
    folder = files(train="a1")
    with pytest.raises(DataError, match=r"there is no file .*test.csv"):
        make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)
