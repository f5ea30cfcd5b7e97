"""The crate passes the validator of the RO-Crate community, run as its own command."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.exports import export

TOOLS = Path(sys.prefix) / "rocrate-validator" / "bin"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """The pages of the web that the validator asks for."""
    path = tmp_path_factory.mktemp("pages") / "cache"
    subprocess.run([TOOLS / "python", Path(__file__).with_name("known_context.py"), path], check=True)
    return path


def validate(crate, cache, severity="required"):
    """The findings of the validator, as its own report has them."""
    report = crate.parent / f"{crate.name}-{severity}.json"
    command = [
        "validate",
        "--offline",
        "--cache-path",
        cache,
        "--no-paging",
        "--profile-identifier",
        "process-run-crate",
    ]
    command += ["--requirement-severity", severity, "--output-format", "json", "--output-file", report, crate]
    done = subprocess.run([TOOLS / "rocrate-validator", "-y", *map(str, command)], capture_output=True, text=True)
    result = json.loads(report.read_text())
    assert result["passed"] == (done.returncode == 0), done.stdout + done.stderr
    return result


@pytest.fixture(scope="module")
def crate(run, tmp_path_factory):
    settings = {"author": "Ada Lovelace", "license": "https://creativecommons.org/licenses/by/4.0/"}
    return export(run, "ro-crate", tmp_path_factory.mktemp("crate") / "crate", **settings)


def test_every_requirement_of_the_profile_is_met(crate, cache):
    assert validate(crate, cache)["passed"] is True


def test_the_validator_would_have_said_so(crate, cache, tmp_path):
    """The same crate without the instrument, and without a file, is refused."""
    copy = tmp_path / "crate"
    shutil.copytree(crate, copy)
    metadata = json.loads((copy / "ro-crate-metadata.json").read_text())
    for entity in metadata["@graph"]:
        if entity["@type"] == "CreateAction":
            del entity["instrument"]
    (copy / "ro-crate-metadata.json").write_text(json.dumps(metadata))
    (copy / "run" / "results.csv").unlink()
    result = validate(copy, cache)
    assert result["passed"] is False and result["issues"]


@pytest.mark.slow
def test_what_is_recommended_is_there_but_for_what_nobody_has_said(crate, cache):
    """The core and the reference algorithms have no address; who publishes it, and for whom, was not stated."""
    issues = validate(crate, cache, "recommended")["issues"]
    lacking = {issue["check"]["name"] for issue in issues}
    assert lacking == {
        "Application url",
        "SoftwareApplication id",
        "Root Data Entity: `publisher` property",
        "CreativeWork Author: RECOMMENDED affiliation property",
        "CreativeWork Author: RECOMMENDED Contextual Entity linked for the organizational `affiliation` property",
    }


def graph(crate):
    return {entity["@id"]: entity for entity in json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]}


def test_every_file_of_the_run_is_in_it_with_its_digest(crate, run):
    entities = graph(crate)
    files = {f"run/{path.relative_to(run)}" for path in run.rglob("*") if path.is_file() and path.name != ".lock"}
    parts = {part["@id"] for part in entities["./"]["hasPart"]}
    assert parts == files
    for name in files:
        content = (crate / name).read_bytes()
        assert content == (run.parent / name).read_bytes()
        assert entities[name]["sha256"] == hashlib.sha256(content).hexdigest()
        assert entities[name]["contentSize"] == str(len(content))


def test_the_run_in_the_crate_is_a_run(crate):
    result = CliRunner().invoke(cli, ["verify", str(crate / "run")], catch_exceptions=False)
    assert result.exit_code == 0 and "holds" in result.output


def test_the_action_says_who_made_what_from_what_and_when(crate, run):
    entities = graph(crate)
    (action,) = [entity for entity in entities.values() if entity["@type"] == "CreateAction"]
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    assert lines[0]["time"].startswith(action["startTime"][:19])
    assert action["startTime"] <= action["endTime"]
    assert action["actionStatus"] == "http://schema.org/CompletedActionStatus"
    tools = [entities[tool["@id"]] for tool in action["instrument"]]
    versions = lines[0]["event"]["versions"]
    named = {tool["name"]: tool["softwareVersion"] for tool in tools}
    assert named == {"repro": versions["repro"], "reference": versions["framework:reference"]}
    assert {"run/results.parquet", "run/journal.jsonl"} <= {made["@id"] for made in action["result"]}
    used = {item["@id"] for item in action["object"]}
    digest = next(line["event"]["digest"] for line in lines if line["event"]["event"] == "data.loaded")
    assert used == {f"#data-{digest}", "run/study.toml", "run/protocol.toml"}
    assert entities[action["agent"]["@id"]]["name"] == "Ada Lovelace"
