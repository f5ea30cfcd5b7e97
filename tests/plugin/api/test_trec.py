"""A case as a run and judgements."""

import numpy as np

from repro.data import Interactions
from repro.plugin import Case, Scores
from repro.plugin.api.trec import by_code, judgements_of, run_of

USERS, ITEMS = np.array([3, 20, 100]), np.array([2, 10, 33])


def rows(*given):
    users, items, ratings = zip(*given, strict=True)
    codes = np.array(users, dtype=np.int32), np.array(items, dtype=np.int32)
    return Interactions(*codes, np.array(ratings, dtype=float), None, USERS, ITEMS)


CASE = Case(
    scores=Scores(np.array([[0.1, np.nan, 0.3], [0.4, 0.5, 0.6], [9.0, 9.0, 9.0]])),
    train=rows((2, 0, 3.0)),
    test=rows((1, 2, 4.0), (0, 1, 2.5), (0, 0, 0.0)),
    order=np.array([2, 0, 1], dtype=np.int32),
    listed=np.array([[True, True, True], [False, False, False], [True, True, True]]),
)


def test_a_run_has_the_lists_of_tested_users_in_the_order_of_presentation():
    run = run_of(CASE)
    assert list(run) == ["3"]  # user 20 has no list, user 100 is not tested
    assert list(run["3"]) == ["33", "2", "10"]
    assert [run["3"]["33"], run["3"]["2"]] == [0.3, 0.1]
    assert np.isnan(run["3"]["10"])


def test_judgements_are_whole_where_ratings_are():
    judgements = judgements_of(CASE)
    assert judgements == {"20": {"33": 4}, "3": {"10": 2.5, "2": 0}}
    assert [type(grade) for grade in judgements["3"].values()] == [float, int]


def test_what_is_told_by_id_is_told_by_code():
    assert by_code(CASE, {"20": 0.5, "3": 1.0}) == {1: 0.5, 0: 1.0}
