"""Splits given as files."""

import gzip

import pytest

from repro.errors import DataError, ProtocolError
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


def test_filters_that_have_nothing_to_act_on_are_refused(files, protocol):
    stated = protocol("files", files(train="a1 b2", test="a2"), **TRAIN_TEST)
    with pytest.raises(ProtocolError, match=r'data.user_core = 2 has no effect here: .* split.strategy is not "files"'):
        stated.replace({"data.user_core": 2}, "test")


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


def sentences(split):
    return [impact.sentence for impact in split.impacts]


def test_a_pair_in_both_files_stays_in_both_and_is_told(files, protocol, rows, written):
    folder = files(train="a1 b1 b2", test="b2 a1 c1")
    split = make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)
    assert written(split, split.folds[0].train) == "a1 b1 b2"
    assert written(split, split.folds[0].test) == "a1 b2 c1"
    assert (
        "split.test_file=test.csv: 2 of 3 rows are of a user and item that split.train_file has too, and stay in both: "
        "held out although known"
    ) in sentences(split)


def test_a_test_pair_in_the_validation_file_is_told(files, protocol, rows, written):
    folder = files(train="a1 b1", test="a2 b2", validation="b2 a3")
    stated = protocol("files", folder, validation_file="validation.csv", **TRAIN_TEST)
    split = make_folds(rows("z1"), stated, 1)
    assert written(split, split.folds[0].test) == "a2 b2"
    assert written(split, split.folds[0].validation) == "a3 b2"
    assert any(
        "1 of 2 rows are of a user and item that split.validation_file has too" in text for text in sentences(split)
    )


def test_a_training_pair_in_the_validation_file_is_refused(files, protocol, rows):
    folder = files(train="a1 b1", test="a2", validation="b1 a1")
    stated = protocol("files", folder, validation_file="validation.csv", **TRAIN_TEST)
    with pytest.raises(
        DataError, match=r"user b and item 1 are in both .*train.csv and .*validation.csv \(2 such pairs"
    ):
        make_folds(rows("z1"), stated, 1)


def test_a_pair_twice_in_a_file_is_refused(files, protocol, rows):
    folder = files(train="a1 b1 a1", test="a2")
    with pytest.raises(
        DataError, match=r"train.csv: 1 pair has several rows; .*user a and item 1.*State data.duplicates"
    ):
        make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)


def test_a_pair_twice_in_a_file_is_treated_as_the_protocol_says(files, protocol, rows, written):
    folder = files("user,item,rating", train="a1/4 b1/2 a1/2", test="a2/5 b2/3 b2/4")
    stated = protocol("files", folder, **TRAIN_TEST).replace({"data.duplicates": "mean"}, "test")
    split = make_folds(rows("z1"), stated, 1)
    assert written(split, split.folds[0].train) == "a1 b1"
    assert split.interactions.ratings.tolist() == [2, 3, 5, 3.5]  # where the last row of the pair stands
    texts = sentences(split)
    assert (
        "data.duplicates=mean: 1 of 3 rows of split.train_file are merged into another of the same user and item"
        in texts
    )
    assert any(text.startswith("split.test_file=test.csv: 2 of 3 rows are used, read as: ") for text in texts)


def test_files_with_and_without_ratings_are_refused_where_relevance_compares_them(files, protocol, rows):
    files("user,item,rating", train="a1/4 b1/2")
    folder = files(test="a2")
    stated = protocol("files", folder, **TRAIN_TEST)
    stated = stated.replace({"relevance.rule": "threshold", "relevance.threshold": 4}, "test")
    with pytest.raises(
        DataError, match=r"train.csv has ratings and .*test.csv has none; .*use relevance.rule = \"any\""
    ):
        make_folds(rows("z1"), stated, 1)


def test_ratings_of_the_training_file_alone_are_kept(files, protocol, rows):
    files("user,item,rating", train="a1/4 b1/2")
    split = make_folds(rows("z1"), protocol("files", files(test="a2"), **TRAIN_TEST), 1)
    assert split.interactions.explicit
    assert not split.rated
    assert split.interactions.ratings.tolist() == [4, 2, 1]
    assert any("it has no ratings, unlike the training file: they are 1" in text for text in sentences(split))


