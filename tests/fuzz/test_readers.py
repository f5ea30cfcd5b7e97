"""The readers of data: any file is read, or refused with a sentence."""

import bz2
import gzip
import io
import json
import os
import zipfile

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro.data import read_interactions
from repro.data.io.recommendations import read_recommendations, read_truth

# FUZZ=50 looks at fifty times as many.
FEW = settings(max_examples=60 * int(os.environ.get("FUZZ", "1")), suppress_health_check=list(HealthCheck))

ROWS = [("7", "a", 4.0, 100), ("7", "b", 3.5, 101), ("8", "a", 1.0, 102), ("9", "c", 5.0, 103)]
TABLE = pd.DataFrame(ROWS, columns=["user", "item", "rating", "timestamp"])


def lines(delimiter, *, header=True):
    named = [delimiter.join(TABLE.columns)] if header else []
    return "\n".join([*named, *(delimiter.join(map(str, row)) for row in ROWS)]).encode() + b"\n"


def zipped(content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ratings.csv", content)
    return buffer.getvalue()


PARQUET = TABLE.to_parquet()
RECBOLE = b"user_id:token\titem_id:token\trating:float\n" + lines("\t", header=False).replace(b"\t10", b"")
FILES = {
    "ratings.csv": [
        lines(","),
        lines(",", header=False),
        b'user,item\n"7","a, b"\n8,"c ""d"""\n',
        b"# made\n" + lines(";"),
    ],
    "ratings.tsv": [lines("\t"), lines("\t", header=False), lines("|")],
    "ratings.dat": [lines("::", header=False), lines(" ", header=False)],
    "lists.txt": [b"7 1 2 3\n8 2\n9 3 1\n", b"7: 1, 2\n8: 3\n"],
    "ratings.json": [
        json.dumps(TABLE.to_dict(orient="records")).encode(),
        json.dumps(TABLE.to_dict(orient="list")).encode(),
        TABLE.to_json(orient="records", lines=True).encode(),
        json.dumps({"7": {"a": 4.0, "b": 3.5}, "8": {"a": 1}}).encode(),
    ],
    "ratings.parquet": [PARQUET],
    "ratings.inter": [RECBOLE],
    "test.qrels": [b"7 0 a 1\n7 0 b 0\n8 0 a 2\n"],
    "ratings.csv.gz": [gzip.compress(lines(","), mtime=0)],
    "ratings.csv.bz2": [bz2.compress(lines(","))],
    "ratings.zip": [zipped(lines(","))],
}
RUN = b"7 Q0 a 1 0.9 tag\n7 Q0 b 2 0.5 tag\n8 Q0 a 1 0.1 tag\n"


@pytest.mark.parametrize("name", FILES)
def test_valid_files_are_valid(name, refuses_or_reads):
    for content in FILES[name]:
        assert refuses_or_reads(read_interactions, name, content) is not None


@pytest.mark.parametrize("name", FILES)
@FEW
@given(data=st.data())
def test_changed_files_of_interactions(name, edited, refuses_or_reads, data):
    refuses_or_reads(read_interactions, name, data.draw(edited(FILES[name])))


@pytest.mark.parametrize("name", ["rated.run", *FILES])
@FEW
@given(data=st.data())
def test_changed_files_of_recommendations_and_truth(name, edited, refuses_or_reads, data):
    content = data.draw(edited([RUN] if name == "rated.run" else FILES[name]))
    refuses_or_reads(read_recommendations, name, content)
    refuses_or_reads(read_truth, name, content)


DEEP = {
    "nested lists": b"[" * 100_000,
    "nested and closed": b"[" * 100_000 + b"]" * 100_000,
    "nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a number of many digits": b'[{"user": ' + b"9" * 10_000 + b', "item": 1, "score": 2}]',
    "numbers beyond the range": b'[{"user": 1, "item": 1, "score": 1e999}]',
    "one long line": b"x" * 1_000_000,
    "many columns": b",".join([b"1"] * 10_000) + b"\n",
    "only quotes": b'"' * 10_001,
    "only line ends": b"\n\r" * 5_000,
    "zeros": b"\0" * 10_000,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", DEEP.values(), ids=DEEP)
def test_hostile_files(name, content, refuses_or_reads):
    for reader in (read_interactions, read_recommendations, read_truth):
        refuses_or_reads(reader, name, content)


def test_times_beyond_all_numbers_are_refused(refuses_or_reads):
    assert refuses_or_reads(read_interactions, "a.csv", b"user,item,rating,timestamp\n1,2,3,1e300\n") is None
