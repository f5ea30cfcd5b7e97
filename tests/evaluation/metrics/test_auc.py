"""AUC: ties, items that are not listed, who is negative, and how users are weighed; fall-out and specificity."""

import math

import numpy as np
import pandas as pd
import pytest

from repro.lists import default_protocol, evaluate

# A relevant item with three others at the same score, one above, one below; and a user without ties.
TIED = {1: 0.5, 2: 0.9, 3: 0.5, 4: 0.5, 5: 0.5, 6: 0.1}
CLEAR = {item: 1 - item / 10 for item in range(1, 7)}


def test_what_a_tie_counts(ranked, values):
    lists = ranked([TIED], [{4: 1}])
    assert values("auc", lists) == [(1 + 3 / 2) / 5]
    assert values("auc[ties=none]", lists) == [1 / 5]
    # By ascending item, 1 and 3 come before 4, and 5 after it.
    assert values("auc[ties=order]", lists) == [2 / 5]


def test_all_scores_tied(ranked, values):
    lists = ranked([dict.fromkeys(range(1, 6), 1.0)], [{2: 1}])
    assert values("auc", lists) == [0.5]
    assert values("auc[ties=none]", lists) == [0.0]  # as Cornac 3.0.1 has it


def test_users_weighed_by_their_relevant_items():
    # RecBole 1.2.1 gave 0.5 and 0.75 for the two users alone, and 0.6666666865348816 (single precision) for both.
    lists = [(user, item, score) for user, scores in ((1, TIED), (2, CLEAR)) for item, score in scores.items()]
    truth = pd.DataFrame({"user": [1, 2, 2], "item": [4, 2, 3]})
    recommendations = pd.DataFrame(lists, columns=["user", "item", "score"])
    names = ["auc", "auc[weight=positives]", "gauc"]
    table = evaluate(recommendations, truth, metrics=names)
    assert table["value"].tolist() == pytest.approx([0.625, 2 / 3, 2 / 3], abs=1e-12)
    alone = evaluate(recommendations, truth, metrics=["gauc"], per_user=True)
    assert alone["value"].tolist() == pytest.approx([0.5, 0.75], abs=1e-12)


def test_items_without_a_place(ranked, background, values):
    # Relevant 2 (rank 2) and 9 (not listed); five items listed of a catalogue of ten. Negatives above 2: one of four.
    truth = [{2: 1, 9: 1}]
    lists, known = ranked([{item: -item for item in range(1, 6)}], truth), background(truth, 10)
    assert values("auc", lists, known) == [3 / 8]
    assert values("auc[unlisted=left-out]", lists, known) == [3 / 4]
    assert values("auc[unlisted=spread]", lists, known) == [3 / 8]  # no negative is below the list
    # All eight others of the catalogue: 2 is above seven of them; four are not listed, as 9 is not.
    assert values("auc[negatives=catalogue]", lists, known) == [7 / 16]
    assert values("auc[negatives=catalogue,unlisted=spread]", lists, known) == [(7 + 4 / 2) / 16]


@pytest.mark.parametrize(
    ("k", "value"), [(1, 0.3333333333333333), (2, 0.5), (3, 0.4166666666666667), (4, 0.5), (5, 0.5)]
)
def test_spread_below_the_list_as_implicit_has_it(k, value, ranked, background, values):
    # implicit 0.7.3: the list 1, 2, 3, 4, 0 of five items; 2 and 4 are relevant.
    truth = [{2: 1, 4: 1}]
    lists = ranked([{1: 5.0, 2: 4.0, 3: 3.0, 4: 2.0, 0: 1.0}], truth)
    name = f"auc[ties=order,negatives=catalogue,unlisted=spread]@{k}"
    assert values(name, lists, background(truth, 5)) == pytest.approx([value], abs=1e-12)


