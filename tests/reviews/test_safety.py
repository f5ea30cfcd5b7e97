"""Folders that are damaged or made to harm: nothing is executed, nothing outside is read, nothing stops a review."""

import io
import os
import pickle

import numpy as np
import pytest

from repro.errors import DataError
from tests.reviews.artefacts import found, lines, reviewed, write

GOOD = {"train.txt": lines([(1, 10), (2, 11), (2, 10)]), "test.txt": lines([(1, 11)])}


class Harm:
    """An object whose reading writes a file."""

    def __reduce__(self):
        return os.system, ("touch harmed",)


def archive(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["tstMat.pkl", "train.pickle", "test.bin", "valid.txt", "model.pt"])
def test_pickles_are_refused_whatever_their_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    result = reviewed(tmp_path / "artefact", {name: pickle.dumps(Harm())})
    (unread,) = result.unread
    assert unread.refused and "executes its content" in unread.reason
    assert not list(tmp_path.rglob("harmed"))


def test_pickles_inside_of_arrays_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = archive(train_data=np.array([[1, 2]]), test_data=np.array([Harm()], dtype=object))
    result = reviewed(tmp_path / "artefact", {"citeulike.npz": content})
    (unread,) = result.unread
    assert unread.refused and "array of Python objects" in unread.reason
    assert not list(tmp_path.rglob("harmed"))


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(lines([(1, 99)]))
    folder = write(tmp_path / "artefact", GOOD)
    (folder / "valid.txt").symlink_to(secret)
    (folder / "inside.valid.txt").symlink_to(folder / "test.txt")
    (folder / "nowhere.txt").symlink_to(tmp_path / "missing")
    (folder / "loop").symlink_to(folder)
    (folder / "outside").symlink_to(tmp_path)
    result = reviewed(folder, {})
    reasons = {file.name: file for file in result.unread}
    assert reasons["valid.txt"].refused and "outside of the folder" in reasons["valid.txt"].reason
    assert reasons["outside"].refused
    assert "cannot be opened" in reasons["nowhere.txt"].reason
    assert "link to a folder" in reasons["loop"].reason
    assert not any("99" in finding.text for finding in result.findings)
    assert any(report.name == "inside.valid.txt" for report in result.files)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"\n\n", "it has no rows"),
        (bytes(range(256)) * 40, "neither text"),
        (b"PK\x03\x04 not a zip", "damaged"),
        (b"\x1f\x8b not gzip", "damaged"),
        (b"PAR1 not parquet", "not a complete Parquet file"),
        (b"\x93NUMPY\x01\x00", "cannot be read as arrays"),
        (b"1 2\n3 4 5 6 7\nx\n", ""),
        (b"1\n2\n3\n", "single column"),
        (b"a;b,c\n1;2\n3,4\n", ""),
        (b"1\t2\n1\t\n", "item is empty"),
        (b"1\t2\tgood\n1\t3\tbad\n", "not a finite number"),
    ],
    ids=str,
)
def test_a_file_that_cannot_be_read_is_reported_and_the_others_are_reviewed(tmp_path, content, reason):
    files = {"sub/valid.txt": content, **GOOD}
    result = reviewed(tmp_path, files)
    (unread,) = (file for file in result.unread if file.name == "sub/valid.txt")
    assert reason in unread.reason
    assert str(tmp_path) not in unread.reason
    assert found(result, "sizes")[0].text == "the files have 2 users, 2 items, 4 rows"


def test_a_line_that_is_too_long_is_reported(tmp_path, monkeypatch):
    for module in ("compressed",):
        monkeypatch.setattr(f"repro.data.io.{module}.LONGEST_LINE", 100)
        monkeypatch.setattr(f"repro.data.io.{module}._BLOCK", 64)
    result = reviewed(tmp_path, {"train.txt": "1 " * 1000})
    assert "line 1 has more than" in result.unread[0].reason


def test_damaged_sparse_matrices(tmp_path):
    good = {"format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2)}
    broken = {
        "train.npz": archive(**good, indices=np.array([0, 1]), indptr=np.array([0, 5, 2])),
        "test.npz": archive(**good, indices=np.array([0]), indptr=np.array([0, 1, 1])),
        "valid.npz": archive(x=np.ones((3, 7)), y=np.ones(2)),
    }
    reasons = {file.name: file.reason for file in reviewed(tmp_path, broken).unread}
    assert "do not fit together" in reasons["train.npz"]
    assert "different lengths" in reasons["test.npz"]
    assert "neither a sparse matrix nor rows" in reasons["valid.npz"]


def test_ids_with_leading_zeros_are_told_apart_and_pointed_out(tmp_path):
    result = reviewed(tmp_path, {"train.txt": "01\t5\n02\t6\n", "test.txt": "1\t5\n02\t5\n"})
    (alike,) = found(result, "ids-in-two-spellings")
    assert alike.severity == "undetermined"
    assert alike.examples[0].text == "user 01 and 1"
    assert not found(result, "test-in-train")  # 01 and 1 are two users, as written


def test_numbers_in_one_file_and_text_in_another_are_the_same_ids(tmp_path):
    result = reviewed(tmp_path, {"train.txt": "7\tb1\n8\tb2\n", "test.json": '[{"user": 7, "item": "b1"}]'})
    assert found(result, "test-in-train")[0].count == 1


def test_a_folder_that_is_not_there_and_an_empty_one(tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        reviewed.__globals__["review"](tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    result = reviewed(tmp_path / "empty", {})
    assert result.summary == "0 data sets in 0 files: no errors or warnings"


def test_text_in_names_and_ids_is_escaped_in_the_page(tmp_path):
    from repro.reports.review import review_page

    evil = "<script>alert(1)</script>"
    result = reviewed(tmp_path, {"train.csv": f"user,item\n{evil},1\n", "test.csv": f"user,item\n{evil},1\n"})
    assert found(result, "test-in-train")
    assert evil not in review_page(result)
