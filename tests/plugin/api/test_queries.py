"""Queries carry the known history of users in order, and cost nothing where it is not read."""

import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.data import Interactions
from repro.errors import PluginError
from repro.evaluation.fold import FoldData
from repro.plugin import (
    Algorithm,
    CheckedRecommender,
    Framework,
    History,
    Queries,
    Scores,
    TrainingData,
    make_recommender,
)
from repro.plugin.isolation import wire
from repro.plugin.isolation.worker import Server
from repro.testing import small_ratings

DOCUMENT = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text()
CLICKS = [("a", 1), ("b", 2), ("a", 2), ("a", 1), ("b", 1), ("c", 3)]


def clicks(*times):
    frame = pd.DataFrame(CLICKS, columns=["user", "item"])
    return Interactions.from_frame(frame.assign(timestamp=list(times)) if times else frame)


def histories(queries):
    return [query.history.items.tolist() for query in queries]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ((), [[0, 1, 0], [1, 0], [2]]),  # as the rows come
        ((5, 5, 3, 4, 1, 9), [[1, 0, 0], [0, 1], [2]]),
        ((7, 7, 7, 7, 7, 7), [[0, 1, 0], [1, 0], [2]]),  # at the same time: as the rows come
    ],
)
def test_a_history_is_in_order_and_has_repeated_items(times, expected):
    rows = clicks(*times)
    assert histories(Queries.of(rows)) == expected
    assert histories(Queries.of(rows, [2, 0, 2])) == [expected[2], expected[0], expected[2]]
    items, starts = Queries.of(rows, [1, 0]).known_items()
    assert (items.tolist(), starts.tolist()) == (expected[1] + expected[0], [0, 2, 5])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 3)), max_size=30), st.data())
def test_histories_are_those_of_a_sorted_table(rows, data):
    users, items, times = (np.array(column) for column in (zip(*rows, strict=True) if rows else ([], [], [])))
    known = Interactions(
        users.astype(np.int32), items.astype(np.int32), np.ones(len(rows)), times.astype(np.int64), np.arange(6),
        np.arange(5),
    )  # fmt: skip
    queried = data.draw(st.lists(st.integers(0, 5), max_size=8))
    expected = [[i for u, i, _ in sorted(rows, key=lambda row: row[2]) if u == user] for user in queried]
    queries = Queries.of(known, np.array(queried, dtype=np.int32))
    assert histories(queries) == expected
    batch, starts = queries.known_items()
    assert [batch[a:b].tolist() for a, b in itertools.pairwise(starts)] == expected


def test_a_part_keeps_sessions_moments_and_the_history():
    queries = Queries(
        np.arange(3, dtype=np.int32), History(clicks()), np.array([7, 8, 9], np.int32), np.array([1, 2, 3])
    )
    (query,) = queries.part(1, 2)
    assert (query.user, query.session, query.moment, query.history.items.tolist()) == (1, 8, 2, [1, 0])
    assert queries.part(1, 2).history is queries.history
    assert Queries.of(clicks())[0].session is None and Queries.of(clicks())[0].moment is None


def test_nothing_is_made_of_a_history_that_is_not_read():
    rows = small_ratings()
    fold = FoldData(rows, rows, rows, None, np.empty(0, dtype=np.int32))
    queries = fold.queries(np.arange(5, dtype=np.int32))
    assert queries.history is fold.queries(np.arange(3, dtype=np.int32)).history
    assert queries.history.rows is rows
    CheckedRecommender(Sees(), "sees").score(queries, np.arange(3, dtype=np.int32))
    assert "_by_user" not in vars(queries.history)


class Sees:
    """Scores by what it sees of the queries and of the training data."""

    def fit(self, train, *, seed):
        self.train = train

    def score(self, queries, items):
        self.queries = queries
        return Scores(np.zeros((len(queries), len(items))))


class Reads(Sees):
    def score(self, queries, items):
        super().score(queries, items)
        return Scores(np.add.outer([query.history.items.sum() for query in queries], items).astype(float))


def test_a_recommender_gets_the_rows_that_it_was_fitted_on_and_cannot_write():
    rows, sees = clicks(), Reads()
    recommender = CheckedRecommender(sees, "reads", uses_history=True)
    recommender.fit(rows, seed=1)
    scores = recommender.score(Queries.of(rows), np.arange(3, dtype=np.int32))
    assert scores.values.tolist() == [[1, 2, 3], [1, 2, 3], [2, 3, 4]]
    assert isinstance(sees.train, TrainingData)
    assert sees.queries.history.rows is sees.train
    with pytest.raises(ValueError, match="read-only"):
        sees.queries.users[0] = 1
    later = clicks(5, 5, 3, 4, 1, 9).select(np.arange(2))
    assert recommender.score(Queries.of(later, [2]), np.arange(1, dtype=np.int32)).values.tolist() == [[0]]


