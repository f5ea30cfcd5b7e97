"""The list against the order of the user's ratings: by hand, by SciPy, and over all orders of tied items."""

import itertools
import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ProtocolError
from repro.evaluation.metrics import ListOwners, average, lacking

NAMES = ("ndpm", "kendall", "spearman")
RULES = ("definite", "expected", "shared-best", "shared-mean", "shared-worst")


@pytest.fixture(scope="session")
def compared(ranked, background, values):
    """``compared("ndpm", lists, truth)``: the value of each list, scores by item against ratings by item."""

    def computed(name, lists, truth, ties="definite"):
        return values(name, ranked(lists, truth, ties=ties), background(truth, 40))

    return computed


def by_place(*order):
    return {item: -float(place) for place, item in enumerate(order)}


# Items 1 to 4 with the ratings 5, 3, 3 and 1: five ordered pairs.
RATINGS = {1: 5, 2: 3, 3: 3, 4: 1}


def test_the_order_of_the_ratings_and_its_reverse(compared):
    best, worst = by_place(1, 2, 3, 4), by_place(4, 3, 2, 1)
    assert compared("ndpm", [best, worst], [RATINGS] * 2) == [0.0, 1.0]
    # All six pairs are told apart by the list, five by the ratings.
    assert compared("kendall", [best, worst], [RATINGS] * 2) == pytest.approx([5 / math.sqrt(30), -5 / math.sqrt(30)])
    # Ranks 1, 2, 3, 4 and 1, 2.5, 2.5, 4 around 2.5: 4.5 over the root of 5 times 4.5.
    assert compared("spearman", [best, worst], [RATINGS] * 2) == pytest.approx([math.sqrt(0.9), -math.sqrt(0.9)])


def test_without_equal_ratings_correlations_are_exactly_1(compared):
    ratings = {1: 5, 2: 4, 3: 2, 4: 1}
    for name in ("kendall", "spearman"):
        assert compared(name, [by_place(1, 2, 3, 4), by_place(4, 3, 2, 1)], [ratings] * 2) == [1.0, -1.0]


def test_a_pair_that_scores_do_not_tell_apart_costs_half(compared):
    # Items 1 and 2 tied: one of five ordered pairs is not told apart. Items 2 and 3 tied: no preference is lost.
    assert compared("ndpm", [{1: 3.0, 2: 3.0, 3: 2.0, 4: 1.0}], [RATINGS]) == [1 / 10]
    assert compared("ndpm", [{1: 3.0, 2: 2.0, 3: 2.0, 4: 1.0}], [RATINGS]) == [0.0]
    # Item 1, the best, is last: three pairs are the wrong way round. Items 2 and 4 are tied, 3 before 4 is right.
    assert compared("ndpm", [{1: 1.0, 2: 2.0, 3: 3.0, 4: 2.0}], [RATINGS]) == [(2 * 3 + 1) / 10]
    assert compared("ndpm", [dict.fromkeys(RATINGS, 1.0)], [RATINGS]) == [0.5]


def test_items_without_a_held_out_rating_play_no_part(compared):
    # Items 10 to 12 are listed and not held out, item 4 is held out and not listed.
    mixed = by_place(10, 2, 11, 1, 3, 12)
    for name in NAMES:
        assert compared(name, [mixed], [RATINGS]) == compared(name, [by_place(2, 1, 3)], [{1: 5, 2: 3, 3: 3}])
    assert compared("ndpm", [mixed], [RATINGS]) == [2 / 4]


def test_tied_scores_in_the_order_of_the_tie_rule(compared):
    # Tied items stand in ascending order: 1 before 2, as their ratings have it.
    tied = {1: 3.0, 2: 3.0, 3: 2.0, 4: 1.0}
    assert compared("ndpm[ties=order]", [tied], [RATINGS]) == [0.0]
    for name in NAMES:
        in_order = compared(name, [by_place(1, 2, 3, 4)], [RATINGS])
        assert compared(f"{name}[ties=order]", [tied], [RATINGS]) == in_order
        assert compared(name, [tied], [RATINGS]) != in_order


