"""Two data frames in, numbers out."""

from __future__ import annotations

import itertools
import json
import math
import pathlib
import uuid
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import repro
from repro.errors import DataError, ProtocolError, ReproWarning
from repro.evaluate import default_protocol, evaluate, evaluate_frames, read_frames
from repro.protocol import Protocol

D2, D3 = 1 / math.log2(3), 1 / 2


def frame(rows, columns="user item score"):
    return pd.DataFrame(rows, columns=columns.split())


# Ann finds one of her two items, at rank 2; Bob finds his only one, at rank 1; Cem has no list; Dot has one, but
# is no test user.
RECOMMENDED = frame(
    [
        ("ann", "x", 0.9),
        ("ann", "y", 0.8),
        ("ann", "z", 0.7),
        ("bob", "y", 3.0),
        ("bob", "x", 1.0),
        ("dot", "x", 1.0),
    ]
)
HELD_OUT = frame([("ann", "y"), ("ann", "w"), ("bob", "y"), ("cem", "x")], "user item")


def values(*args, **kwargs):
    table = evaluate(*args, **kwargs)
    return dict(zip(table["metric"], table["value"], strict=True))


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
    found = values(RECOMMENDED, truth, metrics=["ndcg[gain=linear]@3", "ndcg[gain=exp2]@3"])
    assert list(found.values()) == pytest.approx([(1 + 3 * D2) / (3 + D2), (1 + 7 * D2) / (7 + D2)])


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
    asked = {}
    for rule in ("last", "first", "drop"):
        protocol = default_protocol(rated=False).replace({"missing.rank": rule})
        asked[rule] = values(recommended, truth, protocol, ["rr"])["rr"]
    assert asked == {"last": pytest.approx(1 / 3), "first": 1.0, "drop": 0.0}
    with pytest.raises(repro.ReproError, match="fail"):
        evaluate(recommended, truth, default_protocol(rated=False).replace({"missing.rank": "fail"}))


def test_tied_scores_are_a_decision():
    tied = frame([("ann", item, 1.0) for item in ("i9", "i10", "i2")])
    truth = frame([("ann", "i9")], "user item")
    found = {}
    for rule in ("item-asc", "item-desc", "expected", "best", "worst", "shared-mean"):
        protocol = default_protocol(rated=False).replace({"ties.break": rule})
        found[rule] = values(tied, truth, protocol, ["rr"])["rr"]
    expected = {"item-asc": 1 / 3, "item-desc": 1, "expected": (1 + 1 / 2 + 1 / 3) / 3, "best": 1, "worst": 1 / 3}
    assert found == pytest.approx(expected | {"shared-mean": 1 / 2})


def test_ties_in_the_order_of_the_rows():
    truth = frame([("ann", "i9")], "user item")
    protocol = default_protocol(rated=False).replace({"ties.break": "rows"})
    for items, rank in ((("i9", "i2", "i5"), 1), (("i5", "i9", "i2"), 2), (("i2", "i5", "i9"), 3)):
        tied = frame([("ann", item, 1.0) for item in items])
        assert values(tied, truth, protocol, ["rr"]) == {"rr": 1 / rank}


def test_numbers_as_ids_are_ordered_as_numbers():
    tied = frame([(1, item, 1.0) for item in (9, 10, 2)])
    truth = frame([(1, 10)], "user item")
    assert values(tied, truth, metrics=["rr"]) == {"rr": pytest.approx(1 / 3)}
    text = default_protocol(rated=False).replace({"ties.id_order": "text"})
    assert values(tied, truth, text, ["rr"]) == {"rr": 1.0}


def test_an_id_is_the_same_as_number_and_as_text():
    recommended = frame([(1, 7, 0.5), (1, 8, 0.4)])
    truth = frame([("1", "8")], "user item")
    assert values(recommended, truth, metrics=["rr"]) == {"rr": 0.5}


def test_other_column_names():
    names = {"user": "userId", "item": "movieId", "score": "prediction"}
    recommended, truth = RECOMMENDED.rename(columns=names), HELD_OUT.rename(columns=names)
    assert values(recommended, truth, metrics=["rr"], columns=names) == values(RECOMMENDED, HELD_OUT, metrics=["rr"])


