"""`repro run` and `repro plugins`."""

import json
import re

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.errors import ProtocolError
from tests.cli.study_files import write_study


@pytest.fixture
def study(tmp_path):
    data = {"name": "synthetic", "users": 60, "items": 40, "ratings": 800}
    algorithms = {"popular": "popularity", "mean": "item-mean"}
    return write_study(tmp_path / "study.toml", ["ndcg@10", "rmse"], algorithms, data)


def invoke(*arguments):
    return CliRunner().invoke(cli, ["run", *map(str, arguments)], catch_exceptions=False)


def test_a_table_a_report_and_a_run_folder_beside_the_study(study):
    result = invoke(study, "--workers", 1)
    assert result.exit_code == 0
    assert "popular" in result.output and "ndcg@10" in result.output
    assert "What the decisions changed" in result.output
    assert re.search(r"ndcg@10 +rmse +fit s +score s", result.output)
    assert re.search(r"^popular +\d\.\d{4} +- +\d+\.\d\d +\d+\.\d\d", result.output, re.MULTILINE)
    assert (study.parent / "run" / "report.html").exists()
    assert (study.parent / "run" / "journal.jsonl").exists()


def test_json_for_scripts(study, tmp_path):
    result = invoke(study, "--workers", 1, "--json", "--into", tmp_path / "there")
    printed = json.loads(result.stdout)
    assert printed["folder"] == str(tmp_path / "there")
    row = next(r for r in printed["results"] if r["algorithm"] == "popular" and r["metric"] == "rmse")
    assert row["value"] is None, "not a number is null: JSON has no NaN"
    assert set(printed["seconds"]) == {"popular", "mean"} and set(printed["seconds"]["mean"]) == {"fit", "score"}
    assert printed["left_out"] == {}


def test_a_decision_from_the_command_line_is_in_the_journal_with_its_origin(study):
    assert invoke(study, "--workers", 1, "--set", "ties.break=expected", "--set", "split.folds=3").exit_code == 0
    lines = (study.parent / "run" / "journal.jsonl").read_text().splitlines()
    decisions = {d["decision"]: d for d in json.loads(lines[1])["event"]["decisions"]}
    assert decisions["ties.break"]["value"] == "expected"
    assert decisions["ties.break"]["origin"] == "command line"
    assert decisions["split.folds"]["value"] == 3


def test_bad_changes_are_told(study):
    with pytest.raises(ProtocolError, match=r"command line: unknown decision 'ties\.brek'"):
        invoke(study, "--set", "ties.brek=random")
    result = CliRunner().invoke(cli, ["run", str(study), "--set", "nonsense"])
    assert result.exit_code == 2
    assert "write DECISION=VALUE" in result.output


def test_plugins_list():
    printed = json.loads(CliRunner().invoke(cli, ["plugins", "list", "--json"]).output)
    reference = next(f for f in printed["frameworks"] if f["name"] == "reference")
    assert {"popularity", "ease", "plsa"} <= {a["name"] for a in reference["algorithms"]}
    assert reference["runs"] == "in-process"
    table = CliRunner().invoke(cli, ["plugins", "list"]).output
    assert re.search(r"reference +0\.1\.0 +in this process +random, popularity", table)


def test_algorithms():
    printed = json.loads(CliRunner().invoke(cli, ["algorithms", "list", "--json"]).output)
    knn = printed["canonical"]["item-knn"]["frameworks"]["reference"]
    assert knn["parameters"]["k"] == 20 and "plsa" in printed["own"]["reference"]
    assert re.search(r"^ease .*yes", CliRunner().invoke(cli, ["algorithms", "list"]).output, re.MULTILINE)
    table = CliRunner().invoke(cli, ["algorithms", "show", "ease"]).output
    assert "Steck (2019)" in table and re.search(r"regularisation .*500\.0", table)
    unknown = CliRunner().invoke(cli, ["algorithms", "show", "eese"])
    assert "did you mean 'ease'" in str(unknown.exception)
