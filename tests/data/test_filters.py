"""The interactions that enter, and those that each decision reports as affected."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data import Impact, Interactions, prepare
from repro.errors import DataError
from repro.protocol import resolve

REST = {"split.strategy": "kfold", "relevance.rule": "any", "candidates.base": "all-items"}


def protocol(**decisions):
    stated = {f"data.{name}": value for name, value in decisions.items()}
    return resolve({**REST, **stated}, {})


def interactions(rows, columns=("user", "item", "rating", "timestamp")):
    return Interactions.from_frame(pd.DataFrame(rows, columns=list(columns)))


def rows(data):
    return data.to_frame().to_numpy().tolist()


def prepared(data, seed=0, **decisions):
    result, impacts = prepare(data, protocol(**decisions), seed)
    return result, {impact.decision: impact for impact in impacts}


REPEATED = [("u", "i", 3.0, 20), ("v", "i", 1.0, 5), ("u", "i", 5.0, 10), ("u", "i", 4.0, 20), ("u", "j", 2.0, 1)]


def test_sentence():
    impact = Impact("ties.break", "item-asc", 311, 943, "users", "had a tie across rank 10")
    assert impact.sentence == "ties.break=item-asc: 311 of 943 users had a tie across rank 10"
    assert Impact("missing.rank", "last", 18204, 1586126, "scores").sentence == (
        "missing.rank=last: 18,204 of 1,586,126 scores"
    )
    assert Impact("a.b", True, 0, 1, "users").sentence == "a.b=true: 0 of 1 users"


def test_nothing_stated_changes_nothing_and_finds_no_duplicates():
    data = interactions(REPEATED[:2])
    result, impacts = prepared(data)
    assert result.digest == data.digest
    assert list(impacts) == ["data.duplicates"]
    assert impacts["data.duplicates"].sentence == "data.duplicates=error: 0 of 2 rows repeat a user and item"


def test_duplicates_are_refused_by_default():
    with pytest.raises(
        DataError, match=r'1 pair has several rows; the first is user u and item i with 3 rows.*"first"'
    ):
        prepared(interactions(REPEATED))


@pytest.mark.parametrize(
    ("treatment", "expected"),
    [
        ("first", [["v", "i", 1, 5], ["u", "i", 5, 10], ["u", "j", 2, 1]]),
        ("last", [["v", "i", 1, 5], ["u", "i", 4, 20], ["u", "j", 2, 1]]),  # of two at time 20, the higher rating
        ("mean", [["v", "i", 1, 5], ["u", "i", 4, 20], ["u", "j", 2, 1]]),
        ("sum", [["v", "i", 1, 5], ["u", "i", 12, 20], ["u", "j", 2, 1]]),
    ],
)
def test_duplicates(treatment, expected):
    result, impacts = prepared(interactions(REPEATED), duplicates=treatment)
    assert rows(result) == expected
    assert (impacts["data.duplicates"].touched, impacts["data.duplicates"].total) == (2, 5)


@pytest.mark.parametrize(("treatment", "rating"), [("first", 3.0), ("last", 4.0)])
def test_duplicates_without_timestamps_go_by_row(treatment, rating):
    data = interactions([row[:3] for row in REPEATED], ("user", "item", "rating"))
    result, _ = prepared(data, duplicates=treatment)
    assert ["u", "i", rating] in rows(result)


def test_repeated_interactions_without_ratings_sum_to_counts():
    data = interactions([("u", "i"), ("u", "i"), ("u", "j")], ("user", "item"))
    result, _ = prepared(data, duplicates="sum")
    assert result.explicit
    assert rows(result) == [["u", "i", 2], ["u", "j", 1]]
    result, _ = prepared(data, duplicates="last")
    assert not result.explicit


@settings(deadline=None)
@given(st.permutations(REPEATED * 2), st.sampled_from(["first", "last", "mean", "sum"]))
def test_duplicates_with_timestamps_do_not_depend_on_the_order_of_rows(shuffled, treatment):
    result, _ = prepared(interactions(shuffled), duplicates=treatment)
    expected, _ = prepared(interactions(REPEATED * 2), duplicates=treatment)
    assert result.digest == expected.digest


def test_ranges_include_their_bounds():
    data = interactions([("u", str(r), float(r), 10 * r) for r in range(1, 6)])
    result, impacts = prepared(data, min_rating=2, max_rating=4)
    assert result.ratings.tolist() == [2, 3, 4]
    assert impacts["data.min_rating"].sentence == "data.min_rating=2.0: 1 of 5 rows left out"
    assert impacts["data.max_rating"].sentence == "data.max_rating=4.0: 1 of 4 rows left out"
    result, impacts = prepared(data, from_time=20, to_time=30)
    assert result.timestamps.tolist() == [20, 30]
    assert impacts["data.to_time"].touched == 2


def test_time_range_without_timestamps():
    data = interactions([("u", "i", 1.0)], ("user", "item", "rating"))
    with pytest.raises(DataError, match="need timestamps, and this data set has none"):
        prepared(data, from_time=3)


def test_a_filter_that_leaves_nothing():
    with pytest.raises(DataError, match=r"data.min_rating = 6.0 leaves no rows; relax it"):
        prepared(interactions([("u", "i", 5.0, 1)]), min_rating=6)
    with pytest.raises(DataError, match=r"data.user_core = 2 leaves no rows"):
        prepared(interactions([("u", "i", 5.0, 1)]), user_core=2)
    with pytest.raises(DataError, match=r"data.sample_users = 0.0 leaves no rows"):
        prepared(interactions([("u", "i", 5.0, 1)]), sample_users=0)


def grid(n_users=20, n_items=10):
    return interactions([(u, i, 1.0, 0) for u in range(n_users) for i in range(n_items)])


def test_samples_have_the_stated_share_and_are_nested():
    data = grid()
    small, impacts = prepared(data, sample_users=0.25)
    large, _ = prepared(data, sample_users=0.5)
    assert (small.n_users, large.n_users) == (5, 10)
    assert set(small.user_ids) < set(large.user_ids)
    assert impacts["data.sample_users"].sentence == "data.sample_users=0.25: 15 of 20 users left out"
    items, _ = prepared(data, sample_items=0.3)
    assert (items.n_items, items.n_users) == (3, 20)


def test_samples_change_with_the_seed_and_not_with_the_order_of_rows():
    data = grid()
    first, _ = prepared(data, sample_users=0.5, seed=1)
    again, _ = prepared(data.select(np.random.default_rng(0).permutation(len(data))), sample_users=0.5, seed=1)
    other, _ = prepared(data, sample_users=0.5, seed=2)
    assert first.digest == again.digest
    assert first.digest != other.digest


def brute_core(pairs, least_user, least_item, rounds=None):
    """Count, cross out, start again."""
    done = 0
    while rounds is None or done < rounds:
        after = [(u, i) for u, i in pairs if sum(v == u for v, _ in pairs) >= least_user]
        after = [(u, i) for u, i in after if sum(j == i for _, j in after) >= least_item]
        done += 1
        if after == pairs:
            break
        pairs = after
    return pairs


@settings(deadline=None)
@given(
    st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1),
    st.sampled_from([0, 2, 3, 4]),
    st.sampled_from([0, 2, 3, 4]),
    st.sampled_from([None, 1, 2]),
)
def test_core_by_brute_force(pairs, least_user, least_item, rounds):
    pairs = sorted(pairs)
    expected = brute_core(pairs, least_user, least_item, rounds)
    decisions = {"user_core": least_user, "item_core": least_item}
    if rounds and least_user and least_item:
        decisions["core_rounds"] = rounds
    data = interactions(pairs, ("user", "item"))
    if not expected:
        with pytest.raises(DataError, match="leaves no rows"):
            prepared(data, **decisions)
        return
    result, _ = prepared(data, **decisions)
    assert [tuple(row) for row in rows(result)] == expected


def test_core_reports_users_items_and_rounds():
    # Dropping c leaves item 3 with one rating, dropping that leaves b with one: two rounds, a third to be sure.
    data = interactions([("a", 1), ("a", 2), ("d", 1), ("d", 2), ("b", 1), ("b", 3), ("c", 3)], ("user", "item"))
    result, impacts = prepared(data, user_core=2, item_core=2)
    assert sorted(set(result.user_ids)) == ["a", "d"]
    assert impacts["data.user_core"].sentence == "data.user_core=2: 2 of 4 users left out"
    assert impacts["data.item_core"].sentence == "data.item_core=2: 1 of 3 items left out"
    assert impacts["data.core_rounds"].sentence == "data.core_rounds=until-stable: 3 of 7 rows left out in 3 rounds"
    assert result.item_ids.tolist() == [1, 2], "ids that no longer occur are dropped"
