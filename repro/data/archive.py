"""One file out of an archive that is not trusted."""

from __future__ import annotations

import bz2
import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from repro.errors import DataError

# More than any data set of the registry unpacks to; far less than an archive made to fill a disk.
SIZE_LIMIT = 16 * 2**30
_BLOCK = 1 << 20


def extract_member(archive: Path, member: str, target: Path, *, limit: int = SIZE_LIMIT, label: str = "") -> None:
    """Write the file ``member`` of ``archive`` (zip, wheel, tar, gz or bz2) to ``target``.

    An archive with any member that is a link or device, or whose path is absolute or climbs out of its folder,
    is refused as a whole, and so is one that unpacks to more than ``limit`` bytes.
    """
    label = label or str(archive)
    try:
        if zipfile.is_zipfile(archive):
            found = _from_zip(archive, member, target, limit, label)
        elif tarfile.is_tarfile(archive):
            found = _from_tar(archive, member, target, limit, label)
        else:
            found = _from_single(archive, target, limit, label)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"{label} cannot be unpacked ({error}); it may be cut short: get it again") from None
    if not found:
        raise DataError(f"{label} has no file {member} in it")


def _from_zip(archive: Path, member: str, target: Path, limit: int, label: str) -> bool:
    with zipfile.ZipFile(archive) as bundle:
        total = 0
        for info in bundle.infolist():
            link = stat.S_ISLNK(info.external_attr >> 16)
            _refuse_unsafe(info.filename, link, label)
            total += info.file_size
            _refuse_large(total, limit, label)
        if member not in bundle.namelist():
            return False
        with bundle.open(member) as stream:
            _copy(stream, target, limit, label)
    return True


def _from_tar(archive: Path, member: str, target: Path, limit: int, label: str) -> bool:
    found, total = False, 0
    with tarfile.open(archive, "r|*") as bundle:  # as a stream: one pass over what may be gigabytes
        for info in bundle:
            _refuse_unsafe(info.name, not (info.isreg() or info.isdir()), label)
            total += info.size
            _refuse_large(total, limit, label)
            if PurePosixPath(info.name) == PurePosixPath(member):
                stream = bundle.extractfile(info)
                if stream is not None:
                    _copy(stream, target, limit, label)
                    found = True
    return found


def _from_single(archive: Path, target: Path, limit: int, label: str) -> bool:
    with archive.open("rb") as start:
        magic = start.read(3)
    if magic[:2] == b"\x1f\x8b":
        with gzip.open(archive) as stream:
            _copy(stream, target, limit, label)
    elif magic == b"BZh":
        with bz2.open(archive) as stream:
            _copy(stream, target, limit, label)
    else:
        raise DataError(f"{label} is not a zip, tar, gzip or bzip2 file; the address may have moved")
    return True


def _refuse_unsafe(name: str, link: bool, label: str) -> None:
    parts = [*PurePosixPath(name).parts, *PureWindowsPath(name).parts]
    absolute = name.startswith(("/", "\\")) or bool(PureWindowsPath(name).drive)
    if ".." in parts or absolute:
        raise DataError(f"{label} is refused: its member {name!r} would be written outside its folder")
    if link:
        raise DataError(f"{label} is refused: its member {name!r} is a link or device, not a file")


def _refuse_large(size: int, limit: int, label: str) -> None:
    if size > limit:
        raise DataError(f"{label} is refused: it unpacks to more than {limit / 2**30:,.3g} GiB")


def _copy(stream: IO[bytes] | gzip.GzipFile, target: Path, limit: int, label: str) -> None:
    size = 0
    with target.open("wb") as out:
        for block in _blocks(stream):
            size += len(block)
            _refuse_large(size, limit, label)  # a header may understate what follows
            out.write(block)


def _blocks(stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while block := stream.read(_BLOCK):
        yield block
