"""Every value lies within the range that its metric states, and where a bound is finite some value reaches it."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from repro.errors import ProtocolError
from repro.evaluation.metrics import (
    Background,
    ListOwners,
    Measure,
    Predictions,
    average,
    average_predictions,
    metrics,
    parse_measure,
)
from repro.evaluation.metrics.measure import simple_measures
from repro.evaluation.metrics.metric import Metric
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Protocol
from tests.evaluation.metrics.conftest import make_protocol, make_ranked, make_rows

CUT = 2
# Users and items of each case: larger ones for metrics of lists, many small ones for those of all lists together.
LARGE = [(users, items) for users in (40, 41) for items in (1, 2, 3, 4, 5)]
SMALL = [(users, items) for users in (1, 2, 3) for items in (1, 2, 3, 4)] * 5
GRADES = (-1, 0, 1, 2, 4, 5)
TIES = {"item-asc": "definite", "expected": "expected", "shared-best": "shared-best", "shared-worst": "shared-worst"}
# Bounds that no value reaches: a limit of ever more items or ratings, or a number that a list of one item rules out.
LIMITS = {
    "rbp": "1 needs infinitely many relevant items",
    "gini[divisor=n]": "1 - 1/n of n items",
    "gini[over=recommended]": "1 needs an item that is never recommended",
    "entropy[base=recommended]": "0 needs a single item, and that leaves no base",
    "mpr[percentile=share]": "the first item of n is at 100/n",
    "mpr[percentile=catalogue,unlisted=left-out]": "the last item of n is at 100 (n - 1)/n",
    "mpr[percentile=catalogue,unlisted=half-way]": "the last item of n is at 100 (n - 1)/n, or half-way from there",
    "nmae[by=uniform]": "3n/(n + 1) of n ratings",
    "nrmse[by=uniform]": "sqrt(6(n - 1)/(n + 1)) of n ratings",
}

# What no list has: a utility of 1 is never above 3.
NEVER = {"metric": "half-life", "utility": "binary", "d": 3.0}


def all_names(metric: Metric) -> Iterator[str]:
    """The metric with every combination of its variants, with a cut-off and without one, as far as it takes either."""
    cuts = {"required": [f"@{CUT}"], "optional": ["", f"@{CUT}"], "none": [""]}[metric.cutoff]
    variants = [
        [f"{d.id.rpartition('.')[2]}={value}" for value in d.tried or (1.0,)] + ([""] if d.when else [])
        for d in metric.variants
    ]
    for stated, cut in product(product(*variants), cuts):
        yield f"{metric.name}[{','.join(filter(None, stated))}]{cut}"


@cache
def measures(protocol: Protocol) -> tuple[Measure, ...]:
    """Every metric with every variant that the protocol allows, each once."""
    results: dict[str, Measure] = {}
    for metric in metrics().values():
        for name in all_names(metric):
            try:
                measure = parse_measure(name, protocol, metrics())
            except ProtocolError:  # variants that contradict each other or the protocol
                continue
            if not NEVER.items() <= {"metric": metric.name, **measure.variants}.items():
                results.setdefault(measure.full_name, measure)
    return tuple(results.values())


def draw_lists(rng: np.random.Generator, users: int, items: int, ties: str) -> tuple[Ranked, Background]:
    """Lists of tied scores, held-out items of all grades, training rows, features, times and earlier lists."""
    scores = [
        {int(item): float(rng.integers(0, 3)) for item in rng.choice(items, rng.integers(0, items + 1), replace=False)}
        for _ in range(users)
    ]
    if rng.random() < 0.3:
        scores = [scores[0]] * users
    truth = [
        {int(item): float(rng.choice(GRADES)) for item in rng.choice(items, rng.integers(1, items + 1), replace=False)}
        for _ in range(users)
    ]
    unscored = [{item for item in by_item if rng.random() < 0.2} for by_item in scores]
    ranked = make_ranked(scores, truth, ties=ties, unscored=unscored)
    of_places = np.full(ranked.items.shape, np.nan)
    for n, by_item in enumerate(scores):
        of_places[n, : len(by_item)] = sorted(by_item.values(), reverse=True)
    density = (0.02, 0.3, 1.0)[items % 3]
    weights = rng.choice([-1, 1], (items, 1)) if users % 2 else rng.integers(-1, 2, (items, 2))
    held_out = [(u, item) for u, judged in enumerate(truth) for item in judged]
    train = [(u, item) for u in range(users) for item in range(items) if rng.random() < density] or [(0, 0)]
    test = make_rows(
        [(u, item, truth[u][item]) for u, item in held_out], users, items, rng.integers(0, 4, len(held_out)).tolist()
    )
    known = Background(
        test,
        np.arange(items, dtype=np.int32),
        make_rows(train, users, items, rng.integers(0, 4, len(train)).tolist()),
        csr_array(weights.astype(np.float64)),
        ({u: rng.permutation(items)[:CUT].astype(np.int32) for u in range(users)},),
    )
    return replace(ranked, scores=of_places), known


def draw_predictions(rng: np.random.Generator, clipped: bool) -> Predictions:
    scale = (1.0, float(rng.choice([2, 5])))
    pairs = int(rng.integers(1, 6))
    ratings = rng.integers(1, int(scale[1]) + 1, pairs).astype(np.float64)
    values = rng.integers(-3, 9, pairs).astype(np.float64)
    users = rng.integers(0, 2, pairs).astype(np.int32)
    values = np.clip(values, *scale) if clipped else values
    return Predictions(users, np.arange(pairs, dtype=np.int32), ratings, values, rng.random(pairs) < 0.7, scale)


def numbers(measure: Measure, protocol: Protocol, clipped: bool) -> list[float]:
    """The values of a measure: of each list (or user) where it has one, and averages."""
    if measure.metric.kind == "prediction":
        rng = np.random.default_rng(7)
        each = [average_predictions(measure, draw_predictions(rng, clipped)) for _ in range(100)]
        results = [value for averaged in each for value in (averaged.value, *averaged.values)]
    else:
        together = any(part.metric.kind == "collection" for part in simple_measures([measure]))
        rule = TIES[protocol.text("ties.break")]
        sizes = SMALL if together or measure.parts else LARGE
        cases = [drawn(seed, *size, rule) for seed, size in enumerate(sizes)]
        results = [value for ranked, known in cases for value in of_lists(measure, ranked, known, protocol)]
    return [value for value in results if not math.isnan(value)]


@cache
def drawn(seed: int, users: int, items: int, ties: str) -> tuple[Ranked, Background]:
    return draw_lists(np.random.default_rng(seed), users, items, ties)


def of_lists(measure: Measure, ranked: Ranked, known: Background, protocol: Protocol) -> list[float]:
    """The value of a measure of these lists, and those of users."""
    values: dict[str, tuple[float, int]] = {}
    of_users: list[float] = []
    for simple in simple_measures([measure]):
        of_block = simple.of_lists(ranked, known)
        if simple.metric.kind == "collection":
            values[simple.full_name] = simple.of_collection([of_block], known), len(ranked)
        else:
            averaged = average(simple, of_block, ListOwners.of(ranked), protocol)
            values[simple.full_name] = averaged.value, averaged.users_counted
            of_users += averaged.values.tolist()
    return [measure.joined(values)[0], *([] if measure.parts else of_users)]


def out_of_reach(measure: Measure) -> bool:
    """Whether a finite bound of the measure is a limit that no value reaches."""
    for name in LIMITS:
        metric, _, stated = name.rstrip("]").partition("[")
        variants = dict(part.split("=") for part in filter(None, stated.split(",")))
        if measure.metric.name == metric and all(measure.variants[key] == value for key, value in variants.items()):
            return metric != "rbp" or measure.cutoff is None
    return False


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        *((rule, {}) for rule in TIES),
        ("item-asc", {"average__no_relevant": "one", "average__over": "lists", "average__folds": "pooled"}),
    ],
)
def test_every_value_is_within_the_range(rule, changes):
    protocol = make_protocol(ties__break=rule, average__no_list="skip", **changes)
    for measure in measures(protocol):
        low, high = measure.range(protocol)
        results = numbers(measure, protocol, clipped=False)
        assert results, measure.full_name
        assert low - 1e-9 <= min(results) and max(results) <= high + 1e-9, (
            measure.full_name,
            min(results),
            max(results),
        )


@pytest.mark.parametrize("metric", metrics())
def test_a_finite_bound_is_reached(metric):
    protocol = make_protocol(average__no_list="skip", predict__clip="scale")
    results = [measure for measure in measures(protocol) if measure.metric.name == metric]
    assert results
    for measure in results:
        low, high = measure.range(protocol)
        values = numbers(measure, protocol, clipped=True)
        assert low - 1e-9 <= min(values) and max(values) <= high + 1e-9, measure.full_name
        if not out_of_reach(measure):
            assert math.isinf(low) or min(values) == pytest.approx(low, abs=1e-9), measure.full_name
            assert math.isinf(high) or max(values) == pytest.approx(high), measure.full_name


def test_bounds_worked_out_by_hand():
    protocol = make_protocol()
    expected = {
        "rbp[p=0.5]@3": (0, 0.875),  # 1/2 + 1/4 + 1/8
        "arhr@3": (0, 1 + 1 / 2 + 1 / 3),
        "arc@7": (1, 7),
        "intra-list-diversity[aggregate=sum]@4": (0, 6),  # pairs of 4 items
        "intra-list-diversity[aggregate=sum,over=features]@4": (0, 12),
        "kendall": (-1, 1),
        "half-life": (0, 100),
    }
    for name, bounds in expected.items():
        assert parse_measure(name, protocol, metrics()).range(protocol) == pytest.approx(bounds), name
    exact = sum(1 / n for n in range(1, 5001))
    assert parse_measure("arhr@5000", protocol, metrics()).range(protocol)[1] == pytest.approx(exact, abs=1e-4)
    assert parse_measure("arhr@5000", protocol, metrics()).range(protocol)[1] >= exact
    unbounded = parse_measure("nmae", protocol, metrics()).range(protocol)
    assert unbounded == (0, math.inf)


def test_a_list_without_relevant_items_can_count_more_than_the_metric_reaches():
    protocol = make_protocol(average__no_relevant="one")
    assert parse_measure("rbp[p=0.5]@1", protocol, metrics()).range(protocol) == (0, 1)


def test_every_metric_states_a_range():
    for metric in metrics().values():
        low, high = metric.widest_range(make_protocol())
        assert low > -math.inf or (metric.name == "r-squared" and high == 1), metric.name


def test_measures_travel_to_other_processes():
    protocol = make_protocol(average__no_list="skip")
    for measure in measures(protocol):
        again = pickle.loads(pickle.dumps(measure))
        assert (again.full_name, again.range(protocol)) == (measure.full_name, measure.range(protocol))
