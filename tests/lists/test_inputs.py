"""The inputs of an evaluation: ids and columns of frames, earlier lists, features of items."""

import math
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import DataError, ProtocolError
from repro.lists import default_protocol, evaluate, evaluate_frames, read_frames

from .small_frames import HELD_OUT, RECOMMENDED, frame, values


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


def test_frames_that_were_read_can_be_asked_again():
    frames = read_frames(RECOMMENDED, HELD_OUT)
    first = evaluate_frames(frames, metrics=["rr"])
    second = evaluate_frames(frames, default_protocol(rated=False).replace({"average.no_list": "skip"}), ["rr"])
    assert (first["value"].tolist(), second["value"].tolist()) == ([0.5], [0.75])


def test_ids_that_share_their_text_and_ids_that_do_not_are_the_same():
    pairs = [(user, item) for user in range(100) for item in range(60)]
    shared_users, shared_items = ([f"{what}{n}" for n in range(100)] for what in "ui")
    shared = frame([(shared_users[u], shared_items[i], (7 * u + 3 * i) % 101) for u, i in pairs])
    separate = frame([(f"u{u}", f"i{i}", (7 * u + 3 * i) % 101) for u, i in pairs])
    truth = frame([(f"u{u}", f"i{(5 * u + i) % 90}") for u in range(100) for i in range(9)], "user item")
    requested = ["ndcg@10", "ap", "catalogue-coverage@5"]
    expected = evaluate(separate, truth, metrics=requested)
    pd.testing.assert_frame_equal(evaluate(shared, truth, metrics=requested), expected, check_exact=True)
    mixed = shared.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(evaluate(mixed, truth, metrics=requested), expected, check_exact=True)
    gap = shared.assign(item=[None, *shared["item"][1:]])
    with pytest.raises(DataError, match="item is empty in row 1 of recommendations"):
        evaluate(gap, truth)


