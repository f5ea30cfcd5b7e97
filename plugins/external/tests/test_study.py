"""Other systems in a study, beside algorithms that fit and score: numbers, journal and report."""

import sys

import numpy as np
import pandas as pd
import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.errors import StudyError
from repro.protocol import Protocol
from repro.reports import write_report
from repro.runs.journal import read_journal

# A program as somebody else might have written it: how many users have each item, and nothing of repro.
PROGRAM = """
import collections
import sys

train, users, items, output = sys.argv[1:5]
rows = [line.rstrip("\\n").split("\\t") for line in open(train)]
count = collections.Counter(item for _, item, *_ in rows)
known = [line.strip() for line in open(items)]
with open(output, "w") as out:
    for user in open(users):
        for item in known:
            if count[item]:
                print(user.strip(), item, count[item], sep="\\t", file=out)
print("counted", len(rows), "rows", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def ratings():
    return synthetic_interactions(users=50, items=60, ratings=1200, alpha=1.0, seed=8)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "popular.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def finished(ratings, program, tmp_path_factory):
    """The same algorithm three times: by repro, by a command whose scores count, and by one whose order counts."""
    command = f"{sys.executable} {program} {{train}} {{users}} {{items}} {{output}}"
    study = Study(
        ratings,
        Protocol.load("random-5fold", split__folds=2),
        [
            "reference/popularity",
            {"use": "external/command", "label": "scores", "parameters": {"command": command, "format": "rival"}},
            {
                "use": "external/command",
                "label": "lists",
                "parameters": {"command": command, "format": "rival", "gives": "lists"},
            },
        ],
        ["ndcg@10", "catalogue-coverage@10"],
        seed=3,
        question="Is popular popular?",
    )
    return study.run(tmp_path_factory.mktemp("run") / "run")


def test_a_command_gives_the_numbers_of_the_same_algorithm(finished):
    table = finished.table()
    np.testing.assert_array_equal(table.loc["scores"], table.loc["reference popularity"])


def test_lists_keep_the_order_of_the_system(finished):
    """The same items, but for ties: those were broken by the program, and are no longer those of the protocol."""
    table = finished.table()
    assert abs(table.loc["lists", "ndcg@10"] - table.loc["scores", "ndcg@10"]) < 0.1
    touched = finished.impacts()
    ties = touched[touched["decision"].eq("ties.break") & touched["where"].str.startswith("lists/")]
    assert (ties["touched"] == 0).all()


def test_the_journal_says_what_the_system_said_and_took(finished):
    journal = read_journal(finished.folder / "journal.jsonl")
    cells = {event.cell: event for event in journal.events("cell.finished")}
    assert cells["reference popularity/1"].notes == {}
    notes = cells["scores/1"].notes
    rows = journal.events("fold.made")[0].train_rows
    assert notes["standard error"] == f"counted {rows} rows"
    assert notes["exit status"] == "0"
    assert notes["gives"] == "scores"
    assert cells["lists/2"].notes["ties.*"].startswith("taken by the system: ")
    started = {event.cell: event for event in journal.events("cell.started")}
    assert started["lists/1"].parameters["gives"] == "lists"
    assert not started["lists/1"].deterministic


def test_the_report_says_it_too(finished):
    report = write_report(finished).read_text()
    assert "<h2>Notes of the systems</h2>" in report
    assert "taken by the system: the order of items with the same score" in report
    assert "lists: places, not scores" in report
    assert "<td>1, 2</td>" in report  # the same on both folds, and said once


def test_a_command_that_fails_leaves_the_other_cells_alone(ratings, tmp_path):
    study = Study(
        ratings,
        Protocol.load("random-5fold", split__folds=2),
        [
            {"use": "external/command", "label": "sad", "parameters": {"command": "sh -c 'echo broken >&2; exit 4'"}},
            "reference/popularity",
        ],
        ["ndcg@10"],
    )
    with pytest.raises(StudyError, match="2 of 4 cells failed"):
        study.run(tmp_path / "run")
    journal = read_journal(tmp_path / "run" / "journal.jsonl")
    assert [event.cell for event in journal.events("cell.finished")] == [
        "reference popularity/1",
        "reference popularity/2",
    ]
    error = journal.events("cell.failed")[0].error
    assert "external/command: the command ended with status 4" in error
    assert error.endswith("    broken")


def test_the_files_of_the_folds_and_predictions(ratings, tmp_path):
    """Predictions of a system that always says 3, for the test rows of each fold, one file each."""
    protocol = Protocol.load("random-5fold", split__folds=2)
    first = Study(ratings, protocol, ["reference/item-mean"], ["rmse"]).run(tmp_path / "first")
    expected = []
    for event in read_journal(first.folder / "journal.jsonl").events("fold.made"):
        test = pd.read_parquet(first.folder / "artifacts" / f"{event.artifacts['test']}.parquet")
        expected.append(float(np.sqrt(np.mean((test["rating"] - 3) ** 2))))
        test.assign(rating=3.0).to_csv(tmp_path / f"fold-{event.fold}.tsv", sep="\t", header=False, index=False)
    parameters = {"path": str(tmp_path / "fold-{fold}.tsv"), "gives": "predictions", "columns": "score=3"}
    study = Study(
        ratings, protocol, [{"use": "external/file", "label": "three", "parameters": parameters}], ["rmse", "ndcg@10"]
    )
    long = study.run(tmp_path / "second").results
    actual = long[(long["metric"] == "rmse") & (long["fold"] != "all")]["value"]
    np.testing.assert_allclose(actual, expected, rtol=1e-12)
