"""nDCG with a weight for each rank."""

import math
from itertools import permutations

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.protocol import registry, resolve

STATED = {"split.strategy": "ratio", "relevance.rule": "any", "candidates.base": "all-items"}


def test_by_hand(ranked, values):
    # Relevant at ranks 2 and 4, and one that is not listed; the best list has three, at weights 1, 0.6 and 0.5.
    lists = ranked([{1: 4, 2: 3, 3: 2, 4: 1}], [{2: 1, 4: 1, 9: 1}])
    assert values("ndcg[discount=table,weights=1 0.6 0.5]", lists) == pytest.approx([0.6 / 2.1])
    assert values("ndcg[discount=table,weights=1 0.6 0.5 0.25]@4", lists) == pytest.approx([0.85 / 2.1])
    assert values("ndcg[discount=table,weights=1 0.6 0.5 0.25]@2", lists) == pytest.approx([0.6 / 1.6])
    assert values("ndcg[discount=table,weights=1]", lists) == [0.0]


def test_a_shared_rank_has_the_mean_of_two_weights(ranked, values):
    lists = ranked([{1: 3, 2: 2, 3: 2}], [{2: 1}], ties="shared-mean")
    assert values("ndcg[discount=table,weights=1 0.6 0.5]", lists) == pytest.approx([0.55])


def test_the_expectation_over_ties(ranked, values):
    scores, grades = {1: 2, 2: 2, 3: 2, 4: 1}, {2: 1, 4: 1}
    weights = (1.0, 0.7, 0.2, 0.1)
    lists = ranked([scores], [grades], ties="expected")
    expected = [
        sum(weights[place] for place, item in enumerate((*order, 4)) if item in grades) / 1.7
        for order in permutations((1, 2, 3))
    ]
    name = "ndcg[discount=table,weights=1 0.7 0.2 0.1]"
    assert values(name, lists) == pytest.approx([math.fsum(expected) / len(expected)])


def test_the_weights_of_log2_give_what_log2_gives(ranked, values):
    rng = np.random.default_rng(1)
    scores = [{item: float(rng.random()) for item in range(12)} for _ in range(5)]
    truth = [{int(item): int(rng.integers(1, 6)) for item in rng.choice(15, 4, replace=False)} for _ in range(5)]
    lists = ranked(scores, truth)
    weights = " ".join(repr(1 / math.log2(rank + 1)) for rank in range(1, 13))
    for form in ("gain=linear,ideal=min", "gain=binary,ideal=k", "gain=exp2,ideal=listed"):
        assert values(f"ndcg[discount=table,weights={weights},{form}]@6", lists) == values(f"ndcg[{form}]@6", lists)


@pytest.mark.parametrize(
    ("given", "normal"),
    [("1, 0.5;0.25", "1 0.5 0.25"), ([1, 0.5, 0.25], "1 0.5 0.25"), ("[1.0 1e-1]", "1 0.1"), ((2,), "2")],
)
def test_forms_of_weights(given, normal):
    changes = {"metric.ndcg.discount": "table", "metric.ndcg.weights": given}
    assert resolve({**STATED, **changes}, {})["metric.ndcg.weights"] == normal


@pytest.mark.parametrize("given", ["0.5 1", "0 0", "1 -1", "1 x", "", [], [True], "1 nan", 1.0, ["1", None]])
def test_weights_that_rise_or_are_none_are_refused(given):
    assert registry()["metric.ndcg.weights"].accept(given) is None
    with pytest.raises(ProtocolError, match="a weight for each rank that never rises"):
        resolve({**STATED, "metric.ndcg.discount": "table", "metric.ndcg.weights": given}, {})


def test_they_must_be_stated():
    with pytest.raises(ProtocolError, match=r"metric.ndcg.weights is not stated"):
        resolve({**STATED, "metric.ndcg.discount": "table"}, {})
