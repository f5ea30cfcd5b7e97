"""Numbers worked out by hand, in lectures and tutorials."""

from __future__ import annotations

import math

import numpy as np
import pytest

# Mansoury's lecture: four users, lists of four.
TRUTH = [{2, 3}, {1, 2, 3, 5, 7}, {3, 4, 6}, {1, 2, 3, 4, 5, 6}]
LISTS = [(1, 3, 4, 6), (2, 3, 4, 5), (1, 2, 5, 7), (3, 4, 5, 6)]


@pytest.fixture
def lecture(ranked):
    scores = [{item: -place for place, item in enumerate(items)} for items in LISTS]
    return ranked(scores, [dict.fromkeys(sorted(items), 1) for items in TRUTH])


def test_precision_and_recall_of_the_lecture(lecture, values):
    assert values("precision@4", lecture) == [0.25, 0.75, 0.0, 1.0]
    assert values("recall@4", lecture) == pytest.approx([0.5, 0.6, 0.0, 4 / 6])


def test_ndcg_of_the_lecture(lecture, values):
    # u1 finds one of two at rank 2: 0.63 of 1.63; u2 finds three of five at ranks 1, 2 and 4: 2.06 of 2.56.
    first, second, third, fourth = values("ndcg@4", lecture)
    assert round(first, 2) == 0.39
    assert round(second, 2) == 0.80
    assert (third, fourth) == (0.0, 1.0)


def test_what_a_short_list_is_divided_by(ranked, values):
    # One hit in a list of two, four relevant items, k = 8.
    short = ranked([{1: 2.0, 2: 1.0}], [{2: 1, 5: 1, 6: 1, 7: 1}])
    assert values("precision@8", short) == [1 / 8]
    assert values("precision[denominator=list]@8", short) == [1 / 2]
    assert values("precision[denominator=min-relevant]@8", short) == [1 / 4]
    assert values("precision", short) == [1 / 2]


def test_what_recall_is_divided_by(ranked, values):
    # Two hits among the first two of a long list, five relevant items.
    long = ranked([{item: -item for item in range(6)}], [dict.fromkeys([0, 1, 7, 8, 9], 1)])
    assert values("recall@2", long) == [2 / 5]
    assert values("recall[denominator=min-relevant]@2", long) == [1.0]
    assert values("recall", long) == [2 / 5]


def test_what_average_precision_is_divided_by(ranked, values):
    # Hits at ranks 1, 3 and 5 of a list of six; five relevant items. Precisions 1, 2/3 and 3/5.
    one = ranked([{item: -item for item in range(1, 7)}], [dict.fromkeys([1, 3, 5, 8, 9], 1)])
    at_four, whole = 1 + 2 / 3, 1 + 2 / 3 + 3 / 5
    assert values("ap", one) == pytest.approx([whole / 5])
    assert values("ap@4", one) == pytest.approx([at_four / 5])
    assert values("ap[denominator=min-relevant]@4", one) == pytest.approx([at_four / 4])
    assert values("ap[denominator=k]@4", one) == pytest.approx([at_four / 4])
    assert values("ap[denominator=k]@100", one) == pytest.approx([whole / 100])
    assert values("ap[denominator=hits]@4", one) == pytest.approx([at_four / 2])
    assert values("ap[denominator=hits]", one) == pytest.approx([whole / 3])
    short = ranked([{item: -item for item in range(1, 4)}], [dict.fromkeys([1, 3, 5, 8, 9], 1)])
    assert values("ap[denominator=min-list]@100", short) == pytest.approx([at_four / 3])
    assert values("ap[denominator=min-list]@2", short) == pytest.approx([1 / 2])
    assert values("ap[denominator=k]", short) == pytest.approx([at_four / 3])


def test_reciprocal_rank_and_hit_rate(ranked, values):
    # The first relevant item is third; item 2, at rank 2, was held out but is not relevant.
    one = ranked([{1: 4, 2: 3, 3: 2, 4: 1}], [{2: 0.5, 3: 1, 4: 1}])
    assert values("rr", one) == [1 / 3]
    assert values("mrr@3", one) == [1 / 3]
    assert values("rr@2", one) == [0.0]
    assert [values(f"hit@{k}", one) for k in (2, 3)] == [[0.0], [1.0]]
    assert values("success@3", one) == values("hit-rate@3", one) == [1.0]


def test_gains_of_ndcg(ranked, values):
    # Grades 4 and 5 at ranks 1 and 2; the best order has 5 first. Threshold 4 is relevant.
    one = ranked([{1: 2.0, 2: 1.0}], [{1: 4, 2: 5}], threshold=4)
    d = 1 / math.log2(3)
    assert values("ndcg@2", one) == [1.0]
    assert values("ndcg[gain=linear]@2", one) == pytest.approx([(4 + 5 * d) / (5 + 4 * d)])
    assert values("ndcg[gain=exp2]@2", one) == pytest.approx([(15 + 31 * d) / (31 + 15 * d)])
    threshold = {"relevance__threshold": 4}
    assert values("ndcg[gain=exp2-threshold]@2", one, **threshold) == pytest.approx([(1 + 3 * d) / (3 + 1 * d)])


