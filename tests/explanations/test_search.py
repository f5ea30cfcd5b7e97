"""The search for published numbers finds what was planted, and says how many others fit."""

import numpy as np
import pytest

from repro.errors import ProtocolError, StudyError
from repro.explanations import Published, find_protocols
from repro.explanations.search import read_published
from repro.explanations.variants import measure_variants


def printed(kept, protocol, decimals, metric="ndcg@10"):
    values = measure_variants(kept, [protocol], [metric]).values[0, :, 0]
    return [
        Published(label, metric, round(float(value), decimals), decimals)
        for label, value in zip(kept.algorithms, values, strict=True)
    ]


PLANTED = [
    {"candidates.base": "user-test-items", "relevance.threshold": 3.0, "metric.ndcg.gain": "exp2"},
    {"candidates.exclude_train": "none", "metric.ndcg.ideal": "k", "average.no_relevant": "zero"},
    {
        "candidates.relevant": "one",
        "candidates.exclude_train": "none",
        "average.over": "lists",
        "relevance.threshold": 5.0,
    },
]


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_protocol_is_found(kept, planted):
    protocol = kept.protocol.replace(planted)
    result = find_protocols(kept, printed(kept, protocol, 4), budget=400)
    best = result.nearest[0]
    assert best.fits and result.fitting >= 1
    values = measure_variants(kept, [protocol, best.protocol], ["ndcg@10"]).values[:, :, 0]
    assert np.abs(values[0] - values[1]).max() <= 0.5e-4 + 1e-12
    assert result.fitting <= result.tried and result.equally_near <= result.tried


def test_numbers_that_nothing_gives_are_not_claimed_to_fit(kept):
    cells = [Published(label, "ndcg@10", 0.9999, 4) for label in kept.algorithms]
    result = find_protocols(kept, cells, budget=200)
    assert result.fitting == 0 and not result.nearest[0].fits
    assert result.nearest[0].residual <= result.own.residual
    assert [fit.residual for fit in result.nearest] == sorted(fit.residual for fit in result.nearest)


def test_the_runs_own_protocol_is_the_first_to_fit(kept):
    result = find_protocols(kept, printed(kept, kept.protocol, 6), budget=100)
    assert result.nearest[0].protocol == kept.protocol and result.nearest[0].changes == ()


def test_cells_are_read_as_they_are_printed():
    known = ["a", "b", "c"]
    assert read_published(["0.20,0.033"], ["ndcg@10"], known, known) == [
        Published("a", "ndcg@10", 0.2, 2),
        Published("b", "ndcg@10", 0.033, 3),
    ]
    assert read_published(["c=1,-"], ["ndcg@10"], known, known) == [Published("c", "ndcg@10", 1.0, 0)]
    assert [cell.metric for cell in read_published(["0.1", "ap: 0.2"], ["ndcg@10"], known, known)] == ["ndcg@10", "ap"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.1,0.2,0.3,0.4", "4 numbers for 3 algorithms"),
        ("d=0.1", "no algorithm 'd'"),
        ("a=zero", "'zero' is not a number"),
        ("a=nan", "'nan' is not a number"),
        ("-", "no published number"),
        ("a=0.1,0.2", "name all numbers"),
        ("a=0.1,a=0.2", "two numbers for ndcg@10 of a"),
    ],
)
def test_invalid_cells_raise_errors(text, message):
    with pytest.raises(StudyError, match=message):
        read_published([text], ["ndcg@10"], ["a", "b", "c"], ["a", "b", "c"])


def test_more_rows_than_metrics_are_refused():
    with pytest.raises(StudyError, match="more rows of numbers than metrics"):
        read_published(["0.1", "0.2"], ["ndcg@10"], ["a"], ["a"])


def test_predictions_are_searched_by_what_bears_on_them(kept):
    protocol = kept.protocol.replace({"predict.round": 0.5, "predict.average": "users"})
    cells = [cell for cell in printed(kept, protocol, 4, "rmse") if cell.value == cell.value]
    result = find_protocols(kept, cells, budget=60)
    assert result.nearest[0].fits
    assert {change.decision for change in result.nearest[0].changes} == {"predict.round", "predict.average"}


def test_what_has_no_number_is_not_searched_for(kept):
    with pytest.raises(StudyError, match=r"reference popularity has no rmse in this run"):
        find_protocols(kept, [Published("reference popularity", "rmse", 0.9, 1)], budget=10)
    with pytest.raises(ProtocolError, match="no metric 'ndgc'"):
        find_protocols(kept, [Published("reference popularity", "ndgc@10", 0.9, 1)], budget=10)


def test_another_name_of_a_metric_has_its_variants(kept):
    protocol = kept.protocol.replace({"metric.ap.denominator": "min-relevant"})
    result = find_protocols(kept, printed(kept, protocol, 5, "map@10"), budget=120)
    assert result.nearest[0].fits
