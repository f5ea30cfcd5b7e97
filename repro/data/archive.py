"""One file out of an archive that is not trusted."""

from __future__ import annotations

import bz2
import gzip
import io
import shutil
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from repro.errors import DataError

# More than any data set of the registry unpacks to; far less than an archive made to fill a disk.
SIZE_LIMIT = 16 * 2**30
_BLOCK = 1 << 20


class BoundedStream(io.RawIOBase):
    """A decompressed stream that raises an error beyond ``limit`` bytes: a few bytes may stand for very many."""

    def __init__(self, stream: Any, limit: int, label: object) -> None:
        self._stream, self._limit, self._label, self._size = stream, limit, label, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        # In blocks, even where everything is requested, so that too large a content is never decompressed at once.
        parts, left = [], size if size >= 0 else self._limit + 1
        while left > 0 and (part := self._stream.read(min(left, _BLOCK))):
            parts.append(part)
            left -= len(part)
            self._size += len(part)
            refuse_large(self._size, self._limit, self._label)
        return b"".join(parts)


def refuse_large(size: int, limit: int, label: object) -> None:
    """Reject content of more than ``limit`` bytes."""
    if size > limit:
        raise DataError(f"{label} is refused: it unpacks to more than {limit / 2**30:,.3g} GiB")


def extract_member(archive: Path, member: str, target: Path, *, limit: int = SIZE_LIMIT, label: str = "") -> None:
    """Write the file ``member`` of ``archive`` (zip, wheel, tar, gz or bz2) to ``target``.

    An archive with any member that is a link or device, or whose path is absolute or climbs out of its folder,
    is refused as a whole, and so is one that unpacks to more than ``limit`` bytes.
    """
    label = label or str(archive)
    try:
        if zipfile.is_zipfile(archive):
            extracted = _from_zip(archive, member, target, limit, label)
        elif tarfile.is_tarfile(archive):
            extracted = _from_tar(archive, member, target, limit, label)
        else:
            extracted = _from_single(archive, target, limit, label)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"{label} cannot be unpacked ({error}); it may be cut short: get it again") from None
    if not extracted:
        raise DataError(f"{label} has no file {member} in it")


def _from_zip(archive: Path, member: str, target: Path, limit: int, label: str) -> bool:
    with zipfile.ZipFile(archive) as bundle:
        total = 0
        for info in bundle.infolist():
            _refuse_unsafe(info.filename, stat.S_ISLNK(info.external_attr >> 16), label)
            total += info.file_size
            refuse_large(total, limit, label)
        if member not in bundle.namelist():
            return False
        with bundle.open(member) as stream:
            _copy(stream, target, limit, label)
    return True


def _from_tar(archive: Path, member: str, target: Path, limit: int, label: str) -> bool:
    extracted, total = False, 0
    with tarfile.open(archive, "r|*") as bundle:  # as a stream: one pass over what may be gigabytes
        for info in bundle:
            _refuse_unsafe(info.name, not (info.isreg() or info.isdir()), label)
            total += info.size
            refuse_large(total, limit, label)
            if PurePosixPath(info.name) == PurePosixPath(member):
                stream = bundle.extractfile(info)
                if stream is not None:
                    _copy(stream, target, limit, label)
                    extracted = True
    return extracted


def _from_single(archive: Path, target: Path, limit: int, label: str) -> bool:
    with archive.open("rb") as start:
        magic = start.read(3)
    if magic != b"BZh" and magic[:2] != b"\x1f\x8b":
        raise DataError(f"{label} is not a zip, tar, gzip or bzip2 file; the address may have moved")
    with bz2.open(archive) if magic == b"BZh" else gzip.open(archive) as stream:
        _copy(stream, target, limit, label)
    return True


def _refuse_unsafe(name: str, link: bool, label: str) -> None:
    parts = [*PurePosixPath(name).parts, *PureWindowsPath(name).parts]
    absolute = name.startswith(("/", "\\")) or bool(PureWindowsPath(name).drive)
    if ".." in parts or absolute:
        raise DataError(f"{label} is refused: its member {name!r} would be written outside its folder")
    if link:
        raise DataError(f"{label} is refused: its member {name!r} is a link or device, not a file")


def _copy(stream: Any, target: Path, limit: int, label: str) -> None:
    with target.open("wb") as out:
        shutil.copyfileobj(BoundedStream(stream, limit, label), out, _BLOCK)  # a header may understate what follows
