"""Frameworks whose versions are pinned in a requirements file, as pip reads it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from repro.errors import PluginError
from repro.plugin.api.interfaces import Algorithm, Environment, Framework

_HASH = "--hash="


def pinned_framework(module: str, algorithms: Sequence[Algorithm] = ()) -> Framework:
    """The framework that two files next to a module (``__file__``) describe.

    ``requirements.txt`` has pins, one for each distribution of its environment, with hashes (``python
    plugins/lock.py``). ``framework.toml`` has:

    name          of the framework
    summary       what it is, in a few words
    imports       the modules that it needs; where they can be imported, it runs in the caller's process. By default the
                  module with the framework's name
    distribution  the distribution whose version is the framework's: the installed one, else the pinned one; by default
                  the one with the framework's name
    install       the command that installs the framework into the caller's own environment; by default the extra
                  ``framework`` of the plug-in ``recsys-repro-NAME``
    packages      distributions whose installed versions the journal records, where the framework is installed
    first         pins, or names of pinned distributions, that pip installs first and with their dependencies, such as
                  torch, whose build for the processor is then not replaced by one with an accelerator's libraries
    """
    path = Path(module).with_name("framework.toml")
    try:
        declared = _Declared(**tomllib.loads(path.read_text(encoding="utf-8")))
    except (TypeError, tomllib.TOMLDecodeError) as error:
        raise PluginError(f"{path} does not declare a framework: {error}") from None
    pins, hashes = read_requirements(path.with_name("requirements.txt"))
    by_name = {distribution_name(pin): pin for pin in pins}
    distribution = declared.distribution or declared.name
    installed = _installed_version(distribution)
    versions = {package: _installed_version(package) for package in declared.packages} if installed else {}
    before = tuple(pin if "==" in pin else by_name[distribution_name(pin)] for pin in declared.first)
    extra = f"pip install 'recsys-repro-{distribution_name(declared.name)}[framework]'"
    return Framework(
        name=declared.name,
        version=installed or by_name[distribution_name(distribution)].partition("==")[2],
        summary=declared.summary,
        algorithms=tuple(algorithms),
        packages={package: number for package, number in versions.items() if number},
        environment=Environment(
            imports=tuple(declared.imports) or (declared.name,),
            steps=(*([before] if before else []), ("--no-deps", *pins)),
            install=declared.install or extra,
            hashes=hashes,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Declared:
    """The content of ``framework.toml``."""

    name: str
    summary: str
    imports: Sequence[str] = ()
    distribution: str = ""
    install: str = ""
    packages: Sequence[str] = ()
    first: Sequence[str] = ()


def read_requirements(path: Path) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The pins of a requirements file, in its order, and the hashes of each pin that has some."""
    pins: list[str] = []
    hashes: dict[str, tuple[str, ...]] = {}
    for word in path.read_text(encoding="utf-8").replace("\\\n", " ").split():
        if word.startswith(_HASH):
            hashes[pins[-1]] = (*hashes.get(pins[-1], ()), word.removeprefix(_HASH))
        else:
            pins.append(word)
    return tuple(pins), hashes


def distribution_name(requirement: str) -> str:
    """The name in a requirement such as ``Name==1.0``, spelt as the package index does."""
    return re.sub(r"[-_.]+", "-", requirement.partition("==")[0]).lower()


def _installed_version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