def test_coverage():
    found = values(RECOMMENDED, HELD_OUT, metrics=["user-coverage@1", "catalogue-coverage@1"])
    # Ann and Bob of three test users; x and y, first for them, of the items w, x, y and z.
    assert found == {"user-coverage@1": pytest.approx(2 / 3), "catalogue-coverage@1": 0.5}
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


def test_frames_that_were_read_can_be_asked_again():
    frames = read_frames(RECOMMENDED, HELD_OUT)
    first = evaluate_frames(frames, metrics=["rr"])
    second = evaluate_frames(frames, default_protocol(rated=False).replace({"average.no_list": "skip"}), ["rr"])
    assert (first["value"].tolist(), second["value"].tolist()) == ([0.5], [0.75])


def test_ids_that_share_their_text_and_ids_that_do_not_are_the_same():
    pairs = [(user, item) for user in range(100) for item in range(60)]
    shared_users, shared_items = ([f"{what}{n}" for n in range(100)] for what in "ui")
    shared = frame([(shared_users[u], shared_items[i], (7 * u + 3 * i) % 101) for u, i in pairs])
    apart = frame([(f"u{u}", f"i{i}", (7 * u + 3 * i) % 101) for u, i in pairs])
    truth = frame([(f"u{u}", f"i{(5 * u + i) % 90}") for u in range(100) for i in range(9)], "user item")
    asked = ["ndcg@10", "ap", "catalogue-coverage@5"]
    expected = evaluate(apart, truth, metrics=asked)
    pd.testing.assert_frame_equal(evaluate(shared, truth, metrics=asked), expected, check_exact=True)
    mixed = shared.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(evaluate(mixed, truth, metrics=asked), expected, check_exact=True)
    gap = shared.assign(item=[None, *shared["item"][1:]])
    with pytest.raises(DataError, match="item is empty in row 1 of recommendations"):
        evaluate(gap, truth)


@pytest.mark.parametrize(
    ("recommended", "truth", "message"),
    [
        (RECOMMENDED.drop(columns="user"), HELD_OUT, "recommendations has no column 'user'; it has item, score"),
        (
            RECOMMENDED,
            HELD_OUT.rename(columns={"item": "items"}),
            "truth has no column 'item'.*did you mean 'items'",
        ),
        (RECOMMENDED.drop(columns="score"), HELD_OUT, "neither a column 'score' nor 'rank'"),
        (RECOMMENDED.assign(score=["a", 1, 2, 3, 4, 5]), HELD_OUT, "score is 'a', not a number, in row 1"),
        (pd.concat([RECOMMENDED, RECOMMENDED[1:2]]), HELD_OUT, "the list of user ann has item y twice"),
        (
            RECOMMENDED,
            pd.concat([HELD_OUT, HELD_OUT[:1]]),
            "user ann and item y are in the test part more than once",
        ),
        (RECOMMENDED, HELD_OUT[:0], "truth has no rows"),
        (RECOMMENDED, HELD_OUT.assign(user=["ann", None, "bob", "cem"]), "user is empty in row 2 of truth"),
        (RECOMMENDED, HELD_OUT.assign(rating=[1, np.nan, 2, 3]), "rating is missing .NaN. in row 2"),
        (
            frame([("ann", "x", np.nan)], "user item rank"),
            HELD_OUT,
            "rank is missing .NaN. in row 1",
        ),
    ],
)
def test_frames_that_cannot_be_used(recommended, truth, message):
    with pytest.raises(DataError, match=message):
        evaluate(recommended, truth)


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


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), unique=True, min_size=1, max_size=30)


