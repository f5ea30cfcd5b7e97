"""Best and worst order of tied items: held against every order there is, for every metric and variant."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pytest
from scipy.sparse import csr_array

from repro.errors import ProtocolError
from repro.evaluation.metrics import (
    Background,
    Measure,
    has_exact_extremes,
    metrics,
    parse_measure,
)
from repro.evaluation.metrics.tie_order import UNAFFECTED, ByItems
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Protocol
from tests.evaluation.metrics.conftest import make_protocol, make_ranked, make_rows
from tests.evaluation.metrics.test_range import all_names, of_lists
from tests.evaluation.metrics.test_ties import all_orders

ITEMS = 7
Scores = Mapping[int, float]
Order = tuple[int, ...]

# Full names of what cannot be computed; everything else must be exact.
REFUSED = (
    r"catalogue-coverage@2",
    r"entropy.*",
    r"gini.*",
    r"inter-list-diversity@2",
    r"intra-list-diversity.*",
    r"temporal-(diversity|novelty).*",
    r"pr-auc\[.*join=lengths\]",
    r"arc@2",
    r"ndcg\[.*gain=(linear|exp2|exp2-threshold),ideal=listed(,weights=.*)?\]@2",
    r"novelty\[denominator=list,unseen=left-out\]@2",
    r"infap\[.*unjudged=not-relevant\]",
)


@dataclass(frozen=True, eq=False)
class Case:
    """Lists with equal scores, one for each user, their held-out items and all that metrics may need."""

    scores: Sequence[Scores]
    truth: Sequence[Scores]
    unscored: Sequence[set[int]]
    background: Background

    def tied(self, ties: str) -> Ranked:
        return make_ranked(self.scores, self.truth, ties=ties, unscored=self.unscored)

    def ordered(self, orders: Sequence[Order]) -> Ranked:
        """Each list in an order of its own."""
        return make_ranked(self.scores, self.truth, unscored=self.unscored, orders=orders)

    @cached_property
    def every_order(self) -> Ranked:
        """Every list in every order: lists of one user next to each other."""
        each = [(user, order) for user, by_item in enumerate(self.scores) for order in all_orders(by_item)]
        users = [user for user, _ in each]
        return make_ranked(
            [self.scores[user] for user in users],
            [self.truth[user] for user in users],
            users=users,
            unscored=[self.unscored[user] for user in users],
            orders=[order for _, order in each],
        )


@cache
def draw(seed: int, users: int, most: int) -> Case:
    """Lists of items at one of two scores, with held-out items that are relevant, or not, and others."""
    rng = np.random.default_rng(seed)

    def some(least: int) -> list[int]:
        return [int(item) for item in rng.choice(ITEMS, rng.integers(least, most + 1), replace=False)]

    scores = [{item: float(rng.integers(0, 2)) for item in some(2)} for _ in range(users)]
    truth = [{item: float(rng.choice((-1, 0, 1, 2, 4))) for item in some(2)} for _ in range(users)]
    unscored = [{item for item in by_item if rng.random() < 0.3} for by_item in scores]
    pairs = [(u, item) for u in range(users) for item in truth[u]]
    train = [(u, item) for u in range(users) for item in range(ITEMS) if rng.random() < 0.4] or [(0, 0)]
    known = Background(
        make_rows([(u, i, truth[u][i]) for u, i in pairs], users, ITEMS, rng.integers(0, 4, len(pairs)).tolist()),
        np.arange(ITEMS, dtype=np.int32),
        make_rows(train, users, ITEMS, rng.integers(0, 4, len(train)).tolist()),
        csr_array(rng.integers(-1, 3, (ITEMS, 3)).astype(np.float64)),
        ({u: rng.permutation(ITEMS)[:2].astype(np.int32) for u in range(users)},),
    )
    return Case(scores, truth, unscored, known)


@cache
def measures_under(rule: str) -> tuple[Protocol, dict[str, Measure], dict[str, str]]:
    """Every metric with every variant, by full name: those that the tie rule allows, and why the others are refused."""
    plain = make_protocol(average__no_list="skip")
    protocol = plain.replace({"ties.break": rule}, "test")
    measures: dict[str, Measure] = {}
    refused: dict[str, str] = {}
    for metric in metrics().values():
        for name in all_names(metric):
            try:
                full_name = parse_measure(name, plain, metrics()).full_name
            except ProtocolError:  # contradictory variants, whatever the tie rule
                continue
            try:
                measures[full_name] = parse_measure(full_name, protocol, metrics())
            except ProtocolError as error:
                refused[full_name] = str(error)
    return protocol, measures, refused


def direction(measure: Measure, rule: str) -> int:
    """1 where the highest value is asked for, -1 where it is the lowest."""
    return (1 if rule == "best" else -1) * (-1 if measure.metric.better == "lower" else 1)


@pytest.mark.parametrize("rule", ["best", "worst"])
@pytest.mark.parametrize("metric", [metric.name for metric in metrics().values() if metric.kind == "ranking"])
def test_no_order_of_tied_items_goes_further(metric, rule):
    case = draw(1, users=40, most=5)
    first = np.flatnonzero(np.diff(case.every_order.users, prepend=-1))
    differs = affected = False
    for measure in measures_under(rule)[1].values():
        if measure.metric.name != metric or measure.parts:
            continue
        ratio = measure.of_lists(case.tied(rule), case.background)
        every = measure.of_lists(case.every_order, case.background)
        # As the denominator is the same in every order, an average of any kind is extreme where its lists are.
        assert np.array_equal(every.denominator, ratio.denominator[case.every_order.users]), measure.full_name
        sign = direction(measure, rule)
        furthest = sign * np.maximum.reduceat(sign * every.numerator, first)
        assert ratio.numerator == pytest.approx(furthest, abs=1e-12), measure.full_name
        differs |= bool((np.minimum.reduceat(sign * every.numerator, first) < sign * furthest - 1e-9).any())
        affected |= measure.tie_order != UNAFFECTED
    assert differs == affected  # where it is said to matter, it did matter in some list


@pytest.mark.parametrize("k", [1, 3, 4, 5])
@pytest.mark.parametrize("name", ["ap[denominator=hits]", "ndcg[ideal=listed]", "ndcg[discount=none,ideal=listed]"])
def test_the_search_for_how_many_hits_are_within_the_cut_off(name, k):
    case = draw(3, users=16, most=6)
    first = np.flatnonzero(np.diff(case.every_order.users, prepend=-1))
    for rule, furthest in (("best", np.maximum), ("worst", np.minimum)):
        measure = parse_measure(f"{name}@{k}", make_protocol(ties__break=rule), metrics())
        every = measure.of_lists(case.every_order, case.background).numerator
        ratio = measure.of_lists(case.tied(rule), case.background).numerator
        assert ratio == pytest.approx(furthest.reduceat(every, first), abs=1e-12)


@pytest.mark.parametrize("rule", ["best", "worst"])
def test_no_orders_of_all_lists_together_go_further(rule):
    protocol, measures, _ = measures_under(rule)
    joint = [measure for measure in measures.values() if measure.metric.kind == "collection" or measure.parts]
    assert {measure.metric.name for measure in joint} == {
        "croc",
        "f1",
        "f-beta",
        "groc",
        "pr-auc",
        "practical-accuracy",
        "user-coverage",
    }
    for case in [draw(seed, users=2, most=4) for seed in range(6)]:
        ordered = [case.ordered(orders) for orders in itertools.product(*map(all_orders, case.scores))]
        for measure in joint:
            value, *_ = of_lists(measure, case.tied(rule), case.background, protocol)
            sign = direction(measure, rule)
            every = np.array([of_lists(measure, ranked, case.background, protocol)[0] for ranked in ordered])
            assert value == pytest.approx(sign * max(sign * every), abs=1e-12, nan_ok=True), measure.full_name


@pytest.mark.parametrize("rule", ["best", "worst"])
def test_what_is_not_exact_is_refused_by_name(rule):
    _, measures, refused = measures_under(rule)
    for name, why in refused.items():
        assert why.startswith(f'metric {name} has no ties.break = "{rule}": ') or "is a part of it" in why
        assert any(re.fullmatch(pattern, name) for pattern in REFUSED), name
    for pattern in REFUSED:
        assert any(re.fullmatch(pattern, name) for name in refused), pattern
        assert not any(re.fullmatch(pattern, name) for name in measures), pattern


def test_the_function_that_says_so():
    _, measures, _ = measures_under("best")
    assert all(has_exact_extremes(measure) for measure in measures.values())
    plain = make_protocol(average__no_list="skip")
    assert has_exact_extremes(parse_measure("ndcg@2", plain, metrics()))
    assert not has_exact_extremes(parse_measure("gini@2", plain, metrics()))
    # Lists ranked to the end with their scores are there only where the protocol asks for the best order.
    novelty = parse_measure("novelty@2", plain, metrics())
    assert isinstance(novelty.tie_order, ByItems) and not has_exact_extremes(novelty)
    assert (novelty.reach, measures[novelty.full_name].reach) == (2, None)
    assert "scores" in measures[novelty.full_name].needs and "scores" not in novelty.needs


@pytest.mark.parametrize("ties", ["definite", "expected", "shared-mean"])
def test_the_interval_of_lists_that_were_ranked_under_another_rule(ties):
    case = draw(2, users=20, most=5)
    for name in ("ndcg@2", "mpr", "time-novelty@2", "kendall[ties=order]"):
        measure = parse_measure(name, make_protocol(), metrics())
        for which in ("best", "worst"):
            direct = parse_measure(name, make_protocol(ties__break=which), metrics())
            expected = direct.of_lists(case.tied(which), case.background)
            ratio = measure.of_extreme_order(case.tied(ties), case.background, which)
            assert np.array_equal(ratio.numerator, expected.numerator)
            assert np.array_equal(ratio.denominator, expected.denominator)


def test_graded_items_worked_out_by_hand():
    # Three items are tied: grades 1 and 4, and one that is not held out. Relevant is what has 1 or more.
    ranked = make_ranked([dict.fromkeys((1, 2, 3), 0.5)], [{2: 1.0, 3: 4.0}], ties="best")
    known = draw(1, users=40, most=5).background
    protocol = make_protocol(ties__break="best")
    ndcg = parse_measure("ndcg[gain=linear]@1", protocol, metrics())
    assert ndcg.of_lists(ranked, known).numerator.tolist() == [4.0]  # not the 1 of the first relevant item
    mpr = parse_measure("mpr", protocol, metrics())
    ratio = mpr.of_lists(ranked, known)
    assert ratio.numerator / ratio.denominator == [25.0]  # ranks 1 and 2 of 3: 0 and 50 per cent
    arc = parse_measure("arc", protocol.replace({"ties.break": "worst"}, "test"), metrics())
    worst = make_ranked([dict.fromkeys((1, 2, 3), 0.5)], [{2: 1.0, 3: 4.0}], ties="worst")
    assert arc.of_lists(worst, known).numerator.tolist() == [2.5]  # ranks 2 and 3
