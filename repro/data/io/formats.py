"""Which form a file of recommendations or of held-out rows has, as it is stated or by suffix and content."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pyarrow as pa

from repro.data.io.sniff import lines_of
from repro.errors import DataError, nearest

Content = Literal["recommendations", "truth"]

FORMATS = {
    "text": "CSV, TSV or another delimiter, with a header, or 3 or 4 columns without one",
    "parquet": "Parquet",
    "json": "JSON: records, columns, or {user: {item: score}}; JSON lines",
    "recbole": "RecBole atomic file: a header such as user_id:token",
    "trec": "TREC run (topic Q0 document rank score tag); as the truth, qrels (topic 0 document grade)",
    "surprise": "predictions of Surprise as CSV or JSON: uid, iid, r_ui, est, details",
}
_SPELLINGS = {
    **dict.fromkeys(("csv", "tsv", "dat", "txt"), "text"),
    **dict.fromkeys(("run", "qrels"), "trec"),
    **dict.fromkeys(("jsonl", "ndjson"), "json"),
    "inter": "recbole",
}
_SUFFIXES = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".run", ".trec", ".res", ".qrels", ".qrel"), "trec"),
    ".inter": "recbole",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_PICKLED = (".pkl", ".pickle", ".dump")
_SAMPLE = 100
_START = 4096


def format_of(file: Path, stated: str | None, content: Content) -> str:
    """One of "text", "parquet", "json", "recbole" and "trec"."""
    suffix = Path(file.stem).suffix.lower() if file.suffix.lower() in _COMPRESSED else file.suffix.lower()
    with file.open("rb") as stream:
        start = stream.read(_START)
    if not start:
        raise DataError(f"{file} is empty: a row for each user and item was expected")
    if suffix in _PICKLED or (start[0] == 0x80 and start[1:2] <= b"\x05"):
        raise DataError(
            f"{file} is a pickle, as surprise.dump writes it, and to read a pickle is to run what is in it; write the "
            "predictions as CSV, pd.DataFrame(predictions).to_csv(...), or give the list of them to repro.evaluate"
        )
    if stated is not None:
        name = _SPELLINGS.get(stated.lower(), stated.lower())
        if name not in FORMATS:
            raise DataError(f"there is no format '{stated}'{nearest(stated, FORMATS)} Formats: {', '.join(FORMATS)}")
        if name != "surprise":  # that says what the columns are called, and the form is CSV or JSON
            return name
    if start[:4] == b"PAR1" or _SUFFIXES.get(suffix) == "parquet":
        return "parquet"
    if b"\0" in start and file.suffix.lower() not in _COMPRESSED:
        raise DataError(
            f"{file} is no text, and none of the forms that are read: {', '.join(FORMATS)}; write it as CSV in UTF-8, "
            f"or as Parquet (compressed files end in {', '.join(_COMPRESSED)})"
        )
    by_suffix = _SUFFIXES.get(suffix, "text")
    return _format_by_lines(file, content, by_suffix) or by_suffix


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Says in a sentence what is wrong where Arrow cannot read a file."""
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:  # Arrow's readers raise these for a damaged compressed file too
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"cannot read {file} ({reason}); if it is damaged or cut short, copy it again") from None


def _format_by_lines(file: Path, content: Content, by_suffix: str) -> str:
    """What the lines look like; an empty text where they do not tell."""
    with readable(file):
        lines = [line for _, line in itertools.islice(lines_of(file, "utf-8"), _SAMPLE)]
        if not lines:
            raise DataError(f"{file} is empty: a row for each user and item was expected")
        if lines[0].lstrip()[:1] in ("[", "{"):
            return "json"
        if ":token" in lines[0] and "\t" in lines[0]:
            return "recbole"
        rows = [line.split() for line in lines]
        if content == "recommendations" and _are_runs(rows):
            return "trec"
        # Rows of user, item, rating and time may well begin with item 0, so all of them are looked at.
        if by_suffix != "trec" and _are_judgements(rows) and _are_judgements(_cells(file)):
            return "trec"
    return ""


def _cells(file: Path) -> Iterator[list[str]]:
    return (line.split() for _, line in lines_of(file, "utf-8"))


def _are_runs(rows: Iterable[Sequence[str]]) -> bool:
    return all(len(row) == 6 and _is_number(row[3]) and _is_number(row[4]) for row in rows)


def _are_judgements(rows: Iterable[Sequence[str]]) -> bool:
    return all(len(row) == 4 and row[1] in ("0", "Q0") and _is_number(row[3]) for row in rows)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