def test_the_tie_rule_does_not_matter_where_equal_scores_are_tied(compared):
    lists = [{1: 3.0, 2: 3.0, 3: 2.0, 4: 2.0, 7: 3.0}, dict.fromkeys([2, 1, 4, 3], 1.0) | {1: 2.0}]
    for name in NAMES:
        assert len({tuple(compared(name, lists, [RATINGS] * 2, ties=rule)) for rule in RULES}) == 1


def test_items_that_share_a_rank_are_tied_in_the_order_too(compared):
    lists = [{1: 3.0, 2: 3.0, 3: 2.0, 4: 2.0, 7: 3.0}]
    for name, shared in itertools.product(NAMES, ("shared-best", "shared-mean", "shared-worst")):
        assert compared(f"{name}[ties=order]", lists, [RATINGS], ties=shared) == compared(name, lists, [RATINGS])


def test_lists_about_which_there_is_nothing_to_say(compared):
    lists = [{}, {1: 1.0}, {9: 2.0, 8: 1.0}, {1: 2.0, 2: 1.0}, {1: 2.0, 2: 1.0}]
    truth = [RATINGS, RATINGS, RATINGS, {}, {1: 3, 2: 3}]
    for name, rule in itertools.product(NAMES, RULES):
        for ties in ("scores", "order"):
            assert np.isnan(compared(f"{name}[ties={ties}]", lists, truth, ties=rule)).all()
    # Scores that tell nothing apart: half the distance, and no correlation to speak of.
    same = [{1: 1.0, 4: 1.0}]
    assert compared("ndpm", same, [RATINGS]) == [0.5]
    assert np.isnan([compared(name, same, [RATINGS]) for name in ("kendall", "spearman")]).all()


def test_no_lists_at_all(ranked, background, values):
    for name, rule in itertools.product(NAMES, RULES):
        assert values(name, ranked([], [], ties=rule), background([RATINGS], 5)) == []


def test_such_lists_are_left_out_of_the_average(ranked, background, measure, protocol):
    lists, truth = [by_place(4, 3, 2, 1), {}, by_place(1, 2, 3, 4), {1: 1.0}], [RATINGS, RATINGS, RATINGS, RATINGS]
    made = ranked(lists, truth)
    for no_relevant, over in itertools.product(("zero", "one", "skip", "nan"), ("users", "lists")):
        rules = protocol(average__no_relevant=no_relevant, average__over=over, average__folds="pooled")
        ratio = measure("ndpm").of_lists(made, background(truth, 40))
        result = average(measure("ndpm"), ratio, ListOwners.of(made), rules)
        assert (result.value, result.users.tolist()) == (0.5, [0, 2])


def test_which_value_is_better(measure):
    assert [measure(name).metric.better for name in NAMES] == ["lower", "higher", "higher"]


def test_ratings_are_needed(measure, background):
    known = background([RATINGS], 5)
    without = replace(known, test=replace(known.test, explicit=False))
    for name in NAMES:
        needs = measure(name).metric.needs
        assert lacking(needs, known) == ""
        assert "a column 'rating'" in lacking(needs, without)


def test_one_relevant_item_per_list_is_refused(measure):
    for name in NAMES:
        with pytest.raises(ProtocolError, match=r'ask for it with candidates.relevant = "all"'):
            measure(name, candidates__relevant="one")


@st.composite
def cases(draw):
    scores = draw(st.dictionaries(st.integers(0, 11), st.integers(0, 4).map(float), max_size=10))
    ratings = draw(st.dictionaries(st.integers(0, 11), st.integers(1, 5), min_size=1, max_size=10))
    return scores, ratings


@settings(max_examples=100, deadline=None)
@given(case=cases())
def test_correlations_are_those_of_scipy(case, compared):
    scores, ratings = case
    both = sorted(set(scores) & set(ratings))
    x, y = [scores[item] for item in both], [ratings[item] for item in both]
    if len(set(x)) > 1 and len(set(y)) > 1:
        expected = [scipy.stats.kendalltau(x, y).statistic, scipy.stats.spearmanr(x, y).statistic]
    else:
        expected = [math.nan, math.nan]
    result = [compared(name, [scores], [ratings])[0] for name in ("kendall", "spearman")]
    assert result == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=100, deadline=None)
