"""The columns of a delimited text file with a known layout."""

from __future__ import annotations

import codecs
import io
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from repro.data.io.compressed import lines_of, open_stream, read_all
from repro.data.io.ids import ID_DIGITS, Values
from repro.data.io.roles import listed
from repro.data.io.sniff import BLANKS, COMMENT, Layout, WidthError, split_line
from repro.data.io.whole_numbers import WatchedStream, number_codes
from repro.errors import DataError

# Encodings in which digits are the bytes that they are in ASCII, and nothing else is.
_BYTE_BY_BYTE = ("utf-8", "ascii", "iso8859-1", "cp1252")


def read_columns(
    path: Path, layout: Layout, chosen: Mapping[str, str], as_text: Sequence[str] = ("user", "item")
) -> tuple[dict[str, Values], list[str]]:
    """The chosen columns by role, and the comments among the rows, which are skipped.

    Columns in ``as_text`` are categories of their text, or of whole numbers where all of them are in canonical form;
    the others are numbers where all their values are numbers.
    """
    if parsed := _read_whole_numbers(path, layout, chosen, as_text):
        table, comments = parsed
        columns = {role: table.column(name) for role, name in chosen.items()}
        return {role: (number_codes if role in as_text else column_values)(c) for role, c in columns.items()}, comments
    types = {
        name: pa.dictionary(pa.int32(), pa.string()) if role in as_text else pa.float64()
        for role, name in chosen.items()
    }
    if "timestamp" in chosen:
        types[chosen["timestamp"]] = pa.int64()
    try:
        table, comments = _parse(path, layout, types)
    except pa.ArrowInvalid as error:
        if "columns, got" in str(error):
            raise _wrong_width(path, layout) from None
        # A value is not a number: read it as text, so that an error can quote it (or it is read as a date).
        text = {name: pa.string() for role, name in chosen.items() if role not in as_text}
        table, comments = _parse(path, layout, {**types, **text})
    return {role: column_values(table.column(name)) for role, name in chosen.items()}, comments


def _read_whole_numbers(
    path: Path, layout: Layout, chosen: Mapping[str, str], as_text: Sequence[str]
) -> tuple[pa.Table, list[str]] | None:
    """The chosen columns with ids read as whole numbers, in half the time; None where that may lose something."""
    if layout.escape or codecs.lookup(layout.encoding).name not in _BYTE_BY_BYTE:
        return None
    types = {name: pa.int64() if role in (*as_text, "timestamp") else pa.float64() for role, name in chosen.items()}
    watched = WatchedStream()
    try:
        table, comments = _parse(path, layout, types, watched)
    except (pa.ArrowInvalid, DataError):  # reading it as text reports the fault
        return None
    ids = [table.column(name) for role, name in chosen.items() if role in as_text]
    if watched.has_noncanonical_number or any(column.null_count or not _is_small(column) for column in ids):
        return None
    return table, comments


def _is_small(column: pa.ChunkedArray) -> bool:
    """Whether whole numbers have few enough digits to be ids."""
    bounds = pc.min_max(column).as_py()
    return bounds["min"] is None or max(-bounds["min"], bounds["max"]) < 10**ID_DIGITS


def _parse(
    path: Path, layout: Layout, types: dict[str, pa.DataType], watched: WatchedStream | None = None
) -> tuple[pa.Table, list[str]]:
    """The columns with these types, and the comments among the rows."""
    comments: list[str] = []

    def skip_comment(row: pacsv.InvalidRow) -> str:
        if not row.text.lstrip().startswith(COMMENT):
            return "error"
        comments.append(row.text)
        return "skip"

    try:
        return _read_csv(path, layout, types, watched), comments
    except pa.ArrowInvalid as error:
        if "columns, got" not in str(error):
            raise
    _require_text(path, layout)  # the handler gets rows of another width as text
    return _read_csv(path, layout, types, watched, skip_comment), comments


