"""The journal of a run: append-only and hash-chained; a crash leaves it valid up to its last event."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from repro.errors import JournalError
from repro.runs.journal.events import CellFailed, CellFinished, FoldMade, Line

FIRST = "0" * 64
PACKED = ".gz"  # a journal that is kept may be compressed: ``journal.jsonl.gz``
_MOST_BYTES = 2**30  # of a journal that is unpacked
# The events that end a run or an audit. Later events are about files made from it.
ENDS = ("run.finished", "audit.finished")

Observe = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Contents:
    """The lines of a journal; the last ``torn`` bytes of the file are the start of an incomplete line."""

    lines: tuple[Line, ...]
    torn: int = 0

    @property
    def last_hash(self) -> str:
        return self.lines[-1].hash if self.lines else FIRST

    @property
    def end(self) -> Line:
        """The line that ends the run; reports and exports of the run may add lines after it."""
        for line in reversed(self.lines):
            if line.event.event in ENDS:
                return line
        raise JournalError("the journal has no event run.finished; finish the run with `repro run --resume`")

    def events(self, kind: str) -> list[Any]:
        """The events of one kind, in order."""
        return [line.event for line in self.lines if line.event.event == kind]

    @cached_property
    def folds(self) -> dict[str, FoldMade]:
        """The folds by name, in the order in which they were made."""
        return {event.fold: event for event in self.events("fold.made")}

    @cached_property
    def cell_ends(self) -> dict[str, Line]:
        """The last line about the end of each cell that was not dropped: it finished, or it failed."""
        ends = {line.event.cell: line for line in self.lines if isinstance(line.event, CellFinished | CellFailed)}
        return {cell: line for cell, line in ends.items() if cell.rpartition("/")[0] not in self.dropped}

    @cached_property
    def dropped(self) -> dict[str, str]:
        """The labels of the algorithms that the run goes on without, with the reason."""
        events = self.events("algorithms.dropped")
        return dict(events[-1].labels) if events else {}

    @cached_property
    def finished_cells(self) -> dict[str, CellFinished]:
        """The cells that have values; a cell that failed when it was run again has none."""
        ends = {cell: line.event for cell, line in self.cell_ends.items()}
        return {cell: event for cell, event in ends.items() if isinstance(event, CellFinished)}


class Journal:
    """Writes a journal: every line is on disk before the run continues."""

    def __init__(self, path: Path, contents: Contents | None = None, observe: Observe | None = None) -> None:
        """A new journal at ``path`` or, with its ``contents``, one to continue: an incomplete last line is removed.

        ``observe`` is called with each line after it is written.
        """
        existing = contents or Contents(())
        self.path = path
        self._observe = observe
        self._number = len(existing.lines)
        self._previous = existing.last_hash
        try:
            if contents is not None and not path.is_file():
                _unpack(path)
            # Without a buffer, so that a failed write is not repeated later.
            self._file = path.open("xb" if contents is None else "r+b", buffering=0)
            self._file.truncate(self._file.seek(-existing.torn, os.SEEK_END))
        except FileExistsError:
            raise
        except OSError as error:
            raise self._unwritten(error) from None

    def write(self, event: BaseModel) -> str:
        """Append ``event``; returns its hash."""
        body = {
            "number": self._number + 1,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "previous": self._previous,
            "event": event.model_dump(mode="json"),
        }
        body["hash"] = line_hash(body)
        self._append(canonical_json(body) + b"\n")
        self._number, self._previous = self._number + 1, str(body["hash"])
        if self._observe:
            self._observe(body)
        return self._previous

    def _append(self, line: bytes) -> None:
        """Write a complete line to disk, or nothing."""
        start = self._file.tell()
        try:
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):  # an incomplete line is recognised as such
                self._file.truncate(self._file.seek(start))
            raise self._unwritten(error) from None

    def _unwritten(self, error: OSError) -> JournalError:
        return JournalError(
            f"the journal {self.path} cannot be written: {error.strerror or error}; what is in it is kept: "
            "fix the problem and run again with --resume"
        )

    def close(self) -> None:
        self._file.close()


def canonical_json(value: object) -> bytes:
    """JSON with sorted keys and no spaces; NaN is an error, because JSON has none."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def line_hash(body: dict[str, Any]) -> str:
    """The hash of a line, from all its other fields."""
    return hashlib.sha256(canonical_json({k: v for k, v in body.items() if k != "hash"})).hexdigest()


def has_journal(path: Path) -> bool:
    """Whether there is a journal at ``path``, plain or compressed."""
    return path.is_file() or packed_journal(path).is_file()


def packed_journal(path: Path) -> Path:
    """The path of the journal at ``path`` if it is compressed."""
    return path.with_name(path.name + PACKED)


def journal_bytes(path: Path) -> bytes:
    """The journal at ``path`` byte by byte; where there is none, that of ``gzip journal.jsonl``."""
    packed = packed_journal(path)
    try:
        if path.is_file() or not packed.is_file():
            return path.read_bytes()
        with gzip.open(packed) as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        what = getattr(error, "strerror", None) or error
        raise JournalError(f"cannot read the journal {path}: {what}") from None
    if len(content) > _MOST_BYTES:
        raise JournalError(f"cannot read the journal {packed}: it has more than {_MOST_BYTES:,} bytes; unpack it first")
    return content


def _unpack(path: Path) -> None:
    """Write a compressed journal as a plain one, which can be continued."""
    content, part = journal_bytes(path), path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
    packed_journal(path).unlink()


def read_journal(path: Path) -> Contents:
    """The lines of the journal at ``path``, plain or compressed, each checked against its schema and the chain.

    An incomplete last line, as a killed run leaves it, is not part of the journal. Any other fault is a JournalError
    that names the line.
    """
    whole, newline, torn = journal_bytes(path).rpartition(b"\n")
    lines: list[Line] = []
    previous = FIRST
    for number, text in enumerate(whole.split(b"\n") if newline else [], 1):
        line = _read_line(text, f"{path}, line {number}")
        if line.number != number or line.previous != previous:
            raise JournalError(
                f"{path}, line {number}: the chain is broken: the line says it is number {line.number} after "
                f"{line.previous[:12]}, but {previous[:12]} comes before it; a line was removed, added or moved"
            )
        lines.append(line)
        previous = line.hash
    return Contents(tuple(lines), len(torn))


def _read_line(text: bytes, label: str) -> Line:
    try:
        body = json.loads(text)
        line = Line.model_validate(body)
        hashed, written = line_hash(body), canonical_json(body)  # no line has NaN, or half a character
    except (ValueError, RecursionError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise JournalError(f"{label} is not a journal line ({first}); the journal was edited or damaged") from None
    if hashed != line.hash:
        raise JournalError(f"{label}: the hash does not fit its content; the line was edited or damaged")
    if written != text:  # 1e5 and 1E5 are the same number, and not the same line
        raise JournalError(f"{label} is not written as a journal writes it; the line was edited or damaged")
    return line
