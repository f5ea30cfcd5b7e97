"""Two data frames in, numbers out: values, decisions and protocols."""

import itertools
import json
import math
import pathlib
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import repro
from repro.errors import DataError, ProtocolError, ReproWarning
from repro.lists import default_protocol, evaluate
from repro.protocol import Protocol

from .small_frames import HELD_OUT, RECOMMENDED, frame, values

D2, D3 = 1 / math.log2(3), 1 / 2


def test_averages_over_test_users():
    table = evaluate(RECOMMENDED, HELD_OUT, metrics=["ndcg@3", "precision@2", "recall@2", "rr"])
    assert table.columns.tolist() == ["metric", "value", "users", "lowest", "highest"]
    assert table["users"].tolist() == [3, 3, 3, 3]
    expected = [(D2 / (1 + D2) + 1 + 0) / 3, (1 / 2 + 1 / 2 + 0) / 3, (1 / 2 + 1 + 0) / 3, (1 / 2 + 1 + 0) / 3]
    assert table["value"].tolist() == pytest.approx(expected)


def test_it_is_there_at_the_top_and_stays_there():
    assert repro.evaluate(RECOMMENDED, HELD_OUT)["metric"].tolist() == ["ndcg@10", "precision@10", "recall@10"]
    assert repro.evaluate(RECOMMENDED, HELD_OUT, metrics="rr")["value"].tolist() == [0.5]


def test_each_user_alone():
    table = evaluate(RECOMMENDED, HELD_OUT, metrics=["rr", "hit@1"], per_user=True)
    assert table.columns.tolist() == ["user", "metric", "value"]
    assert table.to_numpy().tolist() == [
        ["ann", "rr", 0.5],
        ["bob", "rr", 1.0],
        ["cem", "rr", 0.0],
        ["ann", "hit@1", 0.0],
        ["bob", "hit@1", 1.0],
        ["cem", "hit@1", 0.0],
    ]


def test_a_protocol_decides():
    protocol = default_protocol(rated=False).replace({"average.no_list": "skip"})
    assert values(RECOMMENDED, HELD_OUT, protocol, ["rr"]) == {"rr": 0.75}


def test_by_default_a_rating_above_zero_is_relevant():
    truth = HELD_OUT.assign(rating=[0, 4, 2, 1])
    per_user = evaluate(RECOMMENDED, truth, metrics=["rr"], per_user=True)
    assert per_user["value"].tolist() == [0.0, 1.0, 0.0]
    threshold = default_protocol(rated=True).replace({"relevance.threshold": 2.0})
    table = evaluate(RECOMMENDED, truth, threshold, metrics=["rr"])
    assert (table["value"].tolist(), table["users"].tolist()) == ([0.0], [1])


def test_grades_are_the_ratings():
    truth = frame([("ann", "x", 1), ("ann", "y", 3)], "user item rating")
    measured = values(RECOMMENDED, truth, metrics=["ndcg[gain=linear]@3", "ndcg[gain=exp2]@3"])
    assert list(measured.values()) == pytest.approx([(1 + 3 * D2) / (3 + D2), (1 + 7 * D2) / (7 + D2)])


def test_relevance_by_the_users_mean_in_training():
    protocol = default_protocol(rated=True).replace({"relevance.rule": "user-mean", "relevance.inclusive": True})
    truth = frame([("ann", "x", 3), ("ann", "y", 4)], "user item rating")
    train = frame([("ann", "q", 3), ("ann", "r", 5)], "user item rating")
    assert values(RECOMMENDED, truth, protocol, ["rr"], train=train) == {"rr": 0.5}
    with pytest.raises(ProtocolError, match="give them as train="):
        evaluate(RECOMMENDED, truth, protocol)


def test_ranks_in_place_of_scores():
    ranks = frame([("ann", "x", 2), ("ann", "y", 1), ("ann", "z", 3)], "user item rank")
    assert values(ranks, HELD_OUT[:2], metrics=["rr", "ap"]) == {"rr": 1.0, "ap": 0.5}
    both = ranks.assign(score=[0.9, 0.1, 0.2])
    assert values(both, HELD_OUT[:2], metrics=["rr"]) == {"rr": pytest.approx(1 / 3)}


def test_missing_scores_are_a_decision():
    recommended = frame([("ann", "x", 0.1), ("ann", "y", np.nan), ("ann", "z", 0.2)])
    truth = HELD_OUT[:1]
    by_rule = {}
    for rule in ("last", "first", "drop"):
        protocol = default_protocol(rated=False).replace({"missing.rank": rule})
        by_rule[rule] = values(recommended, truth, protocol, ["rr"])["rr"]
    assert by_rule == {"last": pytest.approx(1 / 3), "first": 1.0, "drop": 0.0}
    with pytest.raises(repro.ReproError, match="fail"):
        evaluate(recommended, truth, default_protocol(rated=False).replace({"missing.rank": "fail"}))


