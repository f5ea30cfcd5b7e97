"""Messages that cross the border between processes, and those that do not."""

import ast
import io
import json
import math
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import repro.plugin
from repro.data import Interactions
from repro.plugin import Case, Observed, PipelineFold, Scores
from repro.plugin.isolation import wire


def reader(data):
    """A function that reads so many bytes of the data, and raises EOFError where there are fewer."""
    stream = io.BytesIO(data)

    def read(size):
        part = stream.read(size)
        if len(part) < size:
            raise EOFError
        return part

    return read


def through(header, arrays=()):
    return wire.decode(reader(b"".join(wire.encode(header, arrays))))


@given(
    st.dictionaries(
        st.text(),
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    ),
    st.lists(
        st.sampled_from(wire.TYPES).flatmap(
            lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
        ),
        max_size=4,
    ),
)
def test_messages_come_out_as_they_went_in(header, arrays):
    header.pop("arrays", None)
    actual, results = through(header, arrays)
    assert actual == header
    assert [(a.dtype.str, a.shape, a.tobytes()) for a in results] == [
        (a.dtype.str, a.shape, a.tobytes()) for a in arrays
    ]


def rows_of(**columns):
    return Interactions.from_frame(pd.DataFrame(columns))


ROWS = {
    "numbers": rows_of(user=[7, 3, 7], item=[1, 2, 3], rating=[1.5, 2, 3], timestamp=[30, 10, 20]),
    "text": rows_of(user=["ann", "Ωmega", "a b"], item=["a,b", "é\u0301", "😀"], rating=[1, 2, 3]),
    "mixed": rows_of(user=["ann", "bob"], item=[10**12, -5]),
    "empty": rows_of(user=["ann"], item=[4], rating=[1.0], timestamp=[5]).select(np.array([], dtype=np.int64)),
    "no ids": Interactions(
        *(np.zeros(0, t) for t in ("i4", "i4", "f8")), None, np.array([], object), np.array([], int)
    ),
    "unpaired surrogate": rows_of(user=["\ud800", "b"], item=["x", "y"]),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_come_out_as_they_went_in(name):
    rows = ROWS[name]
    header, arrays = wire.rows_to_arrays(rows)
    actual = wire.arrays_to_rows(*through(header, arrays))
    for column in ("users", "items", "ratings", "timestamps", "user_ids", "item_ids"):
        mine, theirs = getattr(rows, column), getattr(actual, column)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert mine.tolist() == theirs.tolist()
            assert (mine.dtype.kind, len(mine)) == (theirs.dtype.kind, len(theirs))
    assert actual.explicit == rows.explicit


def test_nothing_is_pickled():
    forbidden = {"pickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "allow_pickle"}
    for file in Path(repro.plugin.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Import(names=names):
                    assert not forbidden & {alias.name for alias in names}, file
                case ast.ImportFrom(module=module, names=names):
                    assert not forbidden & {module, *(alias.name for alias in names)}, file
                case ast.Attribute(value=ast.Name(id="np"), attr=name):
                    assert name not in ("load", "save", "savez"), file
    with pytest.raises(wire.WireError, match="an array of type object"):
        wire.encode({}, [np.array([{}], dtype=object)])
    with pytest.raises(ValueError, match="JSON"):
        wire.encode({"score": float("nan")})


def message(header, body=b"", mark=wire.MARK):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return mark + struct.pack("<I", len(text)) + text + body


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"Epoch 1/10 loss 0.7\n", "not a message: they start with b'Epoc'"),
        (message({"arrays": []}, mark=b"RPW\x09"), "version 9 of the wire format, and this side speaks version 2"),
        (wire.MARK + b"\xff\xff\xff\xff", "a header of 4,294,967,295 bytes"),
        (message(b"{"), "not JSON"),
        (message(b"\xff\xfe"), "not JSON"),
        (message(b"[" * 200_000), "not JSON"),
        (message([]), "announces no arrays"),
        (message({}), "announces no arrays"),
        (message({"arrays": {}}), "announces no arrays"),
        (message({"arrays": [{"type": "|O", "shape": [1]}]}, bytes(8)), "an array announced as"),
        (message({"arrays": [{"type": "<f8", "shape": [-1]}]}), "an array announced as"),
        (message({"arrays": [{"type": "<f8", "shape": [1.0]}]}), "an array announced as"),
        (message({"arrays": [{"type": "<f8", "shape": [True]}]}), "an array announced as"),
        (message({"arrays": [{"type": ["<f8"], "shape": [1]}]}), "an array announced as"),
        (message({"arrays": [{"type": "<f8", "shape": [1 << 30, 1 << 30]}]}), "more than"),
        (message({"arrays": [{"type": "<f8", "shape": [1] * 200}]}, bytes(8)), "cannot be made"),
        (message({"arrays": [{"type": "<f8", "shape": [0, 1 << 39, 1 << 39]}]}), "cannot be made"),
    ],
)
def test_what_is_no_message_is_told(data, complaint):
    with pytest.raises(wire.WireError, match=complaint):
        wire.decode(reader(data))