@settings(max_examples=25, deadline=None)
@given(recommended=PAIRS, truth=PAIRS, random=st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_the_form_of_ids_moves_a_bit(recommended, truth, random):
    scored = [(user, item, (7 * user + 3 * item) % 5) for user, item in recommended]
    asked = ["ndcg@3", "ap", "hit@2", "precision[denominator=list]@4"]
    plain = evaluate(frame(scored), frame(truth, "user item"), metrics=asked)
    random.shuffle(scored)
    random.shuffle(truth)
    shuffled = frame(scored).astype({"user": str, "item": str}).sample(frac=1, random_state=1)
    again = evaluate(shuffled, frame(truth, "user item").astype(str), metrics=asked)
    pd.testing.assert_frame_equal(plain, again, check_exact=True)


def test_a_protocol_by_name():
    rated = HELD_OUT.assign(rating=5)
    named = evaluate(RECOMMENDED, rated, "random-5fold", ["hit@2"])
    assert named.equals(evaluate(RECOMMENDED, rated, Protocol.load("random-5fold"), ["hit@2"]))


def test_a_protocol_of_several_lists_for_a_user_is_refused():
    with pytest.raises(ProtocolError, match="frames have one list for each user"):
        evaluate(RECOMMENDED, HELD_OUT, "bellogin-1r-ti-nn", ["hit@2"])


def test_users_and_items_in_the_index():
    expected = evaluate(RECOMMENDED, HELD_OUT)
    for levels in (["user"], ["user", "item"]):
        pd.testing.assert_frame_equal(evaluate(RECOMMENDED.set_index(levels), HELD_OUT.set_index(levels)), expected)
    renamed = RECOMMENDED.rename(columns={"user": "who"}).set_index("who")
    pd.testing.assert_frame_equal(evaluate(renamed, HELD_OUT, columns={"recommendations.user": "who"}), expected)


def test_what_is_no_frame_is_told():
    with pytest.raises(DataError, match="recommendations are None; give"):
        evaluate(None, HELD_OUT)
    with pytest.raises(DataError, match="truth is of type list; give a pandas DataFrame"):
        evaluate(RECOMMENDED, [], metrics=["hit@2"])
    twice = pd.concat([RECOMMENDED, RECOMMENDED["item"]], axis=1)
    with pytest.raises(DataError, match="recommendations has two columns called 'item'"):
        evaluate(twice, HELD_OUT, metrics=["hit@2"])


IDS = ["int64", "uint64", "float64", "Int64", "object", "category", "string", "string[pyarrow]", "text"]


@pytest.mark.parametrize("of_lists", IDS)
@pytest.mark.parametrize("of_truth", IDS)
def test_ids_of_any_type_meet(of_lists, of_truth):
    def typed(table, kind):
        kind = "str" if kind == "text" else kind
        return table.astype({"user": kind, "item": kind})

    recommended, truth = frame([(1, 5, 0.5), (1, 6, 0.7), (2, 5, 0.1)]), frame([(1, 5), (2, 5)], "user item")
    assert values(typed(recommended, of_lists), typed(truth, of_truth), metrics=["rr"]) == {"rr": 0.75}


def test_ids_that_are_objects_or_of_several_types():
    ann, bob = uuid.UUID(int=7), uuid.UUID(int=9)
    recommended = frame([(ann, "x", 0.5), (ann, "y", 0.7), (bob, "x", 0.1)])
    assert values(recommended, frame([(ann, "x"), (bob, "x")], "user item"), metrics=["rr"]) == {"rr": 0.75}
    assert values(recommended, frame([(str(ann), "x"), (str(bob), "x")], "user item"), metrics=["rr"]) == {"rr": 0.75}
    mixed = frame([(1, "x", 0.5), ("1", "y", 0.7), ("b", 7, 0.1)])
    assert values(mixed, frame([("1", "x"), ("b", "7")], "user item"), metrics=["rr"]) == {"rr": 0.75}


def test_tables_of_arrow():
    recommended, truth = pa.Table.from_pandas(RECOMMENDED), pa.Table.from_pandas(HELD_OUT)
    assert values(recommended, truth, metrics=["rr"]) == {"rr": 0.5}


def test_the_table_says_under_which_protocol_it_was_measured():
    table = evaluate(RECOMMENDED, HELD_OUT.assign(rating=5), "random-5fold", ["hit@2", "ap"])
    protocol = Protocol.load("random-5fold")
    assert {key: table.attrs[key] for key in ("protocol", "metrics")} == {
        "protocol": {"name": "random-5fold", "hash": protocol.hash},
        "metrics": {"hit@2": "hit@2", "ap": "ap[denominator=relevant]"},
    }
    means = pd.concat([table, table]).groupby("metric")["value"].mean().to_dict()
    assert means == pytest.approx({"hit@2": 2 / 3, "ap": (1 / 4 + 1 + 0) / 3})


def test_ranks_with_nothing_but_empty_scores():
    empty = frame([("ann", "x", 1, np.nan), ("ann", "y", 2, np.nan)], "user item rank score")
    with pytest.raises(DataError, match="ranks and only empty scores; leave the column 'score' out"):
        evaluate(empty, HELD_OUT)


def test_text_is_read_to_the_last_bit():
    near = frame([("ann", "x", "0.1000000000000000055"), ("ann", "y", "0.10000000000000002")])
    assert values(near, HELD_OUT[:1], metrics=["rr"]) == {"rr": 1.0}


def test_names_of_columns_that_are_not_there():
    with pytest.raises(DataError, match="recommendations has no column 'predicted'; it has user, item, score"):
        evaluate(RECOMMENDED.assign(rank=1), HELD_OUT, columns={"score": "predicted"})
    with pytest.raises(DataError, match="there is no 'scores'; did you mean 'score'"):
        evaluate(RECOMMENDED, HELD_OUT, columns={"scores": "predicted"})
    apart = HELD_OUT.rename(columns={"user": "uid"})
    assert values(RECOMMENDED, apart, metrics=["rr"], columns={"truth.user": "uid"}) == {"rr": 0.5}


# Beside lists and truth: training rows, features of items, earlier lists.

EARLIER = frame([("ann", "x", 2.0), ("ann", "q", 1.0), ("bob", "y", 1.0), ("bob", "x", 1.0), ("cem", "x", 1.0)])
BEFORE = frame([("ann", "y", 1), ("bob", "z", 2), ("bob", "x", 1)], "user item rank")


def test_what_was_recommended_before():
    # Down to 2, ann had x and q and now has x and y; bob's list has the same two; cem has none now.
    temporal = ["temporal-diversity@2", "temporal-novelty@2"]
    assert values(RECOMMENDED, HELD_OUT, metrics=temporal, previous=EARLIER) == {
        "temporal-diversity@2": pytest.approx((1 / 2 + 0 + 0) / 3),
        "temporal-novelty@2": pytest.approx((1 / 2 + 0 + 0) / 3),
    }
    # y came to ann before that.
    found = values(RECOMMENDED, HELD_OUT, metrics=temporal, previous=[EARLIER, BEFORE])
    assert found == {"temporal-diversity@2": pytest.approx(1 / 6), "temporal-novelty@2": 0.0}
    found = evaluate(RECOMMENDED, HELD_OUT, metrics=temporal[:1], previous=BEFORE, per_user=True)
    assert dict(zip(found["user"], found["value"], strict=True)) == {"ann": 1 / 2, "bob": 1 / 2}


def test_earlier_lists_are_ranked_by_the_same_rules():
    # Bob's two items are tied: down to 1, the earlier list has x or y, as the tie rule says.
    for rule, diversity in (("item-asc", 1.0), ("item-desc", 0.0)):
        protocol = default_protocol(rated=False).replace({"ties.break": rule})
        table = evaluate(
            RECOMMENDED, HELD_OUT, protocol, ["temporal-diversity@1"], previous=EARLIER, per_user=True
        ).set_index("user")
        assert table["value"]["bob"] == diversity, rule


def test_earlier_lists_from_files_and_under_other_names(tmp_path):
    EARLIER.rename(columns={"score": "prediction"}).to_csv(tmp_path / "earlier.csv", index=False)
    asked = ["temporal-novelty@2"]
    first = values(RECOMMENDED, HELD_OUT, metrics=asked, previous=[EARLIER, BEFORE])
    assert values(RECOMMENDED, HELD_OUT, metrics=asked, previous=[tmp_path / "earlier.csv", BEFORE]) == first
    renamed = [one.rename(columns={"user": "uid"}) for one in (RECOMMENDED, HELD_OUT, EARLIER, BEFORE)]
    assert values(*renamed[:2], metrics=asked, previous=renamed[2:], columns={"user": "uid"}) == first
    with pytest.raises(DataError, match="previous 1 have neither a column 'score' nor 'rank'"):
        evaluate(RECOMMENDED, HELD_OUT, previous=EARLIER[["user", "item"]])


FEATURES = frame([("x", "a|b"), ("y", "a"), ("z", "c"), ("elsewhere", "c")], "item tags")


def test_features_of_items(tmp_path):
    asked = ["ild[over=features,distance=jaccard]@3"]
    # Ann's x, y, z: 1/2, 1, 1. Bob's y, x: 1/2. Cem has no list.
    expected = {asked[0]: pytest.approx(((1 / 2 + 1 + 1) / 3 + 1 / 2) / 2)}
    assert values(RECOMMENDED, HELD_OUT, metrics=asked, features=FEATURES) == expected
    FEATURES.to_csv(tmp_path / "tags.csv", index=False)
    assert values(RECOMMENDED, HELD_OUT, metrics=asked, features=tmp_path / "tags.csv") == expected
    protocol = default_protocol(rated=False).replace({"data.item_features": str(tmp_path / "tags.csv")})
    assert values(RECOMMENDED, HELD_OUT, protocol, metrics=asked) == expected
    renamed = [one.rename(columns={"item": "sku"}) for one in (RECOMMENDED, HELD_OUT, FEATURES)]
    assert values(*renamed[:2], metrics=asked, features=renamed[2], columns={"item": "sku"}) == expected


def test_features_beyond_the_frames_do_not_grow_the_catalogue():
    asked = ["catalogue-coverage@3"]
    assert values(RECOMMENDED, HELD_OUT, metrics=asked, features=FEATURES) == {asked[0]: 3 / 4}


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("novelty@5", r"needs the training rows; give them as train="),
        ("ild[over=features]@5", r"needs features of the items; name a file of them in data.item_features"),
        ("serendipity[over=features]@5", r"needs the training rows.* and features of the items"),
        ("temporal-novelty@5", r"needs the lists of an earlier time; give them as previous="),
        ("time-novelty@5", r"needs the training rows.* and a column 'timestamp'"),
    ],
)
def test_what_a_metric_needs_is_said(metric, message):
    with pytest.raises(DataError, match=message):
        evaluate(RECOMMENDED, HELD_OUT, metrics=[metric])