def test_tied_scores_are_a_decision():
    tied = frame([("ann", item, 1.0) for item in ("i9", "i10", "i2")])
    truth = frame([("ann", "i9")], "user item")
    by_rule = {}
    for rule in ("item-asc", "item-desc", "expected", "best", "worst", "shared-mean"):
        protocol = default_protocol(rated=False).replace({"ties.break": rule})
        by_rule[rule] = values(tied, truth, protocol, ["rr"])["rr"]
    expected = {"item-asc": 1 / 3, "item-desc": 1, "expected": (1 + 1 / 2 + 1 / 3) / 3, "best": 1, "worst": 1 / 3}
    assert by_rule == pytest.approx(expected | {"shared-mean": 1 / 2})


def test_ties_in_the_order_of_the_rows():
    truth = frame([("ann", "i9")], "user item")
    protocol = default_protocol(rated=False).replace({"ties.break": "rows"})
    for items, rank in ((("i9", "i2", "i5"), 1), (("i5", "i9", "i2"), 2), (("i2", "i5", "i9"), 3)):
        tied = frame([("ann", item, 1.0) for item in items])
        assert values(tied, truth, protocol, ["rr"]) == {"rr": 1 / rank}


def test_coverage():
    measured = values(RECOMMENDED, HELD_OUT, metrics=["user-coverage@1", "catalogue-coverage@1"])
    # Ann and Bob of three test users; x and y, first for them, of the items w, x, y and z.
    assert measured == {"user-coverage@1": pytest.approx(2 / 3), "catalogue-coverage@1": 0.5}
    with pytest.raises(ProtocolError, match="user-coverage@1 is about all users together"):
        evaluate(RECOMMENDED, HELD_OUT, metrics=["user-coverage@1"], per_user=True)


def test_scores_as_predicted_ratings():
    predicted = frame([("ann", "x", 4.0), ("ann", "y", 2.5), ("bob", "x", 9.0)])
    truth = frame([("ann", "x", 5), ("ann", "y", 2), ("bob", "x", 4), ("bob", "y", 1)], "user item rating")
    assert values(predicted, truth, metrics=["mae"]) == {"mae": pytest.approx((1 + 0.5 + 5) / 3)}
    clipped = default_protocol(rated=True).replace({"predict.clip": "scale", "predict.missing": "global-mean"})
    train = frame([("ann", "z", 3), ("bob", "z", 2)], "user item rating")
    assert values(predicted, truth, clipped, ["mae"], train=train) == {"mae": pytest.approx((1 + 0.5 + 1 + 1.5) / 4)}
    with pytest.raises(ProtocolError, match=r'predict.missing = "global-mean" needs the training rows'):
        evaluate(predicted, truth, clipped, ["rmse"])
    with pytest.raises(DataError, match="rmse compares scores with ratings"):
        evaluate(predicted, truth.drop(columns="rating"), metrics=["rmse"])


def test_nobody_has_a_list():
    nothing = RECOMMENDED[:0]
    table = evaluate(nothing, HELD_OUT, metrics=["ndcg@3", "ap", "user-coverage@3"])
    assert table["value"].tolist() == [0.0, 0.0, 0.0]


def test_no_metrics():
    with pytest.raises(ProtocolError, match="no metric"):
        evaluate(RECOMMENDED, HELD_OUT, metrics=[])


# What ranx, pytrec_eval and ir_measures gave on six lists.
DATA = json.loads(
    (pathlib.Path(__file__).parents[1] / "evaluation" / "metrics" / "data" / "evaluators.json").read_text(
        encoding="utf-8"
    )
)
TREC_STYLE = [row for row in DATA["rows"] if row["evaluator"] in ("ranx", "ir_measures") and "protocol" not in row]


@pytest.mark.parametrize("row", TREC_STYLE, ids=lambda row: f"{row['evaluator']}-{row['measure']}")
def test_averages_of_ranx_and_ir_measures(row):
    recommended = frame(
        [(user, item, -place) for user, items in DATA["lists"].items() for place, item in enumerate(items)]
    )
    truth = frame(
        [(user, item, rating) for user, items in DATA["truth"].items() for item, rating in items.items()],
        "user item rating",
    )
    assert values(recommended, truth, metrics=[row["measure"]])[row["measure"]] == pytest.approx(row["mean"], abs=1e-9)


