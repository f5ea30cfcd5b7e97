"""Stored lists, ranked as they stand: ranks and values by hand, and tables that contradict each other."""

import numpy as np
import pandas as pd
import pytest

from repro.data import Interactions
from repro.errors import DataError, JournalError
from repro.evaluation.fold import FoldData
from repro.evaluation.metrics import metrics, parse_measure
from repro.evaluation.stages import measure_values
from repro.evaluation.stored_lists import ListTables, StoredFold
from repro.protocol import Protocol

TEST = [("ann", 1, 5.0), ("ann", 2, 2.0), ("bob", 2, 4.0), ("bob", 3, 5.0)]
LISTS = {"ann": [7, 1, 2], "bob": [2, 8]}


def protocol(**changes):
    return Protocol.load("valcarce-2018-allitems", **changes)


def stored_fold(rules=None, with_data=False, items=()):
    rows = pd.DataFrame([*TEST, *(("ann", item, 1.0) for item in items)], columns=["user", "item", "rating"])
    whole = Interactions.from_frame(rows)
    test = whole.select(np.arange(len(TEST)))
    train = whole.select(np.arange(len(TEST), len(whole)))
    data = FoldData(whole, train, test, None, np.empty(0, dtype=np.int32)) if with_data else None
    return StoredFold(test, rules or protocol(), 1, data)


def tables(lists=None, lengths=None):
    lists = LISTS if lists is None else lists
    rows = [(user, rank, item, True) for user, items in lists.items() for rank, item in enumerate(items, 1)]
    listed = pd.DataFrame(rows, columns=["user", "rank", "item", "scored"])
    lengths = lengths or {user: len(items) for user, items in lists.items()}
    return ListTables(listed, pd.DataFrame({"user": list(lengths), "stratum": 0, "length": list(lengths.values())}))


def values(fold, stored, name, depth=3):
    measure = parse_measure(name, fold.protocol, metrics())
    ranked = fold.rank(stored, depth, depth)
    return measure_values([measure], ranked, fold.background)[measure.full_name].values.tolist()


def test_values_are_those_of_the_stored_order_whatever_the_order_of_rows():
    """Ratings of 4 and more are relevant: item 1 of ann at rank 2, item 2 of bob at rank 1, item 3 in no list."""
    stored = tables()
    for listed in (stored.listed, stored.listed.iloc[::-1]):
        shuffled = stored._replace(listed=listed)
        assert values(stored_fold(), shuffled, "rr@3") == [1 / 2, 1.0]
        assert values(stored_fold(), shuffled, "recall@3") == [1.0, 1 / 2]
        assert values(stored_fold(), shuffled, "precision@1") == [0.0, 1.0]


def test_lists_are_cut_at_the_depth_and_keep_their_lengths():
    ranked = stored_fold().rank(tables(lengths={"ann": 9, "bob": 2}), 3, 1)
    assert ranked.items.shape == (2, 1) and ranked.lengths.tolist() == [9, 2]
    assert ranked.position.tolist() == [0, 0, 1, 0]


def test_a_list_about_one_relevant_item_counts_no_other_relevant_item():
    """bob has a list about item 2, and one about item 3, in which item 2 must not count."""
    listed = pd.DataFrame(
        [("bob", 2, 1, 8, True), ("bob", 2, 2, 2, True), ("bob", 3, 1, 3, True), ("bob", 3, 2, 2, True)],
        columns=["user", "target", "rank", "item", "scored"],
    )
    lists = pd.DataFrame({"user": ["bob", "bob"], "target": [3, 2], "stratum": 0, "length": 2})
    fold = stored_fold(protocol(candidates__relevant="one"))
    assert values(fold, ListTables(listed, lists), "rr@2", 2) == [1.0, 1 / 2]


def changed(stored, table, column, row, value):
    frame = getattr(stored, table).copy()
    frame.loc[row, column] = value
    return stored._replace(**{table: frame})


@pytest.mark.parametrize(
    ("alter", "words"),
    [
        (lambda stored: changed(stored, "listed", "rank", 0, 4), "gaps"),
        (lambda stored: changed(stored, "listed", "rank", 0, 2), "gaps"),
        (lambda stored: changed(stored, "values", "length", 0, 2), "shorter or longer"),
        (lambda stored: stored._replace(listed=stored.listed.iloc[:-1]), "shorter or longer"),
        (lambda stored: stored._replace(values=stored.values.iloc[:1]), "do not match"),
        (lambda stored: stored._replace(values=pd.concat([stored.values] * 2)), "do not match"),
        (lambda stored: changed(stored, "listed", "user", 0, "eve"), "no user 'eve'"),
        (lambda stored: changed(stored, "listed", "item", 0, 1), "has item 1 twice"),
    ],
)
@pytest.mark.parametrize("with_data", [False, True])
def test_altered_tables_are_refused(alter, words, with_data):
    fold = stored_fold(with_data=with_data, items=(7, 8))
    assert fold.rank(tables(), 3, 3).lengths.tolist() == [3, 2]
    with pytest.raises((JournalError, DataError), match=words):
        fold.rank(alter(tables()), 3, 3)


def test_an_item_that_the_data_does_not_have_is_refused_where_the_data_is_available():
    with pytest.raises(DataError, match="no item '8'"):
        stored_fold(with_data=True, items=(7,)).rank(tables(), 3, 3)
    assert len(stored_fold().rank(tables(), 3, 3)) == 2


@pytest.mark.parametrize(
    ("name", "changes", "with_data", "words"),
    [
        ("ndcg@3", {}, False, ""),
        ("ndcg@3", {"ties__break": "expected"}, True, "equal scores"),
        ("ndcg@3", {"relevance__rule": "user-mean"}, False, "data of the run is not available"),
        ("ndcg@3", {"relevance__rule": "user-mean"}, True, ""),
        ("auc", {}, True, "the whole list"),
        ("groc", {}, True, "scores"),
        ("catalogue-coverage@3", {}, False, "data of the run is not available"),
        ("catalogue-coverage@3", {}, True, ""),
        ("novelty@3", {}, False, "data of the run is not available"),
    ],
)
def test_measures_that_lists_do_not_determine_are_named(name, changes, with_data, words):
    fold = stored_fold(protocol(**changes), with_data, (7, 8))
    obstacle = fold.obstacle(parse_measure(name, fold.protocol, metrics()))
    assert (words in obstacle) if words else not obstacle