def test_features_that_cannot_be_read():
    with pytest.raises(DataError, match="features are of type int"):
        evaluate(RECOMMENDED, HELD_OUT, features=7)
    protocol = default_protocol(rated=False).replace({"data.item_features": "dataset"})
    with pytest.raises(ProtocolError, match='features="ml-100k"'):
        evaluate(RECOMMENDED, HELD_OUT, protocol, ["ild[over=features]@5"])


def test_novelty_of_frames_with_training_rows():
    train = frame([("ann", "q"), ("bob", "z"), ("eve", "x"), ("dot", "x"), ("dot", "y"), ("cem", "y")], "user item")
    # Five users: x and y are with two of them, z with one. Cem has no list and counts 0.
    ann, bob = (2 * math.log2(5 / 2) + math.log2(5)) / 3, math.log2(5 / 2)
    found = values(RECOMMENDED, HELD_OUT, metrics=["novelty@3"], train=train)
    assert found["novelty@3"] == pytest.approx((ann + bob + 0) / 3, abs=1e-12)


TIED = pd.DataFrame({"user": [1] * 4 + [2] * 3, "item": [1, 2, 3, 4, 1, 2, 3], "score": [2, 1, 1, 1, 5, 5, 4]})
WANTED = pd.DataFrame({"user": [1, 1, 2], "item": [2, 4, 2]})