def test_lists_without_a_hit_as_implicit_has_them(ranked, background, values):
    truth = [{2: 1, 4: 1}]
    name = "auc[ties=order,negatives=catalogue,unlisted=spread]"
    nothing = ranked([{0: 3.0, 1: 2.0, 3: 1.0}], truth)
    assert values(f"{name}@3", nothing, background(truth, 5)) == [0.0]
    ten = ranked([{item: -float(item) for item in range(10, 20)}], truth)
    assert values(f"{name}@10", ten, background(truth, 1000)) == pytest.approx([0.49498997995991983], abs=1e-12)


def test_judged_negatives(ranked, values):
    # 1 and 5 are judged and not relevant, 2 and 4 relevant, 3 unjudged, 8 judged and not listed.
    lists = ranked([{item: -item for item in range(1, 6)}], [{1: 0, 2: 1, 4: 1, 5: 0, 8: 0}])
    assert values("auc[negatives=judged]", lists) == [(2 + 2) / 6]
    # Down to 3, relevant 4 and judged 5 are not listed: 2 is above 5 and 8, 4 is level with them.
    assert values("auc[negatives=judged]@3", lists) == [2 / 6]
    assert values("auc[negatives=judged,unlisted=spread]@3", lists) == [(2 + 2 / 2) / 6]


def test_lists_that_are_empty_or_have_no_negatives(ranked, values):
    lists = ranked([{}, {1: 1.0}, {1: 1.0, 2: 0.5}, {1: 1.0}], [{1: 1}, {1: 1}, {3: 1}, {}])
    for name in ("auc", "auc[weight=positives]", "auc[negatives=candidates]@3"):
        empty, no_negatives, no_hit, no_relevant = values(name, lists)
        assert (empty, no_hit) == (0.0, 0.0), name
        assert math.isnan(no_negatives) and math.isnan(no_relevant), name
    empty, _, no_hit, _ = values("auc[unlisted=left-out]", lists)
    assert empty == 0.0
    assert math.isnan(no_hit)


def test_fallout_and_specificity(ranked, background, values):
    # Relevant 2 and 4; judged and not relevant 1 and 8, which is not listed; a list of six, a catalogue of ten.
    truth = [{1: 0, 2: 1, 4: 1, 8: 0}]
    lists, known = ranked([{item: -item for item in range(1, 7)}], truth), background(truth, 10)
    for negatives, wrong, of in (("candidates", 2, 4), ("judged", 1, 2), ("catalogue", 2, 8)):
        variant = f"[negatives={negatives}]"
        assert values(f"fallout{variant}@3", lists, known) == [wrong / of]
        assert values(f"fpr{variant}@3", lists, known) == [wrong / of]
        assert values(f"specificity{variant}@3", lists, known) == [1 - wrong / of]
        assert values(f"tnr{variant}@3", lists, known) == [1 - wrong / of]
    assert values("fallout@100", lists, known) == [1.0]


def test_fallout_of_lists_without_items_or_negatives(ranked, values):
    lists = ranked([{}, {1: 1.0}, {1: 1.0}], [{1: 1}, {1: 1}, {}])
    for name, empty in (("fallout@3", 0.0), ("specificity@3", 1.0)):
        first, *rest = values(name, lists)
        assert first == empty
        assert np.isnan(rest).all()


def test_a_cut_off_does_not_hide_what_is_below_it():
    # Four listed, relevant 1 and 4: two negatives, one of them among the first two, whatever else is asked for.
    recommendations = pd.DataFrame({"user": 1, "item": [1, 2, 3, 4], "rank": [1, 2, 3, 4]})
    truth = pd.DataFrame({"user": 1, "item": [1, 4]})
    table = evaluate(recommendations, truth, metrics=["fallout@2", "specificity@2", "auc@2"])
    assert table["value"].tolist() == [0.5, 0.5, 0.5]


def test_pooled_fallout_leaves_out_lists_without_relevant_items():
    recommendations = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "score": [2, 1, 2, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [1, 0]})
    protocol = default_protocol(True).replace({"average.over": "pooled"}, "test")
    assert evaluate(recommendations, truth, protocol, ["fallout@2"])["value"].tolist() == [1.0]
