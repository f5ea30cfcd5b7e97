"""The search for published numbers finds what was planted, and says how many others fit."""

import numpy as np
import pytest

from repro.errors import StudyError
from repro.explain import Published, find_protocols
from repro.explain.search import read_published
from repro.explain.variants import measure_variants


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
    found = find_protocols(kept, printed(kept, protocol, 4), budget=400)
    best = found.nearest[0]
    assert best.fits and found.fitting >= 1
    values = measure_variants(kept, [protocol, best.protocol], ["ndcg@10"]).values[:, :, 0]
    assert np.abs(values[0] - values[1]).max() <= 0.5e-4 + 1e-12
    assert found.fitting <= found.tried and found.equally_near <= found.tried


def test_numbers_that_nothing_gives_are_not_claimed_to_fit(kept):
    cells = [Published(label, "ndcg@10", 0.9999, 4) for label in kept.algorithms]
    found = find_protocols(kept, cells, budget=200)
    assert found.fitting == 0 and not found.nearest[0].fits
    assert found.nearest[0].residual <= found.own.residual
    assert [fit.residual for fit in found.nearest] == sorted(fit.residual for fit in found.nearest)


def test_the_runs_own_protocol_is_the_first_to_fit(kept):
    found = find_protocols(kept, printed(kept, kept.protocol, 6), budget=100)
    assert found.nearest[0].protocol == kept.protocol and found.nearest[0].changes == ()


def test_cells_are_read_as_they_are_printed():
    known = ["a", "b", "c"]
    assert read_published(["0.20,0.033"], ["ndcg@10"], known, known) == [
        Published("a", "ndcg@10", 0.2, 2),
        Published("b", "ndcg@10", 0.033, 3),
    ]
    assert read_published(["c=1,-"], ["ndcg@10"], known, known) == [Published("c", "ndcg@10", 1.0, 0)]
    assert [cell.metric for cell in read_published(["0.1", "ap: 0.2"], ["ndcg@10"], known, known)] == ["ndcg@10", "ap"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0.1,0.2,0.3,0.4", "4 numbers, and 3 algorithms"),
        ("d=0.1", "no algorithm 'd'"),
        ("a=zero", "'zero' is no number"),
        ("a=nan", "'nan' is no number"),
        ("-", "no published number"),
    ],
)
def test_what_is_no_cell_is_told(text, told):
    with pytest.raises(StudyError, match=told):
        read_published([text], ["ndcg@10"], ["a", "b", "c"], ["a", "b", "c"])
