"""Sizes of data: published ones, and those of filters that are counted again in plain Python."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.data import Interactions, identify, prepare
from repro.data.identification.filters import LEAST, ROUNDS
from repro.data.identification.sizes import NEAR, Sizes, published_sizes
from repro.errors import DataError
from repro.protocol import resolve


def data_of(rows):
    return Interactions.from_frame(pd.DataFrame(rows, columns=["user", "item", "rating"]))


def sizes(rows):
    return len({row[0] for row in rows}), len({row[1] for row in rows}), len(rows)


def enough(rows, position, least):
    counts = Counter(row[position] for row in rows)
    return [row for row in rows if counts[row[position]] >= least]


def filtered(rows, user_core, item_core, rounds):
    """A core in plain Python, as a filter is described in words."""
    if rounds == "together":
        by_user, by_item = enough(rows, 0, user_core), enough(rows, 1, item_core)
        return [row for row in rows if row in by_user and row in by_item]
    if rounds == "items-first":
        return enough(enough(rows, 1, item_core), 0, user_core)
    if rounds == "users-first":
        return enough(enough(rows, 0, user_core), 1, item_core)
    while (left := enough(enough(rows, 0, user_core), 1, item_core)) != rows:
        rows = left
    return rows


def test_the_table_of_published_sizes_is_plausible():
    known = published_sizes()
    assert len(known) > 200
    assert len({(entry.data, entry.version, entry.source) for entry in known}) == len(known)
    for entry in known:
        numbers = dict(entry.sizes.named())
        assert entry.address.startswith("https://") and entry.source and entry.version
        if "rows" in numbers:
            assert (
                max(numbers["users"], numbers["items"]) <= numbers["rows"] <= 20 * numbers["users"] * numbers["items"]
            )


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ((943, 1682, 100_000), "MovieLens 100K"),
        ((29_858, 40_981, 1_027_370), "Gowalla"),
        ((1892, 17_632, 92_834), "HetRec 2011 Last.fm"),
        ((None, None, 20_000_263), "MovieLens 20M"),
        ((55_187, 9916, None), "Pinterest"),
    ],
)
def test_published_sizes_are_named(numbers, name):
    result = identify(*numbers, try_here=False)
    assert {match.data for match in result.matches} == {name}
    assert name in result.summary


def test_a_number_that_the_source_does_not_state_is_no_difference():
    result = identify(40_226, 54_542, 353_962, try_here=False)  # BERT4Rec's table rounds the number of rows
    (match,) = result.matches
    assert (match.data, match.version) == ("Amazon 2014 Beauty", "BERT4Rec: filtered; no rows are stated there")
    assert not identify(40_226, 54_543, 353_962, try_here=False).near


def test_a_near_miss_is_not_a_match():
    result = identify(22_363, 12_101, 198_503, try_here=False)
    assert not result.matches
    assert result.near[0].data == "Amazon 2014 Beauty"
    assert result.near[0].differences == {"users": 0, "items": 0, "rows": -1}
    assert "undetermined" in result.summary
    assert not identify(7, 7, 7, try_here=False).near


def test_two_equal_numbers_do_not_make_up_for_a_third():
    result = identify(6040, 3706, 500_000, try_here=False)
    assert not result.matches
    assert not result.near  # half of the rows is not near


ROWS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5)),
    min_size=5,
    max_size=60,
    unique_by=lambda row: row[:2],
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from(LEAST[:5]), st.sampled_from(LEAST[:5]), st.sampled_from(sorted(ROUNDS)), st.data())
def test_every_filter_is_found_again(rows, user_core, item_core, rounds, draw):
    threshold = draw.draw(st.sampled_from([None, 2, 4]))
    last = threshold is not None and draw.draw(st.booleans())
    left = rows if threshold is None or last else [row for row in rows if row[2] >= threshold]
    left = filtered(left, user_core, item_core, rounds)
    if last:
        left = [row for row in left if row[2] >= threshold]
    if not left:
        return
    result = identify(*sizes(left), data=[data_of(rows)], try_here=False, progress=False)
    counted = [match for match in result.matches if match.source == "counted here"]
    assert counted, "a filter that gives these sizes is in the space, so one must be found"
    for match in counted:  # and the decisions of each match give these sizes again, by the filters of studies
        assert match.exact
        if match.decisions is not None:
            protocol = resolve(
                {"split.strategy": "kfold", "relevance.rule": "any", "candidates.base": "all-items", **match.decisions},
                {},
            )
            data, _ = prepare(data_of(rows), protocol, 0)
            assert (data.n_users, data.n_items, len(data)) == sizes(left)


@settings(max_examples=30, deadline=None)
@given(ROWS, st.integers(1, 12), st.integers(1, 12), st.integers(1, 60))
def test_no_filter_is_claimed_that_has_other_sizes(rows, users, items, count):
    if max(users, items) > count:
        return
    result = identify(users, items, count, data=[data_of(rows)], try_here=False, progress=False)
    stated = Sizes(users, items, count)
    for match in (*result.matches, *result.near):
        assert match.sizes.distance(stated) <= NEAR
        assert match.exact == (vars(match.sizes) == vars(stated))


def test_repeated_rows_are_merged_as_a_filter():
    rows = [("u", "i", 1), ("u", "i", 2), ("u", "j", 1), ("v", "i", 3)]
    result = identify(2, 2, 3, data=[data_of(rows)], try_here=False, progress=False)
    assert [match.version for match in result.matches] == ["one row for each pair"]
    assert result.matches[0].decisions == {"data.duplicates": "first"}


def test_data_that_is_too_small_is_not_tried():
    result = identify(rows=50, data=[data_of([("u", "i", 1)])], try_here=False, progress=False)
    assert result.tried == ()
    assert list(result.skipped.values()) == ["it has 1 rows before any filter"]


def test_impossible_sizes_are_refused():
    with pytest.raises(DataError, match="no size is stated"):
        identify(try_here=False)
    with pytest.raises(DataError, match="are the numbers in their places"):
        identify(100_000, 1682, 943, try_here=False)
    with pytest.raises(DataError, match="at least 1"):
        identify(users=0, try_here=False)