def test_grades_of_items_that_are_not_relevant_count_where_they_have_one(ranked, values):
    # As trec_eval has it: the level of relevance does not move the gains of nDCG.
    one = ranked([{1: 2.0, 2: 1.0}], [{1: 3, 2: 5}], threshold=4)
    d = 1 / math.log2(3)
    assert values("ndcg[gain=linear]@2", one) == pytest.approx([(3 + 5 * d) / (5 + 3 * d)])
    threshold = {"relevance__threshold": 4}
    assert values("ndcg[gain=exp2-threshold]@2", one, **threshold) == pytest.approx([d])


def test_grades_below_zero_gain_nothing(ranked, values):
    one = ranked([{1: 3, 2: 2, 3: 1}], [{1: -1, 2: 3, 3: 1}])
    d2, d3 = 1 / math.log2(3), 1 / 2
    expected = pytest.approx([(3 * d2 + 1 * d3) / (3 + d2)])
    assert values("ndcg[gain=linear]@3", one) == expected


def test_discounts_of_ndcg(ranked, values):
    # Hits at ranks 2 and 8 of eight; two relevant items.
    one = ranked([{item: -item for item in range(1, 9)}], [{2: 1, 8: 1}])
    assert values("ndcg", one) == pytest.approx([(1 / math.log2(3) + 1 / math.log2(9)) / (1 + 1 / math.log2(3))])
    assert values("ndcg[discount=log-base]", one) == pytest.approx([(1 + 1 / 3) / 2])
    assert values("ndcg[discount=log-base,base=4]", one) == pytest.approx([(1 + 1 / 1.5) / 2])
    assert values("ndcg[discount=none]@5", one) == [1 / 2]


def test_ideal_lists_of_ndcg(ranked, values):
    # One hit, at rank 2 of three; four relevant items; k = 3.
    one = ranked([{1: 3, 2: 2, 3: 1}], [dict.fromkeys([2, 7, 8, 9], 1)])
    d = [1 / math.log2(rank + 1) for rank in range(1, 5)]
    assert values("ndcg@3", one) == pytest.approx([d[1] / sum(d[:3])])
    assert values("ndcg[ideal=whole]@3", one) == pytest.approx([d[1] / sum(d)])
    assert values("ndcg[ideal=listed]@3", one) == pytest.approx([d[1] / d[0]])
    assert values("ndcg[ideal=listed]@1", one) == [0.0]
    few = ranked([{1: 3, 2: 2, 3: 1}], [{2: 1}])
    assert values("ndcg[ideal=k]@3", few) == pytest.approx([d[1] / sum(d[:3])])
    assert values("ndcg@3", few) == pytest.approx([d[1]])
    assert values("ndcg[ideal=k]", few) == pytest.approx([d[1] / sum(d[:3])])
    graded = ranked([{1: 3, 2: 2, 3: 1}], [{2: 3, 3: 5, 9: 4}])
    assert values("ndcg[gain=linear,ideal=k]@2", graded) == pytest.approx([3 * d[1] / (5 + 5 * d[1])])
    assert values("ndcg[gain=linear,ideal=listed]@3", graded) == pytest.approx([(3 * d[1] + 5 * d[2]) / (5 + 3 * d[1])])


def test_lists_without_items_or_without_relevant_items(ranked, values):
    both = ranked([{}, {1: 1.0}, {1: 1.0}], [{1: 1}, {}, {1: 0}])
    for name in ("precision@3", "precision[denominator=list]@3", "recall@3", "hit@3", "rr", "ap", "ndcg@3"):
        empty, *without = values(name, both)
        assert empty == 0.0, name
        assert np.isnan(without).all(), name
    for name in ("ap[denominator=hits]@3", "ap[denominator=min-list]", "ap[denominator=k]", "ndcg[ideal=listed]"):
        empty, *without = values(name, both)
        assert empty == 0.0, name
        assert np.isnan(without).all(), name


def test_no_lists_at_all(ranked, values):
    nothing = ranked([], [])
    for name in ("precision@3", "recall@3", "hit@3", "rr", "ap", "ndcg@3", "ndcg[gain=exp2,ideal=k]@3"):
        for ties in ("definite", "expected"):
            assert values(name, ranked([], [], ties=ties)) == [], name
    assert len(nothing) == 0


def test_cut_off_deeper_than_any_list(ranked, values):
    one = ranked([{1: 2.0, 2: 1.0}], [{1: 1}])
    assert values("ndcg@100000", one) == [1.0]
    assert values("recall@100000", one) == [1.0]
    assert values("ndcg[ideal=k]@1000", one) == pytest.approx(
        [1 / sum(1 / math.log2(rank + 1) for rank in range(1, 1001))]
    )
