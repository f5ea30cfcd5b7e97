"""The registry of named data sets, read from a file: a data set is data, not code."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from repro.current import current
from repro.errors import DataError, nearest

SYNTHETIC = "synthetic"


@dataclass(frozen=True)
class Source:
    """One place from which a data set can be downloaded, and how its file is checked and read."""

    address: str
    checksum: str = ""
    confirmed: str = ""
    member: str = ""
    member_checksum: str = ""
    reader: Mapping[str, Any] = field(default_factory=dict)
    features: str = ""
    feature_columns: Sequence[str] = ()

    @property
    def file_name(self) -> str:
        """The name of the file of interactions on this machine."""
        return PurePosixPath(self.member or urlsplit(self.address).path).name

    @property
    def checked(self) -> bool:
        """Whether a confirmed checksum of the file is known."""
        return bool(self.checksum or self.member_checksum)


@dataclass(frozen=True)
class Dataset:
    """A named data set; see ``datasets.toml`` for what each field means."""

    name: str
    title: str
    home: str
    terms: str
    citation: str
    sources: tuple[Source, ...]
    rows: int | None = None
    digest: str | None = None

    def cached(self, folder: Path | None = None) -> tuple[Path, Source] | None:
        """The file of this data set on this machine and its source; None where it was not downloaded yet."""
        for source in self.sources:
            path = (folder or data_folder()) / self.name / source.file_name
            if path.is_file():
                return path, source
        return None


def datasets() -> Mapping[str, Dataset]:
    """Every named data set, by name: those of the suite, and those of plug-ins."""
    known: Mapping[str, Dataset] = current().datasets
    return known


def own_datasets() -> dict[str, Dataset]:
    """The data sets of the suite, by name."""
    return parse_registry((files("repro.data") / "datasets.toml").read_text(encoding="utf-8"))


def parse_registry(text: str) -> dict[str, Dataset]:
    """The data sets written in a registry file."""
    return {
        name: Dataset(name, **{**table, "sources": tuple(Source(**source) for source in table["sources"])})
        for name, table in tomllib.loads(text).items()
    }


def dataset(name: str) -> Dataset:
    """The data set of that name."""
    if name == SYNTHETIC:
        raise DataError(f"{SYNTHETIC} data is generated, not downloaded; use it by its name, there is nothing to get")
    try:
        return datasets()[name]
    except KeyError:
        known = [*datasets(), SYNTHETIC]
        raise DataError(
            f"there is no data set and no file '{name}'{nearest(name, known)} `repro data list` shows the names"
        ) from None


def data_folder() -> Path:
    """The folder of data sets: ``REPRO_DATA``, or one in the user's cache."""
    stated = os.environ.get("REPRO_DATA")
    if stated:
        return Path(stated).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("repro") / "data"