@pytest.mark.parametrize(
    ("recommended", "truth", "message"),
    [
        (RECOMMENDED.drop(columns="user"), HELD_OUT, "recommendations has no column 'user'; it has item, score"),
        (
            RECOMMENDED,
            HELD_OUT.rename(columns={"item": "itms"}),
            "truth has no column 'item'.*did you mean 'itms'",
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


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), unique=True, min_size=1, max_size=30)


@settings(max_examples=25, deadline=None)
@given(recommended=PAIRS, truth=PAIRS, random=st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_the_form_of_ids_moves_a_bit(recommended, truth, random):
    scored = [(user, item, (7 * user + 3 * item) % 5) for user, item in recommended]
    requested = ["ndcg@3", "ap", "hit@2", "precision[denominator=list]@4"]
    plain = evaluate(frame(scored), frame(truth, "user item"), metrics=requested)
    random.shuffle(scored)
    random.shuffle(truth)
    shuffled = frame(scored).astype({"user": str, "item": str}).sample(frac=1, random_state=1)
    again = evaluate(shuffled, frame(truth, "user item").astype(str), metrics=requested)
    pd.testing.assert_frame_equal(plain, again, check_exact=True)


def test_users_and_items_in_the_index():
    expected = evaluate(RECOMMENDED, HELD_OUT)
    for levels in (["user"], ["user", "item"]):
        pd.testing.assert_frame_equal(evaluate(RECOMMENDED.set_index(levels), HELD_OUT.set_index(levels)), expected)
    renamed = RECOMMENDED.rename(columns={"user": "who"}).set_index("who")
    pd.testing.assert_frame_equal(evaluate(renamed, HELD_OUT, columns={"recommendations.user": "who"}), expected)


def test_what_is_no_frame_is_told():
    with pytest.raises(DataError, match="recommendations are None; give"):
        evaluate(None, HELD_OUT)
    with pytest.raises(DataError, match="truth is of type int; give a data frame"):
        evaluate(RECOMMENDED, 7, metrics=["hit@2"])
    with pytest.raises(DataError, match="truth has no rows"):
        evaluate(RECOMMENDED, [], metrics=["hit@2"])
    twice = pd.concat([RECOMMENDED, RECOMMENDED["item"]], axis=1)
    with pytest.raises(DataError, match="recommendations has several columns called 'item'"):
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


def test_ranks_with_nothing_but_empty_scores():
    empty = frame([("ann", "x", 1, np.nan), ("ann", "y", 2, np.nan)], "user item rank score")
    with pytest.raises(DataError, match="ranks and only empty scores; leave the column 'score' out"):
        evaluate(empty, HELD_OUT)


def test_text_is_read_to_the_last_bit():
    near = frame([("ann", "x", "0.1000000000000000055"), ("ann", "y", "0.10000000000000002")])
    assert values(near, HELD_OUT[:1], metrics=["rr"]) == {"rr": 1.0}


def test_names_of_columns_that_are_not_there():
    with pytest.raises(DataError, match="recommendations has no column 'predicted' for score; it has user, item"):
        evaluate(RECOMMENDED.assign(rank=1), HELD_OUT, columns={"score": "predicted"})
    with pytest.raises(DataError, match="there is no 'scores'; did you mean 'score'"):
        evaluate(RECOMMENDED, HELD_OUT, columns={"scores": "predicted"})
    renamed = HELD_OUT.rename(columns={"user": "uid"})
    assert values(RECOMMENDED, renamed, metrics=["rr"], columns={"truth.user": "uid"}) == {"rr": 0.5}


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
    measured = values(RECOMMENDED, HELD_OUT, metrics=temporal, previous=[EARLIER, BEFORE])
    assert measured == {"temporal-diversity@2": pytest.approx(1 / 6), "temporal-novelty@2": 0.0}
    measured = evaluate(RECOMMENDED, HELD_OUT, metrics=temporal[:1], previous=BEFORE, per_user=True)
    assert dict(zip(measured["user"], measured["value"], strict=True)) == {"ann": 1 / 2, "bob": 1 / 2}


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
    requested = ["temporal-novelty@2"]
    first = values(RECOMMENDED, HELD_OUT, metrics=requested, previous=[EARLIER, BEFORE])
    assert values(RECOMMENDED, HELD_OUT, metrics=requested, previous=[tmp_path / "earlier.csv", BEFORE]) == first
    renamed = [table.rename(columns={"user": "uid"}) for table in (RECOMMENDED, HELD_OUT, EARLIER, BEFORE)]
    assert values(*renamed[:2], metrics=requested, previous=renamed[2:], columns={"user": "uid"}) == first
    with pytest.raises(DataError, match="previous 1 has neither a column 'score' nor 'rank'"):
        evaluate(RECOMMENDED, HELD_OUT, previous=EARLIER[["user", "item"]])


FEATURES = frame([("x", "a|b"), ("y", "a"), ("z", "c"), ("elsewhere", "c")], "item tags")


def test_features_of_items(tmp_path):
    requested = ["ild[over=features,distance=jaccard]@3"]
    # Ann's x, y, z: 1/2, 1, 1. Bob's y, x: 1/2. Cem has no list.
    expected = {requested[0]: pytest.approx(((1 / 2 + 1 + 1) / 3 + 1 / 2) / 2)}
    assert values(RECOMMENDED, HELD_OUT, metrics=requested, features=FEATURES) == expected
    FEATURES.to_csv(tmp_path / "tags.csv", index=False)
    assert values(RECOMMENDED, HELD_OUT, metrics=requested, features=tmp_path / "tags.csv") == expected
    protocol = default_protocol(rated=False).replace({"data.item_features": str(tmp_path / "tags.csv")})
    assert values(RECOMMENDED, HELD_OUT, protocol, metrics=requested) == expected
    renamed = [table.rename(columns={"item": "sku"}) for table in (RECOMMENDED, HELD_OUT, FEATURES)]
    assert values(*renamed[:2], metrics=requested, features=renamed[2], columns={"item": "sku"}) == expected


def test_features_beyond_the_frames_do_not_grow_the_catalogue():
    requested = ["catalogue-coverage@3"]
    assert values(RECOMMENDED, HELD_OUT, metrics=requested, features=FEATURES) == {requested[0]: 3 / 4}


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
    measured = values(RECOMMENDED, HELD_OUT, metrics=["novelty@3"], train=train)
    assert measured["novelty@3"] == pytest.approx((ann + bob + 0) / 3, abs=1e-12)
