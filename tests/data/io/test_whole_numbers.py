"""Ids that are whole numbers are read as such where nothing is lost, and it is the same as reading them as text."""

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from repro.data import read_interactions
from repro.data.io import delimited
from repro.data.io.ids import encode_ids
from repro.data.io.whole_numbers import WatchedStream, number_codes
from repro.errors import DataError

ODD = ["007", "00", "-0", "-07", "0x1F", "0X1", "10,01"]
PLAIN = ["0", "7", "-7", "10", "100", "1007", "0.5,3.005", "1.0", "5,0,10.00", "2001-11-12", "x", ""]


def read_in_parts(text, size):
    watched = WatchedStream().over(pa.PythonFile(io.BytesIO(text.encode()), mode="r"))
    while watched.read(size).size:
        pass
    return watched.has_noncanonical_number


@pytest.mark.parametrize("size", [1, 2, 3, 4, 1000])
@pytest.mark.parametrize(("text", "odd"), [*((number, True) for number in ODD), *((number, False) for number in PLAIN)])
def test_numbers_that_are_printed_otherwise_are_seen_wherever_they_are_cut(text, odd, size):
    for content in (text, f"1,{text},3\n", f"4,5\n{text}"):
        assert read_in_parts(content, size) is odd


def test_a_stream_is_watched_anew_from_its_beginning():
    watched = WatchedStream()
    for text in (b"007", b"7"):
        watched.over(pa.PythonFile(io.BytesIO(text), mode="r")).read(9)
    assert not watched.has_noncanonical_number


NUMBERS = st.lists(st.integers(-(2**62), 2**62) | st.integers(-5, 20), max_size=30)


@given(NUMBERS, NUMBERS)
@example([], [2**62, -(2**62)])  # their difference is more than an int64 holds
def test_codes_are_ranks_among_the_numbers_that_occur(first, second):
    coded = number_codes(pa.chunked_array([pa.array(first, pa.int64()), pa.array(second, pa.int64())]))
    ids = sorted({*first, *second})
    assert coded.categories.tolist() == ids
    assert coded.codes.tolist() == [ids.index(number) for number in first + second]


@pytest.mark.parametrize("categories", [[1, 2, 3], [3, 2, 1], [1, 2, 3, 9]])
def test_other_people_s_categories_are_ids_like_any_others(categories):
    codes, ids = encode_ids(pd.Categorical([3, 1, 2, 1], categories=categories), "user", "the frame")
    assert (codes.tolist(), ids.tolist()) == ([2, 0, 1, 0], [1, 2, 3])
    with pytest.raises(DataError, match="user is empty in row 2"):
        encode_ids(pd.Categorical([3, None, 2], categories=categories), "user", "the frame")


# Plain numbers most of the time: with one odd one among them, all are text.
CELLS = st.integers(-3, 300).map(str) | st.sampled_from(
    ["7", "007", " 7", "7 ", "-0", "0x1F", "+7", "7.0", "1e3", "NA", "null", "9" * 18, "9" * 19, "9223372036854775807"]
)
FILES = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["1", "2.5", "0.5", "-0.5", "005"])), min_size=1, max_size=12)


@given(FILES, st.sampled_from([",", "\t", "::"]), st.booleans(), st.booleans())
def test_it_is_as_if_they_were_read_as_text(tmp_path_factory, rows, delimiter, quoted, compressed):
    def cell(value):
        return f'"{value}"' if quoted and delimiter != "::" else value

    text = "".join(delimiter.join(map(cell, row)) + "\n" for row in [("user", "item", "rating"), *rows])
    path = tmp_path_factory.mktemp("read") / ("rows.csv.gz" if compressed else "rows.csv")
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    interactions = read_interactions(path, delimiter=delimiter, header=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_read_whole_numbers", lambda *arguments: None)
        expected = read_interactions(path, delimiter=delimiter, header=True)
    for name in ("users", "items", "ratings", "user_ids", "item_ids"):
        actual, reference = getattr(interactions, name), getattr(expected, name)
        assert actual.dtype == reference.dtype and np.array_equal(actual, reference)
