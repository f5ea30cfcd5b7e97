"""Getting a data set: sources in order, checksums, and never an incomplete file under the final name.

pooch downloads and checks each file. The order of tries is our own: pooch repeats one address, here every source is
tried once before any is repeated. The reader of archives is our own too, because it rejects unsafe archives.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from repro.data.archive import extract_member
from repro.data.registry import Dataset, Source, data_folder
from repro.data.registry import dataset as named_dataset
from repro.errors import DataError

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes received and, where known, the number of bytes in total."""

TIMEOUT = 30.0
ROUNDS = 3
_BLOCK = 1 << 18


class ChecksumError(DataError):
    """A file has another checksum than expected: another try would not help."""


@dataclass(frozen=True)
class Fetched:
    """A data set on this machine: its file and its source."""

    dataset: Dataset
    path: Path
    source: Source

    @property
    def check(self) -> str:
        """A sentence about the checksum that was verified."""
        if self.source.checked:
            return f"checksum confirmed by {self.source.confirmed}"
        return "unchecked: no checksum of this source could be confirmed"


def get_dataset(name: str, progress: Progress | None = None, *, folder: Path | None = None) -> Fetched:
    """The named data set as a file on this machine, downloaded if it is not here yet."""
    return fetch(named_dataset(name), progress, folder=folder)


def fetch(
    dataset: Dataset, progress: Progress | None = None, *, folder: Path | None = None, pause: float = 1.0
) -> Fetched:
    """Get a data set from the first source that has it.

    Every source is tried once before any is repeated, after ``pause`` seconds and then twice that: a machine that can
    reach only the second source does not wait for the first.
    """
    if cached := dataset.cached(folder):
        return Fetched(dataset, *cached)
    home = (folder or data_folder()) / dataset.name
    failures: dict[str, DataError] = {}
    for attempt in range(ROUNDS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        for source in dataset.sources:
            if isinstance(failures.get(source.address), ChecksumError):
                continue
            try:
                return Fetched(dataset, fetch_source(source, home, progress), source)
            except DataError as error:
                failures[source.address] = error
    reasons = "\n".join(f"  {error}" for error in failures.values())
    problem = ChecksumError if all(isinstance(e, ChecksumError) for e in failures.values()) else DataError
    file_name = dataset.sources[0].file_name
    raise problem(
        f"could not download {dataset.name}:\n{reasons}\n"
        f"Or download it yourself ({dataset.home}) and save {file_name} as {home / file_name}"
    )


def fetch_source(source: Source, home: Path, progress: Progress | None = None) -> Path:
    """Get the file of one source into the folder ``home``.

    pooch downloads into a temporary folder inside of ``home`` and checks the checksum. The file moves to its name when
    it is complete, so two processes that fetch at once each move the same content there.
    """
    import pooch
    from requests import HTTPError, RequestException

    pooch.get_logger().setLevel("WARNING")  # it prints what `progress` shows
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=home) as work:
        try:
            file = pooch.retrieve(
                source.address,
                source.checksum or None,
                fname="downloaded",
                path=work,
                downloader=_downloader(source.address, progress),
                processor=partial(_extract, source) if source.member else None,
            )
        except HTTPError as error:
            assert error.response is not None
            status, reason = error.response.status_code, error.response.reason
            raise DataError(f"{source.address}: the server answered {status} {reason}") from None
        except (RequestException, OSError) as error:
            raise DataError(f"{source.address}: {error}") from None
        except ValueError as error:  # what pooch raises for a wrong checksum
            raise ChecksumError(f"{source.address}: {error}") from None
        return Path(file).replace(home / source.file_name)


def _downloader(address: str, progress: Progress | None) -> Callable[[str, str, object], None]:
    """The function that pooch calls with the address and the file to write."""
    if address.startswith("pip:"):
        return partial(_download_package, progress=progress)
    if address.startswith("file:"):
        return _copy_file
    import pooch

    # Files as the server has them: requests would unpack what is sent with gzip, and the checksum would differ.
    headers = {"User-Agent": "recsys-repro", "Accept-Encoding": "identity"}
    bar = _Bar(progress) if progress else None
    downloader: Callable[[str, str, object], None] = pooch.HTTPDownloader(
        progressbar=bar, chunk_size=_BLOCK, timeout=TIMEOUT, headers=headers
    )
    return downloader


def _extract(source: Source, archive: str, action: str, pooch: object) -> str:
    """A processor of pooch: one file out of the archive that arrived, extracted with the strict reader and checked."""
    from pooch.hashes import hash_matches

    file = Path(archive).with_name("member")
    extract_member(Path(archive), source.member, file, label=source.address)
    hash_matches(file, source.member_checksum or None, strict=True, source=source.member)
    return str(file)


class _Bar:
    """A progress bar in the sense of pooch, which counts in blocks, and at the end sets the count to the total."""

    def __init__(self, progress: Progress) -> None:
        self.total = 0
        self._done = 0
        self._progress = progress

    def update(self, size: int) -> None:
        self._done = min(self._done + size, self.total) if self.total else self._done + size
        self._progress(self._done, self.total or None)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass


def _copy_file(address: str, target: str, pooch: object) -> None:
    from urllib.request import url2pathname

    shutil.copyfile(url2pathname(urlsplit(address).path), target)


def _download_package(address: str, target: str, pooch: object, *, progress: Progress | None = None) -> None:
    """The wheel of a package, through pip: it knows the machine's package index and its certificates."""
    requirement = address.removeprefix("pip:")
    with tempfile.TemporaryDirectory(dir=Path(target).parent) as folder:
        options = ["--no-deps", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--dest", folder]
        command = [sys.executable, "-m", "pip", "download", *options, requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            reason = (done.stderr.strip().splitlines() or ["it gave no wheel"])[-1]
            raise DataError(f"pip download {requirement}: {reason}")
        shutil.move(wheels[0], target)
    if progress:
        size = Path(target).stat().st_size
        progress(size, size)
