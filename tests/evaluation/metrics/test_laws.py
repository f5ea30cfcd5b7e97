"""Laws that hold for every list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

RANKING = (
    "precision@4",
    "precision[denominator=list]@4",
    "precision[denominator=min-relevant]@4",
    "recall@4",
    "recall[denominator=min-relevant]@4",
    "hit@4",
    "rr",
    "rr@4",
    "ap",
    "ap[denominator=min-relevant]@4",
    "ap[denominator=min-list]@4",
    "ap[denominator=k]@4",
    "ap[denominator=hits]@4",
    "ndcg@4",
    "ndcg[gain=linear]@4",
    "ndcg[gain=exp2,discount=log-base,base=3]@4",
    "ndcg[discount=none]@4",
    "ndcg[ideal=whole]@4",
    "ndcg[ideal=k]@4",
    "ndcg[ideal=listed]@4",
    "f1@4",
    "rbp",
    "rbp[ideal=min]@4",
    "bpref",
    "bpref[denominator=relevant]@4",
    "auc",
    "auc@4",
    "auc[unlisted=spread]@4",
    "specificity@4",
)
# With these, an item that comes in at the bottom of the first k may lower the value.
NOT_MONOTONE = ("ap[denominator=hits]@4", "ndcg[ideal=listed]@4")

LISTS = st.lists(
    st.tuples(
        st.permutations(range(9)).flatmap(lambda order: st.integers(0, 9).map(lambda n: order[:n])),
        st.dictionaries(st.integers(0, 11), st.integers(1, 5), min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=5,
)


def by_place(order):
    return {item: -float(place) for place, item in enumerate(order)}


@settings(max_examples=30, deadline=None)
@given(lists=LISTS)
def test_values_lie_between_0_and_1(lists, ranked, values):
    orders, truths = zip(*lists, strict=True)
    for ties in ("definite", "expected", "shared-worst"):
        made = ranked([by_place(order) for order in orders], list(truths), ties=ties)
        for name in RANKING:
            results = np.array(values(name, made))  # AUC is undefined where every listed item is relevant
            assert (np.isnan(results) | (results >= 0) & (results <= 1 + 1e-12)).all(), name


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(8)), relevant=st.sets(st.integers(0, 7), min_size=1), swap=st.integers(0, 6))
def test_a_relevant_item_moved_up_never_costs(order, relevant, swap, ranked, values):
    upper, lower = order[swap], order[swap + 1]
    if upper in relevant or lower not in relevant:
        return
    better = list(order)
    better[swap : swap + 2] = lower, upper
    made = ranked([by_place(order), by_place(better)], [dict.fromkeys(sorted(relevant), 1)] * 2)
    for name in set(RANKING) - set(NOT_MONOTONE):
        before, after = values(name, made)
        assert after >= before - 1e-12, name


@settings(max_examples=30, deadline=None)
@given(grades=st.lists(st.integers(1, 5), min_size=4, max_size=8))
def test_the_best_order_scores_exactly_1(grades, ranked, values):
    truth = dict(enumerate(grades))
    best = sorted(truth, key=lambda item: -truth[item])
    made = ranked([by_place(best)], [truth])
    for name in ("ndcg@4", "ndcg[gain=linear]@4", "ndcg[gain=exp2]", "precision@4", "rr", "ndcg[ideal=listed]@4"):
        assert values(name, made) == [1.0], name


@settings(max_examples=30, deadline=None)
@given(lists=LISTS)
def test_a_block_is_its_lists_one_by_one(lists, ranked, values):
    orders, truths = zip(*lists, strict=True)
    for ties in ("definite", "expected"):
        together = ranked([by_place(order) for order in orders], list(truths), ties=ties)
        for name in RANKING:
            single = [
                values(name, ranked([by_place(order)], [truth], ties=ties))[0]
                for order, truth in zip(orders, truths, strict=True)
            ]
            assert np.array_equal(values(name, together), single, equal_nan=True), name


@settings(max_examples=30, deadline=None)
@given(lists=LISTS, k=st.integers(1, 9))
def test_binary_gains_are_linear_gains_of_grade_one(lists, k, ranked, values):
    orders, truths = zip(*lists, strict=True)
    made = ranked([by_place(order) for order in orders], [dict.fromkeys(truth, 1) for truth in truths])
    for ideal in ("min", "whole", "k", "listed"):
        binary, linear = (values(f"ndcg[gain={gain},ideal={ideal}]@{k}", made) for gain in ("binary", "linear"))
        assert binary == linear


def test_total_precision_over_the_whole_list_is_the_same_for_every_order(ranked, values):
    rng = np.random.default_rng(1)
    truth = dict.fromkeys([1, 4, 6], 1)
    orders = [rng.permutation(10).tolist() for _ in range(20)]
    assert values("precision", ranked([by_place(order) for order in orders], [truth] * 20)) == pytest.approx([0.3] * 20)


def test_a_random_order_has_the_density_of_relevant_items_as_expected_precision(ranked, values):
    # All candidates tied: 3 of 12 relevant, whatever the cut-off.
    tied = ranked([dict.fromkeys(range(12), 0.0)], [dict.fromkeys([1, 4, 6], 1)], ties="expected")
    assert [values(f"precision@{k}", tied)[0] for k in (1, 5, 12)] == pytest.approx([0.25] * 3)
