"""`repro study`."""

import json
import sys
import tomllib

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.cli.exit_codes import INTERRUPTED
from repro.errors import StudyError
from tests.cli.terminal import Terminal

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


def on_terminal(folder, *arguments):
    return Terminal([sys.executable, "-m", "repro", "study", "new", "ratings.csv", *arguments], folder)


def test_on_a_terminal_new_asks_little_and_enter_takes_the_proposals(invoke, tmp_path):
    with on_terminal(tmp_path) as terminal:
        displayed = terminal.until(r"Protocol \[random-80-20\]: ")
        assert "20 users" in displayed and "a random fifth of all rows is the test" in displayed
        for question in (r"Metrics \[ndcg@10 recall@10 precision@10\]: ", r"Algorithms \[reference/popularity .*\]: "):
            terminal.type("\r")
            terminal.until(question)
        terminal.type("\r")
        assert terminal.end() == 0, terminal.shown
        assert terminal.shown.endswith("next     repro run study.toml\n")
    displayed = (tmp_path / "study.toml").read_text()
    assert invoke("new", "ratings.csv", "--into", "silent.toml", "--yes").exit_code == 0
    assert displayed == (tmp_path / "silent.toml").read_text()


def test_on_a_terminal_an_answer_that_cannot_be_read_is_asked_for_again(invoke, tmp_path):
    answers = [
        (r"Protocol \[random-80-20\]: ", "random-5fld", "did you mean 'random-5fold'?"),
        (r"Protocol \[random-80-20\]: ", " random-5fold ", ""),
        (r"Metrics \[ndcg@10 recall@10 precision@10\]: ", "P@5, ndgc@10", "did you mean 'ndcg'?"),
        (r"Metrics \[.*\]: ", "P@5, ndcg[gain=exp2,discount=log2]@10 MAP@5", ""),
        (r"Algorithms \[.*\]: ", "popularity", "lacks its framework"),
        (r"Algorithms \[.*\]: ", "reference/bias reference/popularity", ""),
    ]
    with on_terminal(tmp_path) as terminal:
        before = ""
        for question, answer, complaint in answers:
            assert before in " ".join(terminal.until(question).split())
            terminal.type(f"{answer}\r")
            before = complaint
        assert terminal.end() == 0, terminal.shown
    study = tomllib.loads((tmp_path / "study.toml").read_text())
    assert study["protocol"]["base"] == "random-5fold"
    assert study["metrics"] == ["precision@5", "ndcg[gain=exp2,discount=log2]@10", "ap@5"]
    assert [entry["use"] for entry in study["algorithms"]] == ["reference/bias", "reference/popularity"]


def test_on_a_terminal_options_answer_questions_and_metrics_outlive_another_protocol(tmp_path):
    (tmp_path / "ratings.csv").write_text(ROWS)
    with on_terminal(tmp_path, "-m", "rmse", "--algorithm", "reference/bias") as terminal:
        terminal.until(r"Protocol \[random-80-20\]: ")
        terminal.type("random-5fold\r")
        assert terminal.end() == 0, terminal.shown
        assert "Metrics [" not in terminal.shown and "Algorithms [" not in terminal.shown
    study = tomllib.loads((tmp_path / "study.toml").read_text())
    assert study["metrics"] == ["rmse"] and study["algorithms"] == [{"use": "reference/bias"}]


def test_on_a_terminal_ctrl_c_at_a_question_writes_nothing(invoke, tmp_path):
    with on_terminal(tmp_path) as terminal:
        terminal.until(r"Protocol \[.*\]: ")
        terminal.type("\x03")
        assert terminal.end() == INTERRUPTED, terminal.shown
    assert not (tmp_path / "study.toml").exists()
