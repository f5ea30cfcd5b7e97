"""Suspicious numbers are reported by algorithm: in the table, the report, the Python result and the journal."""

import json
import math
import re
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from repro import Study
from repro.cli import cli
from repro.errors import ReproWarning
from repro.evaluation.evaluation import measure_predictions
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.metrics import simple_measures
from repro.evaluation.suspicion import Facts, Subject, Value, find_suspicious, summaries
from repro.plugin import FALLBACK, CheckedRecommender, Scores, parameters_of, plugins
from repro.protocol import Protocol
from repro.reports import write_report
from repro.runs.journal import read_journal
from repro.runs.run import Run
from repro.study import RunOptions, make_plan, run_study
from repro.study.fold_data import fold_data

METRICS = ["ndcg@10", "recall@10", "ap@20", "rr", "f1[average=means]@5"]
MEANS = {"use": "reference/item-knn", "label": "means", "parameters": {"normalise": True}}
AUTO = {"use": "reference/item-knn", "label": "auto"}
SUMS = {"use": "reference/item-knn", "label": "sums", "parameters": {"normalise": False}}


def clicks_of(users: int = 80, items: int = 120) -> pd.DataFrame:
    """Clicks without ratings whose item ids follow popularity."""
    draw = np.random.default_rng(5)
    chance = 1 / np.arange(1.0, items + 1)
    rows = [
        (user, int(item) + 1)
        for user in range(users)
        for item in draw.choice(items, draw.integers(6, 16), replace=False, p=chance / chance.sum())
    ]
    return pd.DataFrame(rows, columns=["user", "item"])


@pytest.fixture(scope="module")
def clicks():
    return clicks_of()


def protocol(**changes):
    return Protocol.load("random-5fold", **{"relevance__rule": "any", "split__folds": 2} | changes)


def table(results: Run, fold: str = "all") -> pd.DataFrame:
    long = results.results
    return long[long["fold"] == fold].set_index(["algorithm", "metric"])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"average__folds": "pooled"},
        {"average__over": "pooled"},
        {"average__no_list": "skip", "missing__rank": "drop"},
        {"candidates__relevant": "one"},
    ],
    ids=str,
)
def test_the_interval_is_what_the_best_and_the_worst_order_give(clicks, changes):
    """The orders are those of ties.break = best and worst, which rank anew; the interval is that of every tie rule."""
    names = ["ndcg@10", "hit@10", "rr"] if "candidates__relevant" in changes else METRICS
    uses = [MEANS, "reference/popularity"]
    actual = {
        rule: table(run_study(Study(clicks, protocol(ties__break=rule, **changes), uses, names)))
        for rule in ("item-asc", "random", "expected", "best", "worst")
    }
    for label in ("means", "reference popularity"):
        for name in actual["best"].loc[label].index:
            best, worst = (actual[rule].loc[(label, name), "value"] for rule in ("best", "worst"))
            for rows in actual.values():
                row = rows.loc[(label, name)]
                assert (row["lowest"], row["highest"]) == (worst, best)
                assert worst - 1e-12 <= row["value"] <= best + 1e-12
    assert actual["random"].loc[("means", "ndcg@10"), "highest"] > 0.5


def plain_ndcg_interval(clicks: pd.DataFrame, train: np.ndarray, k: int) -> tuple[float, float]:
    """Means of equal ratings are all 1: a user's candidates tie if an item that the user has shares a user with them.

    The others have no score and come last, tied as well. In plain Python, for users by the rows that are held out.
    """
    rows = list(zip(clicks["user"], clicks["item"], strict=True))
    known = [row for row, kept in zip(rows, train, strict=True) if kept]
    fans: dict[int, set[int]] = {}
    for user, item in known:
        fans.setdefault(item, set()).add(user)
    lowest, highest = [], []
    for user in sorted({user for (user, _), kept in zip(rows, train, strict=True) if not kept}):
        own = {item for owner, item in known if owner == user}
        wanted = {item for (owner, item), kept in zip(rows, train, strict=True) if owner == user and not kept}
        candidates = set(clicks["item"]) - own
        near = {item for item in candidates if any(fans.get(item, set()) & fans[other] for other in own)}
        groups = [near, candidates - near]
        ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(wanted))))
        for values, first in ((highest, True), (lowest, False)):
            order = [i for group in groups for i in sorted(group, key=lambda item: (item in wanted) != first)]
            values.append(sum(1 / math.log2(n + 2) for n, item in enumerate(order[:k]) if item in wanted) / ideal)
    return sum(lowest) / len(lowest), sum(highest) / len(highest)


