"""`repro verify` and `repro replay`."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from tests.cli.study_files import write_study


@pytest.fixture
def run(tmp_path):
    data = {"name": "synthetic", "users": 40, "items": 30, "ratings": 500}
    algorithms = {"popular": "popularity", "mean": "item-mean"}
    study = write_study(tmp_path / "study.toml", ["ndcg@5", "rmse"], algorithms, data)
    return Study.load(study).run(tmp_path / "run").folder


def invoke(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)


def test_what_holds_is_one_line_and_the_exit_code_says_it(run):
    done = invoke("verify", run)
    lines = (run / "journal.jsonl").read_text().splitlines()
    files = sum(path.is_file() and path.name not in ("journal.jsonl", ".lock") for path in run.rglob("*"))
    assert (done.exit_code, done.stdout) == (0, f"run holds: integrity: {len(lines)} events, {files} files\n")
    (run / "results.csv").write_bytes(b"")
    done = invoke("verify", run)
    assert done.exit_code == 1
    first, second = done.stdout.splitlines()
    assert first == "run does not hold: 1 failure (integrity)"
    [written] = [number for number, line in enumerate(lines, start=1) if '"results.written"' in line]
    assert second == f"  results.csv (line {written} of the journal): its content is not what was written"


def test_the_command_itself_ends_with_the_exit_code(run):
    for status, spoil in ((0, b""), (1, b"#")):
        (run / "study.toml").write_bytes((run / "study.toml").read_bytes() + spoil)
        assert subprocess.run([sys.executable, "-m", "repro", "verify", str(run), "--quiet"]).returncode == status


def test_every_level_for_scripts(run):
    done = invoke("verify", run, "--level", "retrain", "--workers", 1, "--json")
    result = json.loads(done.stdout)
    assert done.exit_code == 0 and result["holds"] and set(result["checked"]) == {"integrity", "rescore", "retrain"}
    assert result["recomputed"]["ndcg@5"] == "computed again from the stored lists"
    assert result["refitted"]["tolerance"] == 0.01
    verdicts = {(item["algorithm"], item["metric"], item["verdict"]) for item in result["refitted"]["numbers"]}
    assert ("popular", "ndcg@5", "identical") in verdicts
    (run / "study.toml").write_bytes(b"")
    result = json.loads(invoke("verify", run, "--json").stdout)
    assert not result["holds"] and result["failures"][0]["artefact"] == "study.toml"


def test_people_see_a_table_of_verdicts(run, tmp_path):
    done = invoke("verify", run, "--level", "retrain", "--workers", 1, "--algorithm", "mean")
    assert done.exit_code == 0
    assert "4 numbers" not in done.output and "2 numbers: 2 identical (tolerance 0.01" in done.output

    done = invoke("replay", run, "--into", tmp_path / "again", "--workers", 1)
    assert done.exit_code == 0, done.output
    assert "software and machine are the same as then" in done.output
    assert "4 numbers: 4 identical (tolerance 0.01 of the original)" in done.output
    assert (tmp_path / "again" / "report.html").is_file()
    assert invoke("verify", tmp_path / "again").exit_code == 0


def test_replay_for_scripts(run, tmp_path):
    done = invoke("replay", run, "--into", tmp_path / "again", "--workers", 1, "--here", "--json", "--baseline", "mean")
    result = json.loads(done.stdout)
    assert result["reproduced"] and result["baseline"] == "mean" and result["changed"] == {}
    assert result["lists"]["popular"] == {"same": True, "ktu": 1.0, "rbo": 1.0}
