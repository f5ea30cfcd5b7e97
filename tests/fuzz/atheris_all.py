"""Fuzzing with the coverage of the code as a guide, for as long as one likes (`make fuzz`); needs atheris.

python tests/fuzz/atheris_all.py interactions|recommendations|toml|journal|wire [options of libFuzzer]
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["repro", "tomllib", "json"]):
    from repro.data import read_interactions
    from repro.data.io.recommendations import read_recommendations
    from repro.errors import ReproError
    from repro.plugin.isolation import wire
    from repro.protocol.reader import parse_protocol
    from repro.runs.journal import read_journal

NAMES = (
    "a.csv",
    "a.tsv",
    "a.dat",
    "a.json",
    "a.jsonl",
    "a.parquet",
    "a.inter",
    "a.qrels",
    "a.run",
    "a.csv.gz",
    "a.zip",
)
FOLDER = Path(tempfile.mkdtemp(prefix="repro-fuzz-"))


def of_file(reader: Callable[[Path], object], names: tuple[str, ...]) -> Callable[[bytes], None]:
    """The first byte chooses what the file is called."""

    def look(data: bytes) -> None:
        file = FOLDER / names[data[0] % len(names) if data else 0]
        file.write_bytes(data[1:])
        with contextlib.suppress(ReproError):
            reader(file)

    return look


def toml(data: bytes) -> None:
    with contextlib.suppress(ReproError):
        parse_protocol(data.decode("utf-8", errors="replace"), "fuzzed")


def message(data: bytes) -> None:
    stream = io.BytesIO(data)

    def read(size: int) -> bytes:
        if size > len(data):
            raise EOFError
        part = stream.read(size)
        if len(part) < size:
            raise EOFError
        return part

    try:
        header, arrays = wire.decode(read)
    except (EOFError, wire.WireError):
        return
    assert isinstance(header, dict) and isinstance(arrays, list)


LOOKS: dict[str, Callable[[bytes], None]] = {
    "interactions": of_file(read_interactions, NAMES),
    "recommendations": of_file(read_recommendations, NAMES),
    "toml": toml,
    "journal": of_file(read_journal, ("journal.jsonl",)),
    "wire": message,
}


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in LOOKS:
        sys.exit(__doc__)
    look = LOOKS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, look)
    atheris.Fuzz()
