"""`repro report`."""

import json

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.data import synthetic_interactions
from repro.errors import StudyError
from repro.study import Study


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = synthetic_interactions(users=40, items=30, ratings=500, seed=2)
    algorithms = ["reference/popularity", "reference/item-mean"]
    return Study(data, "random-5fold", algorithms, ["ndcg@5"]).run(tmp_path_factory.mktemp("study") / "run").folder


def invoke(*arguments):
    return CliRunner().invoke(cli, ["report", *map(str, arguments)], catch_exceptions=False)


def test_the_report_is_written_into_the_run(run):
    result = invoke(run)
    assert result.exit_code == 0 and result.output.startswith(f"report   {run / 'report.html'} (")
    assert (run / "report.html").read_text().startswith("<!doctype html>")
    assert "report.written" in (run / "journal.jsonl").read_text()


def test_or_elsewhere_with_the_size_for_scripts(run, tmp_path):
    target = tmp_path / "for" / "others.html"
    printed = json.loads(invoke(run, "--into", target, "--json").stdout)
    assert printed == {"report": str(target), "bytes": target.stat().st_size}


def test_it_is_opened_where_asked_for(run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("click.launch", opened.append)
    invoke(run, "--into", tmp_path / "a.html", "--open")
    assert opened == [str(tmp_path / "a.html")]


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(StudyError, match="is not a run folder"):
        invoke(tmp_path)
