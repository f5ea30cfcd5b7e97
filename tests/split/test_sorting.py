"""Sorting by several columns agrees with NumPy's."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from repro.split.sorting import sorted_rows

COLUMNS = st.sampled_from(
    [
        (np.int64, st.integers(-(2**63), 2**63 - 1)),
        (np.int64, st.integers(-3, 3)),
        (np.uint64, st.integers(0, 2**64 - 1)),
        (np.uint64, st.sampled_from([0, 1, 2**32, 2**32 + 1, 2**63])),
        (np.int32, st.integers(0, 2)),
        (np.float64, st.sampled_from([-1.5, 0.5, 4.0, 5.0])),
    ]
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), size=st.integers(1, 30), kinds=st.lists(COLUMNS, min_size=1, max_size=3))
def test_rows_are_sorted_as_lexsort_sorts_them(data, size, kinds):
    columns = [data.draw(arrays.arrays(dtype, size, elements=elements)) for dtype, elements in kinds]
    groups = data.draw(arrays.arrays(np.int32, size, elements=st.integers(0, 3)))
    assert sorted_rows(columns).tolist() == np.lexsort(columns[::-1]).tolist()
    assert sorted_rows(columns, groups).tolist() == np.lexsort([*columns[::-1], groups]).tolist()


def test_a_column_is_not_changed():
    column = np.array([2**40 + 1, 5, 2**33], dtype=np.uint64)
    assert sorted_rows([column]).tolist() == [1, 2, 0]
    assert column.tolist() == [2**40 + 1, 5, 2**33]