def test_the_interval_against_plain_python(clicks):
    study = Study(clicks, protocol(), [MEANS], ["ndcg@10"])
    split = make_plan(study).split
    actual = table(run_study(study), split.folds[0].name).loc[("means", "ndcg@10")]
    test = split.interactions.select(split.folds[0].test)
    held_out = set(zip(test.user_ids[test.users].tolist(), test.item_ids[test.items].tolist(), strict=True))
    train = np.array([pair not in held_out for pair in zip(clicks["user"], clicks["item"], strict=True)])
    assert (actual["lowest"], actual["highest"]) == pytest.approx(plain_ndcg_interval(clicks, train, 10), abs=1e-12)


def test_a_ranking_made_by_the_tie_rule_is_said_everywhere(clicks, tmp_path):
    """Ids that follow popularity make ties in their order look like a good algorithm; random ties do not."""
    algorithms = [MEANS, AUTO, SUMS]
    values = {}
    for rule in ("item-asc", "random"):
        study = Study(clicks, protocol(ties__break=rule), algorithms, ["ndcg@10", "recall@10"])
        with pytest.warns(ReproWarning, match="The ranking of means is made by the tie rule: ndcg@10 is") as warned:
            results = study.run(tmp_path / rule)
        values[rule] = results.table()["ndcg@10"]
        others = [str(warning.message) for warning in warned if "means" not in str(warning.message)]
        assert others == ["auto and sums have the same lists for every user."]
    assert values["item-asc"]["means"] > 3 * values["random"]["means"]
    assert values["random"]["auto"] == values["random"]["sums"] == pytest.approx(values["item-asc"]["sums"], rel=0.05)

    actual = {(f.code, f.algorithm, f.metric): f for f in results.findings}
    decide = actual["ties.decide", "means", "ndcg@10"]
    assert decide.severity == "warning" and "recall@10" in {finding.metric for finding in results.findings}
    row = table(results).loc[("means", "ndcg@10")]
    assert decide.figures == {
        "value": row["value"],
        "lowest": row["lowest"],
        "highest": row["highest"],
        "rule": rule,
        "decided": 1,
        "tied_users": decide.figures["users"],
        "users": row["users"],
        "folds": 2,
    }
    assert actual["ratings.constant", "means", ""].severity == "warning"
    assert "all training ratings are equal" in actual["parameter.chosen", "auto", ""].sentence
    assert actual["entries.identical", "auto", ""].others == ("sums",)
    assert not [f for f in results.findings if f.code.startswith("ties") and f.algorithm != "means"]

    events = read_journal(results.folder / "journal.jsonl").events("findings.made")
    assert [entry.sentence for entry in events[-1].findings] == [finding.sentence for finding in results.findings]
    page = write_report(results).read_text()
    first = page[page.index('<section id="answer">') :]
    assert first.index("The ranking of means is made by the tie rule") < first.index('<p class="answer">')
    assert re.search(r"means.{0,20}<span[^>]*see above", first)
    assert re.search(r'<p class="answer">[^<]* suspicious: see above', first)


def test_the_command_says_what_many_algorithms_have_in_common_once(clicks, tmp_path):
    clicks.to_csv(tmp_path / "clicks.csv", index=False)
    labels = [f"means{n}" for n in range(1, 9)]
    study = 'metrics = ["ndcg@10"]\n[data]\nname = "clicks.csv"\n[protocol]\nbase = "random-5fold"\n'
    study += 'split.folds = 2\nrelevance.rule = "any"\n'
    for n, label in enumerate(labels, 1):
        study += f'[[algorithms]]\nuse = "reference/item-knn"\nlabel = "{label}"\n'
        study += f"parameters = {{ normalise = true, k = {n} }}\n"
    (tmp_path / "study.toml").write_text(study)
    given = ["run", str(tmp_path / "study.toml"), "--workers", "1"]
    printed = CliRunner().invoke(cli, given, catch_exceptions=False).output
    table, _, below = printed.partition("\n[1] ")
    footnotes = re.findall(r"^\[(\d)\] (\w+): (.*\n(?:      .*\n)*)", f"[1] {below}", re.MULTILINE)
    assert [number for number, _, _ in footnotes] == [str(n) for n in range(1, len(footnotes) + 1)]
    about = {text: {label for label in labels if label in text} for _, _, text in footnotes}
    constant = next(text for text in about if text.startswith("All training ratings are equal"))
    decide = next(text for text in about if text.startswith("Orders of tied items give very different values"))
    assert about[constant] == about[decide] == set(labels)
    assert len(decide.splitlines()) <= len(labels) + 1
    for number, _, text in footnotes:
        marked = set(re.findall(rf"^(means\d) .*\[{number}\]", table, re.MULTILINE))
        assert marked == about[text]


