"""`repro doctor`: what is here, what is missing, and how to mend it."""

import json
import platform
from importlib import metadata

from click.testing import CliRunner

from repro.cli import cli


def doctor(*arguments):
    done = CliRunner().invoke(cli, ["doctor", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def findings():
    done = doctor("--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code == 0) == answer["healthy"] == all(f["status"] != "problem" for f in answer["findings"])
    return {(finding["topic"], finding["name"]): finding for finding in answer["findings"]}


def test_it_says_what_is_here():
    by_topic = findings()
    assert by_topic["machine", "Python"]["value"].startswith(platform.python_version())
    assert by_topic["frameworks", "reference"]["status"] == "ok"
    assert {"cores", "memory", "other Pythons"} <= {name for topic, name in by_topic if topic == "machine"}
    assert {"Java", "Chromium", "TeX", "Ray"} == {name for topic, name in by_topic if topic == "programs"}
    assert {"data sets", "environments", "data folder"} <= {name for topic, name in by_topic if topic == "stored"}


def test_everything_that_is_not_well_has_a_remedy():
    for finding in findings().values():
        assert bool(finding["mend"]) == (finding["status"] != "ok"), finding


def test_missing_programs_are_offers_and_no_problem(monkeypatch):
    monkeypatch.setenv("PATH", "")
    by_topic = findings()
    assert by_topic["programs", "Java"]["status"] == "missing" and "JDK" in by_topic["programs", "Java"]["mend"]


def test_another_project_of_the_name_is_a_problem_with_the_commands(monkeypatch):
    monkeypatch.setattr(metadata, "packages_distributions", lambda: {"repro": ["recsys-repro", "repro"]})
    finding = findings()["repro", "name"]
    assert finding["status"] == "problem" and "`pip uninstall repro`" in finding["mend"]
    shown = doctor()
    assert shown.exit_code == 1 and "problem: name: `pip uninstall repro`" in shown.output


def test_a_folder_that_cannot_be_written_is_a_problem(monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "deep" / "data"))
    assert findings()["stored", "data folder"]["status"] == "ok"
    monkeypatch.setattr("os.access", lambda path, mode: False)
    finding = findings()["stored", "data folder"]
    assert finding["status"] == "problem" and "REPRO_DATA" in finding["mend"]


def test_no_framework_with_algorithms_is_a_problem(monkeypatch):
    from repro.plugin import plugins

    monkeypatch.setattr(type(plugins()), "location", lambda self, framework: "missing")
    finding = findings()["frameworks", "algorithms"]
    assert finding["status"] == "problem" and "recsys-repro-reference" in finding["mend"]
