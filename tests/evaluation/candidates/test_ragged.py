"""Rows of different lengths, compared with sets of Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repro.evaluation.candidates.ragged import Ragged

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40)


@given(PAIRS, st.sampled_from([np.int32, np.int64]))
def test_values_of_each_row_are_ascending_and_there_once(pairs, dtype):
    rows, values = (np.array([pair[part] for pair in pairs], dtype=dtype) for part in (0, 1))
    ragged = Ragged.of_pairs(rows, values, 6)
    assert ragged.values.dtype == np.int32 and len(ragged) == 6
    for row in range(6):
        assert ragged.take(np.array([row])).values.tolist() == sorted({value for owner, value in pairs if owner == row})
    every = [(row, value) for row in range(6) for value in range(-1, 8)]
    held = ragged.contains(*(np.array(part) for part in zip(*every, strict=True)))
    assert held.tolist() == [pair in pairs for pair in every]
