"""`repro review`."""

import json

import pytest
from click.testing import CliRunner

from repro.cli.commands.claims.review import review
from repro.errors import DataError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/train.txt").write_text("1\t10\n1\t11\n2\t10\n2\t12\n")
    (tmp_path / "data/test.txt").write_text("1\t12\n2\t10\n")
    return tmp_path / "data"


def invoke(*arguments, code=0):
    result = CliRunner().invoke(review, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def test_findings_are_printed_with_their_places(folder):
    shown = invoke(folder, "--users", 2, code=1)
    assert shown.startswith("1 data set in 2 files: 1 error")
    assert "error: 1 of 2 rows of the test part (50.0%) have a user and item that the training part has too" in shown
    assert "user 2, item 10 (train.txt line 3; test.txt line 2)" in shown
    assert "users of the files are as stated: 2 users, 3 items, 6 rows" in shown
    assert "--notes" in shown and "2 users of the test part" not in shown
    assert "2 users of the test part; each has 1 row" in invoke(folder, "--notes", code=1)


def test_json_and_pages(folder, tmp_path):
    (folder / "item_list.txt").write_text("10 a\n")
    answer = json.loads(invoke(folder, "--json", "--users", 2, "--into", tmp_path / "out", code=1))
    assert answer["stated"] == {"the folder": {"users": 2}}
    assert answer["counts"]["error"] == 1
    assert [file["role"] for file in answer["files"]] == ["other", "test", "train"]
    assert json.loads((tmp_path / "out/review.json").read_text()) == answer
    page = (tmp_path / "out/review.html").read_text()
    assert "test-in-train: examples" in page and "train.txt line 3" in page and "Review of data" in page
    assert "stated by the paper" in page and "1 file without rows of users and items" in page


def test_a_folder_without_errors_has_the_exit_code_0(folder):
    (folder / "test.txt").write_text("1\t12\n2\t11\n")
    assert "no errors or warnings" in invoke(folder)


def test_what_is_stated_on_the_command_line_comes_before_the_file(folder, tmp_path):
    (tmp_path / "paper.toml").write_text("users = 5\nitems = 9\n")
    shown = invoke(folder, "--paper", tmp_path / "paper.toml", "--users", 2, code=1)
    assert "9 items are stated, and the files have 3 (-6)" in shown
    assert "5 users" not in shown


def test_roles(folder):
    (folder / "test.txt").rename(folder / "second.txt")
    assert "undetermined" in invoke(folder)
    assert "1 error" in invoke(folder, "--role", "second.txt=test", code=1)
    with pytest.raises(DataError, match="no file of the folder"):
        invoke(folder, "--role", "third.txt=test")
    assert "must be FILE=ROLE" in CliRunner().invoke(review, [str(folder), "--role", "test"]).output


def test_printed_numbers_of_a_run(folder, tmp_path):
    (folder / "knn.run").write_text("1 Q0 12 1 2.0 knn\n2 Q0 13 1 2.0 knn\n")
    (tmp_path / "numbers.csv").write_text("model,HR@1\nKNN,0.5\n")
    shown = invoke(folder, "--numbers", tmp_path / "numbers.csv", code=1)
    assert "all 1 printed numbers come from the run files by: the default protocol" in " ".join(
        invoke(folder, "--numbers", tmp_path / "numbers.csv", "--notes", code=1).split()
    )
    assert "printed numbers from the run files" in shown
