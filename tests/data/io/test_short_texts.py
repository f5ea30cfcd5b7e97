"""Codes of short texts, against a dictionary of Python."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.data.io.short_texts import _slot, short_text_codes

TEXTS = st.text(st.characters(codec="utf-8"), max_size=14)


def by_dictionary(texts):
    codes = {}
    return [codes.setdefault(text, len(codes)) for text in texts], list(codes)


def view(texts):
    return pa.array(texts, pa.string_view())


@given(st.lists(st.one_of(TEXTS, st.sampled_from(["a", "b", "a\0", "\0", "", "abcdefghijkl", "ä"])), min_size=1))
def test_codes_are_those_of_a_dictionary(texts):
    coded = short_text_codes(pa.chunked_array([view(texts)]))
    if any(len(text.encode()) > 12 for text in texts):
        assert coded is None
    else:
        assert coded is not None
        assert (coded[0].tolist(), coded[1]) == by_dictionary(texts)


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 5000, 40_000])
def test_the_table_grows(count):
    texts = [f"i{n}" for n in np.random.default_rng(count).permutation(count)]
    texts += texts[::-1]
    codes, distinct = short_text_codes(pa.chunked_array([view(texts)]))
    assert (codes.tolist(), distinct) == by_dictionary(texts)


def test_parts_of_columns_and_chunks():
    texts = [f"user {n // 3}" for n in range(100)]
    whole = view(texts)
    column = pa.chunked_array([whole.slice(7, 20), whole.slice(3, 0), whole.slice(40)])
    codes, distinct = short_text_codes(column)
    assert (codes.tolist(), distinct) == by_dictionary(texts[7:27] + texts[40:])


@pytest.mark.parametrize("texts", [[], ["a", None], ["short", "longer than twelve"], ["thirteen char"]])
def test_missing_and_long_texts_have_no_codes_here(texts):
    assert short_text_codes(pa.chunked_array([view(texts)])) is None


def test_texts_of_the_same_hash_are_told_apart():
    """Many texts in few places: those whose hashes end alike are found by brute force."""
    by_slot = {}
    for text in map(str, range(20_000)):
        low, high = np.frombuffer(len(text).to_bytes(4, "little") + text.encode().ljust(12, b"\0"), np.uint64)
        with np.errstate(over="ignore"):
            by_slot.setdefault(_slot.function(low, high, 64), []).append(text)
    crowded = max(by_slot.values(), key=len)
    texts = crowded * 3
    codes, distinct = short_text_codes(pa.chunked_array([view(texts)]))
    assert (codes.tolist(), distinct) == by_dictionary(texts)
