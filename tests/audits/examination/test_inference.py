"""The text of a finding."""

from repro.audits import Evidence, Inference, Refused, Unexplained, Unstable
from repro.audits.questions.answers import Answer
from repro.audits.questions.question import Question, User

SMALL = Question((User(5, {3: 1.0, 58: 2.0}, ((3, 4.0),)),), (3, 58), 1)
LARGE = Question((User(5, {3: 1.0, 58: 2.0, 60: 3.0}, ((3, 4.0),)),), (3, 58, 60), 2)


def evidence(decision, option, question, would_say):
    return Evidence(decision, option, question, Answer(0.0), Answer(would_say))


def inference(holds=("plain lists",), **changes):
    start = {"name": "x", "metric": "precision", "status": "explained", "policy": {}, "measure": "precision@k"}
    return Inference(**(start | changes), protocol=None, holds=holds)


def test_options_that_the_same_case_rejects_are_told_together():
    page = inference(
        evidence=(
            evidence("candidates.base", "test-items", SMALL, 1.0),
            evidence("candidates.base", "user-test-items", SMALL, 1.0),
            evidence("candidates.base", "train-items", SMALL, 0.5),  # another number
            evidence("candidates.base", "file", LARGE, 1.0),  # another case
            evidence("average.over", "pooled", SMALL, 1.0),  # another decision
        )
    ).to_text()
    assert page.partition("Evidence\n")[2].splitlines() == [
        '    said 0; with candidates.base = "test-items" or "user-test-items" it would be 1',
        "        k = 1",
        "        user 5: scores {3: 1, 58: 2}; held out {3: 4}",
        '    said 0; with candidates.base = "train-items" it would be 0.5',
        "        k = 1",
        "        user 5: scores {3: 1, 58: 2}; held out {3: 4}",
        '    said 0; with candidates.base = "file" it would be 1',
        "        k = 2",
        "        user 5: scores {3: 1, 58: 2, 60: 3}; held out {3: 4}",
        '    said 0; with average.over = "pooled" it would be 1',
        "        k = 1",
        "        user 5: scores {3: 1, 58: 2}; held out {3: 4}",
    ]


def test_what_is_in_doubt_is_named_once():
    answer = Answer(1.0)
    inferred = inference(
        unexplained=(Unexplained("ties", {}, 0.5, 0, 1, SMALL, answer, answer),),
        unstable=(
            Unstable("random", "ties", SMALL, (answer, answer)),
            Unstable("row order", "plain lists", SMALL, (answer,)),
        ),
    )
    assert inferred.doubtful == ("ties", "plain lists")


def test_who_refuses_everything_is_told_in_a_line_without_the_lines_of_a_worker():
    message = "the worker of x failed: ValueError: no\n  data; its last lines:\n  File /somewhere/x.py, line 3"
    inferred = inference(holds=(), status="unexplained", refused=(Refused("plain lists", message, SMALL),))
    assert inferred.summary == "x refuses plain lists: the worker of x failed: ValueError: no data"
    assert "somewhere" not in inferred.to_text() and "somewhere" not in str(inferred.to_dict())
