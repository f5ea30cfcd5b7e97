"""Protocols, studies and claims: any file is read, or refused with a sentence."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro.protocol import read_protocol
from repro.replications.claims.reader import read_claim
from repro.study import Study

ROOT = Path(__file__).parents[2]
# FUZZ=50 looks at fifty times as many.
FEW = settings(max_examples=60 * int(os.environ.get("FUZZ", "1")), suppress_health_check=list(HealthCheck))
STUDIES = ["reference-ml100k", "metric-study-ml100k", "cross-framework-ml100k"]
VALID = {
    "protocol": [path.read_bytes() for path in sorted((ROOT / "protocols").glob("*.toml"))],
    "study": [(ROOT / "reports" / name / "study.toml").read_bytes() for name in STUDIES],
    "claim": [path.read_bytes() for path in sorted((ROOT / "reports" / "replications").glob("*/claim.toml"))],
}
READERS = {"protocol": read_protocol, "study": Study.load, "claim": read_claim}
HOSTILE = {
    "nested lists": b"a = " + b"[" * 100_000,
    "nested tables": b"a = " + b"{a = " * 100_000,
    "a long dotted key": b".".join([b"a"] * 20_000) + b" = 1\n",
    "a number of many digits": b"seed = " + b"9" * 10_000,
    "bytes that are no text": b"\xff\xfe\x00",
    "a date where a number is expected": b"seed = 2026-01-01\n",
    "not a number": b"seed = nan\n[protocol]\nbase = inf\n",
    "lists in place of tables": b"data = []\nprotocol = []\nalgorithms = 1\nmetrics = {}\nclaim = []\n",
    "tables in place of lists": b"[data.name]\n[[protocol]]\n[algorithms.use]\n[metrics]\n[[tune]]\n",
}


@pytest.mark.parametrize("kind", READERS)
@FEW
@given(data=st.data())
def test_changed_files(kind, edited, refuses_or_reads, data):
    refuses_or_reads(READERS[kind], f"{kind}.toml", data.draw(edited(VALID[kind])))


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(kind, content, refuses_or_reads):
    assert refuses_or_reads(READERS[kind], f"{kind}.toml", content) is None


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


@pytest.mark.parametrize("kind", READERS)
@FEW
@given(data=st.data())
def test_values_of_another_kind(kind, refuses_or_reads, data):
    """A valid file, one value of which is replaced by any other value of TOML."""
    lines = data.draw(st.sampled_from(VALID[kind])).decode().splitlines()
    places = [n for n, line in enumerate(lines) if "=" in line]
    at = data.draw(st.sampled_from(places))
    value = data.draw(
        st.sampled_from(["[]", "{}", "[{}]", "0", "-1", "1e400", "nan", "true", "2026-01-01", '""', "'x'", "[[1]]"])
    )
    lines[at] = lines[at].partition("=")[0] + "= " + value
    refuses_or_reads(READERS[kind], f"{kind}.toml", "\n".join(lines).encode())
