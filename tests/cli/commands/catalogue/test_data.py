"""`repro data`."""

import json

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from repro.cli.commands.catalogue.data import data
from repro.data import datasets, get_dataset
from repro.data.registry import parse_registry
from repro.errors import DataError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A registry with one data set, a file of three rows."""
    (tmp_path / "mine.csv").write_text("user,item,rating\n1,2,3\n4,5,3\n1,5,4.5\n")
    text = f"""
        [mine]
        title = "My data"
        home = "https://example.org"
        terms = "free for all"
        citation = "me"
        [[mine.sources]]
        address = "{(tmp_path / "mine.csv").as_uri()}"
        """
    known = parse_registry(text)
    for module in ("registry", "load"):
        monkeypatch.setattr(f"repro.data.{module}.datasets", lambda: known)


def invoke(*arguments):
    result = CliRunner().invoke(data, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_names_every_data_set_and_what_is_unchecked():
    listed = {entry["name"]: entry for entry in json.loads(invoke("list", "--json"))}
    assert set(listed) == set(datasets())
    assert listed["ml-100k"]["checked"]
    assert not listed["ta-feng"]["checked"]
    assert listed["ml-100k"]["path"] is None
    table = invoke("list")
    assert all(name in table for name in [*datasets(), "synthetic", "unchecked"])


def test_get_says_where_from_and_whether_checked(mine, folder):
    shown = invoke("get", "mine")
    assert f"My data: 3 rows in {folder / 'mine' / 'mine.csv'}" in shown
    assert "unchecked: no checksum of this source could be confirmed" in shown
    assert "terms: free for all" in shown
    again = json.loads(invoke("get", "mine", "--json"))
    assert (again["rows"], again["checked"]) == (3, False)
    assert len(again["digest"]) == 64
    assert "yes" in invoke("list")


def test_get_of_an_unknown_name():
    with pytest.raises(DataError, match="did you mean 'ml-100k'"):
        invoke("get", "ml-100")


def test_describe_a_file(tmp_path):
    (tmp_path / "a.csv").write_text("1|2|3\n4|5|3\n1|5|4.5\n")
    shown = invoke("describe", str(tmp_path / "a.csv"), "--option", "delimiter=|")
    figures = [line.split() for line in shown.splitlines() if line.strip()]
    assert ["users", "2"] in figures
    assert ["density", "75.000%"] in figures
    assert any(line[:3] == ["3", "2", "66.7%"] for line in figures), "two of three ratings are 3"
    result = json.loads(invoke("describe", str(tmp_path / "a.csv"), "--json", "--option", "delimiter='|'"))
    assert result["histogram"] == {"3": 2, "4.5": 1}


def test_describe_synthetic_data():
    result = json.loads(
        invoke(
            "describe", "synthetic", "--option", "users=30", "--option", "items=20", "--option", "ratings=200", "--json"
        )
    )
    assert (result["items"], result["ratings"]) == (20, 200)


def test_an_option_without_a_value():
    result = CliRunner().invoke(data, ["describe", "synthetic", "--option", "users"])
    assert result.exit_code == 2
    assert "'users': write NAME=VALUE" in result.output


def test_names_complete():
    complete = ShellComplete(data, {}, "data", "_DATA_COMPLETE")
    assert {item.value for item in complete.get_completions(["get"], "ml-1")} == {"ml-100k", "ml-1m", "ml-10m"}
    assert [item.type for item in complete.get_completions(["describe"], "./rat")] == ["file"]


def test_get_in_python_is_the_same(mine):
    assert get_dataset("mine").dataset.title == "My data"


def test_what_was_assumed_to_read_a_file_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("who,thing\nann,x\nbob,y\n")
    arguments = ["describe", str(tmp_path / "a.csv")]
    result = CliRunner().invoke(data, arguments).output
    assert "text separated by commas without a header; taken are column 1 for user, column 2 for item" in result
    assert "the first line is taken for a row (who, thing); state header = true if it is names" in result
    stated = ["--option", "header=true", "--option", "columns={user='who',item='thing'}", "--json"]
    named = json.loads(CliRunner().invoke(data, arguments + stated).output)
    assert (named["users"], named["read_as"][0]) == (2, "text separated by commas with a header")


def test_identify_names_data_by_its_sizes():
    shown = invoke("identify", "--users", "22363", "--items", "12101", "--rows", "198502", "--published")
    assert shown.startswith("22,363 users, 12,101 items, 198,502 rows: Amazon 2014 Beauty")
    answer = json.loads(invoke("identify", "--users", "22363", "--items", "12101", "--rows", "198500", "--json"))
    assert answer["matches"] == []
    assert answer["near"][0]["differences"]["rows"] == 2


def test_identify_counts_files_together_and_tries_filters(tmp_path):
    (tmp_path / "train.txt").write_text("1 1\n1 2\n2 1\n")
    (tmp_path / "test.txt").write_text("2 2\n3 1\n")
    (tmp_path / "all.csv").write_text("user,item\n1,1\n1,2\n2,1\n2,2\n3,1\n3,9\n4,9\n")
    files = [str(tmp_path / name) for name in ("train.txt", "test.txt")]
    answer = json.loads(invoke("identify", *files, "--data", str(tmp_path / "all.csv"), "--json"))
    assert answer["stated"] == {"users": 3, "items": 2, "rows": 5}
    # Without user 4, who has one row, item 9 has one row too, and is dropped.
    (match,) = answer["matches"]
    assert match["version"] == "users with at least 2 rows and items with at least 2 rows, once, users first"
    assert match["decisions"] == {"data.user_core": 2, "data.item_core": 2, "data.core_rounds": 1}
    with pytest.raises(DataError, match="not both"):
        invoke("identify", *files, "--users", "3")
