"""The wire format of workers: any bytes are either a message or a sentence about what is wrong with them."""

import io
import json
import os
import resource
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro.data import synthetic_interactions
from repro.errors import PluginError
from repro.plugin import Case, Scores
from repro.plugin.isolation import wire
from repro.plugin.isolation.client import IsolatedRecommender, evaluate_isolated, run_isolated, split_isolated
from repro.plugin.isolation.pipes import Pipes
from repro.plugin.isolation.worker import Responder
from repro.testing import queries_of
from tests.plugin.isolation.test_wire import reader

FEW = settings(max_examples=60 * int(os.environ.get("FUZZ", "1")), suppress_health_check=list(HealthCheck))
ROWS, ARRAYS = wire.rows_to_arrays(synthetic_interactions(users=5, items=5, ratings=12, alpha=1.0, seed=1))
REQUESTS = [
    b"".join(wire.encode({"ask": "hello"})),
    b"".join(wire.encode({"ask": "make", "algorithm": "popularity", "parameters": {}})),
    b"".join(wire.encode({"ask": "fit", "seed": 1, "fold": None, **ROWS}, ARRAYS)),
    b"".join(wire.encode({"ask": "score"}, [np.arange(3, dtype="<i4"), np.arange(4, dtype="<i4")])),
]


def answered(responder, request):
    """The answer of a worker; None where it was asked in no message at all."""
    try:
        return wire.decode(io.BytesIO(b"".join(responder.respond(reader(request)))).read)
    except (EOFError, wire.WireError):
        return None


@FEW
@given(data=st.data())
def test_changed_requests_are_answered_or_refused(edited, data):
    """A worker answers with an error, and goes on: the next request is answered as ever."""
    responder = Responder("repro_reference.plugin")
    for _ in range(3):
        answered(responder, data.draw(edited(REQUESTS)))
    header, _ = answered(responder, REQUESTS[0])
    assert header["ok"] is True


@pytest.mark.parametrize("what", ["_init__", "named", "answer", "", "hello()", None, 3, ["hello"]])
def test_a_worker_does_what_it_is_there_for_and_nothing_else(what):
    header, _ = answered(Responder("repro_reference.plugin"), b"".join(wire.encode({"ask": what})))
    assert not header["ok"] and "a worker was asked to" in header["message"]


def announcing(*arrays):
    text = json.dumps({"ok": True, "arrays": list(arrays)}).encode()
    return wire.MARK + struct.pack("<I", len(text)) + text


def test_more_than_can_be_is_refused_before_it_is_read():
    with pytest.raises(wire.WireError, match=r"an array of 1,152,921,504,606,846,976 bytes, more than"):
        wire.decode(io.BytesIO(announcing({"type": "|u1", "shape": [1 << 30, 1 << 30]})).read)
    with pytest.raises(wire.WireError, match="a header of 4,294,967,295 bytes, more than"):
        wire.decode(io.BytesIO(wire.MARK + b"\xff" * 4).read)


def test_what_is_announced_takes_no_memory_until_it_comes():
    """A worker that announces half a tebibyte and sends a few bytes: this process stays small, and sees it end."""
    sent = announcing({"type": "|u1", "shape": [1 << 39]}) + b"x" * 1000
    process = subprocess.Popen(
        [sys.executable, "-c", f"import os; os.write(1, {sent!r})"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    pipes = Pipes(process)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), hard))
    try:
        with pytest.raises(EOFError):
            wire.decode(pipes.read)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        process.wait()
        pipes.close()


def test_large_answers_come_whole(monkeypatch):
    """Beyond what room is made for at once, and in parts."""
    monkeypatch.setattr("repro.plugin.isolation.pipes._AT_ONCE", 1000)
    numbers = np.arange(1 << 16, dtype="<i8")
    sent = f"wire.encode({{}}, [numpy.arange({len(numbers)}, dtype='<i8')])"
    imports = "import numpy, sys; from repro.plugin.isolation import wire"
    code = f"{imports}; [sys.stdout.buffer.write(part) for part in {sent}]"
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", code], **streams)
    pipes = Pipes(process)
    _, (received,) = wire.decode(pipes.read)
    process.wait()
    pipes.close()
    assert (received == numbers).all()


class Answering:
    """Whoever answers for a framework: anything."""

    name, made = "odd", 0

    def __init__(self, *answers):
        self._answers = list(answers)

    def ask(self, what, arrays=(), limit=None, **header):
        return self._answers.pop(0)


VALUES = st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=3)
HEADERS = st.dictionaries(
    st.sampled_from(["predicts", "notes", "value", "per_user", "folds"]),
    VALUES
    | st.lists(
        st.dictionaries(st.sampled_from(["measures", "state"]), VALUES | st.lists(st.text(max_size=2), max_size=2))
    ),
)
MESSAGES = st.tuples(
    HEADERS, st.lists(st.sampled_from([np.zeros(0), np.arange(3.0), np.zeros((2, 2)), np.array(1.0)]), max_size=6)
)


@FEW
@given(made=MESSAGES, message=MESSAGES)
def test_messages_that_are_no_answers_are_told(made, message):
    rows = synthetic_interactions(users=5, items=5, ratings=12, alpha=1.0, seed=1)
    users = items = np.arange(3, dtype=np.int32)

    def is_refused(ask):
        try:
            return ask()
        except PluginError as error:
            assert "malformed reply" in str(error)
            return None

    nothing = ({}, [])
    recommender = is_refused(lambda: IsolatedRecommender(Answering(nothing, made, message, message), "x", {}, None))
    if recommender is not None:
        is_refused(lambda: recommender.score(queries_of(users), items))
        is_refused(lambda: recommender.notes)
    is_refused(lambda: split_isolated(Answering(message), "x", rows, 1, {}))
    is_refused(lambda: run_isolated(Answering(message), "x", rows, 1))
    case = Case(Scores(np.zeros((5, 5))), rows, rows, np.arange(5, dtype=np.int32), (1.0, 5.0))
    is_refused(lambda: evaluate_isolated(Answering(message), "x", case, "ndcg", 3))