def plain_interval(metric, k):
    """Every order of tied items of both users, in plain Python; the mean over users is lowest where both are."""
    ends = []
    for user, wanted in ((1, {2, 4}), (2, {2})):
        rows = TIED[TIED["user"] == user]
        score = dict(zip(rows["item"], rows["score"], strict=True))
        orders = [o for o in itertools.permutations(score) if all(score[a] >= score[b] for a, b in pairwise(o))]
        found = [metric([item in wanted for item in order[:k]], len(wanted)) for order in orders]
        ends.append((min(found), max(found)))
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
    codes = {(one["code"], one["metric"]) for one in table.attrs["findings"]}
    assert codes == {("ties.decide", name) for name in ("hit@1", "precision@2", "recall@3", "rr")}


def test_nothing_is_said_of_lists_without_ties():
    table = evaluate(RECOMMENDED, HELD_OUT, metrics=["ndcg@3", "rr"])
    assert table["lowest"].tolist() == table["value"].tolist() == table["highest"].tolist()
    assert [one["code"] for one in table.attrs["findings"]] == ["inputs.mismatch"], "Cem has no list"


def test_predictions_that_are_all_made_up_or_all_equal():
    pairs = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 3], "rating": [1.0, 5.0, 3.0]})
    for extra, code in (({"score": [3.0] * 3}, "constant"), ({"score": [3, 4, 5.0], "state": "fallback"}, "fallback")):
        with pytest.warns(ReproWarning):
            table = evaluate(pairs[["user", "item"]].assign(**extra), pairs, metrics=["rmse"])
        assert [one["code"] for one in table.attrs["findings"]] == [f"predictions.{code}"]
