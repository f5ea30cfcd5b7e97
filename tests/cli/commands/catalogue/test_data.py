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
