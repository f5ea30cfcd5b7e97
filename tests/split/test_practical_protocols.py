"""The practical protocols, worked by hand on data with and without ratings and times."""

import pandas as pd
import pytest

from repro import Study
from repro.data import prepare
from repro.errors import DataError, ProtocolError
from repro.protocol import read_protocol
from repro.split import make_folds

PRACTICAL = ("time-split", "leave-one-last", "random-80-20", "implicit-default")
BY_TIME = ("time-split", "leave-one-last")


def fold_of(name, data, seed=1):
    protocol = read_protocol(name)
    prepared, _ = prepare(data, protocol, seed)
    split = make_folds(prepared, protocol, seed)
    (fold,) = split.folds
    assert fold.validation is None
    return split, fold


def test_time_split_holds_out_the_latest_fifth_of_what_was_known_before(rows, written):
    """Ten rows: the two latest are b3 (at 9) and d9 (at 10); user d and item 9 have no row before them."""
    data = rows("a1 a2 b1 b2 c1 c3 a3 c2 b3 d9", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    split, fold = fold_of("time-split", data)
    assert written(split, fold.test) == "b3"
    assert written(split, fold.train) == "a1 a2 a3 b1 b2 c1 c2 c3"


def test_time_split_has_one_moment_for_all_users(rows, written):
    """The two latest of ten rows are of one user, so that this user alone is tested."""
    data = rows("a1 a2 b1 b2 c1 c2 c3 b3 a3 a4", [1, 2, 1, 2, 1, 2, 3, 3, 8, 9])
    split, fold = fold_of("time-split", data)
    assert written(split, fold.test) == "a3"  # nobody has item 4 before
    assert len(fold.train) == 8


def test_leave_one_last_holds_out_the_latest_row_of_every_user(rows, written):
    """User c has one row, which stays in training; nobody but b has item 7, so that it leaves the test."""
    data = rows("a1 a2 a3 b3 b1 b7 c2 d1 d2", [3, 1, 2, 1, 2, 3, 9, 4, 5])
    split, fold = fold_of("leave-one-last", data)
    assert written(split, fold.test) == "a1 d2"
    assert written(split, fold.train) == "a2 a3 b1 b3 c2 d1"


def test_leave_one_last_orders_equal_times_by_item(rows, written):
    split, fold = fold_of("leave-one-last", rows("a1 a2 b2 b1 c2 c3", [5, 5, 5, 5, 1, 2]))
    assert written(split, fold.test) == "a2 b2"


@pytest.mark.parametrize("times", [None, list(range(25))])
def test_random_80_20_holds_out_a_fifth_of_all_rows(rows, times):
    """Five users and five items, all pairs: 25 rows, of which 5 are the test."""
    data = rows(" ".join(f"{user}{item}" for user in "abcde" for item in range(5)), times)
    split, fold = fold_of("random-80-20", data)
    assert (len(fold.train), len(fold.test)) == (20, 5)
    tests = {tuple(fold_of("random-80-20", data, seed)[1].test) for seed in range(5)}
    assert len(tests) > 1
    assert set(map(int, [*fold.train, *fold.test])) == set(range(len(split.interactions)))


@pytest.mark.parametrize("times", [None, [*range(13)]])
def test_implicit_default_holds_out_a_fifth_of_every_user_and_counts_pairs_once(rows, written, times):
    """Of 5 and 3 items a fifth is 1 and 0.6, one row each; of 2 items it is 0.4, none. Repeated pairs are one row."""
    data = rows("a1 a2 a3 a4 a5 a1 b1 b2 b3 b3 b3 c1 c2", times)
    split, fold = fold_of("implicit-default", data)
    assert len(split.interactions) == 10
    held_out = written(split, fold.test).split()
    assert [pair[0] for pair in held_out] in (["a", "b"], ["b"])  # a's row is dropped if its item is a's alone
    assert not set(held_out) & set(written(split, fold.train).split())
    assert {"c1", "c2"} <= set(written(split, fold.train).split())


@pytest.mark.parametrize("name", PRACTICAL)
@pytest.mark.parametrize("rated", [False, True])
def test_every_held_out_row_is_relevant_with_and_without_ratings(name, rated):
    """Users 0 to 9 rate items u to u + 4 (modulo 10), all of them low; every test user has a hit among all items."""
    frame = pd.DataFrame(
        {"user": u, "item": (u + step) % 10, "timestamp": 10 * step + u} for u in range(10) for step in range(5)
    )
    if rated:
        frame["rating"] = 1.0 + frame.item % 2
    results = Study(frame, name, ["reference/popularity"], ["hit@10", "recall@10"]).run()
    values = results.table().loc["reference popularity"]
    assert values["hit@10"] == values["recall@10"] == 1.0


@pytest.mark.parametrize("name", BY_TIME)
def test_a_split_by_time_needs_timestamps(name, rows):
    with pytest.raises(ProtocolError, match=r"the data set has none; name the column .* random-80-20 and implicit-def"):
        fold_of(name, rows("a1 a2 b1 b2"))


@pytest.mark.parametrize("name", [name for name in PRACTICAL if name != "implicit-default"])
def test_repeated_pairs_are_refused_unless_the_protocol_says_what_they_mean(name, rows):
    data = rows("a1 a1 a2 b1 b2", [1, 2, 3, 4, 5])
    with pytest.raises(DataError, match=r"data\.duplicates"):
        fold_of(name, data)
    protocol = read_protocol(name).replace({"data.duplicates": "first"})
    assert len(prepare(data, protocol, 1)[0]) == 4


@pytest.mark.parametrize("name", PRACTICAL)
def test_their_notes_say_what_they_are_good_for(name):
    protocol = read_protocol(name)
    assert protocol.name == name
    assert protocol.notes.startswith("Good for: ") and len(protocol.notes) > 300 and protocol.open == ()


def test_they_differ_in_the_split_and_in_repeated_pairs_alone():
    protocols = [read_protocol(name) for name in PRACTICAL]
    differing = {key for first in protocols for second in protocols for key in first if first[key] != second.get(key)}
    assert {key.split(".")[0] for key in differing} == {"split", "data"}
    assert {key for key in differing if key.startswith("data.")} == {"data.duplicates"}
