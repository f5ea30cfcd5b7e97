"""The bytes and lines of a file, whatever it is compressed with."""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from repro.data.archive import SIZE_LIMIT, BoundedStream, refuse_large
from repro.errors import DataError

_ZIP = b"PK\x03\x04"
_BY_SUFFIX = (".gz", ".bz2", ".zst", ".lz4", ".br")  # Arrow decompresses these by their suffix
COMPRESSED = (*_BY_SUFFIX, ".zip")
LONGEST_LINE = 64 << 20
_BLOCK = 1 << 20


def first_bytes(path: Path, size: int) -> bytes:
    """The first bytes of a file as it is stored."""
    with path.open("rb") as stream:
        return stream.read(size)


@contextlib.contextmanager
def open_stream(path: Path) -> Iterator[Any]:
    """The content of a file, decompressed by its suffix or first bytes; of a zip archive, its only file."""
    magic = first_bytes(path, 4)
    if magic == _ZIP:
        try:
            with zipfile.ZipFile(path) as archive, archive.open(only_member(archive, path)) as member:
                yield pa.PythonFile(member, mode="r")
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise DataError(f"cannot unpack {path} ({error}); if it is damaged or cut short, copy it again") from None
    else:
        compression = "gzip" if magic[:2] == b"\x1f\x8b" else "bz2" if magic[:3] == b"BZh" else "detect"
        with pa.input_stream(str(path), compression=compression) as stream:
            compressed = compression != "detect" or path.suffix.lower() in _BY_SUFFIX
            yield pa.PythonFile(BoundedStream(stream, SIZE_LIMIT, path), mode="r") if compressed else stream


def read_all(stream: Any) -> bytes:
    """The rest of a stream, whose size is unknown where it is decompressed."""
    return b"".join(iter(lambda: bytes(stream.read(_BLOCK)), b""))


def lines_of(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """The lines that are not empty, each with its number from 1."""
    with open_stream(path) as stream:
        pending, number = b"", 0
        while block := stream.read(_BLOCK):
            *lines, pending = (pending + block).split(b"\n")
            if len(pending) > LONGEST_LINE:
                raise DataError(
                    f"{path}: line {number + len(lines) + 1:,} has more than {LONGEST_LINE >> 20} MiB; a line for each "
                    "row was expected"
                )
            for line in lines:
                number += 1
                if line.rstrip(b"\r"):
                    yield number, _decoded(line, encoding)
        if pending.rstrip(b"\r"):
            yield number + 1, _decoded(pending, encoding)


def _decoded(line: bytes, encoding: str) -> str:
    return line.rstrip(b"\r").decode(encoding, errors="replace").lstrip("\ufeff")


def inner_name(path: Path) -> str:
    """The name of the content of a file: without the suffix of a compression; of a zip archive, its only file."""
    if first_bytes(path, 4) == _ZIP:
        with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            return only_member(archive, path)
    return path.stem if path.suffix.lower() in _BY_SUFFIX else path.name


def only_member(archive: zipfile.ZipFile, path: Path) -> str:
    """The name of the only file in a zip archive, not counting the folder that macOS adds."""
    files = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        names = ", ".join(info.filename for info in files[:5])
        raise DataError(f"{path} holds {len(files)} files ({names}), and one was expected; extract the file to read")
    refuse_large(files[0].file_size, SIZE_LIMIT, path)
    return files[0].filename
