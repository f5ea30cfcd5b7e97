"""The environments of a run, rebuilt from the freeze that it kept of each framework."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from repro.errors import PluginError, StudyError
from repro.plugin import Environment, plugins
from repro.plugin.isolation import environment
from repro.plugin.isolation.pins import DEPENDENCY, distribution
from repro.runs.folder import RunFolder
from repro.runs.journal import events
from repro.runs.run import Run

Say = Callable[[str], None]
Where = Literal["here", "own environment", "frozen environment"]
_LINE = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([0-9][A-Za-z0-9.!_-]*)(\+\S+)?")


@dataclass(frozen=True)
class Freeze:
    """The content of a freeze.

    versions  by distribution, without the label of a build (2.13.0+cpu): an index has the version, and gives the build
              for this machine
    unread    lines without a version of an index: files, editable folders, repositories
    builds    lines whose build has a label, which cannot be requested
    """

    versions: Mapping[str, str]
    unread: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """The environment in which a framework is run again.

    pins     versions for an environment of its own; none if an existing environment has them
    changed  distributions that it depends on and whose version here differs from that of the run
    lacking  lines of the freeze that cannot be installed, or cannot be compared with the installed packages
    builds   lines of the freeze of which the build for this machine is installed, whichever the run had
    """

    framework: str
    where: Where
    pins: tuple[str, ...] = ()
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()

    @property
    def as_then(self) -> bool:
        """Whether every version is that of the run."""
        return not self.lacking and (self.where != "here" or not self.changed)

    @property
    def sentence(self) -> str:
        changes = ", ".join(f"{name} {then} then, {now} now" for name, (then, now) in self.changed.items())
        listed = ", ".join(self.lacking)
        match self.where:
            case "frozen environment":
                text = f"an environment with the versions of the run{f' ({changes} outside of it)' if changes else ''}"
                if self.lacking:
                    text += f", but for what could not be installed, since no index has it: {listed}"
            case "own environment":
                text = "its own environment, as it was then"
            case _:
                text = f"as it is here, {changes or 'with the versions of the run'}"
                if self.lacking:
                    text += f", but for what cannot be compared, since it names no version: {listed}"
        builds = f"; in the build for this machine: {', '.join(self.builds)}" if self.builds else ""
        return f"{self.framework}: {text}{builds}"


def surroundings(run: Run, frameworks: Collection[str] | None = None, *, here: bool = False) -> list[Surroundings]:
    """The environment that each framework of a run (or some of them) needs; with ``here``, the installed one and its
    differences."""
    started = {event.framework: event for event in run.journal.events("cell.started")}
    names = started.keys() if frameworks is None else started.keys() & set(frameworks)
    return [_of_framework(run.folder, started[name], here) for name in sorted(names)]


def build(surroundings: Surroundings, say: Say) -> None:
    """Build the environment of a framework, if it is not there; the pins are those in force."""
    needs = plugins().environment_of(surroundings.framework)
    if surroundings.where == "here" or needs is None or environment.python_of(surroundings.framework, needs):
        return
    try:
        environment.build(surroundings.framework, needs, say)
    except PluginError as error:
        raise PluginError(f"{error}\n--here runs with what is installed, and says what differs") from None


def read_freeze(path: Path) -> Freeze:
    """The freeze in a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read ({error.strerror}), and says which versions a framework had; --here runs with "
            "what is installed"
        ) from None
    return _freeze(lines)


def _freeze(lines: Iterable[str]) -> Freeze:
    stated = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    matches = {line: _LINE.fullmatch(line) for line in stated}
    return Freeze(
        {distribution(match[1]): match[2] for match in matches.values() if match},
        tuple(line for line, match in matches.items() if match is None),
        tuple(line for line, match in matches.items() if match and match[3]),
    )


def _of_framework(folder: Path, event: events.CellStarted, here: bool) -> Surroundings:
    name, then = event.framework, event.where
    needs = plugins().environment_of(name)
    if needs is None:  # its plug-in contains it
        now = plugins().framework(name).version
        changed = {} if now == event.framework_version else {name: (event.framework_version, now)}
        return Surroundings(name, "here", (), changed)
    frozen = read_freeze(RunFolder(folder).place(f"environments/{name}.txt"))
    own = _freeze(environment.freeze_of(name, needs)) if environment.python_of(name, needs) else None
    if here:
        installed = own.versions if own is not None and plugins().location(name) != "in-process" else None
        return Surroundings(name, "here", (), _changed(frozen.versions, needs, installed), frozen.unread)
    changed = _changed(frozen.versions, needs)
    if then == "here" and not changed:
        return Surroundings(name, "here", lacking=frozen.unread)
    if then != "here" and own == frozen:  # to the last line
        return Surroundings(name, "own environment")
    pins = tuple(f"{DEPENDENCY}{dist}=={version}" for dist, version in sorted(frozen.versions.items()) if dist != "pip")
    outside = changed if then == "here" else {}
    return Surroundings(name, "frozen environment", pins, outside, frozen.unread, frozen.builds)


def _changed(
    frozen: Mapping[str, str], needs: Environment, own: Mapping[str, str] | None = None
) -> dict[str, tuple[str, str]]:
    """The packages of a framework that are missing or have another version here, or in its ``own`` environment."""
    stated = {
        distribution(argument) for step in needs.steps for argument in step if not argument.startswith("-")
    } & frozen.keys()
    installed = {name: _installed(name) if own is None else own.get(name) for name in sorted(stated)}
    return {name: (frozen[name], now or "absent") for name, now in installed.items() if now != frozen[name]}


def _installed(name: str) -> str | None:
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return None
