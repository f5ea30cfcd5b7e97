"""Precision-recall and ROC curves of two data frames."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, precision_recall_curve, roc_curve

import repro
from repro.errors import DataError, ProtocolError
from repro.evaluation.metrics import metrics, parse_measure
from repro.lists import default_protocol, rank_frames, read_frames
from repro.lists.curves import area_metrics, curves


def frame(rows, columns="user item score"):
    return pd.DataFrame(rows, columns=columns.split())


# Ann finds her item at rank 2 of 4; Bob his at ranks 1 and 3 of 3.
RECOMMENDED = frame(
    [
        *(("ann", item, score) for item, score in zip("wxyz", (9, 7, 5, 3), strict=True)),
        *(("bob", item, score) for item, score in zip("wxy", (8, 6, 4), strict=True)),
    ]
)
HELD_OUT = frame([("ann", "x"), ("bob", "w"), ("bob", "y")], "user item")


@pytest.fixture(scope="module")
def many():
    """Forty users with lists of 5 to 30 items and scores that tie, and what was held out."""
    rng = np.random.default_rng(2)
    rows, truth = [], []
    for user in range(40):
        items = rng.permutation(50)
        length = int(rng.integers(5, 31))
        rows += [(user, int(item), float(rng.integers(0, 12))) for item in items[:length]]
        truth += [(user, int(item)) for item in rng.choice(items[:length], int(rng.integers(1, 5)), replace=False)]
    return frame(rows), frame(truth, "user item")


def labels(recommended, held_out):
    pairs = set(held_out.itertuples(index=False, name=None))
    return [pair in pairs for pair in recommended[["user", "item"]].itertuples(index=False, name=None)]


def test_pooled_pairs_by_hand():
    table = repro.curves(RECOMMENDED, HELD_OUT, "precision-recall", "pooled")
    assert table.columns.tolist() == ["threshold", "recall", "precision", "users"]
    assert table["threshold"].tolist() == [9, 8, 7, 6, 5, 4, 3]
    assert table["recall"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 1, 1])
    assert table["precision"].tolist() == pytest.approx([0, 1 / 2, 2 / 3, 2 / 4, 2 / 5, 3 / 6, 3 / 7])
    assert table["users"].tolist() == [2] * 7
    table = curves(RECOMMENDED, HELD_OUT, "roc", "pooled")
    assert table.columns.tolist() == ["threshold", "fpr", "tpr", "users"]
    assert table["threshold"].tolist() == [np.inf, 9, 8, 7, 6, 5, 4, 3]
    assert table["fpr"].tolist() == [0, 1 / 4, 1 / 4, 1 / 4, 2 / 4, 3 / 4, 3 / 4, 1]


def test_pooled_pairs_are_those_of_scikit_learn(many):
    recommended, held_out = many
    flags = labels(recommended, held_out)
    fpr, tpr, thresholds = roc_curve(flags, recommended["score"], drop_intermediate=False)
    table = curves(recommended, held_out, "roc", "pooled")
    np.testing.assert_allclose(table[["fpr", "tpr", "threshold"]], np.stack([fpr, tpr, thresholds], 1), atol=1e-12)
    precision, recall, thresholds = precision_recall_curve(flags, recommended["score"])
    table = curves(recommended, held_out, "precision-recall", "pooled")[::-1]
    expected = np.stack([precision[:-1], recall[:-1], thresholds], 1)
    np.testing.assert_allclose(table[["precision", "recall", "threshold"]], expected, atol=1e-12)


def test_list_lengths_by_hand():
    table = curves(RECOMMENDED, HELD_OUT, "precision-recall", "lengths")
    assert table.columns.tolist() == ["n", "recall", "precision", "users"]
    assert table["n"].tolist() == [1, 2, 3, 4]
    assert table["recall"].tolist() == [1 / 4, 3 / 4, 1, 1]
    assert table["precision"].tolist() == pytest.approx([1 / 2, 1 / 2, 1 / 2, 11 / 24])
    table = curves(RECOMMENDED, HELD_OUT, "roc", "lengths")
    assert table["n"].tolist() == [0, 1, 2, 3, 4]
    assert table["fpr"].tolist() == pytest.approx([0, 1 / 6, 2 / 3, 5 / 6, 1])
    assert table["tpr"].tolist() == [0, 1 / 4, 3 / 4, 1, 1]


def test_totals_and_the_perfect_curve_by_hand():
    table = curves(RECOMMENDED, HELD_OUT, "roc", "lengths", rates="totals", perfect=True)
    assert table.columns.tolist() == ["n", "fpr", "tpr", "perfect_fpr", "perfect_tpr", "users"]
    assert table["fpr"].tolist() == [0, 1 / 4, 2 / 4, 3 / 4, 1]
    assert table["tpr"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    assert table["perfect_fpr"].tolist() == [0, 0, 1 / 4, 3 / 4, 1]
    assert table["perfect_tpr"].tolist() == pytest.approx([0, 2 / 3, 1, 1, 1])
    table = curves(RECOMMENDED, HELD_OUT, "precision-recall", "lengths", rates="totals")
    assert table["precision"].tolist() == pytest.approx([1 / 2, 2 / 4, 3 / 6, 3 / 7])


def test_list_lengths_are_precision_and_recall_at_each_n(many):
    recommended, held_out = many
    for ties in ("item-asc", "expected"):
        protocol = default_protocol(False).replace({"ties.break": ties}, "test")
        table = curves(recommended, held_out, "precision-recall", "lengths", protocol=protocol)
        assert len(table) == recommended.groupby("user").size().max()
        for row in table.iloc[::6].itertuples():
            names = [f"recall@{row.n}", f"precision[denominator=list]@{row.n}"]
            expected = repro.evaluate(recommended, held_out, protocol, metrics=names)["value"].tolist()
            assert [row.recall, row.precision] == pytest.approx(expected, abs=1e-12)


def test_a_curve_for_each_user_by_hand():
    # Ann: precision 1/2 at recall 1. Bob: 1 up to recall 1/2, then 2/3.
    table = curves(RECOMMENDED, HELD_OUT, "precision-recall", "users", points=5)
    assert table.columns.tolist() == ["recall", "precision", "users"]
    assert table["recall"].tolist() == [0, 1 / 4, 1 / 2, 3 / 4, 1]
    high, low = (1 / 2 + 1) / 2, (1 / 2 + 2 / 3) / 2
    assert table["precision"].tolist() == pytest.approx([high, high, high, low, low])
    # Ann: 0 below a false positive rate of 1/3, then 1. Bob: 1/2 below 1, then 1.
    table = curves(RECOMMENDED, HELD_OUT, "roc", "users", points=4)
    assert table["fpr"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert table["tpr"].tolist() == [1 / 4, 3 / 4, 3 / 4, 1]


def test_eleven_points_are_those_of_trec(many):
    recommended, held_out = many
    # Of three items trec_eval takes two as a recall of 0.7: 3 * 0.7 + 0.9, rounded down, is 2 in binary fractions.
    held_out = held_out.groupby("user").filter(lambda rows: len(rows) != 3)
    distinct = recommended.assign(score=np.random.default_rng(1).permutation(len(recommended)).astype(float))
    run = {str(u): dict(zip(g["item"].astype(str), g["score"], strict=True)) for u, g in distinct.groupby("user")}
    qrels = {str(u): {str(item): 1 for item in g["item"]} for u, g in held_out.groupby("user")}
    judged = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    expected = [np.mean([of[f"iprec_at_recall_{level / 10:.2f}"] for of in judged.values()]) for level in range(11)]
    table = curves(distinct, held_out, "precision-recall", "users", points=11)
    assert table["precision"].tolist() == pytest.approx(expected, abs=1e-12)


def test_users_roc_curves_average_to_the_mean_area(many):
    recommended, held_out = many
    # A rate at a fine level is off by at most one level's width from where its step is.
    table = curves(recommended, held_out, "roc", "users", points=20_001)
    steps = table["tpr"][:-1].mean()
    area = repro.evaluate(recommended, held_out, metrics=["auc[ties=order]"])["value"].iloc[0]
    assert steps == pytest.approx(area, abs=1e-4)


@pytest.mark.parametrize(("kind", "join", "rates"), [("roc", "pooled", "means"), ("roc", "lengths", "means")])
def test_areas_below_points_are_the_metrics(many, kind, join, rates):
    recommended, held_out = many
    table = curves(recommended, held_out, kind, join, rates=rates)
    area = repro.evaluate(recommended, held_out, metrics=area_metrics(kind, join, rates))["value"].iloc[0]
    assert auc(table["fpr"], table["tpr"]) == pytest.approx(area, abs=1e-12)


def test_perfect_curves_have_the_area_that_is_divided_by(many):
    recommended, held_out = many
    table = curves(recommended, held_out, "roc", "lengths", rates="totals", perfect=True)
    names = ["croc", "croc[normalised=perfect]"]
    area, share = repro.evaluate(recommended, held_out, metrics=names)["value"]
    assert auc(table["fpr"], table["tpr"]) == pytest.approx(area, abs=1e-12)
    assert area / auc(table["perfect_fpr"], table["perfect_tpr"]) == pytest.approx(share, abs=1e-12)


SOME = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 5).map(float), st.booleans()),
    min_size=3,
    max_size=40,
    unique_by=lambda row: row[:2],
).filter(lambda rows: 0 < sum(row[3] for row in rows) < len(rows))


@settings(deadline=None, max_examples=50)
@given(rows=SOME, join=st.sampled_from(["pooled", "lengths", "users"]), order=st.randoms(use_true_random=False))
def test_curves_rise_from_left_to_right_whatever_the_order_of_rows(rows, join, order):
    recommended, held_out = frame([row[:3] for row in rows]), frame([row[:2] for row in rows if row[3]], "user item")
    counted = frame([row[:3] for row in rows if row[0] in set(held_out["user"])])
    if len(counted) == len(held_out):
        return
    table = curves(recommended, held_out, "roc", join)
    for axis in ("fpr", "tpr"):
        if not table[axis].isna().any():
            assert (np.diff(table[axis]) >= -1e-12).all()
            assert table[axis].between(0, 1 + 1e-12).all()
    table = curves(recommended, held_out, "precision-recall", join)
    assert (np.diff(table["recall"]) >= -1e-12).all()
    assert table["precision"].between(0, 1 + 1e-12).all()
    shuffled = order.sample(rows, len(rows))
    again = curves(frame([row[:3] for row in shuffled]), held_out, "precision-recall", join)
    pd.testing.assert_frame_equal(table, again, check_exact=True)


def test_fewer_points_keep_both_ends(many):
    recommended, held_out = many
    whole, few = curves(recommended, held_out, "roc"), curves(recommended, held_out, "roc", points=5)
    assert len(few) == 5
    pd.testing.assert_frame_equal(few.iloc[[0, -1]].reset_index(drop=True), whole.iloc[[0, -1]].reset_index(drop=True))


def test_missing_scores_are_below_all_thresholds():
    recommended = frame([("ann", "x", 1.0), ("ann", "y", None), ("bob", "x", 2.0)])
    table = curves(recommended, frame([("ann", "y"), ("bob", "x")], "user item"), "roc")
    assert table["threshold"].tolist() == [np.inf, 2.0, 1.0, -np.inf]
    assert table["tpr"].tolist() == [0, 1 / 2, 1 / 2, 1]


def test_scores_are_looked_up_only_where_a_metric_needs_them():
    frames, protocol = read_frames(RECOMMENDED, HELD_OUT), default_protocol(False)
    for name, needed in (("ap", False), ("croc", False), ("pr-auc[join=lengths]", False), ("groc", True)):
        ranked = rank_frames(frames, [parse_measure(name, protocol, metrics())], protocol, 0)
        assert (ranked.scores is not None) == needed
    assert ranked.scores.tolist() == [[9, 7, 5, 3], pytest.approx([8, 6, 4, np.nan], nan_ok=True)]


def test_ranks_can_be_joined_by_lengths_and_users_only():
    ranks = frame([("ann", "w", 1), ("ann", "x", 2), ("bob", "w", 1)], "user item rank")
    assert curves(ranks, HELD_OUT, join="lengths")["recall"].tolist() == [1 / 4, 3 / 4]
    with pytest.raises(DataError, match="ranks only; give a column 'score'"):
        curves(ranks, HELD_OUT, join="pooled")
    with pytest.raises(DataError, match="ranks only"):
        repro.evaluate(ranks, HELD_OUT, metrics=["groc"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "prc"}, "kind is 'prc'.* It may be precision-recall or roc"),
        ({"join": "user"}, "join is 'user'; did you mean 'users'"),
        ({"rates": "total"}, "rates is 'total'; did you mean 'totals'"),
        ({"points": 1}, "points is 1; a curve has at least 2"),
        ({"perfect": True}, "perfect curve only for"),
    ],
)
def test_what_cannot_be_asked_for(options, message):
    with pytest.raises(ProtocolError, match=message):
        curves(RECOMMENDED, HELD_OUT, **options)


def test_tie_rules_without_a_curve():
    expected = default_protocol(False).replace({"ties.break": "expected"}, "test")
    with pytest.raises(ProtocolError, match=r'a list has no single curve.*use join="lengths"'):
        curves(RECOMMENDED, HELD_OUT, join="users", protocol=expected)
    shared = default_protocol(False).replace({"ties.break": "shared-best"}, "test")
    with pytest.raises(ProtocolError, match="several items have one rank"):
        curves(RECOMMENDED, HELD_OUT, join="lengths", protocol=shared)
    assert len(curves(RECOMMENDED, HELD_OUT, join="pooled", protocol=shared)) == 7


def test_nothing_relevant_or_nothing_else():
    rated = HELD_OUT.assign(rating=0.0)
    with pytest.raises(DataError, match="no held-out item is relevant"):
        curves(RECOMMENDED, rated)
    with pytest.raises(DataError, match="all listed items are relevant"):
        curves(frame([("ann", "x", 1.0)]), HELD_OUT, "roc")


def test_each_curve_has_the_area_that_is_named_for_it():
    assert area_metrics("roc", "pooled", "means") == ["groc"]
    assert area_metrics("roc", "lengths", "totals") == ["croc[rates=totals]"]
    assert area_metrics("roc", "lengths", "means", True)[1] == "croc[normalised=perfect,rates=means]"
    assert area_metrics("precision-recall", "users", "means") == ["ap"]
    assert area_metrics("precision-recall", "lengths", "totals") == []
    expected = default_protocol(False).replace({"ties.break": "expected"}, "test")
    assert area_metrics("precision-recall", "lengths", "means", False, expected) == []
