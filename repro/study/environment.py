"""The software and the machine of a run, for the journal."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import distributions, version
from pathlib import Path
from typing import TYPE_CHECKING

from repro.extras import is_installed
from repro.plugin import plugins
from repro.runs.journal.base import Number
from repro.system import memory
from repro.version import __version__

if TYPE_CHECKING:
    from repro.study.model import Study

PACKAGES = ("numpy", "numba", "pandas", "pyarrow", "scipy", "pluggy", "pydantic")


def versions(study: Study) -> dict[str, str]:
    """The software that a study runs with."""
    packages = software(entry.framework for entry in study.entries)
    if study.tune is not None and is_installed("optuna"):
        packages["optuna"] = version("optuna")
    return packages


def software(frameworks: Iterable[str]) -> dict[str, str]:
    """The versions of the core, of its dependencies, and of frameworks."""
    packages = {"repro": __version__, "python": platform.python_version()}
    packages |= {name: version(name) for name in PACKAGES if is_installed(name)}
    for name in frameworks:
        framework = plugins().framework(name)
        packages[f"framework:{framework.name}"] = framework.version
        for package, installed in framework.packages.items():
            # A framework with pinned versions may have others than the core: these get a line of their own.
            same = packages.get(package, installed) == installed
            packages[package if same else f"{framework.name}:{package}"] = installed
    return packages


def machine() -> dict[str, Number]:
    """The properties of the machine that may matter."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": memory(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def freeze() -> str:
    """Every distribution of this environment with its version, one on each line."""
    folders = [Path(entry) for entry in sys.path if Path(entry).is_dir()]
    return _freeze(tuple(sorted(path for folder in folders for path in folder.glob("*.*-info"))))


@lru_cache(maxsize=1)
def _freeze(described_in: tuple[Path, ...]) -> str:
    """The distributions that these folders describe; an installation changes their names."""
    described = (distribution.metadata for distribution in distributions())  # read anew with each access
    lines = {f"{metadata['Name']}=={metadata['Version']}" for metadata in described if metadata["Name"]}
    return "\n".join(sorted(lines, key=str.lower)) + "\n"
