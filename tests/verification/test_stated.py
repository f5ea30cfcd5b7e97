"""Facts that a run states twice cannot be edited once: seeds, versions, parameters, times; the chain is rehashed."""

import copy
import functools
import operator
import tomllib
from datetime import datetime, timedelta

import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.errors import JournalError
from repro.protocol import Protocol
from repro.runs.journal import read_journal
from repro.verification import seal, verify


@pytest.fixture(scope="module")
def stated(tmp_path_factory):
    """A run with a seed for each fit, one that is stated, one that is the study's, and a tuned algorithm."""
    folder = tmp_path_factory.mktemp("stated")
    frame = synthetic_interactions(users=40, items=30, ratings=600, alpha=1.0, seed=5).to_frame()
    frame.to_csv(folder / "ratings.csv", index=False)
    protocol = Protocol.load("random-5fold", split__folds=2, split__validation_share=0.2)
    algorithms = [
        "reference/random",
        {"use": "reference/random", "label": "stated", "seed": 11},
        {"use": "reference/random", "label": "study", "seed": "study"},
        {"use": "reference/item-knn", "label": "tuned"},
        {"use": "reference/item-knn", "label": "plain", "parameters": {"k": 5}, "tune": False},
    ]
    tune = {"metric": "ndcg@5", "trials": 4, "space": {"item-knn": {"k": [3, 7]}}}
    study = Study("ratings.csv", protocol, algorithms, ["ndcg@5"], seed=3, question="Which?", folder=folder, tune=tune)
    return study.run(folder / "run").folder


def other(value):
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "0"
    raise AssertionError(value)


def edits(lines):
    """Each edit of a seed, a version, a parameter or a time: where in the lines, and what is put there."""
    for number, line in enumerate(lines):
        event = line["event"]
        at = (number, "event")
        match event["event"]:
            case "run.started":
                yield (*at, "seed"), other(event["seed"])
                yield (*at, "question"), "Whence?"
                for name in event["versions"].keys() - {"python"}:  # which no freeze has
                    yield (*at, "versions", name), "0.0.7"
            case "cell.started":
                for name, value in (("framework_version", "0.0.7"), ("framework", "surprise"), ("fold", "9")):
                    yield (*at, name), value
                for name in ("seed", "tuned", "algorithm"):
                    yield (*at, name), other(event[name])
                for name, value in event["parameters"].items():
                    yield (*at, "parameters", name), other(value)
                yield (*at, "parameters", "more"), 1
            case "tuning.finished":
                yield (*at, "seed"), other(event["seed"])
                yield (*at, "chosen"), {"k": 99}
                yield (*at, "seconds"), 1e6
            case "cell.finished":
                for name in event["seconds"]:
                    yield (*at, "seconds", name), 1e6
                    yield (*at, "seconds", name), -1.0
            case "run.finished":
                yield (*at, "seconds"), 1e6
        moment = datetime.fromisoformat(line["time"])
        if number:  # a run that began earlier, or a last line that is later, contradicts nothing: that is for --head
            yield (number, "time"), (moment - timedelta(hours=30)).isoformat(timespec="milliseconds")
        if number < len(lines) - 1:
            yield (number, "time"), (moment + timedelta(hours=30)).isoformat(timespec="milliseconds")


def test_no_seed_version_parameter_or_time_can_be_edited_alone(stated, forge):
    assert verify(stated).holds, str(verify(stated))
    forger = forge(stated)
    whole, before = (stated / "journal.jsonl").read_bytes(), copy.deepcopy(forger.lines)
    undetected, tried = [], 0
    for place, value in edits(before):
        *path, last = place
        functools.reduce(operator.getitem, path, forger.lines)[last] = value
        forger.finish()
        tried += 1
        if verify(stated).holds:
            undetected.append((place, value))
        forger.lines = copy.deepcopy(before)
    (stated / "journal.jsonl").write_bytes(whole)
    assert undetected == [] and tried > 150
    assert verify(stated).holds


def test_the_head_that_was_published_is_looked_up(run, forge):
    lines = read_journal(run / "journal.jsonl").lines
    head = lines[-1].hash
    verification = verify(run, head=head)
    assert verification.holds
    assert verification.notes == [
        f"the published head is line {len(lines)} of the journal (report.written), its last line"
    ]
    (run / "README.md").write_text("What came out.")
    seal(run)
    verification = verify(run, head=head[:16].upper())
    assert verification.holds
    text = f"the published head is line {len(lines)} of the journal (report.written); 1 line was added since"
    assert verification.notes[-1] == f"{text} (1 files.added)"
    forger = forge(run)  # even what contradicts nothing: when the run began
    forger.lines[0]["time"] = "2001-01-01T00:00:00.000+00:00"
    forger.finish()
    assert verify(run).holds
    assert "no line has the published hash" in str(verify(run, head=head))
    for wrong in ("", "abc", "x" * 64, "0" * 65):
        with pytest.raises(JournalError, match="12 to 64 hexadecimal digits"):
            verify(run, head=wrong)


def test_retrain_goes_by_what_the_cells_say(run, forge):
    """Study and journal are changed alike: integrity has nothing to find, and other numbers come."""
    forger = forge(run)
    text = (run / "study.toml").read_text()
    metrics = tomllib.loads(text)["algorithms"][-1]["parameters"]
    forger.replace_file("study.toml", text.replace(f"k = {metrics['k']},", "k = 2,").encode())
    for event in forger.events("cell.started"):
        if "k" in event["parameters"]:
            event["parameters"]["k"] = 2
    forger.finish()
    assert verify(run).holds
    verification = verify(run, "retrain", algorithms=["reference item-knn"])
    assert any(failure.level == "retrain" for failure in verification.failures)


def test_retrain_compares_what_the_framework_says_of_itself(run, forge):
    forger = forge(run)
    for event in forger.events("cell.started"):
        event["deterministic"] = False
    forger.finish()
    assert verify(run).holds
    verification = verify(run, "retrain", algorithms=["reference popularity"])
    sentences = [str(failure) for failure in verification.failures]
    assert len(sentences) == 2 and all(
        "says that it is deterministic, and the journal says otherwise" in sentence for sentence in sentences
    )
