"""`repro study`."""

import json

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import StudyError

ROWS = "user,item,rating\n" + "".join(f"{u},{(u + s) % 12},{1 + (u * s) % 5}\n" for u in range(20) for s in range(6))


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings.csv").write_text(ROWS)
    return lambda *arguments, **options: CliRunner().invoke(cli, ["study", *arguments], **options)


def test_new_writes_a_study_that_can_run_and_never_replaces_a_file(invoke, tmp_path):
    done = invoke("new", "ratings.csv", "--yes")
    assert done.exit_code == 0, done.output
    assert "random-80-20" in done.output and "repro run study.toml" in done.output
    written = (tmp_path / "study.toml").read_text()
    again = invoke("new", "ratings.csv", "--yes")
    assert isinstance(again.exception, StudyError) and "exists, and is not replaced" in str(again.exception)
    assert (tmp_path / "study.toml").read_text() == written
    checked = invoke("check", "study.toml")
    assert checked.exit_code == 0 and "study.toml can run" in checked.output


def test_new_takes_every_answer_as_an_option(invoke, tmp_path):
    options = ["--protocol", "random-5fold", "-m", "P@5", "-m", "MAP@5", "--algorithm", "reference/bias"]
    done = invoke("new", "ratings.csv", "--into", "deep/er.toml", *options, "--question", "Q?", "--seed", "1", "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["metrics"] == ["precision@5", "ap@5"]
    text = (tmp_path / "deep" / "er.toml").read_text()
    assert 'name = "../ratings.csv"' in text and 'base = "random-5fold"' in text and 'question = "Q?"' in text


def test_new_says_what_choices_cannot_run(invoke):
    done = invoke("new", "ratings.csv", "--protocol", "time-split", "--yes")
    assert isinstance(done.exception, StudyError)
    assert "needs timestamps" in done.output


def test_check_has_an_exit_code_and_json(invoke, tmp_path):
    (tmp_path / "bad.toml").write_text('metrics = ["ndgc@3"]\nprotocol = "random-5fold"\ndata = "ratings.csv"\n')
    done = invoke("check", "bad.toml")
    assert done.exit_code == 1
    assert "bad.toml:1: error: there is no metric 'ndgc'; did you mean 'ndcg'?" in done.output
    assert "2 errors; errors stop a run" in done.output
    answer = json.loads(invoke("check", "bad.toml", "--json").stdout)
    assert answer["can_run"] is False and [p["line"] for p in answer["problems"]] == [None, 1]
