"""Rows of different lengths, beside sets of Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repro.evaluation.candidates.ragged import Ragged

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40)


@given(PAIRS, st.sampled_from([np.int32, np.int64]))
def test_values_of_each_row_are_ascending_and_there_once(pairs, dtype):
    rows, values = (np.array([pair[part] for pair in pairs], dtype=dtype) for part in (0, 1))
    found = Ragged.of_pairs(rows, values, 6)
    assert found.values.dtype == np.int32 and len(found) == 6
    for row in range(6):
        assert found.take(np.array([row])).values.tolist() == sorted({value for one, value in pairs if one == row})
    asked = [(row, value) for row in range(6) for value in range(-1, 8)]
    held = found.contains(*(np.array(part) for part in zip(*asked, strict=True)))
    assert held.tolist() == [pair in pairs for pair in asked]