def test_a_history_that_is_not_declared_is_refused_here_and_in_a_worker():
    rows, items = clicks(), np.arange(3, dtype=np.int32)
    silent = make_recommender(Algorithm("reads", "", Reads), {}, "mine/reads")
    silent.fit(rows, seed=1)
    with pytest.raises(PluginError, match="mine/reads reads the history of queries; declare uses_history=True"):
        silent.score(Queries.of(rows), items)
    with pytest.raises(PluginError, match="mine/reads reads the history of queries; declare uses_history=True"):
        in_worker(rows, items, uses_history=False)
    assert in_worker(rows, items, uses_history=True).tolist() == [[1, 2, 3], [1, 2, 3], [2, 3, 4]]


def in_worker(rows, items, *, uses_history, later=None):
    """The scores of a server, asked as a worker is."""
    server = Server(
        Framework("mine", "1", "", (Algorithm("reads", "", Reads, uses_history=uses_history),)), lambda hook: ()
    )
    server.answer({"ask": "make", "algorithm": "reads", "parameters": {}}, [])
    header, arrays = wire.training_to_arrays(TrainingData.of(rows))
    server.answer({"ask": "fit", "seed": 1, "fold": None, **header}, arrays)
    if later is not None:
        header, arrays = wire.training_to_arrays(TrainingData.of(later))
        server.answer({"ask": "history", **header}, arrays)
    header, arrays = wire.queries_to_arrays(Queries.of(rows), items)
    return server.answer({"ask": "score", **header}, arrays)[1][0]


def test_a_worker_can_be_given_a_later_history():
    later = clicks().select(np.array([4]))
    assert in_worker(clicks(), np.arange(1, dtype=np.int32), uses_history=True, later=later).tolist() == [[0], [0], [0]]


def test_queries_come_through_the_wire():
    history = History(clicks())
    for sessions, moments in ((None, None), (np.array([4, 5], np.int32), np.array([2**40, -1]))):
        queries = Queries(np.array([2, 0], np.int32), history, sessions, moments)
        actual, items = wire.arrays_to_queries(*wire.queries_to_arrays(queries, np.arange(3)), history)
        assert (actual.users.tolist(), items.tolist()) == ([2, 0], [0, 1, 2])
        for mine, theirs in ((sessions, actual.sessions), (moments, actual.moments)):
            assert (mine is None) == (theirs is None) and (mine is None or mine.tolist() == theirs.tolist())


def training():
    return TrainingData(
        **vars(TrainingData.of(clicks()))
        | {
            "sessions": np.array([0, 1, 0, 2, 1, 3], np.int32),
            "user_columns": {"age": np.array([30, 40, 50]), "town": np.array(["x", "ÿ", ""], dtype=object)},
            "item_columns": {"price": np.array([0.5, 1.5, np.nan]), "new": np.array([True, False, True])},
        }
    )


def test_training_data_comes_through_the_wire():
    train = training()
    actual = wire.arrays_to_training(*wire.training_to_arrays(train))
    assert actual.sessions.tolist() == train.sessions.tolist()
    assert {k: v.tolist() for k, v in actual.user_columns.items()} == {"age": [30, 40, 50], "town": ["x", "ÿ", ""]}
    assert actual.item_columns["price"].tobytes() == train.item_columns["price"].tobytes()
    assert actual.item_columns["new"].tolist() == [1, 0, 1]
    assert actual.items.tolist() == train.items.tolist()
    plain = wire.arrays_to_training(*wire.training_to_arrays(TrainingData.of(clicks())))
    assert (plain.sessions, dict(plain.user_columns), dict(plain.item_columns)) == (None, {}, {})


def test_parts_of_training_data_keep_what_is_known_of_them():
    part = training().select(np.array([5, 1]))
    assert (part.sessions.tolist(), part.user_columns["age"].tolist()) == ([3, 1], [30, 40, 50])
    compact = part.compact()
    assert compact.user_columns["town"].tolist() == ["ÿ", ""]
    assert compact.item_columns["price"].tolist()[:1] == [1.5] and len(compact.item_columns["price"]) == 2
    assert part.canonical().sessions.tolist() == [1, 3]


def test_the_example_of_the_document_recommends_what_followed():
    (code,) = re.findall(r"```python\n(class FollowedBy.*?)\n\n\nAlgorithm", DOCUMENT, flags=re.DOTALL)
    names = {"np": np, "TrainingData": TrainingData, "Queries": Queries, "Scores": Scores, "CodeArray": object}
    exec(code, names)
    recommender = CheckedRecommender(names["FollowedBy"](), "followed-by", uses_history=True)
    rows = clicks(1, 2, 3, 4, 5, 6)  # a: 1, 2, 1; b: 2, 1; c: 3
    recommender.fit(rows, seed=1)
    scores = recommender.score(Queries.of(rows), np.arange(3, dtype=np.int32))
    assert scores.values.tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
