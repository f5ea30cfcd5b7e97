"""The held-out items that are relevant, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from repro.data.interactions import Interactions
from repro.errors import DataError, ProtocolError
from repro.evaluation.candidates import judge, relevance_impacts, relevant_in_train

BASE = 'base = "all-items"'


def test_judgements_are_the_test_rows_by_user_and_item(fold, protocol_of):
    judged = judge(fold.train, fold.test, protocol_of(BASE))
    assert judged.offsets.tolist() == [0, 3, 5, 6, 6]
    assert fold.whole.item_ids[judged.items].tolist() == [3, 4, 5, 2, 6, 7]
    assert judged.ratings.tolist() == [4, 5, 2, 5, 5, 1]
    assert judged.relevant.tolist() == [1, 1, 0, 1, 1, 0]
    assert judged.grades.tolist() == [4, 5, 0, 5, 5, 0]
    assert judged.test_users.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("relevance", "relevant"),
    [
        ('rule = "threshold"\nthreshold = 4\ninclusive = false', [0, 1, 0, 1, 1, 0]),
        ('rule = "any"', [1, 1, 1, 1, 1, 1]),
        ('rule = "user-mean"', [1, 1, 0, 1, 1, 0]),  # means 3, 3 and 3.5
    ],
)
def test_rules(fold, protocol_of, relevance, relevant):
    assert judge(fold.train, fold.test, protocol_of(BASE, relevance)).relevant.tolist() == relevant


def test_all_held_out_items_can_carry_grades(fold, protocol_of):
    protocol = protocol_of(BASE, 'rule = "threshold"\nthreshold = 4\ngrades = "judged"')
    assert judge(fold.train, fold.test, protocol).grades.tolist() == [4, 5, 2, 5, 5, 1]


def test_a_rating_equal_to_the_users_mean(fold_of, protocol_of):
    # The sum of three times 0.7 is above 2.1 in binary; the mean of equal ratings must be 0.7 all the same.
    fold = fold_of([*(("a", item, 0.7, "train") for item in (1, 2, 3)), ("a", 4, 0.7, "test")])
    inclusive = protocol_of(BASE, 'rule = "user-mean"')
    exclusive = protocol_of(BASE, 'rule = "user-mean"\ninclusive = false')
    assert judge(fold.train, fold.test, inclusive).relevant.tolist() == [1]
    assert judge(fold.train, fold.test, exclusive).relevant.tolist() == [0]


def test_users_without_training_rows_are_judged_by_the_mean_of_all(fold_of, protocol_of):
    rows = [("a", 1, 1, "train"), ("a", 2, 4, "train"), ("new", 1, 2, "test"), ("new", 2, 3, "test")]
    fold, protocol = fold_of(rows), protocol_of(BASE, 'rule = "user-mean"')
    judged = judge(fold.train, fold.test, protocol)
    assert judged.relevant.tolist() == [0, 1]  # the mean is 2.5
    last = relevance_impacts(judged, fold.train, protocol)[-1]
    assert (last.touched, last.total, last.unit) == (1, 1, "test users")


def test_impacts_count_relevant_items_and_users_without_any(fold, protocol_of):
    protocol = protocol_of(BASE)
    impacts = relevance_impacts(judge(fold.train, fold.test, protocol), fold.train, protocol)
    assert [(i.touched, i.total) for i in impacts] == [(4, 6), (1, 3)]


def test_relevant_training_rows(fold, protocol_of):
    mask = relevant_in_train(fold.train, protocol_of(BASE))
    assert mask.tolist() == [True, False, True, False, True, False, False]


def test_data_without_ratings(protocol_of):
    rows = Interactions.from_frame(pd.DataFrame({"user": [1, 1], "item": [1, 2]}))
    train, test = rows.select(np.array([0])), rows.select(np.array([1]))
    assert judge(train, test, protocol_of(BASE, 'rule = "any"')).grades.tolist() == [1.0]
    with pytest.raises(ProtocolError, match=r'"threshold" compares ratings, .* use relevance\.rule = "any"'):
        judge(train, test, protocol_of(BASE))


def test_a_test_pair_given_twice_is_refused(fold_of, protocol_of):
    fold = fold_of([("a", 1, 5, "train"), ("b", 2, 4, "test"), ("b", 2, 5, "test")])
    with pytest.raises(DataError, match=r"user b and item 2 .* more than once"):
        judge(fold.train, fold.test, protocol_of(BASE))
