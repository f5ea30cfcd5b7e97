"""Numbers worked out by hand, in lectures and tutorials."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from repro.errors import ProtocolError
from repro.lists import default_protocol, evaluate

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
    assert values("tpr@4", lecture) == values("sensitivity@4", lecture) == values("recall@4", lecture)


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
    lists = ranked([{item: -item for item in range(1, 7)}], [dict.fromkeys([1, 3, 5, 8, 9], 1)])
    at_four, total = 1 + 2 / 3, 1 + 2 / 3 + 3 / 5
    assert values("ap", lists) == pytest.approx([total / 5])
    assert values("ap@4", lists) == pytest.approx([at_four / 5])
    assert values("ap[denominator=min-relevant]@4", lists) == pytest.approx([at_four / 4])
    assert values("ap[denominator=k]@4", lists) == pytest.approx([at_four / 4])
    assert values("ap[denominator=k]@100", lists) == pytest.approx([total / 100])
    assert values("ap[denominator=hits]@4", lists) == pytest.approx([at_four / 2])
    assert values("ap[denominator=hits]", lists) == pytest.approx([total / 3])
    short = ranked([{item: -item for item in range(1, 4)}], [dict.fromkeys([1, 3, 5, 8, 9], 1)])
    assert values("ap[denominator=min-list]@100", short) == pytest.approx([at_four / 3])
    assert values("ap[denominator=min-list]@2", short) == pytest.approx([1 / 2])
    assert values("ap[denominator=k]", short) == pytest.approx([at_four / 3])


def test_reciprocal_rank_and_hit_rate(ranked, values):
    # The first relevant item is third; item 2, at rank 2, was held out but is not relevant.
    lists = ranked([{1: 4, 2: 3, 3: 2, 4: 1}], [{2: 0.5, 3: 1, 4: 1}])
    assert values("rr", lists) == [1 / 3]
    assert values("mrr@3", lists) == [1 / 3]
    assert values("rr@2", lists) == [0.0]
    assert [values(f"hit@{k}", lists) for k in (2, 3)] == [[0.0], [1.0]]
    assert values("success@3", lists) == values("hit-rate@3", lists) == [1.0]


def test_gains_of_ndcg(ranked, values):
    # Grades 4 and 5 at ranks 1 and 2; the best order has 5 first. Threshold 4 is relevant.
    lists = ranked([{1: 2.0, 2: 1.0}], [{1: 4, 2: 5}], threshold=4)
    d = 1 / math.log2(3)
    assert values("ndcg@2", lists) == [1.0]
    assert values("ndcg[gain=linear]@2", lists) == pytest.approx([(4 + 5 * d) / (5 + 4 * d)])
    assert values("ndcg[gain=exp2]@2", lists) == pytest.approx([(15 + 31 * d) / (31 + 15 * d)])
    threshold = {"relevance__threshold": 4}
    assert values("ndcg[gain=exp2-threshold]@2", lists, **threshold) == pytest.approx([(1 + 3 * d) / (3 + 1 * d)])


def test_grades_of_items_that_are_not_relevant_count_where_they_have_one(ranked, values):
    # As trec_eval has it: the level of relevance does not move the gains of nDCG.
    lists = ranked([{1: 2.0, 2: 1.0}], [{1: 3, 2: 5}], threshold=4)
    d = 1 / math.log2(3)
    assert values("ndcg[gain=linear]@2", lists) == pytest.approx([(3 + 5 * d) / (5 + 3 * d)])
    threshold = {"relevance__threshold": 4}
    assert values("ndcg[gain=exp2-threshold]@2", lists, **threshold) == pytest.approx([d])


def test_grades_below_zero_gain_nothing(ranked, values):
    lists = ranked([{1: 3, 2: 2, 3: 1}], [{1: -1, 2: 3, 3: 1}])
    d2, d3 = 1 / math.log2(3), 1 / 2
    expected = pytest.approx([(3 * d2 + 1 * d3) / (3 + d2)])
    assert values("ndcg[gain=linear]@3", lists) == expected


def test_discounts_of_ndcg(ranked, values):
    # Hits at ranks 2 and 8 of eight; two relevant items.
    lists = ranked([{item: -item for item in range(1, 9)}], [{2: 1, 8: 1}])
    assert values("ndcg", lists) == pytest.approx([(1 / math.log2(3) + 1 / math.log2(9)) / (1 + 1 / math.log2(3))])
    assert values("ndcg[discount=log-base]", lists) == pytest.approx([(1 + 1 / 3) / 2])
    assert values("ndcg[discount=log-base,base=4]", lists) == pytest.approx([(1 + 1 / 1.5) / 2])
    assert values("ndcg[discount=none]@5", lists) == [1 / 2]


def test_ideal_lists_of_ndcg(ranked, values):
    # One hit, at rank 2 of three; four relevant items; k = 3.
    lists = ranked([{1: 3, 2: 2, 3: 1}], [dict.fromkeys([2, 7, 8, 9], 1)])
    d = [1 / math.log2(rank + 1) for rank in range(1, 5)]
    assert values("ndcg@3", lists) == pytest.approx([d[1] / sum(d[:3])])
    assert values("ndcg[ideal=whole]@3", lists) == pytest.approx([d[1] / sum(d)])
    assert values("ndcg[ideal=listed]@3", lists) == pytest.approx([d[1] / d[0]])
    assert values("ndcg[ideal=listed]@1", lists) == [0.0]
    few = ranked([{1: 3, 2: 2, 3: 1}], [{2: 1}])
    assert values("ndcg[ideal=k]@3", few) == pytest.approx([d[1] / sum(d[:3])])
    assert values("ndcg@3", few) == pytest.approx([d[1]])
    assert values("ndcg[ideal=k]", few) == pytest.approx([d[1] / sum(d[:3])])
    graded = ranked([{1: 3, 2: 2, 3: 1}], [{2: 3, 3: 5, 9: 4}])
    assert values("ndcg[gain=linear,ideal=k]@2", graded) == pytest.approx([3 * d[1] / (5 + 5 * d[1])])
    assert values("ndcg[gain=linear,ideal=listed]@3", graded) == pytest.approx([(3 * d[1] + 5 * d[2]) / (5 + 3 * d[1])])


def test_f1_of_users_and_of_means(lecture, values, measure):
    # Precision 1/4, 3/4, 0, 1 and recall 1/2, 3/5, 0, 2/3: 2 * hits / (4 + relevant items).
    assert values("f1@4", lecture) == pytest.approx([2 / 6, 6 / 9, 0.0, 8 / 10])
    joined = measure("f1[average=means]@4")
    assert [part.name for part in joined.parts] == ["precision@4", "recall@4"]
    precision, recall = (1 / 4 + 3 / 4 + 0 + 1) / 4, (1 / 2 + 3 / 5 + 0 + 2 / 3) / 4
    parts = {"precision": (precision, 4), "recall": (recall, 4)}
    value, users = joined.joined({part.full_name: parts[part.metric.name] for part in joined.parts})
    assert value == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-12)
    assert users == 4
    nothing = {part.full_name: (0.0, 4) for part in joined.parts}
    assert joined.joined(nothing) == (0.0, 4)


def test_denominators_of_f1(ranked, values, measure):
    # One hit in a list of two, four relevant items, k = 8.
    short = ranked([{1: 2.0, 2: 1.0}], [{2: 1, 5: 1, 6: 1, 7: 1}])
    assert values("f1@8", short) == pytest.approx([2 / (8 + 4)])
    assert values("f1[precision=list]@8", short) == pytest.approx([2 / (2 + 4)])
    assert values("f1[precision=min-relevant]@8", short) == pytest.approx([2 / (4 + 4)])
    assert values("f1[recall=min-relevant]@2", short) == pytest.approx([2 / (2 + 2)])
    assert values("f1", short) == pytest.approx([2 / (2 + 4)])
    parsed = measure("f1[average=means,precision=list,recall=min-relevant]")
    assert [part.full_name for part in parsed.parts] == [
        "precision[denominator=list]",
        "recall[denominator=min-relevant]",
    ]


def test_ranks_of_hits(ranked, values):
    # Hits at ranks 2 and 5 of six items, a third relevant item is not listed; and a list without a hit.
    both = ranked([{item: -item for item in range(1, 7)}] * 2, [{2: 1, 5: 1, 9: 1}, {9: 1}])
    assert values("arhr", both) == pytest.approx([1 / 2 + 1 / 5, 0.0])
    assert values("arhr@4", both) == [1 / 2, 0.0]
    assert values("arc", both) == pytest.approx([3.5, math.nan], nan_ok=True)
    assert values("arc@4", both) == pytest.approx([2.0, math.nan], nan_ok=True)


def test_lists_without_a_hit_have_no_mean_rank():
    lists = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [1, 2, 3], "item": [2, 9, 9]})
    for no_list in ("zero", "skip"):
        protocol = default_protocol(False).replace({"average.no_list": no_list}, "test")
        parts = evaluate(lists, truth, protocol, metrics=["arc"])
        assert parts[["value", "users"]].to_numpy().tolist() == [[2.0, 1.0]]


def test_rank_biased_precision(ranked, values):
    # Hits at ranks 1 and 3 of three items; four relevant items.
    lists = ranked([{1: 3, 2: 2, 3: 1}], [dict.fromkeys([1, 3, 8, 9], 1)])
    assert values("rbp", lists) == pytest.approx([0.2 * (1 + 0.64)])
    assert values("rbp[p=0.5]@2", lists) == pytest.approx([0.5])
    assert values("rbp[p=0]", lists) == [1.0]
    assert values("rbp[p=0.5,ideal=min]", lists) == pytest.approx([1.25 / 1.875])
    assert values("rbp[p=0.5,ideal=min]@2", lists) == pytest.approx([1 / 1.5])
    assert values("rbp[p=0.5,ideal=list]@10", lists) == pytest.approx([1.25 / 1.75])


def test_percentile_ranks(ranked, background, values):
    # Relevant items at ranks 2 and 5 of five, rated 1 and 3; one rated 2 is not listed.
    truth = [{2: 1, 5: 3, 9: 2}]
    lists, known = ranked([{item: -item for item in range(1, 6)}], truth), background(truth, 10)
    assert values("mpr", lists, known) == pytest.approx([(25 + 100 + 100) / 3])
    assert values("mpr[unlisted=left-out]", lists, known) == pytest.approx([(25 + 100) / 2])
    assert values("mpr[percentile=share]", lists, known) == pytest.approx([(40 + 100 + 100) / 3])
    assert values("mpr[percentile=catalogue]", lists, known) == pytest.approx([(10 + 40 + 100) / 3])
    assert values("mpr[percentile=catalogue,unlisted=half-way]", lists, known) == pytest.approx([(10 + 40 + 70) / 3])
    assert values("mpr[unlisted=half-way]", lists, known) == pytest.approx([(25 + 100 + 100) / 3])
    assert values("mpr[weight=rating]", lists, known) == pytest.approx([(1 * 25 + 3 * 100 + 2 * 100) / 6])
    single = ranked([{1: 1.0}, {}, {1: 1.0}], [{1: 1}, {1: 1}, {}])
    assert values("mpr", single) == pytest.approx([50.0, 100.0, math.nan], nan_ok=True)
    assert values("mpr[unlisted=left-out]", single) == pytest.approx([50.0, math.nan, math.nan], nan_ok=True)
    assert values("mpr[unlisted=half-way]", single) == pytest.approx([50.0, 50.0, math.nan], nan_ok=True)


def test_percentile_ranks_of_pairs():
    # Hu, Koren & Volinsky: user 1 has items at 0 and 50 per cent, user 2 one at 100, rated 1, 2 and 5.
    lists = pd.DataFrame({"user": [1] * 3 + [2] * 3, "item": [1, 2, 3] * 2, "rank": [1, 2, 3] * 2})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "rating": [1, 2, 5]})
    parts = evaluate(lists, truth, metrics=["mpr", "mpr[join=pairs]", "mpr[join=pairs,weight=rating]"])
    expected = [(25 + 100) / 2, (0 + 50 + 100) / 3, (1 * 0 + 2 * 50 + 5 * 100) / 8]
    assert parts["value"].tolist() == pytest.approx(expected, abs=1e-12)


def test_a_random_order_stands_at_50_per_cent(ranked, values):
    tied = ranked([dict.fromkeys(range(12), 0.0)], [dict.fromkeys([1, 4, 6], 1)], ties="expected")
    assert values("mpr", tied) == values("mpr", replace(tied, ties="shared-mean")) == [50.0]


def test_preferences(ranked, values):
    # 1 and 4 are judged and not relevant, 2 and 5 relevant, 3 and 6 unjudged, relevant 9 is not listed.
    lists = ranked([{item: -item for item in range(1, 7)}], [{1: 0, 2: 1, 4: 0, 5: 1, 9: 1}])
    assert values("bpref", lists) == pytest.approx([(1 - 1 / 2 + 1 - 2 / 2) / 3])
    assert values("bpref[denominator=relevant]", lists) == pytest.approx([(1 - 1 / 3 + 1 - 2 / 3) / 3])
    assert values("bpref@3", lists) == pytest.approx([(1 - 1 / 2) / 3])
    # More judged non-relevant items than relevant ones: only as many of them count.
    many = ranked([{item: -item for item in range(1, 7)}], [{1: 0, 2: 0, 3: 1, 4: 0}])
    assert values("bpref", many) == [0.0]


def test_inferred_precision(ranked, values):
    # Rank 1 unjudged, 2 judged and not relevant, 3 and 5 relevant, 4 unjudged: e keeps 0 / 1 away from 0.
    lists = ranked([{item: -item for item in range(1, 6)}], [{2: 0, 3: 1, 5: 1}])
    e = 0.00001
    first, second = e / (1 + 2 * e), (1 + e) / (2 + 2 * e)
    trec = (1 / 3 + 2 / 3 * (1 / 2) * first + 1 / 5 + 4 / 5 * (2 / 4) * second) / 2
    assert values("infap[unjudged=not-relevant]", lists) == pytest.approx([trec], abs=1e-12)
    alike = (1 / 3 + 2 / 3 * first + 1 / 5 + 4 / 5 * second) / 2
    assert values("infap", lists) == pytest.approx([alike], abs=1e-12)
    assert values("infap[unjudged=not-relevant,epsilon=1]@3", lists) == pytest.approx(
        [(1 / 3 + 2 / 3 * (1 / 2) * (1 / 3)) / 2], abs=1e-12
    )
    top = ranked([{1: 1.0}], [{1: 1}])
    assert values("infap[unjudged=not-relevant]", top) == values("infap[unjudged=as-judged]", top) == [1.0]


def test_f1_says_nothing_with_one_relevant_item_per_list(measure):
    with pytest.raises(ProtocolError, match=r"F1@k is 2 / \(k \+ 1\) of it; ask for hit"):
        measure("f1@10", candidates__relevant="one")
    assert measure("arhr", candidates__relevant="one").cutoff is None


def test_lists_without_items_or_without_relevant_items(ranked, values):
    both = ranked([{}, {1: 1.0}, {1: 1.0}], [{1: 1}, {}, {1: 0}])
    names = ("precision@3", "precision[denominator=list]@3", "recall@3", "hit@3", "rr", "ap", "ndcg@3")
    for name in (*names, "f1@3", "arhr", "rbp", "rbp[ideal=min]", "rbp[ideal=list]@3", "bpref", "infap@3"):
        empty, *without = values(name, both)
        assert empty == 0.0, name
        assert np.isnan(without).all(), name
    for name in ("ap[denominator=hits]@3", "ap[denominator=min-list]", "ap[denominator=k]", "ndcg[ideal=listed]"):
        empty, *without = values(name, both)
        assert empty == 0.0, name
        assert np.isnan(without).all(), name


def test_no_lists_at_all(ranked, values):
    nothing = ranked([], [])
    names = ("precision@3", "recall@3", "hit@3", "rr", "ap", "ndcg@3", "ndcg[gain=exp2,ideal=k]@3", "f1@3", "arhr")
    for name in (*names, "arc", "half-life", "rbp", "bpref", "mpr", "auc", "auc@3", "fallout@3", "specificity@3"):
        for ties in ("definite", "expected"):
            assert values(name, ranked([], [], ties=ties)) == [], name
    assert len(nothing) == 0


def test_cut_off_deeper_than_any_list(ranked, values):
    lists = ranked([{1: 2.0, 2: 1.0}], [{1: 1}])
    assert values("ndcg@100000", lists) == [1.0]
    assert values("recall@100000", lists) == [1.0]
    assert values("ndcg[ideal=k]@1000", lists) == pytest.approx(
        [1 / sum(1 / math.log2(rank + 1) for rank in range(1, 1001))]
    )
