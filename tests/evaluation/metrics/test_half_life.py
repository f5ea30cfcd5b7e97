"""Half-life utility, worked out by hand: what an item is worth, how users are joined, any column as the utility."""

from __future__ import annotations

import pandas as pd
import pytest

from repro.errors import DataError, ProtocolError
from repro.lists import default_protocol, evaluate

# Two users. With a half-life of 2 the places of a list are worth 1, 1/2, 1/4 and so on.
LISTS = pd.DataFrame({"user": ["a", "a", "a", "b", "b"], "item": ["x", "y", "z", "y", "x"], "rank": [1, 2, 3, 1, 2]})
TRUTH = pd.DataFrame({"user": ["a", "a", "b"], "item": ["x", "z", "x"], "rating": [3.0, 5.0, 4.0]})


def value(name: str, truth: pd.DataFrame = TRUTH, columns: dict[str, str] | None = None, **changes: object) -> float:
    protocol = default_protocol(True).replace({k.replace("__", "."): v for k, v in changes.items()}, "test")
    return float(evaluate(LISTS, truth, protocol, [name], columns=columns)["value"].iloc[0])


def test_users_are_added_up_before_they_are_divided():
    # a: 3 at rank 1, 5 at rank 3, best 5 then 3. b: 4 at rank 2, best 4.
    result, best = [3 + 5 / 4, 4 / 2], [5 + 3 / 2, 4]
    assert value("half-life[alpha=2]") == pytest.approx(100 * sum(result) / sum(best), abs=1e-12)
    mean = 100 * (result[0] / best[0] + result[1] / best[1]) / 2
    assert value("half-life[alpha=2,join=users]") == pytest.approx(mean, abs=1e-12)


def test_the_number_is_a_share_or_a_hundred_times_that():
    # As above, without the factor: a 4.25 of 6.5, b 2 of 4.
    assert value("half-life[alpha=2,scale=share]") == pytest.approx(6.25 / 10.5, abs=1e-15)
    assert value("half-life[alpha=2,scale=hundred]") == pytest.approx(625 / 10.5, abs=1e-12)
    per_user = pytest.approx((4.25 / 6.5 + 2 / 4) / 2, abs=1e-15)
    assert value("half-life[alpha=2,join=users,scale=share]") == per_user


def test_a_user_without_utility_counts_without_the_factor():
    truth = pd.concat([TRUTH, pd.DataFrame({"user": ["c"], "item": ["x"], "rating": [0.0]})])
    for scale, highest in (("hundred", 100), ("share", 1)):
        result = value(f"half-life[alpha=2,join=users,scale={scale}]", truth, average__no_relevant="one")
        assert result == pytest.approx((highest * (4.25 / 6.5 + 2 / 4) + 1) / 3, abs=1e-12)


def test_the_protocol_does_not_change_how_users_are_joined():
    pooled = value("half-life[alpha=2]", average__over="users")
    assert pooled == value("half-life[alpha=2,join=users]", average__over="pooled")
    assert pooled != value("half-life[alpha=2,join=users]", average__over="users")


def test_only_what_exceeds_the_neutral_utility_counts():
    # Above 3: nothing of x for a, 2 of z, 1 of x for b.
    assert value("half-life[alpha=2,d=3]") == pytest.approx(100 * (2 / 4 + 1 / 2) / (2 + 1), abs=1e-12)


def test_binary_utility_counts_relevant_items():
    changes = {"relevance__threshold": 4, "relevance__inclusive": True}
    # Relevant: z for a, at rank 3, and x for b, at rank 2.
    binary = value("half-life[alpha=2,utility=binary]", **changes)
    assert binary == pytest.approx(100 * (1 / 4 + 1 / 2) / 2, abs=1e-12)
    # The rating of an item that is not relevant is still its utility.
    assert value("half-life[alpha=2]", **changes) == value("half-life[alpha=2]")


def test_any_column_is_a_utility():
    profits = TRUTH.rename(columns={"rating": "profit"}).assign(profit=[10.0, 0.5, 2.5])
    result = value("half-life[alpha=2]", profits, {"rating": "profit"})
    assert result == pytest.approx(100 * (10 + 0.5 / 4 + 2.5 / 2) / (10 + 0.5 / 2 + 2.5), abs=1e-12)


def test_five_is_the_half_life_unless_said():
    # Rank 5 is worth half of rank 1: 2^(4/4) = 2.
    lists = pd.DataFrame({"user": 1, "item": list("abcde"), "rank": range(1, 6)})
    truth = pd.DataFrame({"user": [1], "item": ["e"]})
    assert evaluate(lists, truth, metrics=["half-life[utility=binary]"])["value"].tolist() == [50.0]
    assert evaluate(lists, truth, metrics=["rank-score[utility=binary]@4"])["value"].tolist() == [0.0]


def test_ratings_must_be_there_where_they_are_the_utility():
    for name in ("half-life", "mpr[weight=rating]"):
        with pytest.raises(DataError, match="needs ratings of the held-out rows"):
            evaluate(LISTS, TRUTH.drop(columns="rating"), metrics=[name])


def test_the_best_list_of_k_items(ranked, background, values):
    truth = [{1: 1.0, 2: 4.0, 3: 2.0}]
    lists = ranked([{1: 3, 2: 2, 3: 1}], truth)
    assert values("half-life[alpha=2]@2", lists, background(truth, 4)) == pytest.approx(
        [100 * (1 + 4 / 2) / (4 + 2 / 2)]
    )
    # Ratings at or below the neutral one: there is nothing to find.
    assert values("half-life[d=4]", lists, background(truth, 4)) == pytest.approx([float("nan")], nan_ok=True)


@pytest.mark.parametrize("name", ["half-life[alpha=1]", "ndcg[discount=log-base,base=1]"])
def test_a_number_that_must_be_above_1_is_refused_in_these_words(measure, name):
    with pytest.raises(ProtocolError, match=r"= 1.0 is not allowed; allowed: a number of at least 1\.00001"):
        measure(name)
