"""The files that are recognised, their roles, and their rows in every format."""

import gzip
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, save_npz

from repro.errors import DataError
from repro.reviews.artefact.names import name_clues
from tests.reviews.artefacts import found, lines, reviewed, write

TRAIN = [(1, 10), (1, 11), (1, 12), (2, 10), (2, 13), (3, 11), (3, 14), (3, 15), (3, 16)]
TEST = [(1, 13), (2, 11), (3, 10)]


def user_lines(rows):
    by_user = {}
    for user, item in rows:
        by_user.setdefault(user, []).append(item)
    return lines([(user, *items) for user, items in by_user.items()], " ")


def counted(rows, n_users=4):
    """Lines of a count and so many items, the user being the number of the line."""
    by_user = [[item for user, item in rows if user == number] for number in range(n_users)]
    return lines([(len(items), *items) for items in by_user], " ")


def parquet(rows):
    buffer = io.BytesIO()
    pd.DataFrame(rows, columns=["user_id", "item_id"]).to_parquet(buffer)
    return buffer.getvalue()


def matrix(rows):
    users, items = np.array(rows).T
    buffer = io.BytesIO()
    save_npz(buffer, coo_array((np.ones(len(rows)), (users, items)), shape=(20, 20)).tocsr())
    return buffer.getvalue()


def array(rows):
    buffer = io.BytesIO()
    np.save(buffer, np.array(rows))
    return buffer.getvalue()


def zipped(rows):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("train.csv", lines(rows, ","))
        archive.writestr("__MACOSX/._train.csv", b"\0\5\26\7")
    return buffer.getvalue()


