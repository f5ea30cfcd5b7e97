"""The journal: any file is read, or refused with the line that does not fit."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro.runs.journal import Journal, events, read_journal
from repro.runs.journal.journal import FIRST, canonical_json, line_hash

# FUZZ=50 looks at fifty times as many.
FEW = settings(max_examples=100 * int(os.environ.get("FUZZ", "1")), suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal = Journal(path)
    for number in range(3):
        journal.write(events.RunFinished(cells=number, failed=0, seconds=0.5 * number))
        journal.write(events.ResultsWritten(files={"results.csv": "0" * 64}))
    return path.read_bytes()


@FEW
@given(data=st.data())
def test_changed_journals(valid, edited, refuses_or_reads, data):
    content = data.draw(edited([valid]))
    contents = refuses_or_reads(read_journal, "journal.jsonl", content)
    if contents is not None:  # what is read is the beginning of what was written
        whole = content[: len(content) - contents.torn]
        assert valid.startswith(whole) or not contents.lines


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@FEW
@given(
    event=VALUES
    | st.fixed_dictionaries(
        {"event": st.sampled_from(["run.finished", "cell.finished", "x"])}, optional={"cells": VALUES}
    ),
    number=VALUES,
    time=VALUES | st.just("2026-01-01T00:00:00.000+00:00"),
)
def test_lines_whose_hash_fits_and_whose_content_does_not(event, number, time, refuses_or_reads):
    body = {"number": number, "time": time, "previous": FIRST, "event": event}
    try:
        body["hash"] = line_hash(body)
        line = canonical_json(body) + b"\n"
    except ValueError:  # what JSON cannot write
        return
    assert refuses_or_reads(read_journal, "journal.jsonl", line) is None


HOSTILE = {
    "nested lists": b"[" * 100_000 + b"\n",
    "a number of many digits": b'{"number": ' + b"9" * 10_000 + b"}\n",
    "no text": b"\xff\n",
    "null": b"null\n",
    "empty lines": b"\n\n",
    "half a character in a line": json.dumps({"hash": "\ud800"}).encode() + b"\n",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_journals(content, refuses_or_reads):
    assert refuses_or_reads(read_journal, "journal.jsonl", content) is None


@pytest.mark.parametrize("inside", [b"\\ud800", b"\xed\xa0\x80"])
def test_half_a_character_in_a_line_that_is_one_otherwise(valid, inside, refuses_or_reads):
    first = valid.partition(b"\n")[0] + b"\n"
    time = json.loads(first)["time"].encode()
    assert refuses_or_reads(read_journal, "journal.jsonl", first.replace(FIRST.encode(), inside)) is None
    assert refuses_or_reads(read_journal, "journal.jsonl", first.replace(b'"' + time + b'"', b"NaN")) is None
