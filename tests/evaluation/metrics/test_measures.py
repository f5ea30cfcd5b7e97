"""Metrics by name: what is read, what is refused, and that every metric and option is complete."""

import importlib
import pathlib
import pickle
import re

import pytest

from repro.errors import ProtocolError
from repro.evaluation.metrics import CollectionMetric, PredictionMetric, RankingMetric, metrics
from repro.protocol import Protocol


def test_names_read_back(measure):
    for name in ("ndcg@10", "ndcg[gain=exp2,discount=log-base,base=3]@5", "ap", "user-coverage@3", "rmse"):
        first = measure(name)
        assert measure(first.full_name) == first
    assert measure("nDCG@10").name == "ndcg@10"
    assert measure("map@10").full_name == "ap[denominator=relevant]@10"


def test_threshold_comes_from_the_protocol_and_stays_out_of_the_name(measure):
    parsed = measure("ndcg[gain=exp2-threshold]@5", relevance__threshold=4)
    assert parsed.variants["threshold"] == 4
    assert "threshold=" not in parsed.full_name
    assert measure(parsed.full_name, relevance__threshold=4) == parsed


def test_threshold_gains_need_a_threshold(measure):
    with pytest.raises(ProtocolError, match=r'counts from relevance.threshold, and relevance.rule is "any"'):
        measure("ndcg[gain=exp2-threshold]@5", relevance__rule="any")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndgc@10", "there is no metric 'ndgc'; did you mean 'ndcg'"),
        ("hit", "needs a cut-off, such as hit@10"),
        ("rmse@10", "takes no cut-off"),
        ("ndcg@0", "whole number from 1 to"),
        ("ndcg[gian=exp2]@5", "no variant 'gian'; did you mean 'gain'"),
        ("ndcg[gain=exp]@5", "not allowed"),
        ("ndcg[base=3]@5", "has no effect here"),
        ("10", "is not a metric name"),
    ],
)
def test_names_that_are_refused(name, message, measure):
    with pytest.raises(ProtocolError, match=re.escape(message)):
        measure(name)


def test_metrics_that_say_nothing_with_one_relevant_item_per_list(measure):
    in_1r = {"candidates__relevant": "one"}
    with pytest.raises(ProtocolError, match="recall is the hit rate; ask for hit"):
        measure("recall@10", **in_1r)
    with pytest.raises(ProtocolError, match="average precision is the reciprocal rank; ask for rr"):
        measure("map@10", **in_1r)
    assert measure("ndcg[gain=linear]@10", **in_1r).cutoff == 10


def test_user_coverage(measure, ranked, background):
    # User 0 has an item with a score, user 1 only one that a rule placed, user 2 none; user 3 has two lists.
    lists = ranked(
        [{1: 2.0, 2: 1.0}, {1: 2.0}, {}, {1: 1.0}, {2: 1.0}],
        [{}] * 5,
        users=[0, 1, 2, 3, 3],
        unscored=[{2}, {1}, set(), set(), {2}],
    )
    for name, share in (("user-coverage@1", 2 / 4), ("user-coverage[counts=listed]@2", 3 / 4)):
        parsed = measure(name)
        known = background([{}] * 4, 5)
        assert parsed.of_collection([parsed.of_lists(lists, known)], known) == share


def test_catalogue_coverage_adds_up_over_blocks(measure, ranked, background):
    first = ranked([{1: 3.0, 2: 2.0, 4: 1.0}, {2: 1.0, 1: 2.0}], [{}] * 2)
    second = ranked([{3: 1.0}, {}], [{}] * 2)
    for k, share in ((1, 2 / 10), (2, 3 / 10), (3, 4 / 10)):
        parsed = measure(f"catalogue-coverage@{k}")
        known = background([{}] * 4, 10)
        assert parsed.of_collection([parsed.of_lists(lists, known) for lists in (first, second)], known) == share


def test_every_metric_says_what_it_is():
    for metric in metrics().values():
        document = importlib.import_module(f"repro.evaluation.metrics.{metric.name.replace('-', '_')}").__doc__
        assert metric.title and metric.cite, metric.name
        assert " = " in document, f"{metric.name}: no formula"
        for case in ("empty", "relevan", "fewer than k|short|k items"):
            assert re.search(case, document, re.IGNORECASE), f"{metric.name}: says nothing about {case}"


def test_every_metric_is_of_one_class_with_its_stages_direction_and_range():
    of_lists = {"relevance", "candidates", "missing", "precision", "ties"}
    classes = {
        RankingMetric: ("ranking", of_lists | {"average"}),
        CollectionMetric: ("collection", of_lists),
        PredictionMetric: ("prediction", {"predict"}),
    }
    for metric in metrics().values():
        assert (metric.kind, set(metric.stages)) == classes[type(metric)], metric.name
        assert metric.better in ("higher", "lower", "neither"), metric.name
        assert metric.tie_order is not None, metric.name
        low, high = metric.widest_range(Protocol.load("random-5fold"))
        assert low < high, metric.name


def test_every_metric_states_its_task_and_what_it_shows():
    # The survey names these; curves of precision and recall, and areas below them, it has for both kinds of lists.
    survey = {
        "predict ratings": ("rmse", "mse", "mae", "nmae"),
        "recommend some good items": ("precision",),
        "recommend all good items": ("recall",),
        "optimise utility": ("half-life",),
    }
    for task, names in survey.items():
        assert {metrics()[name].task for name in names} == {task}
    for metric in metrics().values():
        assert metric.task and 20 < len(metric.shows) < 120, metric.name
        assert metric.shows[-1] != "." and metric.suits.endswith("(Gunawardana & Shani 2009)"), metric.name
        assert metric.task == "predict ratings" or metric.kind != "prediction" or "coverage" in metric.name


def test_every_option_of_every_metric_is_tested():
    here = pathlib.Path(__file__).parent
    tests = "".join(path.read_text(encoding="utf-8") for path in here.glob("*.py"))
    for decision in (variant for metric in metrics().values() for variant in metric.variants):
        name = decision.id.rpartition(".")[2]
        for option in decision.options:
            default = option.value == decision.default
            assert default or f"{name}={option.value}" in tests, f"{decision.id}={option.value} has no test"


def test_every_metric_can_be_sent_to_another_process():
    for name, metric in metrics().items():
        assert pickle.loads(pickle.dumps(metric)).name == name