def test_the_command_marks_the_row_and_says_why(clicks, tmp_path):
    clicks.to_csv(tmp_path / "clicks.csv", index=False)
    (tmp_path / "study.toml").write_text(
        'metrics = ["ndcg@10"]\n[data]\nname = "clicks.csv"\n[protocol]\nbase = "random-5fold"\nsplit.folds = 2\n'
        'relevance.rule = "any"\n[[algorithms]]\nuse = "reference/item-knn"\nlabel = "means"\n'
        'parameters = { normalise = true }\n[[algorithms]]\nuse = "reference/popularity"\n'
    )

    def invoke(*options: str):
        return CliRunner().invoke(
            cli, ["run", str(tmp_path / "study.toml"), "--workers", "1", *options], catch_exceptions=False
        )

    printed = invoke().output
    marks = re.search(r"^means ((?:\[\d\] ?)+)", printed, re.MULTILINE)[1]
    for number, text in (("[1]", "predicts ratings, and all"), ("[2]", "The ranking of means is made by the tie rule")):
        assert number in marks
        assert re.search(rf"^\[\d\] warning: .*{text}", printed, re.MULTILINE)
    reports = json.loads(invoke("--json", "--fresh").stdout)["findings"]
    assert {(finding["code"], finding["algorithm"]) for finding in reports} >= {
        ("ties.decide", "means"),
        ("ratings.constant", "means"),
    }


def test_findings_and_intervals_are_the_same_after_a_resumption_and_with_more_workers(clicks, tmp_path):
    study = Study(clicks, protocol(average__folds="pooled"), [MEANS, "reference/popularity"], METRICS)
    whole = run_study(study, tmp_path / "whole")
    other = run_study(study, tmp_path / "other", RunOptions(workers=2, block_users=64))
    shutil.copytree(whole.folder, tmp_path / "cut")
    lines = (tmp_path / "cut" / "journal.jsonl").read_text().splitlines(keepends=True)
    finished = [n for n, line in enumerate(lines) if json.loads(line)["event"]["event"] == "cell.finished"]
    (tmp_path / "cut" / "journal.jsonl").write_text("".join(lines[: finished[1] + 1]))
    cut = run_study(study, tmp_path / "cut", RunOptions(resume=True))
    assert whole.findings
    for results in (other, cut):
        assert results.findings == whole.findings
        assert (results.folder / "results.parquet").read_bytes() == (whole.folder / "results.parquet").read_bytes()


class Made:
    """Scores by a function of users and items."""

    def __init__(self, make):
        self.make = make

    def fit(self, train, *, seed): ...

    def score(self, queries, items):
        users = queries.users
        return self.make(users[:, None], items[None, :])

    def predict(self, queries, items):
        users = queries.users
        return self.make(users, items)


def full(value, state=None):
    def make(users, items):
        shape = np.broadcast(users, items).shape
        return Scores(np.full(shape, value), None if state is None else np.full(shape, state, dtype=np.uint8))

    return make


def mixed(users, items):
    """A score for one item in ten; the others have none."""
    return Scores(np.where(items % 10 == 0, (users + items) / 7, np.nan))


@pytest.fixture(scope="module")
def measured(data):
    study = Study(data, Protocol.load("random-5fold", split__folds=2), ["reference/popularity"], ["ndcg@10", "rmse"])
    plan = make_plan(study)
    parts = fold_data(plan, plan.split.folds[0])

    def facts(make) -> Facts:
        guarded = CheckedRecommender(Made(make), "made")
        lists, predicted = ([measure] for measure in simple_measures(study.measures))
        of_lists = measure_lists(guarded, parts, lists, study.protocol, study.seed)
        return of_lists.facts + measure_predictions(guarded, parts, predicted, study.protocol, plan.scale).facts

    return facts


@pytest.mark.parametrize(
    ("make", "codes"),
    [
        (full(np.nan), {"scores.missing", "predictions.missing"}),
        (full(3.5), {"scores.constant", "predictions.constant", "ties.cross"}),
        (full(3.5, FALLBACK), {"scores.missing", "scores.fallback", "predictions.fallback", "ties.cross"}),
        (mixed, set()),
        (lambda users, items: Scores(np.sin(users * 31.0 + items * 17.0)), set()),
    ],
    ids=["missing", "constant", "fallback", "few", "ordinary"],
)
def test_scores_that_are_missing_constant_or_made_up(measured, make, codes):
    facts = measured(make)
    actual = find_suspicious([Subject("it", [Value("ndcg@10", 0.5)], facts)], "item-asc", "last")
    assert {finding.code for finding in actual} == codes
    assert all("it" in re.findall(r"\w+", finding.sentence) for finding in actual)


