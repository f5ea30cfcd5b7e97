"""The format of a file: as stated, or by its content and suffix."""

from __future__ import annotations

import codecs
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from repro.data.io.compressed import COMPRESSED, first_bytes, inner_name, lines_of, open_stream
from repro.data.io.roles import INTERACTIONS, RECOMMENDATIONS, TableKind
from repro.data.io.values import is_number
from repro.errors import DataError, nearest

FORMATS = {
    "text": "CSV, TSV or another delimiter, with a header, or a few columns in their usual order without one",
    "lists": "a line for each user: the user, then items",
    "json": "JSON: records, columns, or {user: {item: score}}; JSON lines",
    "parquet": "Parquet",
    "recbole": "RecBole atomic file: a header such as user_id:token",
    "trec": "TREC run (topic Q0 document rank score tag); as the truth, qrels (topic 0 document grade)",
    "surprise": "predictions of Surprise as CSV or JSON: uid, iid, r_ui, est, details",
}
_SPELLINGS = {
    **dict.fromkeys(("csv", "tsv", "dat", "txt"), "text"),
    **dict.fromkeys(("jsonl", "ndjson"), "json"),
    **dict.fromkeys(("run", "qrels"), "trec"),
    "inter": "recbole",
}
_SUFFIXES = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".qrels", ".qrel"), "trec"),
    ".inter": "recbole",
}
_RUN_SUFFIXES = (".run", ".trec", ".res")
_PICKLES = (".pkl", ".pickle", ".dump")
_PARQUET_MAGIC = b"PAR1"
_START = 4096
_FIRST_LINES = 100


def format_of(file: Path, kind: TableKind, stated: str | None) -> str:
    """A format of ``kind.formats``; for "surprise", the "text" or "json" that the file is written in."""
    start = first_bytes(file, _START)
    if not start:
        raise empty_file(file)
    listed = kind is not INTERACTIONS
    inner = file.name if listed and file.suffix.lower() not in COMPRESSED else inner_name(file)
    suffix = Path(inner).suffix.lower()
    if listed and (suffix in _PICKLES or (start[0] == 0x80 and start[1:2] <= b"\x05")):
        raise DataError(
            f"{file} is a pickle, as surprise.dump writes it, and reading a pickle executes its content; write the "
            "predictions as CSV, pd.DataFrame(predictions).to_csv(...), or give the list of them to repro.evaluate"
        )
    if stated is not None:
        name = _SPELLINGS.get(stated.lower(), stated.lower())
        if name not in kind.formats:
            raise DataError(
                f"there is no format '{stated}'{nearest(stated, kind.formats)} Formats: {', '.join(kind.formats)}"
            )
        if name != "surprise":  # names the columns; the file is CSV or JSON
            return name
    by_suffix = "trec" if listed and suffix in _RUN_SUFFIXES else _SUFFIXES.get(suffix, "text")
    if start.startswith(_PARQUET_MAGIC) or by_suffix == "parquet":
        return "parquet"
    if listed and b"\0" in start and file.suffix.lower() not in COMPRESSED:
        raise DataError(
            f"{file} is neither text nor any supported format: {', '.join(kind.formats)}; write it as CSV in UTF-8, "
            f"or as Parquet (compressed files end in {', '.join(COMPRESSED)})"
        )
    return _format_by_content(file, kind, by_suffix) or by_suffix


def is_json_name(file: Path) -> bool:
    """Whether the suffix of a file is one of JSON."""
    return _SUFFIXES.get(file.suffix.lower()) == "json"


def is_parquet(file: Path) -> bool:
    """Whether the content of a file is Parquet."""
    return first_bytes(file, len(_PARQUET_MAGIC)) == _PARQUET_MAGIC


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The file at ``path``, which must exist."""
    file = Path(path)
    if not file.is_file():
        if file.exists():
            raise DataError(f"{file} is not a file" + (" but a folder; name the file in it" if file.is_dir() else ""))
        siblings = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        raise DataError(f"there is no file {file}{nearest(file.name, siblings)}")
    return file


def empty_file(file: Path) -> DataError:
    """The error for a file without content."""
    return DataError(f"{file} is empty: a row for each user and item was expected")


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Turn what Arrow raises for a file that it cannot read into a DataError."""
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:  # Arrow's readers raise these for a damaged compressed file too
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"cannot read {file} ({reason}); if it is damaged or cut short, copy it again") from None


def _format_by_content(file: Path, kind: TableKind, by_suffix: str) -> str | None:
    """The format that the beginning of a text file shows; None if it shows none."""
    with open_stream(file) as stream:
        start = bytes(stream.read(_START)).removeprefix(codecs.BOM_UTF8).lstrip()
    first = start.partition(b"\n")[0]
    if first[:1] in (b"[", b"{"):
        return "json"
    if b":token" in first and b"\t" in first:
        return "recbole"
    if kind is INTERACTIONS:
        return None
    rows = [line.split() for _, line in itertools.islice(lines_of(file), _FIRST_LINES)]
    if not rows:
        raise empty_file(file)
    if kind is RECOMMENDATIONS and _is_run(rows):
        return "trec"
    # Rows of user, item, rating and time may well begin with item 0, so all rows of the file are checked.
    judged = by_suffix != "trec" and _is_qrels(rows) and _is_qrels(line.split() for _, line in lines_of(file))
    return "trec" if judged else None


def _is_run(rows: Iterable[Sequence[str]]) -> bool:
    return all(len(row) == 6 and is_number(row[3]) and is_number(row[4]) for row in rows)


def _is_qrels(rows: Iterable[Sequence[str]]) -> bool:
    return all(len(row) == 4 and row[1] in ("0", "Q0") and is_number(row[3]) for row in rows)
