"""Many protocols at once: designs that cover, shares that add up, flips that are counted as defined."""

import itertools

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.explanations import multiverse
from repro.explanations.design import Axis, Design, Variant, read_axes
from repro.explanations.multiverses import Multiverse
from repro.stats import kendall


def test_axes_are_families_decisions_or_values(kept):
    axes = {axis.decision: axis.values for axis in read_axes(["ties", "relevance.threshold=3|5"], kept.protocol)}
    assert axes["ties.break"][0] == kept.protocol["ties.break"]
    assert axes["relevance.threshold"] == (4.0, 3.0, 5.0)
    assert "trec" not in axes["ties.break"]
    ratings = kept.plan.interactions.ratings
    there = {axis.decision: axis.values for axis in read_axes(["relevance.threshold"], kept.protocol, ratings)}
    assert set(there["relevance.threshold"]) == set(np.unique(ratings)) | {4.0}


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ("tie", "no decision or family 'tie'.*ties"),
        ("split.folds", "changes the fitted models"),
        ("relevance.threshold=x", "relevance.threshold = x is not allowed"),
        ("ties.break=alphabet", "ties.break = alphabet is not allowed"),
    ],
)
def test_invalid_axes_raise_errors(kept, requested, message):
    with pytest.raises(ProtocolError, match=message):
        read_axes([requested], kept.protocol)


def test_a_small_space_is_tried_whole(kept):
    axes = read_axes(["relevance.threshold=3|4", "average.no_relevant"], kept.protocol)
    design = Design(kept.protocol, axes, budget=100)
    assert design.complete and design.combinations == 6  # NaN for users without relevant items is no number
    variants = design.variants()
    assert variants[0].protocol == kept.protocol
    assert len({variant.protocol.hash for variant in variants}) == 6


def test_a_sample_keeps_to_the_budget_and_has_every_value_and_single_steps(kept):
    families = ["relevance", "candidates", "missing", "ties", "metric.ndcg"]
    axes = read_axes(families, kept.protocol, kept.plan.interactions.ratings)
    design = Design(kept.protocol, axes, budget=500, seed=1)
    variants = design.variants()
    assert not design.complete
    assert 400 <= len(variants) <= 500
    assert variants[0].protocol == kept.protocol
    assert len({variant.protocol.hash for variant in variants}) == len(variants)
    for axis in axes:
        met = {variant.choices[axis.decision] for variant in variants} - {None}
        hangs = kept.protocol.get(axis.decision) is None
        assert hangs or met == set(axis.values), axis
    again = Design(kept.protocol, axes, budget=500, seed=1).variants()
    assert [v.protocol.hash for v in again] == [v.protocol.hash for v in variants]


def test_numbers_are_those_of_the_variants(kept):
    result = multiverse(kept, ["ties.break", "relevance.threshold=3|4"], metrics=["ndcg@10", "rmse"], budget=50)
    assert result.values.shape == (len(result.variants), len(kept.algorithms), 2)
    frame = result.to_frame()
    assert len(frame) == result.values.size
    row = frame[(frame["variant"] == 3) & (frame["metric"] == "ndcg@10")]
    assert row["value"].to_numpy() == pytest.approx(result.values[3, :, 0])
    assert row["ties.break"].unique().tolist() == [result.variants[3].choices["ties.break"]]


def made(kept, values, choices):
    """A multiverse with these numbers: variants by algorithms."""
    values = np.array(values, dtype=float)
    names = list(choices[0])
    axes = [Axis(name, tuple(dict.fromkeys(c[name] for c in choices if c[name] is not None))) for name in names]
    return Multiverse(
        study="made",
        axes=tuple(axes),
        variants=tuple(Variant(kept.protocol, choice) for choice in choices),
        algorithms=tuple("abc"[: values.shape[1]]),
        metrics=("ndcg@10",),
        better={"ndcg@10": "higher"},
        values=values[:, :, np.newaxis],
        refused={},
        combinations=len(choices),
        complete=True,
        seed=0,
    ).of("ndcg@10")


TWO = [
    {"ties.break": tie, "relevance.threshold": threshold}
    for tie, threshold in itertools.product(["item-asc", "item-desc"], [3.0, 4.0])
]