def decode_or_refuse(data):
    try:
        header, arrays = wire.decode(reader(data))
    except (wire.WireError, EOFError):
        return
    assert isinstance(header, dict)
    assert all(isinstance(array, np.ndarray) for array in arrays)


@given(st.binary(max_size=200), st.booleans())
def test_random_bytes_are_refused_and_nothing_else_happens(data, marked):
    decode_or_refuse(wire.MARK + data if marked else data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_announcement_is_read_or_refused(announced):
    decode_or_refuse(message({"arrays": announced}, bytes(64)))
    decode_or_refuse(message({"arrays": [{"type": "<i4", "shape": announced}]}, bytes(64)))


WHOLE = b"".join(wire.encode({"ask": "score", "seed": 7}, [np.arange(5, dtype="<i4"), np.ones((2, 3))]))


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(WHOLE) - 1), st.sampled_from(["set", "insert", "delete", "cut"]), st.integers(0, 255)
        ),
        min_size=1,
        max_size=8,
    )
)
def test_changed_messages_are_read_or_refused(changes):
    data = bytearray(WHOLE)
    for at, what, value in changes:
        at = min(at, len(data))
        match what:
            case "set":
                data[at : at + 1] = bytes([value])
            case "insert":
                data[at:at] = bytes([value])
            case "delete":
                del data[at : at + 1]
            case "cut":
                del data[at:]
    decode_or_refuse(bytes(data))


@pytest.mark.parametrize("whole", [True, False])
def test_cases_and_answers_of_evaluators_come_out_as_they_went_in(whole):
    rows = rows_of(user=["b", "a"], item=[7, 30], rating=[1.5, 2.0])
    values = np.array([[1.0, np.nan], [-np.inf, 0.0]])
    state = None if whole else np.array([[0, 1], [2, 0]], dtype=np.uint8)
    listed = None if whole else np.array([[True, False], [False, False]])
    case = Case(Scores(values, state), rows, rows.select(np.array([1])), np.array([1, 0], np.int32), (0.5, 4.0), listed)
    header, arrays = wire.case_to_arrays(case)
    back, sent = through({"case": header}, arrays)
    actual = wire.arrays_to_case(back["case"], sent)
    np.testing.assert_array_equal(actual.scores.values, values)
    np.testing.assert_array_equal(actual.scores.state, state)
    np.testing.assert_array_equal(actual.listed, listed)
    assert (actual.order.tolist(), actual.scale) == ([1, 0], (0.5, 4.0))
    assert actual.train.to_frame().equals(rows.to_frame())
    assert actual.test.to_frame().equals(rows.to_frame().iloc[[1]].reset_index(drop=True))
    for observed in (Observed(math.nan, {3: math.inf, 0: 0.25}), Observed(None, {}), Observed(0.5)):
        answer = wire.arrays_to_observed(*through(*wire.observed_to_arrays(observed)))
        assert repr(answer) == repr(observed)


def test_folds_of_pipelines_come_out_as_they_went_in():
    values, state = np.array([[1.0, np.nan]]), np.array([[0, 2]], dtype=np.uint8)
    folds = [
        PipelineFold(np.array([0, 2]), np.array([1]), Scores(values), {"rmse": math.nan, "mae": 0.5}),
        PipelineFold(np.array([1]), np.array([0, 2]), Scores(values, state), {}),
    ]
    actual = wire.arrays_to_folds(*through(*wire.folds_to_arrays(folds)))
    assert [(f.train.tolist(), f.test.tolist(), repr(f.reported)) for f in actual] == [
        ([0, 2], [1], "{'rmse': nan, 'mae': 0.5}"),
        ([1], [0, 2], "{}"),
    ]
    np.testing.assert_array_equal(actual[0].scores.values, values)
    assert actual[0].scores.state is None
    np.testing.assert_array_equal(actual[1].scores.state, state)