def _read_csv(
    path: Path,
    layout: Layout,
    types: dict[str, pa.DataType],
    watched: WatchedStream | None,
    other_width: Callable[[pacsv.InvalidRow], str] | None = None,
) -> pa.Table:
    parse = pacsv.ParseOptions(
        delimiter=layout.delimiter if len(layout.delimiter) == 1 else "\t",
        quote_char=layout.quote or False,
        escape_char=layout.escape or False,
        invalid_row_handler=other_width,
    )
    skipped = _lines_to_skip(path, layout)
    read = pacsv.ReadOptions(
        column_names=list(layout.names), skip_rows=skipped, encoding=layout.encoding, block_size=1 << 22
    )
    convert = pacsv.ConvertOptions(column_types=types, include_columns=list(types), strings_can_be_null=False)
    with open_stream(path) as source:
        if watched is not None:
            source = watched.over(source)
        if len(layout.delimiter) > 1:  # Arrow splits at one character only
            source = io.BytesIO(_with_tabs(read_all(source), path, layout))
        try:
            return pacsv.read_csv(source, read_options=read, parse_options=parse, convert_options=convert)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                raise DataError(f"{path} has a header and no rows: nothing to evaluate") from None
            if "invalid UTF8" in str(error):
                raise _not_encoded(path, layout) from None
            raise


def _require_text(path: Path, layout: Layout) -> None:
    """Reject bytes that are not UTF-8 where UTF-8 is stated; Arrow decodes other encodings first."""
    if codecs.lookup(layout.encoding).name != "utf-8":
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_stream(path) as stream:
            while block := stream.read(1 << 20):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise _not_encoded(path, layout) from None


def _not_encoded(path: Path, layout: Layout) -> DataError:
    return DataError(f"{path} is not {layout.encoding} text; state its encoding, often encoding='latin-1'")


def _with_tabs(content: bytes, path: Path, layout: Layout) -> bytes:
    """The content with tabs in place of a delimiter of several characters, or of white space."""
    if layout.delimiter == BLANKS:
        return re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content))
    if b"\t" in content:
        raise DataError(f"{path}: a file with the delimiter {layout.delimiter!r} cannot have tabs in it")
    return content.replace(layout.delimiter.encode(layout.encoding), b"\t")


def _lines_to_skip(path: Path, layout: Layout) -> int:
    """The number of lines before the first row."""
    before = layout.comments + layout.header
    if not before:
        return 0
    return next(itertools.islice((number for number, _ in lines_of(path, layout.encoding)), before - 1, None))


def column_values(column: pa.ChunkedArray) -> Values:
    """The values of an Arrow column: text as categories, times and numbers as NumPy arrays."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        if column.null_count or column.type not in (pa.int64(), pa.float64()):
            return column.to_pandas().to_numpy()
        return np.concatenate([chunk.to_numpy() for chunk in column.chunks]) if column.num_chunks else np.array([])
    if not column.num_chunks:
        return np.array([], dtype=object)
    combined = column.unify_dictionaries().combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        combined = combined.chunk(0)
    text = combined.dictionary.cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(text).to_numpy(zero_copy_only=False)
    codes_of_texts, names = pd.factorize(trimmed)  # "7" and " 7" are the same id
    codes = combined.indices.fill_null(-1).to_numpy()
    codes = np.where(codes < 0, -1, codes_of_texts[codes])
    return pd.Categorical.from_codes(codes, pd.Index(names, dtype=object))  # type: ignore[arg-type]


def _wrong_width(path: Path, layout: Layout) -> DataError:
    for number, line in itertools.islice(lines_of(path, layout.encoding), layout.comments, None):
        cells = split_line(line, layout.delimiter, layout.quote, layout.escape)
        if len(cells) != len(layout.names) and not line.lstrip().startswith(COMMENT):
            return WidthError(
                f"{path}: line {number:,} has {len(cells)} columns where {len(layout.names)} were expected "
                f"({listed(layout.names)}): {line[:80]!r}; correct the line, or state the delimiter"
            )
    return WidthError(f"{path}: some lines have more or fewer than {len(layout.names)} columns")


def line_number(path: Path, layout: Layout, row: int) -> str:
    """The line of data row ``row`` (from 0) in the file; blank lines and comments are not rows."""
    state = path.stat()
    return f"line {_line_numbers(path, layout, state.st_mtime_ns, state.st_size)[row]:,}"


@lru_cache(maxsize=4)  # a review quotes many rows of the same files
def _line_numbers(path: Path, layout: Layout, changed: int, size: int) -> npt.NDArray[np.int64]:
    """The line of each data row."""
    rows = itertools.islice(lines_of(path, layout.encoding), layout.comments + layout.header, None)
    return np.fromiter((number for number, line in rows if not _is_comment(line, layout)), dtype=np.int64)


def _is_comment(line: str, layout: Layout) -> bool:
    """Whether a line begins as a comment does and does not have the columns of a row."""
    if not line.lstrip().startswith(COMMENT):
        return False
    return len(split_line(line, layout.delimiter, layout.quote, layout.escape)) != len(layout.names)