def test_wins_flips_and_taus_by_hand(kept):
    result = made(kept, [[0.3, 0.2, 0.1], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1], [0.3, 0.3, 0.1]], TWO)
    assert result.wins().to_dict() == pytest.approx({"a": 2.5 / 4, "b": 1.5 / 4, "c": 0.0})
    # One pair of three changed places; with two of them level, 2 pairs agree of sqrt(3 * 2).
    assert result.taus() == pytest.approx([1, 1, 1 / 3, 2 / 6**0.5])
    decisions = result.decisions().set_index("decision")
    # The ties turn the order round in both pairs that differ in them alone, the threshold in one of two.
    assert decisions.loc["ties.break", ["pairs", "winner", "order"]].tolist() == [2, 1.0, 1.0]
    assert decisions.loc["relevance.threshold", ["pairs", "winner", "order"]].tolist() == [2, 0.5, 0.5]
    assert decisions.loc["ties.break", "moves"] == pytest.approx((0.1 + 0.1 + 0.1) / 6)
    assert decisions.index[0] == "ties.break"
    spread = result.spread().set_index("algorithm")
    assert spread.loc["b", ["own", "min", "median", "max"]].tolist() == pytest.approx([0.2, 0.2, 0.25, 0.3])
    pairs = itertools.combinations(range(4), 2)
    assert result.mean_tau() == pytest.approx(np.mean([kendall(result.orders[i], result.orders[j]) for i, j in pairs]))
    options = result.by_option().set_index(["decision", "option"])
    assert options.loc[("ties.break", "item-desc"), ["variants", "a", "b"]].tolist() == pytest.approx([2, 0.25, 0.3])


def test_dependent_decisions_vary_with_their_decision(kept):
    choices = [
        {"missing.rank": "last", "missing.constant": None},
        {"missing.rank": "constant", "missing.constant": 0.0},
        {"missing.rank": "constant", "missing.constant": 1.0},
    ]
    result = made(kept, [[0.1, 0.2], [0.2, 0.1], [0.1, 0.2]], choices).decisions().set_index("decision")
    assert result.loc["missing.rank", ["pairs", "order"]].tolist() == [2, 0.5]
    assert result.loc["missing.constant", ["pairs", "order"]].tolist() == [1, 1.0]


def test_lower_is_better_where_the_metric_says_so(kept):
    result = multiverse(kept, ["predict.clip"], metrics=["rmse"])
    wins = result.of("rmse").wins()
    best = np.nanargmin(result.values[0, :, 0])
    assert wins.idxmax() == kept.algorithms[best]


def test_algorithms_without_a_number_have_no_place_in_the_order(kept):
    nan = float("nan")
    result = made(kept, [[0.1, 0.2, nan], [0.2, 0.1, nan], [0.2, 0.1, 0.3], [0.1, 0.1, nan]], TWO)
    assert result.orders.tolist() == [[1, 0, -1], [0, 1, -1], [1, 2, 0], [0, 0, -1]]
    assert result.taus()[:3].tolist() == [1, -1, -1] and np.isnan(result.taus()[3])
    assert result.wins().to_dict() == pytest.approx({"a": 1.5 / 4, "b": 1.5 / 4, "c": 1 / 4})


def test_one_algorithm_has_no_order(kept, tmp_path):
    from repro.reports.explain import write_multiverse

    result = multiverse(kept, ["ties.break"], metrics=["ndcg@10"], algorithms=["reference item-knn"])
    assert "There is no order of algorithms" in write_multiverse(result, tmp_path).read_text()


def test_a_metric_that_objects_takes_nothing_from_the_others(kept):
    names = ["ndcg@10", "catalogue-coverage@10"]
    result = multiverse(kept, ["ties.break"], metrics=names)
    expected = [v.choices["ties.break"] == "expected" for v in result.variants].index(True)
    assert np.isfinite(result.values[expected, :, 0]).all() and np.isnan(result.values[expected, :, 1]).all()
    assert sum(result.refused["catalogue-coverage@10"].values()) >= 1 and "ndcg@10" not in result.refused


def test_a_space_is_counted_by_what_has_an_effect(kept):
    axes = read_axes(
        ["missing.rank=last|constant", "missing.constant=0|1", "ties.break=item-asc|random"], kept.protocol
    )
    design = Design(kept.protocol, axes, budget=100)
    assert design.combinations == 6 and design.complete
    assert len(design.variants()) == 6


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        (["ties.break=trec"], "is short for ties.break=item-desc"),
        (["ties.decimals=2|3"], "has no effect under any of these protocols: it applies when ties.precision"),
    ],
)
def test_axes_without_effect_raise_errors(kept, requested, message):
    with pytest.raises(ProtocolError, match=message):
        multiverse(kept, requested, metrics=["ndcg@10"])


def test_only_dear_or_only_cheap_decisions_can_be_sampled(kept):
    for requested in (["candidates", "ties"], ["metric.ndcg", "relevance", "average"]):
        variants = Design(kept.protocol, read_axes(requested, kept.protocol), budget=40).variants()
        assert len(variants) == 40
