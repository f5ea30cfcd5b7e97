"""The run folder: complete files only, artefacts named by their content, one writer at a time."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from repro.data.spreadsheet import cell_of
from repro.errors import JournalError, StudyError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from repro.runs.journal import Contents

JOURNAL = "journal.jsonl"
ARTIFACTS = "artifacts"
LOCK = ".lock"


class RunFolder:
    """A run folder on disk; see the layout in the README."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.journal = path / JOURNAL
        self.artifacts = path / ARTIFACTS

    def create(self, *, replace: bool = False) -> None:
        """Make the folder; with ``replace``, an existing run is deleted. A folder with other files is an error."""
        from repro.runs.journal import has_journal

        try:
            if replace and has_journal(self.journal):
                with self.locked():
                    shutil.rmtree(self.path)
            if self.path.exists() and not self._is_bare():
                raise StudyError(f"{self.path} is not empty and not a run; choose another folder with --into")
            self.artifacts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(f"cannot make the run folder {self.path}: {error.strerror or error}") from None

    def _is_bare(self) -> bool:
        """Whether the folder has nothing but what a run killed before its first event leaves."""
        return self.path.is_dir() and all(
            path.name == LOCK or (path == self.artifacts and not any(path.iterdir())) for path in self.path.iterdir()
        )

    @contextlib.contextmanager
    def locked(self, *, leave: bool = True) -> Iterator[None]:
        """Lock the folder: a second run into it is rejected, and a killed run releases its lock.

        The lock file stays for the next run; without ``leave`` it is removed, for folders with files of people.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / LOCK, mode=0o644)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise StudyError(
                f"another run is writing to {self.path}; wait for it, or choose another folder with --into"
            ) from None
        except OSError as error:
            raise StudyError(f"cannot write to the run folder {self.path}: {error.strerror or error}") from None
        try:
            yield
            if not leave:
                (self.path / LOCK).unlink(missing_ok=True)
        finally:
            lock.release()

    def write(self, name: str, content: bytes) -> str:
        """Write a file of the folder, completely or not at all; returns its SHA-256."""
        target = self.place(name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(target, content)
        except OSError as error:
            raise StudyError(
                f"{target} cannot be written: {error.strerror or error}; finished cells are kept: "
                "fix the problem and run again with --resume"
            ) from None
        return sha256(content)

    def store(self, content: bytes) -> str:
        """Store a Parquet artefact under its own SHA-256."""
        digest = sha256(content)
        if not self.has(digest):
            self.write(f"artifacts/{digest}.parquet", content)
        return digest

    def discard_strays(self, contents: Contents) -> None:
        """Remove what a killed run leaves: incomplete files, and artefacts that no event names."""
        named = {digest for line in contents.lines for digest in getattr(line.event, "artifacts", {}).values()}
        for path in [*self.path.glob(".*.part"), *self.path.glob("*/.*.part"), *self.artifacts.glob("*.parquet")]:
            if path.suffix == ".part" or path.stem not in named:
                path.unlink()

    def place(self, name: str) -> Path:
        """The path of a file of the folder. A name that leads out of it is rejected, and so is a symbolic link: no file
        outside a folder that someone else made is read by its name there."""
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name:
            raise JournalError(f"{name!r} does not name a file in {self.path}: it leads out of that folder")
        path = self.path
        for part in parts:
            path = path / part
            if path.is_symlink():
                raise JournalError(
                    f"{path} is a symbolic link, and may lead out of {self.path}; put the file itself there"
                )
        return path

    def artifact(self, digest: str) -> Path:
        """The path of an artefact, by its digest."""
        return self.place(f"artifacts/{digest}.parquet")

    def has(self, digest: str) -> bool:
        """Whether the artefact exists, with the content of that digest."""
        return self.holds(f"artifacts/{digest}.parquet", digest)

    def holds(self, name: str, digest: str) -> bool:
        """Whether the file exists, with that content."""
        path = self.place(name)
        return path.is_file() and file_digest(path) == digest


def _write_whole(target: Path, content: bytes) -> None:
    """Write a temporary file, and rename it when all of it is on disk."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as Parquet: the same table gives the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(None), sink, compression="zstd", store_schema=False)
    return bytes(sink.getvalue())


def frame_parquet(frame: pd.DataFrame) -> bytes:
    """A data frame as Parquet, with its types."""
    sink = io.BytesIO()
    frame.to_parquet(sink, index=False, compression="zstd")
    return sink.getvalue()


def csv_bytes(table: pa.Table) -> bytes:
    """A table as CSV: the same table gives the same bytes. Spreadsheets do not take text in it for a formula."""
    import pyarrow as pa
    import pyarrow.csv as pacsv

    for position, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(position).type):
            cells = [None if text is None else cell_of(text) for text in table.column(position).to_pylist()]
            table = table.set_column(position, name, pa.array(cells, pa.string()))
    table = table.rename_columns([cell_of(name) for name in table.column_names])
    sink = pa.BufferOutputStream()
    pacsv.write_csv(table, sink)
    return bytes(sink.getvalue())
