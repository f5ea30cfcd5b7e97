"""The bytes of a file, whatever it is compressed with."""

from __future__ import annotations

import contextlib
import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from repro.data.archive import SIZE_LIMIT
from repro.errors import DataError

_ZIP = b"PK\x03\x04"
# What Arrow unpacks by the suffix.
_BY_SUFFIX = (".gz", ".bz2", ".zst", ".lz4", ".br")
_BLOCK = 1 << 20


@contextlib.contextmanager
def open_stream(path: Path) -> Iterator[Any]:
    """What is in a file: through gzip or bzip2, by its suffix or first bytes, or the one file of a zip archive."""
    with path.open("rb") as start:
        magic = start.read(4)
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
            yield pa.PythonFile(_Bounded(stream, path), mode="r") if compressed else stream


def read_all(stream: Any) -> bytes:
    """All that is left in a stream; one that is unpacked does not know how much that is."""
    parts = []
    while part := bytes(stream.read(_BLOCK)):
        parts.append(part)
    return b"".join(parts)


class _Bounded(io.RawIOBase):
    """What comes out of a compressed file, up to the size that is unpacked at most: a few bytes may become many."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._stream, self._path, self._size = stream, path, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        # Everything at once is asked for in parts: what is too much is not to be unpacked first.
        parts, left = [], size if size >= 0 else SIZE_LIMIT + 1
        while left > 0 and (part := self._stream.read(min(left, _BLOCK))):
            parts.append(part)
            left -= len(part)
            self._size += len(part)
            if self._size > SIZE_LIMIT:
                raise DataError(f"{self._path} is refused: it unpacks to more than {SIZE_LIMIT / 2**30:,.3g} GiB")
        return b"".join(parts)


def inner_name(path: Path) -> str:
    """The name of what is in a compressed file: without the suffix of the compression, or that in a zip archive."""
    with path.open("rb") as start:
        zipped = start.read(4) == _ZIP
    if zipped:
        with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            return only_member(archive, path)
    return path.stem if path.suffix.lower() in (".gz", ".bz2") else path.name


def only_member(archive: zipfile.ZipFile, path: Path) -> str:
    """The one file in a zip archive; what a Mac adds to it does not count."""
    files = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        names = ", ".join(info.filename for info in files[:5])
        raise DataError(
            f"{path} holds {len(files)} files ({names}), and one was expected; unpack the one that is meant"
        )
    if files[0].file_size > SIZE_LIMIT:
        raise DataError(f"{path} is refused: it unpacks to more than {SIZE_LIMIT / 2**30:,.3g} GiB")
    return files[0].filename
