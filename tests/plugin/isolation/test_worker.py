"""A worker splits rows: what crosses the border, and what may not."""

import numpy as np
import pytest

from repro.data import Interactions
from repro.errors import PluginError
from repro.plugin import Framework, Splitter
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
