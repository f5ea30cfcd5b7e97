"""The checklist: no answer without what shows it."""

import json
import re

import pytest

from repro.exports import export
from repro.exports.checklist import checklist
from repro.runs.run import Run


def answers(folder):
    return {item.question: item for item in checklist(Run(folder))}


@pytest.mark.parametrize("which", ["run", "one_relevant", "predictions_only"])
def test_no_yes_without_an_event_of_the_journal_or_files_that_were_checked(which, request):
    folder = request.getfixturevalue(which)
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    kinds = {line["number"]: line["event"]["event"] for line in lines}
    for item in answers(folder).values():
        assert item.evidence, item.question
        cited = re.findall(r"event (\d+) \(([\w.]+)\)", item.evidence)
        assert all(kinds[int(number)] == kind for number, kind in cited)
        if item.answer == "yes":
            assert cited or "events cell.finished" in item.evidence or "the SHA-256 of the journal" in item.evidence


def test_what_the_journal_shows(run, predictions_only):
    result = answers(run)
    assert result["Is more than accuracy measured?"].answer == "yes"
    assert result["Were all algorithms with parameters tuned, baselines too?"].answer == "no"
    assert (
        result["Is it stated where the data is available, and under which terms?"].answer == "no"
    )  # data of Python code
    assert result["Has somebody else obtained the same numbers?"].answer == "no"
    other = answers(predictions_only)
    assert other["Is it stated, and recorded, which items were ranked?"].answer == "not applicable"
    assert other["Can differences be tested on paired values of users?"].answer == "not applicable"


def test_the_file_has_every_question_once(run, tmp_path):
    text = export(run, "checklist", tmp_path / "checklist.md").read_text()
    for question in answers(run):
        assert text.count(f"| {question} |") == 1
    assert "Bellogín" in text and "<script" not in text