def test_lists_that_are_filled_by_the_rule_for_missing_scores(measured):
    def one_of_sixty(users, items):
        return Scores(np.where(items % 60 == 0, (users + items) / 7, np.nan))

    facts = measured(one_of_sixty)
    assert 0 < facts.listed_unscored < facts.listed
    actual = find_suspicious([Subject("it", [], facts)], "item-asc", "last")
    assert 'which missing.rank = "last" placed there' in next(o for o in actual if o.code == "scores.missing").sentence


def test_narrow_intervals_and_clear_orders_are_not_suspicious():
    values = [Value("ndcg@10", 0.30, 0.29, 0.31, 10), Value("ndcg@10", 0.20, 0.20, 0.20, 10)]
    facts = Facts(folds=1, users=100, lists=100, tied_users={10: 20})
    assert not find_suspicious([Subject(n, [v], facts) for n, v in zip("ab", values, strict=True)], "item-asc")


def test_neighbours_whose_order_depends_on_ties():
    """0.300 may be as low as 0.295, and 0.296 is above that; 0.2 is far below."""
    values = {"a": (0.300, 0.295, 0.301), "b": (0.296, 0.296, 0.296), "c": (0.2, 0.2, 0.2)}
    actual = find_suspicious([Subject(n, [Value("ndcg@10", *v)], Facts()) for n, v in values.items()], "random")
    assert [(finding.code, finding.algorithm, finding.others) for finding in actual] == [("ties.order", "a", ("b",))]


@pytest.mark.parametrize(
    ("value", "lowest", "highest", "suspicious"),
    [(0.2, 0.19, 0.209, False), (0.2, 0.19, 0.211, True), (0.0, 0.0, 0.001, True), (0.0, 0.0, 0.0, False)],
)
def test_an_interval_is_wide_beyond_a_tenth_of_the_value(value, lowest, highest, suspicious):
    actual = find_suspicious([Subject("a", [Value("ndcg@10", value, lowest, highest)], Facts())], "random")
    assert bool(actual) is suspicious


def test_the_same_algorithm_of_several_frameworks_may_agree():
    def subject(name, use):
        return Subject(name, [], Facts(), use, lists="digest")

    agreed = find_suspicious([subject("a", "x/popularity"), subject("b", "y/popularity")], "random")
    other = find_suspicious([subject("a", "x/popularity"), subject("b", "y/bpr")], "random")
    assert [finding.severity for finding in (*agreed, *other)] == ["note", "warning"]


def test_findings_about_several_metrics_are_one_text():
    values = [Value("ndcg@10", 0.2, 0.1, 0.3), Value("rr", 0.4, 0.1, 0.9)]
    reports = summaries(find_suspicious([Subject("a", values, Facts())], "random"))
    assert len(reports) == 1 and reports[0].text.endswith("Likewise rr (0.1000 to 0.9000).")


def test_an_algorithm_that_predicts_ratings_and_is_asked_for_rankings_says_so(data):
    algorithms = [MEANS, SUMS, "reference/bias", "reference/popularity"]
    for metrics, expected in ((["ndcg@10"], {"means", "reference bias"}), (["rmse"], set())):
        study = Study(data, Protocol.load("random-5fold", split__folds=2), algorithms, metrics)
        actual = run_study(study).findings
        assert {finding.algorithm for finding in actual if finding.code == "scores.ratings"} == expected


def test_what_algorithms_rank_by_is_what_they_say_they_predict():
    """Of every algorithm that runs in this process, with its defaults and with all values of what it depends on."""
    checked = 0
    for framework in plugins().frameworks.values():
        if plugins().location(framework.name) != "in-process" or framework.name == "external":
            continue
        for algorithm in framework.algorithms:
            options = {p.name: p.options for p in algorithm.parameters if p.name in algorithm.ratings_with}
            stated = [{}] + [{name: value} for name, values in options.items() for value in values]
            for some in stated:
                parameters = parameters_of(algorithm, some)
                made = plugins().recommender(f"{framework.name}/{algorithm.name}", parameters)
                assert (algorithm.kind_of_scores(parameters) == "ratings") is made.predicts, algorithm.name
                checked += 1
    assert checked > 20


def test_no_warning_where_nothing_is_suspicious(data):
    study = Study(data, Protocol.load("random-5fold", split__folds=2), ["reference/puresvd"], ["ndcg@10"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReproWarning)
        assert not study.run().findings