def test_a_protocol_by_name():
    rated = HELD_OUT.assign(rating=5)
    named = evaluate(RECOMMENDED, rated, "random-5fold", ["hit@2"])
    assert named.equals(evaluate(RECOMMENDED, rated, Protocol.load("random-5fold"), ["hit@2"]))


def test_a_protocol_of_several_lists_for_a_user_is_refused():
    with pytest.raises(ProtocolError, match="frames have one list for each user"):
        evaluate(RECOMMENDED, HELD_OUT, "bellogin-1r-ti-nn", ["hit@2"])


def test_the_table_says_under_which_protocol_it_was_measured():
    table = evaluate(RECOMMENDED, HELD_OUT.assign(rating=5), "random-5fold", ["hit@2", "ap"])
    protocol = Protocol.load("random-5fold")
    assert {key: table.attrs[key] for key in ("protocol", "metrics")} == {
        "protocol": {"name": "random-5fold", "hash": protocol.hash},
        "metrics": {"hit@2": "hit@2", "ap": "ap[denominator=relevant]"},
    }
    means = pd.concat([table, table]).groupby("metric")["value"].mean().to_dict()
    assert means == pytest.approx({"hit@2": 2 / 3, "ap": (1 / 4 + 1 + 0) / 3})


TIED = pd.DataFrame({"user": [1] * 4 + [2] * 3, "item": [1, 2, 3, 4, 1, 2, 3], "score": [2, 1, 1, 1, 5, 5, 4]})
WANTED = pd.DataFrame({"user": [1, 1, 2], "item": [2, 4, 2]})


def plain_interval(metric, k):
    """Every order of tied items of both users, in plain Python; the mean over users is lowest where both are."""
    ends = []
    for user, relevant in ((1, {2, 4}), (2, {2})):
        rows = TIED[TIED["user"] == user]
        score = dict(zip(rows["item"], rows["score"], strict=True))
        orders = [o for o in itertools.permutations(score) if all(score[a] >= score[b] for a, b in pairwise(o))]
        of_orders = [metric([item in relevant for item in order[:k]], len(relevant)) for order in orders]
        ends.append((min(of_orders), max(of_orders)))
    return tuple(sum(side) / 2 for side in zip(*ends, strict=True))


@pytest.mark.parametrize("rule", ["item-asc", "random", "expected", "best"])
def test_every_value_has_its_interval_over_all_orders_of_tied_items(rule):
    protocol = default_protocol(False).replace({"ties.break": rule}, "test")
    with pytest.warns(ReproWarning, match="the recommendations.*hit@1 is .* orders of items with equal scores give"):
        names = ["hit@1", "precision@2", "recall@3", "rr"]
        table = evaluate(TIED, WANTED, protocol, names + (["gini@2"] if rule in ("item-asc", "random") else []))
    plain = {
        "hit@1": plain_interval(lambda hits, n: float(any(hits)), 1),
        "precision@2": plain_interval(lambda hits, n: sum(hits) / 2, 2),
        "recall@3": plain_interval(lambda hits, n: sum(hits) / n, 3),
        "rr": plain_interval(lambda hits, n: 1 / (hits.index(True) + 1), 4),
    }
    for row in table.itertuples():
        if row.metric in plain:
            assert (row.lowest, row.highest) == pytest.approx(plain[row.metric])
        else:
            assert math.isnan(row.lowest) and math.isnan(row.highest)
    codes = {(finding["code"], finding["metric"]) for finding in table.attrs["findings"]}
    assert codes == {("ties.decide", name) for name in ("hit@1", "precision@2", "recall@3", "rr")}


def test_nothing_is_said_of_lists_without_ties():
    table = evaluate(RECOMMENDED, HELD_OUT, metrics=["ndcg@3", "rr"])
    assert table["lowest"].tolist() == table["value"].tolist() == table["highest"].tolist()
    assert [finding["code"] for finding in table.attrs["findings"]] == ["inputs.mismatch"], "Cem has no list"


def test_predictions_that_are_all_made_up_or_all_equal():
    pairs = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "rating": [1.0, 5.0, 3.0]})
    for extra, code in (({"score": [3.0] * 3}, "constant"), ({"score": [3, 4, 5.0], "state": "fallback"}, "fallback")):
        with pytest.warns(ReproWarning):
            table = evaluate(pairs[["user", "item"]].assign(**extra), pairs, metrics=["rmse"])
        assert [finding["code"] for finding in table.attrs["findings"]] == [f"predictions.{code}"]
