"""`repro export`."""

import json

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from repro import Protocol, Study
from repro.cli import cli
from repro.data import synthetic_interactions
from repro.errors import StudyError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = synthetic_interactions(users=40, items=30, ratings=500, alpha=1.0, seed=2)
    study = Study(
        data, Protocol.load("random-5fold", split__folds=2), ["reference/popularity", "reference/random"], ["hit@5"]
    )
    return study.run(tmp_path_factory.mktemp("cli") / "run").folder


def invoke(*arguments):
    return CliRunner().invoke(cli, ["export", *map(str, arguments)], catch_exceptions=False)


def test_several_forms_beside_the_run(run):
    result = invoke(run, "--to", "csv", "--to", "prov", "--to", "checklist")
    exported = run.parent / "run-export"
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["csv", "prov", "checklist"]
    assert sorted(path.name for path in exported.iterdir()) == ["checklist.md", "csv", "journal.jsonl", "prov.json"]


def test_json_for_scripts_and_settings_for_the_forms_that_take_them(run, tmp_path):
    result = invoke(run, "--to", "latex", "--to", "csv", "--into", tmp_path, "--baseline", "reference random", "--json")
    assert json.loads(result.stdout)["written"] == {"latex": str(tmp_path / "latex"), "csv": str(tmp_path / "csv")}
    assert "reference random" in (tmp_path / "latex" / "table.tex").read_text()
    with pytest.raises(StudyError, match="has a setting 'license'"):
        invoke(run, "--to", "csv", "--into", tmp_path / "other", "--license", "CC0")


def test_zip_and_fresh(run, tmp_path):
    assert invoke(run, "--to", "csv", "--to", "prov", "--zip", "--into", tmp_path).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["csv.zip", "journal.jsonl", "prov.json"]
    with pytest.raises(StudyError, match="--fresh"):
        invoke(run, "--to", "csv", "--zip", "--into", tmp_path)
    assert invoke(run, "--to", "csv", "--zip", "--fresh", "--into", tmp_path).exit_code == 0


def test_help_names_all_forms_list_says_what_they_are_and_tab_completes_them():
    shown = " ".join(invoke("--help").output.split())
    listed = [line.split()[0] for line in invoke("--list").output.splitlines()[1:]]
    assert "Examples: repro export run --to ro-crate" in shown
    assert ", ".join(listed) + ", or one of a plug-in" in shown
    completed = ShellComplete(cli, {}, "repro", "_REPRO_COMPLETE").get_completions(["export", "run", "--to"], "c")
    assert [item.value for item in completed] == ["checklist", "csv"]


def test_no_form_or_an_unknown_one(run):
    assert invoke(run).exit_code == 2
    with pytest.raises(StudyError, match="did you mean 'ro-crate'"):
        invoke(run, "--to", "rocrate")
