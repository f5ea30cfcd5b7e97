"""A worker splits rows: what crosses the border, and what may not."""

import numpy as np
import pytest

from repro.data import Interactions
from repro.errors import PluginError
from repro.plugin import Algorithm, Framework, Scores, Splitter, TrainingData
from repro.plugin.isolation import wire
from repro.plugin.isolation.worker import Server


def every_nth(rows, seed, *, n):
    """Rows seed, seed + n and so on are for testing, the others but the last for training."""
    test = np.arange(seed, len(rows), n)
    return [(np.setdiff1d(np.arange(len(rows) - 1), test), test)]


def answer(split, rows, **parameters):
    server = Server(Framework("mine", "1", "", ()), lambda hook: [Splitter("mine/nth", "", split)])
    header, arrays = wire.rows_to_arrays(rows)
    return server.answer(
        {"ask": "split", "splitter": "mine/nth", "seed": 1, "parameters": parameters, **header}, arrays
    )


@pytest.fixture
def rows():
    codes = np.arange(6, dtype=np.int32)
    return Interactions(codes, codes, np.ones(6), None, np.arange(6), np.arange(6))


def test_a_worker_answers_with_the_rows_of_each_part(rows):
    header, parts = answer(every_nth, rows, n=2)
    assert header == {}
    assert [part.tolist() for part in parts] == [[0, 2, 4], [1, 3, 5]]
    assert {part.dtype.str for part in parts} == {"<i8"}


def test_an_empty_part_stays_empty(rows):
    _, parts = answer(lambda rows, seed: [([], [0, 1])], rows)
    assert [part.tolist() for part in parts] == [[], [0, 1]]


@pytest.mark.parametrize("part", [[0.5], [[0, 1]], "all", None])
def test_what_is_no_list_of_positions_is_refused(rows, part):
    with pytest.raises(PluginError, match=r"mine/nth returned .* as rows; expected their positions"):
        answer(lambda rows, seed: [(part, [0])], rows)


class Remembers:
    """A recommender whose state is given."""

    def __init__(self, state):
        self.state = lambda: state

    def fit(self, train, *, seed):
        pass

    def score(self, queries, items):
        return Scores(np.zeros((len(queries), len(items))))


def state(rows, learnt):
    algorithm = Algorithm("remembers", "", lambda: Remembers(learnt))
    server = Server(Framework("mine", "1", "", (algorithm,)), lambda hook: [])
    server.answer({"ask": "make", "algorithm": "remembers", "parameters": {}}, [])
    header, arrays = wire.training_to_arrays(TrainingData.of(rows))
    server.answer({"ask": "fit", "seed": 1, "fold": None, **header}, arrays)
    return server.answer({"ask": "state"}, [])


def test_a_worker_answers_with_the_state_in_double_precision(rows):
    factors = np.arange(12, dtype=np.float32).reshape(6, 2)
    header, arrays = state(rows, {"item_factors": -factors, "mean": 0.5, "user_factors": factors})
    assert header == {"names": ["user_factors", "item_factors", "mean"]}
    assert [array.dtype.str for array in arrays] == ["<f8"] * 3
    assert [array.tolist() for array in arrays] == [factors.tolist(), (-factors).tolist(), 0.5]


def test_a_recommender_without_a_state_has_an_empty_one(rows):
    assert state(rows, None) == ({"names": []}, [])


def test_a_state_of_another_shape_is_refused_in_the_worker(rows):
    with pytest.raises(
        PluginError, match=r"mine/remembers returned user_bias of shape \(5,\) from state; expected 6 u"
    ):
        state(rows, {"user_bias": np.zeros(5)})