def test_ratings_and_times_of_the_test_file_alone_are_not_used(files, protocol, rows):
    files(train="a1 b1")
    folder = files("user,item,rating,timestamp", test="a2/5/100")
    split = make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)
    assert not split.interactions.explicit
    assert split.rated
    assert split.interactions.ratings.tolist() == [1, 1, 1]
    assert split.interactions.timestamps is None
    text = next(sentence for sentence in sentences(split) if sentence.startswith("split.test_file"))
    assert "its ratings are not used, since the training file has none" in text
    assert "its timestamps are not used, since another file has none" in text


def test_what_was_assumed_of_each_file_is_told(files, protocol, rows):
    folder = files("UserID,movie_id,title", train="a1/x b1/y", test="a2/z")
    texts = sentences(make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1))
    assert (
        "split.train_file=train.csv: 2 of 2 rows are used, read as: text separated by commas with a header; taken are "
        "UserID for user, movie_id for item; not used: title; user ids are text; item ids are whole numbers"
    ) in texts


def test_numbers_with_decimals_in_one_file_are_the_numbers_of_the_other(tmp_path, protocol, rows, written):
    (tmp_path / "train.csv").write_text("user,item\n1,10\n2,11\n")
    (tmp_path / "test.csv").write_text('user,item\n"1","11.0"\n"2","10.0"\n')
    split = make_folds(rows("z1"), protocol("files", tmp_path, **TRAIN_TEST), 1)
    assert split.interactions.item_ids.tolist() == [10, 11]
    assert written(split, split.folds[0].test) == "111 210"
    assert any(
        "item ids such as 10.0 are taken for whole numbers, as in the other files" in s for s in sentences(split)
    )


def test_a_line_for_each_user(tmp_path, protocol, rows, written):
    (tmp_path / "train.csv").write_text("0 10 11 12\n1 10\n2 12 13 \n3\n")
    (tmp_path / "test.csv").write_text("0 13\n1 11\n2\n")
    split = make_folds(rows("z1"), protocol("files", tmp_path, **TRAIN_TEST), 1)
    assert written(split, split.folds[0].train) == "010 011 012 110 212 213"
    assert written(split, split.folds[0].test) == "013 111"
    texts = sentences(split)
    assert any(
        "each line is a user and its items; 1 users have no items in their lines, the first in line 4" in s
        for s in texts
    )


def test_equally_long_lines_beside_a_file_of_lists_are_lists_where_the_items_are_the_same(
    tmp_path, protocol, rows, written
):
    (tmp_path / "train.csv").write_text("0 10 11 12\n1 10\n2 12 13\n")
    (tmp_path / "test.csv").write_text("0 13 10\n1 11 12\n")  # not user, item and rating
    split = make_folds(rows("z1"), protocol("files", tmp_path, **TRAIN_TEST), 1)
    assert written(split, split.folds[0].test) == "010 013 111 112"
    (tmp_path / "test.csv").write_text("0 13 5 881250949\n1 11 4 881250950\n")
    split = make_folds(rows("z1"), protocol("files", tmp_path, **TRAIN_TEST), 1)
    assert written(split, split.folds[0].test) == "013 111"


def test_atomic_files_and_compressed_ones(tmp_path, protocol, rows, written):
    text = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
    (tmp_path / "ml.train.inter").write_text(text + "1\t10\t4\t7\n2\t10\t3\t8\n")
    (tmp_path / "ml.test.inter.gz").write_bytes(gzip.compress((text + "1\t11\t5\t9\n").encode()))
    files = {"train_file": "ml.train.inter", "test_file": "ml.test.inter.gz"}
    split = make_folds(rows("z1"), protocol("files", tmp_path, **files), 1)
    assert written(split, split.folds[0].test) == "111"
    assert split.interactions.timestamps.tolist() == [7, 8, 9]


def test_columns_that_nobody_knows_are_refused_with_what_can_be_done(files, protocol, rows):
    folder = files("person,thing", train="a1 b1", test="a2")
    with pytest.raises(DataError, match=r"train.csv has no column 'user'.*a first line such as 'user,item,rating'"):
        make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)


def test_a_missing_file_is_refused(files, protocol, rows):
    folder = files(train="a1")
    with pytest.raises(DataError, match=r"there is no file .*test.csv"):
        make_folds(rows("z1"), protocol("files", folder, **TRAIN_TEST), 1)
