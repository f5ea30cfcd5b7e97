"""The tables in a file: LaTeX, Markdown, CSV, or an archive of LaTeX sources such as those of arXiv."""

from __future__ import annotations

import csv
import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from repro.errors import StudyError
from repro.replications.drafts.latex import latex_tables, lines_of_table
from repro.replications.drafts.macros import Macro, defined_macros
from repro.replications.drafts.raw import RawTable

_LATEX = (".tex", ".ltx", ".latex", ".sty", ".cls")
_MOST_BYTES = 200_000_000
_MARKDOWN = re.compile(r"^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*$")


def printed_tables(path: str | Path) -> list[RawTable]:
    """All tables in a file, in order."""
    path = Path(path)
    try:
        content = path.read_bytes()
        files = _files(path, content)
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise StudyError(f"cannot read the table {path}: {getattr(error, 'strerror', None) or error}") from None
    if files is not None:
        texts = {name: _decoded(text) for name, text in files.items()}
        macros: dict[str, Macro] = {}
        for text in texts.values():
            macros |= defined_macros(text)
        tables = [table for name, text in texts.items() for table in latex_tables(text, name, macros)]
    else:
        tables = list(_of_text(path, _decoded(content)))
    if not tables:
        raise StudyError(f"{path} has no table; expected a tabular in LaTeX, a table in Markdown, or CSV")
    return tables


def _files(path: Path, content: bytes) -> dict[str, bytes] | None:
    """The LaTeX sources of an archive by name; None if the file is no archive."""
    if content[:2] == b"\x1f\x8b":
        with gzip.open(io.BytesIO(content)) as unpacked:
            content = unpacked.read(_MOST_BYTES)
        if content[257:262] != b"ustar":
            return {path.name: content}
    if content[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = [member for member in archive if member.isfile() and _is_latex(member.name)]
            _refuse_large(path, sum(member.size for member in members))
            return {member.name: stream.read() for member in members if (stream := archive.extractfile(member))}
    if content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = [info for info in archive.infolist() if _is_latex(info.filename)]
            _refuse_large(path, sum(info.file_size for info in infos))
            return {info.filename: archive.read(info) for info in infos}
    return None


def _is_latex(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _LATEX


def _refuse_large(path: Path, size: int) -> None:
    if size > _MOST_BYTES:
        raise StudyError(f"{path} unpacks to {size:,} bytes of LaTeX, more than {_MOST_BYTES:,}; give the file itself")


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _of_text(path: Path, text: str) -> Iterator[RawTable]:
    if path.suffix.lower() in _LATEX or "\\begin{" in text or "\\\\" in text:
        tables = [*latex_tables(text, path.name), *_markdown(path.name, text)]
        yield from tables or [lines_of_table(text, path.name)]
    elif tables := list(_markdown(path.name, text)):
        yield from tables
    else:
        yield RawTable(_csv_rows(text), "", path.name)


def _markdown(name: str, text: str) -> Iterator[RawTable]:
    """The tables of a Markdown file: a header, a line of dashes, and rows with bars between cells."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not number or not _MARKDOWN.match(line) or "|" not in lines[number - 1]:
            continue
        last = number + 1
        while last < len(lines) and "|" in lines[last]:
            last += 1
        rows = [_bars(row) for row in (lines[number - 1], *lines[number + 1 : last])]
        caption = next((above.strip(" #*") for above in reversed(lines[: number - 1]) if above.strip()), "")
        yield RawTable(rows, caption, f"{name}:{number}")


def _bars(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [re.sub(r"[*_`]{1,3}(.+?)[*_`]{1,3}", r"\1", cell.strip()).replace("\\|", "|") for cell in cells]


def _csv_rows(text: str) -> list[list[str]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    counts = {delimiter: first.count(delimiter) for delimiter in ("\t", ";", ",")}
    delimiter = max(counts, key=counts.__getitem__)
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    return [cells for row in rows if any(cells := [cell.strip().strip("*_") for cell in row])]
