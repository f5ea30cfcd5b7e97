"""The report of an audit: the gravest first, what is shared is told once, and nothing in it runs that is not ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repro.audits.campaign.audit_results import AuditResults
from repro.reports.audit import findings_of, headline, write_audit_report
from repro.reports.audit.agreement_table import groups
from repro.reports.audit.audit_findings import outside
from repro.reports.audit.policy_table import common
from repro.runs.journal import audit_events as events

EVIL = "<script>alert(1)</script>"


def case(item: int = 4) -> events.CaseEntry:
    user = events.UserEntry(user=7, scores={"10": 1.0, str(item): 2.0}, test=[(item, 5.0)], train=[], made_up=[])
    return events.CaseEntry(k=3, items=[item, 10], scale=(1.0, 5.0), users=[user])


def unexplained(aspect: str, said: str, would_say: str = "1") -> events.UnexplainedEntry:
    return events.UnexplainedEntry(
        aspect=aspect, closest={}, residual=0.5, agreed=3, asked=4, case=case(), said=said, would_say=would_say
    )


def inferred(name: str, metric: str = "precision", policy: dict | None = None, **fields) -> events.MeasureInferred:
    stated = {"unexplained": [], "unstable": [], "refused": [], "unidentifiable": [], "decimals": None, **fields}
    troubled = bool(stated["unexplained"] or stated["unstable"])
    return events.MeasureInferred(
        name=name,
        metric=metric,
        status="explained but for" if troubled else "explained",
        summary=f"{name} is {metric}",
        measure=metric,
        policy=policy or {},
        confirmed=200,
        tried=200,
        asked=500,
        holds=["plain lists"],
        evidence=3,
        page=f"pages/{re.sub('[^a-z0-9]+', '-', name)}.txt",
        page_digest="0" * 64,
        protocol=None,
        protocol_digest=None,
        protocol_hash=None,
        seconds=1.0,
        **stated,
    )


def pair(first: str, second: str, verdict: str, case: int | None = None, *choices) -> events.PairEntry:
    return events.PairEntry(
        first=first,
        second=second,
        verdict=verdict,
        compared={"plain lists": 6},
        gaps={"ties": 0.5} if verdict == "differ" else {},
        case=case,
        choices=[events.ChoiceEntry(decision=d, first=a, second=b) for d, a, b in choices],
        random=[],
    )


def compared(names: list[str], *pairs: events.PairEntry) -> events.MetricCompared:
    answers = dict.fromkeys(names, "0") | {names[0]: "1"}
    agreeing = sum(pair.verdict == "agree" for pair in pairs)
    return events.MetricCompared(
        metric="precision@k",
        names=names,
        agreeing=agreeing,
        compared=len(pairs),
        share=agreeing / len(pairs),
        digits=12,
        kinds=["plain lists", "ties"],
        pairs=list(pairs),
        cases=[events.AnsweredCase(kind="ties", case=case(), answers=answers)],
        refusals=[],
        seconds=1.0,
    )


def survey(folder: Path, measures: list[events.MeasureInferred], agreements=(), pipelines=(), **more) -> AuditResults:
    evaluators: dict[str, dict[str, str]] = {}
    for event in measures:
        evaluator, _, measure = event.name.partition(" ")
        evaluators.setdefault(evaluator, {})[measure] = f"{event.metric}@k"
    began = events.AuditStarted(
        seed=0,
        evaluators=[
            events.EvaluatorEntry(name=name, framework_version="1.0", where="here", measures=measures)
            for name, measures in evaluators.items()
        ],
        pipelines=[],
        data="ml-100k",
        left_out={"cornac": f"cornac is not installed {EVIL}"},
        versions={"python": "3"},
        machine={},
        workers=1,
    )
    return AuditResults(
        folder, began, {event.name: event for event in measures}, agreements, pipelines, more.get("failed", {})
    )


@pytest.fixture
def odd(tmp_path) -> AuditResults:
    """Four frameworks: one with impossible numbers, one that is random, one that rounds, one that is unusual."""
    unstable = events.UnstableEntry(kind="random", aspect="ties", case=case(), answers=["0", "1"])
    turned = events.UnstableEntry(kind="row order", aspect="plain lists", case=case(), answers=["0.5", "1"])
    refused = events.RefusedEntry(aspect="missing scores", message=f"ValueError: {EVIL}", case=case())
    plain = {"ties.break": "item-asc", "average.over": "users"}
    pooled = {"ties.break": "item-asc", "average.over": "pooled"}
    measures = [
        inferred("a/x p", policy=plain, unexplained=[unexplained("short lists", "2"), unexplained("ties", "0")]),
        inferred("a/x map", "ap", plain, unexplained=[unexplained("short lists", "1.5", "0.5")]),
        inferred("b/x p", policy=plain, unstable=[unstable]),
        inferred("b/y p", policy=plain, unstable=[turned]),
        inferred("c/x p", policy=plain, decimals=4, refused=[refused]),
        inferred("d/x p", policy=pooled),
    ]
    names = ["a/x p", "b/x p", "b/y p", "c/x p", "d/x p"]
    over = ("average.over", "users", "pooled")
    agreement = compared(
        names,
        pair("a/x p", "b/x p", "agree"),
        pair("a/x p", "b/y p", "differ", 0),
        pair("a/x p", "c/x p", "agree"),
        pair("a/x p", "d/x p", "differ", 0, over),
        pair("b/x p", "b/y p", "differ", 0, ("ties.break", "item-asc", "item-desc")),
        pair("b/x p", "c/x p", "agree"),
        pair("b/x p", "d/x p", "differ", 0, over),
        pair("b/y p", "c/x p", "not compared"),
        pair("b/y p", "d/x p", "not compared"),
        pair("c/x p", "d/x p", "differ", 0, over),
    )
    fold = events.FoldEntry(fold=1, reported=0.25, measured=0.5, difference=-0.25, equal=False, users=9)
    measure = events.AuditedMeasureEntry(
        measure="p",
        metric="precision@10",
        equal=False,
        summary="p differs",
        decimals=None,
        protocol_hash=None,
        explanations=[f"With {EVIL} the numbers are those reported."],
        folds=[fold],
    )
    pipeline = events.PipelineAudited(
        name="a/whole",
        title="as documented",
        evaluator="a/x",
        data="ml-100k",
        seed=0,
        equal=False,
        measures=[measure],
        seconds=1,
    )
    return survey(tmp_path, measures, [agreement], [pipeline], failed={"e/x p": "AssertionError: odd"})


def test_the_gravest_comes_first_and_what_measures_share_is_one_finding(odd):
    summaries = [(finding.kind, finding.topic, finding.measures) for finding in findings_of(odd)]
    assert summaries == [
        ("outside the range", "short lists", ("a/x p", "a/x map")),
        ("random", "ties", ("b/x p",)),
        ("order of rows", "plain lists", ("b/y p",)),
        ("unexplained", "ties", ("a/x p",)),
        ("rounded", "rounded to 4 decimals", ("c/x p",)),
        ("one name, two numbers", "ties.break", ("b/x p", "b/y p")),
        ("unusual", 'average.over = "pooled"', ("d/x p",)),
    ]


def test_each_has_its_smallest_case_with_what_was_said(odd):
    findings = {finding.kind: finding for finding in findings_of(odd)}
    grave = findings["outside the range"]
    assert grave.sentence == "p says 2, which no precision can be"
    assert grave.case.question == "k = 3\nuser 7: scores {4: 2, 10: 1}; held out {4: 5}"
    assert grave.case.answers == (("a/x p said", "2"), ("the closest policy says", "1"))
    assert findings["random"].case.answers == (("said", "0"), ("said", "1"))
    assert findings["unusual"].sentence.endswith('So do 1 of 4 frameworks; most take "users"')
    assert findings["unusual"].case.answers == (("a/x p", "1"), ("d/x p", "0"))


def test_what_a_metric_cannot_be():
    assert outside("precision", "2") == 1.0
    assert outside("precision", "(0.5, 1.25)") == 0.25
    assert outside("ndcg", "-0.5") == 0.5
    assert outside("precision", "1") == outside("rmse", "3.5") == outside("novelty", "7") == 0.0
    assert outside("precision", "an error (ValueError: 12 lists)") == 0.0
    assert outside("auc", "nan") == 0.0
    assert outside("arhr", "1.5") == outside("kendall", "-0.5") == outside("nmae", "1.2") == 0.0
    assert outside("spearman", "-1.5") == 0.5 and outside("map", "1.5") == 0.5  # by any name
    assert outside("nobody-knows", "-7") == 0.0
    assert outside("mpr", "50") == 0.0 and outside("mpr", "101") == 1.0  # a percentage


def test_the_numbers_that_sum_it_up(odd):
    numbers = headline(odd)
    assert (numbers["frameworks"], numbers["evaluators"], numbers["measures"]) == (4, 5, 6)
    assert (numbers["explained"], numbers["explained_but"], numbers["no_policy"], numbers["failed"]) == (2, 4, 0, 0)
    assert (numbers["pairs_agreeing"], numbers["pairs"]) == (3, 10)
    assert (numbers["pipeline_measures_equal"], numbers["pipeline_measures"]) == (0, 1)


def test_options_that_cannot_be_told_apart_do_not_differ():
    alike = [events.UnidentifiableEntry(decision="ties.break", options=["item-asc", "random"], why="never")]
    either = inferred("a/x p", policy={"ties.break": "item-asc"}, unidentifiable=alike)
    first, second = (
        inferred(f"{who}/x p", policy={"ties.break": rule}) for who, rule in (("b", "random"), ("c", "worst"))
    )
    assert common([either, first], "ties.break") == ("random",)
    assert common([either, first, inferred("d/x p")], "ties.break") == ("random",)  # where it is not settled
    assert common([either, first, second], "ties.break") == ()
    assert not [finding for finding in findings_of(survey(Path(), [either, first])) if finding.kind == "unusual"]


def test_measures_that_agree_stand_together(odd):
    assert groups(odd.compared[0]) == [["a/x p", "b/x p", "c/x p"], ["b/y p"], ["d/x p"]]


def test_who_answers_nothing_is_a_finding():
    refusal = events.RefusedEntry(aspect="plain lists", message="ValueError: no data", case=case())
    silent = [inferred(f"a/x {name}", refused=[refusal]).model_copy(update={"holds": []}) for name in ("p", "map")]
    [finding] = findings_of(survey(Path(), silent))
    assert (finding.kind, finding.topic, finding.measures) == ("unexplained", "plain lists", ("a/x p", "a/x map"))
    assert finding.sentence == "refused: ValueError: no data"


@pytest.fixture
def page(odd) -> str:
    return write_audit_report(odd).read_text()


def test_text_from_evaluators_is_escaped_and_links_stay_in_the_folder(page, elements_of):
    elements = elements_of(page)
    assert not elements.named("script") and page.count("&lt;script&gt;") == 3
    links = [attrs["href"] for _, attrs, _ in elements.all if "href" in attrs]
    assert links and all(re.fullmatch(r"#[a-z0-9-]+|pages/[a-z0-9-]+\.txt", link) for link in links)
    anchors = {attrs["id"] for _, attrs, _ in elements.all if "id" in attrs}
    assert {link[1:] for link in links if link.startswith("#")} <= anchors


def test_the_answer_is_in_the_page(page):
    text = re.sub(r"<[^>]+>", " ", page)
    for phrase in (
        "6 measures of 5 evaluators in 4 frameworks were asked 3,000 small questions",
        "30%  of pairs that bear the name of one metric agree",
        "2 of 6  measures follow one policy",
        "a, short lists : p says 2, which no precision can be.",
        "All agree on: ties.break = item-asc",
        "precision@k  3 of 10 pairs agree (30%)",
        "With &lt;script&gt;",
        "AssertionError: odd",
        "cornac is not installed",
    ):
        assert phrase in text, phrase


def test_an_audit_in_which_nothing_is_odd(tmp_path):
    text = write_audit_report(survey(tmp_path, [inferred("a/x p", policy={"ties.break": "item-asc"})])).read_text()
    assert "Nothing is surprising." in text and "No two measures are declared as one metric." in text
