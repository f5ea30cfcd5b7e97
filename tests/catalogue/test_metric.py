"""`repro.Metric`: what a metric is, for people."""

import dataclasses

import pytest

import repro
from repro.app import Application
from repro.current import use
from repro.errors import ProtocolError
from repro.evaluation.metrics import metrics


@pytest.mark.parametrize("name", metrics())
def test_every_metric_has_a_formula_a_direction_and_facts(name):
    metric = repro.Metric(name)
    assert metric.formula and metric.title and metric.better in ("higher", "lower", "neither")
    assert {"In short", "Range", "In full"} <= set(metric.facts())
    assert metric.title in repr(metric) and metric.formula.splitlines()[0] in repr(metric)
    assert set(metric.options["option"]) == set(metrics()[name].variant_ids)
    if metric.range is not None:
        low, high = metric.range
        assert low < high


def test_a_name_states_cut_off_and_options():
    metric = repro.Metric("ndcg[gain=linear]@7")
    assert metric.name == "ndcg[gain=linear]@7"
    assert metric.full_name == "ndcg[discount=log2,gain=linear,ideal=min]@7"
    assert (metric.measure.cutoff, metric.measure.variants["gain"]) == (7, "linear")
    assert repro.Metric("hit").name == "hit@10"
    assert repro.Metric("map@3").name == "ap@3"


def test_the_range_is_that_of_the_cut_off():
    """Rank-biased precision of k hits: the sum of (1 - p) p^(r - 1) over ranks 1 to k is 1 - p^k."""
    assert repro.Metric("rbp[p=0.5]@3").range == pytest.approx((0, 1 - 0.5**3))
    assert repro.Metric("rbp[p=0.9]@1").range == pytest.approx((0, 0.1))


@pytest.mark.parametrize("name", ["ndgc@10", "ndcg[gian=exp2]@10", "rmse@10", "ndcg@0", "", "@10"])
def test_what_is_no_name_is_an_error(name):
    with pytest.raises(ProtocolError):
        repro.Metric(name)


def test_the_page_is_escaped():
    own = Application()
    own.__dict__["metrics"] = {"hit": dataclasses.replace(metrics()["hit"], title="<script>", cite="<i>")}
    with use(own):
        page = repro.Metric("hit")._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "&lt;i&gt;" in page
