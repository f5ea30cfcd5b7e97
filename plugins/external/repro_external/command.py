"""Any program: it is given the training rows in a file, and what it writes are its scores, predictions or lists."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from repro.data.interactions import FloatArray, IdArray, Interactions
from repro.errors import DataError, PluginError
from repro_external.formats import parsed_columns, read_output
from repro_external.systems import Gives, Predicts, System

LAST_LINES = 12
_REMEMBERED = 1 << 14
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1
_PLACEHOLDER = re.compile(r"\{(train|users|items|pairs|output|seed|here)\}")


def make_command(command: str, format: str, columns: str, gives: Gives, time_limit: float) -> Command:
    return (PredictingCommand if gives == "predictions" else Command)(command, format, columns, gives, time_limit)


class Command(System):
    """A program and its arguments, run without a shell in a folder of its own, once for each fold.

    {train}   file with a line for each training row: user, item, rating and, where there is one, timestamp, with tabs
    {users}   file with all users of the data set, one on each line; {items} likewise
    {pairs}   file with every user and item, with a tab
    {output}  file to write to; without it, standard output is read
    {seed}    a number from 0 to 2147483647
    {here}    the folder in which repro was started
    """

    def __init__(self, command: str, format: str, columns: str, gives: Gives, time_limit: float) -> None:
        super().__init__(gives)
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise PluginError(f"command = {command!r} cannot be split into arguments: {error}") from None
        if not self._words:
            raise PluginError('external/command needs a command, such as "recommend --train={train} --out={output}"')
        if time_limit < 0:
            raise PluginError(f"time_limit = {time_limit:g} must be 0 (no limit) or above")
        parsed_columns(columns)  # errors are reported before anything is fitted
        self._command, self._format, self._columns = command, format, columns
        self._limit = time_limit or None

    def fit(self, train: Interactions, *, seed: int) -> None:
        with tempfile.TemporaryDirectory(prefix="repro-command-") as name:
            folder = Path(name)
            named = set(_PLACEHOLDER.findall(" ".join(self._words)))
            values = {"seed": str(seed), "here": str(Path.cwd()), "output": str(folder / "output")}
            values |= _write_inputs(train, folder, named)
            words = [_PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in self._words]
            printed = folder / ("printed" if "output" in named else "output")
            self._run(words, folder, printed)
            self._read(folder / "output", train)

    def _run(self, words: list[str], folder: Path, printed: Path) -> None:
        errors = folder / "errors"
        with printed.open("wb") as out, errors.open("wb") as err:
            try:
                process = subprocess.Popen(
                    words,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                    preexec_fn=_end_with_parent,
                )
            except OSError as error:
                raise PluginError(
                    f"the command cannot be started: {words[0]}: {error.strerror}; it runs in a temporary folder; "
                    "{here} is the folder in which repro was started"
                ) from None
            try:
                status = process.wait(self._limit)
            except subprocess.TimeoutExpired:
                raise self._error(f"took longer than {self._limit:g} seconds and was stopped", errors) from None
            finally:  # also end the processes that it started
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if status < 0:
            raise self._error(f"was killed by signal {-status} ({signal.Signals(-status).name})", errors)
        if status:
            raise self._error(f"ended with status {status}", errors)
        self.notes["exit status"] = "0"
        if last_lines := _last_lines(errors):
            self.notes["standard error"] = last_lines

    def _read(self, output: Path, train: Interactions) -> None:
        where = "the output of the command"
        if not output.is_file():
            raise PluginError("the command succeeded and wrote no file {output}")
        if not output.stat().st_size:
            raise PluginError(f"{where} is empty; a row for each user and item was expected")
        try:
            table = read_output(output, self._format, self._columns, lists=self._gives == "lists")
            self.take(table, train, where)
        except DataError as error:
            raise PluginError(str(error).replace(str(output), where)) from None
        self.notes["output"] = f"SHA-256 {hashlib.sha256(output.read_bytes()).hexdigest()}"

    def _error(self, what: str, errors: Path) -> PluginError:
        last_lines = _last_lines(errors)
        lines = "".join(f"\n    {line}" for line in last_lines.splitlines())
        return PluginError(f"the command {what}: {self._command}" + (f"; its last lines:{lines}" if last_lines else ""))


class PredictingCommand(Predicts, Command):
    """A program that predicts on the rating scale."""


def _end_with_parent() -> None:
    """In the new process, before the command begins: have the kernel end it when the one that started it is killed."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _write_inputs(train: Interactions, folder: Path, named: set[str]) -> dict[str, str]:
    """Write the files that the command names; the path of each."""
    users, items = _plain(train.user_ids, "user"), _plain(train.item_ids, "item")
    times = [] if train.timestamps is None else [map(str, train.timestamps.tolist())]
    tables: dict[str, Iterable[Sequence[str]]] = {
        "train": zip(
            (users[code] for code in train.users),
            (items[code] for code in train.items),
            _short(train.ratings),
            *times,
            strict=True,
        ),
        "users": ([user] for user in users),
        "items": ([item] for item in items),
        "pairs": itertools.product(users, items),
    }
    files: dict[str, str] = {}
    for name in named & tables.keys():
        file = folder / f"{name}.tsv"
        with file.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines("\t".join(row) + "\n" for row in tables[name])
        files[name] = str(file)
    return files


def _plain(ids: IdArray, noun: str) -> list[str]:
    """The ids as text, if they can be written between tabs."""
    texts = [str(entry) for entry in ids]
    for text in texts:
        if re.search(r"[\t\r\n]", text):
            raise DataError(f"{noun} {text!r} cannot be written to a file with tabs between columns")
    return texts


def _short(ratings: FloatArray) -> Iterator[str]:
    """Ratings as text; whole numbers as such, 5 and not 5.0, which not all programs read."""
    whole = ratings.astype(np.int64)
    return map(str, (whole if (whole == ratings).all() else ratings).tolist())


def _last_lines(file: Path) -> str:
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _REMEMBERED))
        text = stream.read().decode(errors="replace")
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-LAST_LINES:])