FORMATS = {
    "tabs": ("{part}.txt", lambda rows: lines([(*row, 5, 100 + n) for n, row in enumerate(rows)])),
    "commas": ("{part}.csv", lambda rows: "user,item\n" + lines(rows, ",")),
    "colons": ("{part}.dat", lambda rows: lines([(*row, 4, 9) for row in rows], "::")),
    "user lines": ("{part}.txt", user_lines),
    "counts": ("cf-{part}-1-users.dat", counted),
    "counts by item": (
        "cf-{part}-1-items.dat",
        lambda rows: lines(
            [(len(of), *of) for of in ([user for user, item in rows if item == n] for n in range(20))], " "
        ),
    ),
    "recbole": ("ml.{part}.inter", lambda rows: "user_id:token\titem_id:token\n" + lines(rows)),
    "parquet": ("{part}.parquet", parquet),
    "json": ("{part}.json", lambda rows: json.dumps([{"user": u, "item": i} for u, i in rows])),
    "gzip": ("{part}.csv.gz", lambda rows: gzip.compress(lines(rows, ",").encode())),
    "zip": ("{part}.csv.zip", zipped),
    "npz": ("{part}Mat.npz", matrix),
    "npy": ("{part}.npy", array),
    "folders": ("{part}/data.tsv", lines),
    "base": ("u1.{part}", lines),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_rows_are_read_from_every_format(tmp_path, name):
    pattern, content = FORMATS[name]
    first = "base" if name == "base" else "train"
    files = {pattern.format(part=first): content(TRAIN), pattern.format(part="test"): content(TEST)}
    result = reviewed(tmp_path, files)
    assert not result.unread
    assert {report.role for report in result.files} == {"train", "test"}
    assert {report.role: report.rows for report in result.files} == {"train": len(TRAIN), "test": len(TEST)}
    (sizes,) = found(result, "sizes")
    assert sizes.text == "the files have 3 users, 7 items, 12 rows"
    leaked = reviewed(tmp_path, {pattern.format(part="test"): content([*TEST, TRAIN[0]])})
    (leak,) = found(leaked, "test-in-train")
    assert (leak.count, leak.total) == (1, 4)
    assert leak.examples[0].text == "user 1, item 10"
    assert all(place.split(" ")[0] in files for place in leak.examples[0].places)


def test_users_with_a_colon(tmp_path):
    result = reviewed(tmp_path, {"train.txt": "1:10 11\n2:10 12 13\n", "test.txt": "1:12\n2:11\n"})
    assert found(result, "sizes")[0].text == "the files have 2 users, 4 items, 7 rows"


def test_mappings_of_ids_are_no_interactions(tmp_path):
    result = reviewed(tmp_path, {"index.txt": "1 7\n2 8\n3 9\n", "item_index2entity_id.txt": "1 5\n1 6\n2 5\n"})
    assert [report.role for report in result.files] == ["undetermined", "other"]
    assert result.data_sets == ()


def test_lists_of_one_length_are_read_as_the_other_lists_of_their_split(tmp_path):
    # Alone, lines of three numbers are a user, an item and a rating.
    lists = {"train.txt": "0 1 2 3 4 5\n1 6 7 8\n2 1 9 10 11\n", "test.txt": "0 6 7\n1 4 5\n2 8 3\n"}
    result = reviewed(tmp_path, lists)
    assert found(result, "sizes")[0].text == "the files have 3 users, 11 items, 18 rows"
    assert not found(result, "ratings")
    triples = {"train.txt": "0 1 2 3 4 5\n1 6 7 8\n2 1 9 10 11\n", "test.txt": "0 6 4.5\n1 4 3.0\n2 8 2.5\n"}
    assert found(reviewed(tmp_path, triples), "sizes")[0].text.endswith("15 rows")


def test_numbered_parts_are_undetermined(tmp_path):
    header = "user_id:token\titem_id:token\n"
    parts = {f"ml-100k.part{n}.inter": header + lines(rows) for n, rows in ((1, TRAIN), (2, TEST), (3, TEST))}
    result = reviewed(tmp_path, {**parts, "ml-1m.inter": header + lines(TRAIN)})
    roles = {report.name: report.role for report in result.files}
    assert [roles[name] for name in parts] == ["undetermined"] * 3
    assert roles["ml-1m.inter"] == "whole"
    stated = {"*part1*": "train", "*part2*": "validation", "*part3*": "test"}
    assert found(reviewed(tmp_path, {}, roles=stated), "validation-is-test")


def test_parts_of_different_data_are_not_joined(tmp_path):
    result = reviewed(tmp_path, {"ml_train.csv": lines(TRAIN, ","), "yelp_test.csv": lines(TRAIN, ",")})
    assert result.data_sets == ("ml", "yelp")
    result = reviewed(tmp_path / "x", {"train.csv": lines(TRAIN, ","), "test_final.csv": lines(TRAIN, ",")})
    assert found(result, "test-in-train")[0].count == len(TRAIN)


def test_lines_of_one_length_that_begin_with_it_are_counts(tmp_path):
    # Read as users and items, all rows would be those of user 2.
    result = reviewed(tmp_path, {"cf-train.dat": "2 5 6\n2 7 8\n2 5 8\n", "cf-test.dat": "1 7\n0\n2 6 9\n"})
    assert [report.users for report in result.files] == [2, 3]
    assert found(result, "sizes")[0].text == "the files have 3 users, 5 items, 9 rows"


def test_negatives_of_ncf_and_of_lists(tmp_path):
    files = {
        "ml.train.rating": "0\t1\t5\t10\n0\t2\t4\t11\n1\t3\t5\t12\n",
        "ml.test.rating": "0\t7\t5\t20\n1\t8\t3\t21\n",
        "ml.test.negative": "(0,7)\t4\t5\t6\n(1,8)\t4\t5\t6\n",
    }
    result = reviewed(tmp_path, files)
    assert [(report.name, report.role) for report in result.files] == [
        ("ml.test.negative", "negatives"),
        ("ml.test.rating", "test"),
        ("ml.train.rating", "train"),
    ]
    assert found(result, "length-of-negatives")[0].text == "each of 2 lists of negatives has 3 items"
    files["ml.test.negative"] = "0\t4\t5\t6\n1\t4\t5\t6\n"
    assert found(reviewed(tmp_path, files), "length-of-negatives")[0].text.startswith("each of 2 lists")


def test_sequences_and_their_samples(tmp_path):
    result = reviewed(
        tmp_path,
        {"LastFM.txt": "1 5 6 7\n2 6 8 9 5 10\n", "LastFM_sample.txt": "1 8 9 10\n2 7 5 11\n", "x_item2a.json": "{}"},
    )
    assert [report.role for report in result.files] == ["whole", "negatives", "other"]
    (positive,) = found(result, "whole-items-among-negatives")
    assert (positive.count, positive.examples[0].text) == (1, "user 2, item 5")


def test_folds_of_a_column_and_parts_of_a_column(tmp_path):
    rows = [("a", "x", 1), ("a", "y", 2), ("b", "x", 2), ("b", "y", 1), ("b", "x", 1)]
    result = reviewed(tmp_path, {"folds.csv": "user,item,fold\n" + lines(rows, ",")})
    assert result.data_sets == ("folds, fold 1", "folds, fold 2")
    leaks = found(result, "test-in-train")  # user b, item x is in both folds
    assert [(leak.data, leak.count) for leak in leaks] == [("folds, fold 1", 1), ("folds, fold 2", 1)]
    rows = [("a", "x", "train"), ("b", "x", "train"), ("a", "y", "test")]
    result = reviewed(tmp_path / "parts", {"split.csv": "user,item,split\n" + lines(rows, ",")})
    assert found(result, "shares")[0].text == "of 3 rows: training 66.67%, test 33.33%"


def test_a_file_whose_name_tells_nothing_is_undetermined_until_its_role_is_stated(tmp_path):
    files = {"lastfm/data1.txt": lines(TRAIN), "lastfm/test1.txt": lines(TEST), "lastfm/trustnetwork.txt": "1\t2\n"}
    result = reviewed(tmp_path, files)
    assert {report.name: report.role for report in result.files} == {
        "lastfm/data1.txt": "undetermined",
        "lastfm/test1.txt": "test",
        "lastfm/trustnetwork.txt": "other",
    }
    assert found(result, "sizes") == []
    result = reviewed(tmp_path, files, roles={"data1.txt": "train"})
    assert found(result, "sizes")[0].text == "the files have 3 users, 7 items, 12 rows"


def test_two_files_for_one_part_are_undetermined(tmp_path):
    result = reviewed(
        tmp_path, {"train.csv": lines(TRAIN, ","), "train.txt": lines(TRAIN), "test.csv": lines(TEST, ",")}
    )
    roles = {report.name: report.role for report in result.files}
    assert roles == {"train.csv": "undetermined", "train.txt": "undetermined", "test.csv": "test"}


def test_stated_roles_are_checked(tmp_path):
    write(tmp_path, {"train.txt": lines(TRAIN)})
    with pytest.raises(DataError, match="there is no role 'tests'; did you mean 'test'"):
        reviewed(tmp_path, {}, roles={"train.txt": "tests"})
    with pytest.raises(DataError, match=r"no file of the folder is trian\.txt; did you mean 'train.txt'"):
        reviewed(tmp_path, {}, roles={"trian.txt": "train"})


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("ml-1m.train.rating", "train"),
        ("trnMat.npz", "train"),
        ("u1.base", "train"),
        ("validation_te.csv", "validation"),
        ("validation_tr.csv", "other"),
        ("test_tr.csv", "fold-in"),
        ("test_te.csv", "test"),
        ("Beauty_valid.txt", "validation"),
        ("movielens1m-paper.test.negative-100", "negatives"),
        ("item_list.txt", "other"),
        ("run.bm25.txt", "run"),
        ("bpr.trec", "run"),
        ("latest.csv", ""),
        ("contest.csv", ""),
        ("training_test.csv", ""),
    ],
)
def test_names(name, role):
    assert name_clues(name).role == role


def test_files_of_one_split_have_one_key():
    for names in (
        ("a/ml-1m.train.rating", "a/ml-1m.test.rating", "a/ml-1m.test.negative"),
        ("cf-train-1-users.dat", "cf-test-1-users.dat"),
        ("train/x.csv", "test/x.csv"),
    ):
        assert len({name_clues(name).key for name in names}) == 1
    assert name_clues("cf-train-1-users.dat").key != name_clues("cf-train-10-users.dat").key