@given(case=cases())
def test_distance_counted_pair_by_pair(case, compared):
    scores, ratings = case
    costs = [
        (2 if gained < 0 else 1 if gained == 0 else 0)
        for better, other in itertools.permutations(set(scores) & set(ratings), 2)
        if ratings[better] > ratings[other]
        for gained in [scores[better] - scores[other]]
    ]
    expected = sum(costs) / (2 * len(costs)) if costs else math.nan
    assert compared("ndpm", [scores], [ratings]) == pytest.approx([expected], abs=1e-12, nan_ok=True)


def test_larger_lists_agree_with_scipy(compared):
    random = np.random.default_rng(5)
    lists, truth, expected = [], [], {"kendall": [], "spearman": []}
    for size in (12, 25, 40):
        x, y = random.integers(0, size // 2, 40).astype(float), random.integers(1, 11, 40)
        lists.append(dict(enumerate(x.tolist())))
        truth.append(dict(enumerate(y.tolist())))
        expected["kendall"].append(scipy.stats.kendalltau(x, y).statistic)
        expected["spearman"].append(scipy.stats.spearmanr(x, y).statistic)
    for name, numbers in expected.items():
        assert compared(name, lists, truth) == pytest.approx(numbers, abs=1e-12)


TIED = {
    "one group": (dict.fromkeys(range(5), 1.0), {0: 2, 1: 5, 3: 2, 4: 1}),
    "two groups": ({0: 2.0, 1: 2.0, 2: 2.0, 3: 1.0, 4: 1.0, 5: 1.0}, {0: 1, 1: 4, 2: 4, 3: 5, 5: 2}),
    "a group between others": ({0: 9.0, 1: 5.0, 2: 5.0, 3: 5.0, 4: 5.0, 5: 1.0}, {0: 3, 1: 1, 2: 5, 4: 3, 5: 1}),
    "no ties": ({0: 3.0, 1: 2.0, 2: 1.0}, {0: 2, 1: 5, 2: 1}),
}


@pytest.mark.parametrize("case", TIED)
@pytest.mark.parametrize("name", NAMES)
def test_expectation_is_the_mean_over_all_orders(case, name, compared):
    scores, ratings = TIED[case]
    levels = sorted(set(scores.values()), reverse=True)
    groups = [itertools.permutations([item for item in scores if scores[item] == level]) for level in levels]
    orders = [list(itertools.chain(*parts)) for parts in itertools.product(*groups)]
    mean = statistics.fmean(in_order(name, order, ratings) for order in orders)
    assert compared(f"{name}[ties=order]", [scores], [ratings], ties="expected") == pytest.approx([mean], abs=1e-12)


def in_order(name, order, ratings):
    """The metric of one order, by SciPy or by counting."""
    held_out = [item for item in order if item in ratings]
    x, y = list(range(len(held_out), 0, -1)), [ratings[item] for item in held_out]
    if name == "kendall":
        return scipy.stats.kendalltau(x, y).statistic
    if name == "spearman":
        return scipy.stats.spearmanr(x, y).statistic
    pairs = [(a, b) for a, b in itertools.combinations(y, 2) if a != b]
    return sum(a < b for a, b in pairs) / len(pairs)


@settings(max_examples=50, deadline=None)
@given(case=cases())
def test_scores_turned_round(case, compared):
    scores, ratings = case
    turned = {item: -score for item, score in scores.items()}
    for name, rule in itertools.product(NAMES, ("definite", "expected")):
        (before,), (after,) = (compared(name, [by_item], [ratings], ties=rule) for by_item in (scores, turned))
        total = 1.0 if name == "ndpm" else 0.0
        assert before + after == pytest.approx(total, abs=1e-12) or (math.isnan(before) and math.isnan(after))
