"""Getting a data set: sources in order, checksums, and never half a file under a finished name."""

from __future__ import annotations

import hashlib
import http.client
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from repro.data.archive import extract_member
from repro.data.registry import Dataset, Source, data_folder, dataset
from repro.errors import DataError

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and, where known, the bytes to come in all."""

TIMEOUT = 30.0
ROUNDS = 3
_BLOCK = 1 << 18


class ChecksumError(DataError):
    """What arrived is not what was promised: another try would not help."""


@dataclass(frozen=True)
class Fetched:
    """A data set that is on this machine: its file and the source it is from."""

    dataset: Dataset
    path: Path
    source: Source

    @property
    def check(self) -> str:
        """What was checked when it arrived, as a sentence."""
        if self.source.checked:
            return f"checksum confirmed by {self.source.confirmed}"
        return "unchecked: no checksum of this source could be confirmed"


def get_dataset(name: str, progress: Progress | None = None, *, folder: Path | None = None) -> Fetched:
    """The named data set as a file on this machine, downloaded if it is not here yet."""
    return fetch(dataset(name), progress, folder=folder)


def fetch(
    wanted: Dataset, progress: Progress | None = None, *, folder: Path | None = None, pause: float = 1.0
) -> Fetched:
    """Get ``wanted`` from the first source that gives it.

    Each source is tried once before any is tried again, ``pause`` seconds later and then twice that: a machine
    that reaches only the second does not wait for the first.
    """
    here = wanted.cached(folder)
    if here:
        return Fetched(wanted, *here)
    home = (folder or data_folder()) / wanted.name
    failures: dict[str, DataError] = {}
    for round_ in range(ROUNDS):
        if round_:
            time.sleep(pause * 2 ** (round_ - 1))
        for source in wanted.sources:
            if isinstance(failures.get(source.address), ChecksumError):
                continue
            try:
                return Fetched(wanted, fetch_source(source, home, progress), source)
            except DataError as error:
                failures[source.address] = error
    reasons = "\n".join(f"  {error}" for error in failures.values())
    problem = ChecksumError if all(isinstance(e, ChecksumError) for e in failures.values()) else DataError
    raise problem(
        f"{wanted.name} could not be had:\n{reasons}\n"
        f"Or get it by hand ({wanted.home}) and save {wanted.sources[0].file_name} as "
        f"{home / wanted.sources[0].file_name}"
    )


def fetch_source(source: Source, home: Path, progress: Progress | None = None) -> Path:
    """Get the file of one source into the folder ``home``.

    All work happens in a temporary folder beside it; the file moves to its name when it is whole and checked,
    so two processes that fetch at once each move the same content there.
    """
    home.mkdir(parents=True, exist_ok=True)
    final = home / source.file_name
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=home) as work:
        arrived = Path(work) / "arrived"
        if source.address.startswith("pip:"):
            _download_package(source.address.removeprefix("pip:"), arrived, progress)
        else:
            _download(source.address, arrived, progress)
        verify(arrived, source.checksum, source.address)
        file = arrived
        if source.member:
            file = Path(work) / "member"
            extract_member(arrived, source.member, file, label=source.address)
            verify(file, source.member_checksum, f"{source.member} of {source.address}")
        file.replace(final)
    return final


def verify(file: Path, checksum: str, label: str) -> None:
    """Hold ``file`` against ``algorithm:value``; one that differs is removed."""
    if not checksum:
        return
    algorithm, _, expected = checksum.partition(":")
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, algorithm).hexdigest()
    if found != expected:
        file.unlink()
        raise ChecksumError(
            f"{label}: its {algorithm} is {found}, expected {expected}; it was changed or damaged on its way, "
            "and has been removed"
        )


def _download(address: str, target: Path, progress: Progress | None) -> None:
    request = urllib.request.Request(address, headers={"User-Agent": "recsys-repro"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer, target.open("wb") as out:
            length = answer.headers.get("Content-Length")
            total = int(length) if length else None
            done = 0
            while block := answer.read(_BLOCK):
                out.write(block)
                done += len(block)
                if progress:
                    progress(done, total)
    except urllib.error.HTTPError as error:
        raise DataError(f"{address}: the server answered {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise DataError(f"{address}: {reason}") from None
    if total is not None and done != total:
        raise DataError(f"{address}: the connection ended after {done:,} of {total:,} bytes")


def _download_package(requirement: str, target: Path, progress: Progress | None) -> None:
    """The wheel of a package, through pip: it knows the machine's package index and its certificates."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        options = ["--no-deps", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--dest", folder]
        command = [sys.executable, "-m", "pip", "download", *options, requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            reason = (done.stderr.strip().splitlines() or ["it gave no wheel"])[-1]
            raise DataError(f"pip download {requirement}: {reason}")
        shutil.move(wheels[0], target)
    size = target.stat().st_size
    if progress:
        progress(size, size)
