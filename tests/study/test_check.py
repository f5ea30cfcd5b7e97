"""All problems of a study at once, each with its line."""

import pytest

from repro.study.check import check_study

DATA = "user,item,rating,timestamp\n" + "".join(
    f"u{user},i{(user + step) % 8},{1 + (user + step) % 5},{100 * step + user}\n"
    for user in range(8)
    for step in range(5)
)
GOOD = """\
metrics = ["ndcg@3", "recall@3"]
protocol = "random-5fold"
data = "ratings.csv"

[[algorithms]]
use = "reference/popularity"
"""


@pytest.fixture
def problems(tmp_path):
    """The problems of a study as (severity, line, about, text)."""
    (tmp_path / "ratings.csv").write_text(DATA)
    (tmp_path / "clicks.csv").write_text("user,item\n" + "".join(f"u{n % 6},i{n % 7}\n" for n in range(42)))

    def of(text):
        (tmp_path / "study.toml").write_text(text)
        return [(p.severity, p.line, p.about, p.text) for p in check_study(tmp_path / "study.toml")]

    return of


def test_a_good_study_has_no_problem(problems):
    assert problems(GOOD) == []


BAD = """\
sede = 3
metrics = [
  "ndgc@3",
  "MAP@3",
  "P@5000",
]

[data]
name = "ratings.csv"

[protocol]
base = "random-5fold"
ties.brek = "random"
split.folds = 1

[[algorithms]]
use = "reference/popularity"
lable = "x"

[[algorithms]]
use = "reference/item-knn"

[algorithms.parameters]
kk = 3
similarity = "cosin"

[[algorithms]]
use = "lenskit/no-such"
"""
EXPECTED = [
    (1, "unknown key 'sede'; did you mean 'seed'?"),
    (3, "there is no metric 'ndgc'; did you mean 'ndcg'?"),
    (4, "MAP@3 is read as ap@3"),
    (5, "a list can have at most 8 items here"),
    (13, "unknown decision 'ties.brek'; did you mean 'ties.break'?"),
    (14, "split.folds = 1 is not allowed"),
    (18, "unknown key 'lable' in an algorithm; did you mean 'label'?"),
    (24, "no parameter 'kk'; did you mean 'k'?"),
    (25, "similarity = 'cosin' is not allowed"),
    (28, "framework lenskit has no algorithm 'no-such'"),
]


def test_every_problem_is_found_at_once_with_its_line(problems):
    reported = problems(BAD)
    assert [line for _, line, _, _ in reported] == [line for line, _ in EXPECTED]
    for (_, _, _, text), (_, words) in zip(reported, EXPECTED, strict=True):
        assert words in text
    warnings = {line for severity, line, _, _ in reported if severity == "warning"}
    assert warnings == {4, 5}


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ('metrics = ["ndcg@3", "recall@3"]\n', "", None, "the study has no 'metrics'"),
        ("ndcg@3", "recall@3", 1, "asked for twice"),
        ("random-5fold", "random-5flod", 2, "did you mean 'random-5fold'"),
        ("ratings.csv", "rating.csv", 3, "rating.csv"),
        ("ratings.csv", "clicks.csv", 2, 'relevance.rule = "threshold" compares ratings, and this data set has none'),
        ('"recall@3"', '"rmse"', 6, "predicts no ratings"),
        ('"random-5fold"', '"no.toml"', 2, "no.toml"),
        ("[[algorithms]]", "seed = -1\n[[algorithms]]", 5, "seed = -1 must be a whole number"),
        ("popularity", "popularity\nlabel=", 6, "not valid TOML"),
    ],
)
def test_single_problems(problems, before, after, line, words):
    reported = problems(GOOD.replace(before, after, 1))
    assert any(words in text and line in (None, place) for _, place, _, text in reported), reported


def test_data_that_the_protocol_cannot_use(problems):
    by_time = GOOD.replace("random-5fold", "time-split").replace("ratings.csv", "clicks.csv")
    ((severity, _, about, text),) = problems(by_time)
    assert (severity, about) == ("error", "protocol") and "needs timestamps" in text


def test_a_test_part_without_anything_relevant(problems):
    stated = GOOD.replace('protocol = "random-5fold"\n', "") + '[protocol]\nbase = "random-5fold"\n'
    reported = problems(stated + "relevance.threshold = 9\n")
    assert [(severity, line) for severity, line, *_ in reported] == [("error", 8)]
    assert "none of the 8 held-out rows of the first fold counts as relevant" in reported[0][3]


def test_ratings_where_every_row_counts_as_relevant_are_pointed_out(problems):
    ((severity, line, _, text),) = problems(GOOD.replace("random-5fold", "random-80-20"))
    assert (severity, line) == ("warning", 2) and "from 1 to 5" in text


def test_an_algorithm_that_predicts_ratings_is_pointed_out_in_rankings_alone(problems):
    predicting = GOOD.replace("popularity", "bias")
    ((severity, line, _, text),) = problems(predicting)
    assert (severity, line) == ("warning", 6) and "ranks by predicted ratings" in text
    assert problems(predicting.replace('["ndcg@3", "recall@3"]', '["rmse"]')) == []


def test_a_framework_that_is_not_installed_is_named_with_the_command(problems, monkeypatch):
    from repro.plugin import plugins

    monkeypatch.setattr(
        type(plugins()), "location", lambda self, name: "missing" if name == "lenskit" else "in-process"
    )
    ((severity, line, _, text),) = problems(GOOD.replace("reference", "lenskit"))
    assert (severity, line) == ("error", 6)
    assert "lenskit is not installed" in text and "`repro plugins install lenskit`" in text


def test_tuning_is_checked_too(problems):
    text = GOOD + '\n[tune]\nmetric = "ndcg@3"\ntrials = 0\n\n[tune.space.popularity]\nx = [1]\n'
    assert any(about == "tune" and "trials = 0" in text for _, _, about, text in problems(text))
