"""The environments of a run once more, from the freeze that it kept of each framework."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from repro.errors import PluginError, StudyError
from repro.plugin import Environment, environment, plugins
from repro.plugin.pins import ALONG, distribution
from repro.study.folder import RunFolder
from repro.study.per_user import FinishedRun

Say = Callable[[str], None]
Where = Literal["here", "own environment", "frozen environment"]
_LINE = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([0-9][A-Za-z0-9.!_-]*)(\+\S+)?")


@dataclass(frozen=True)
class Surroundings:
    """Where a framework runs this time.

    pins     versions for an environment of its own; none where what is there has them
    changed  distributions that it stands on in another version than then, where it runs here all the same
    """

    framework: str
    where: Where
    pins: tuple[str, ...] = ()
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        told = ", ".join(f"{name} {then} then, {now} now" for name, (then, now) in self.changed.items())
        match self.where:
            case "frozen environment":
                return f"{self.framework}: an environment of the versions of then{f' ({told})' if told else ''}"
            case "own environment":
                return f"{self.framework}: its own environment, as it was then"
        return f"{self.framework}: as it is here, {told or 'with the versions of then'}"


def surroundings(run: FinishedRun, *, here: bool = False) -> list[Surroundings]:
    """What each framework of a run needs to run as it did; with ``here``, what differs where it runs as it can."""
    places = {event.framework: event.where for event in run.journal.events("cell.started")}
    return [_of_framework(run.folder, name, where, here) for name, where in sorted(places.items())]


def build(wanted: Surroundings, say: Say) -> None:
    """Build the environment of a framework, if it is not there; the pins are those in force."""
    needs = plugins().environment_of(wanted.framework)
    if wanted.where == "here" or needs is None or environment.python_of(wanted.framework, needs):
        return
    try:
        environment.build(wanted.framework, needs, say)
    except PluginError as error:
        raise PluginError(f"{error}\n--here runs with what is installed, and says what differs") from None


def read_freeze(path: Path) -> dict[str, str]:
    """The versions of a freeze, by distribution; what did not come from an index has none.

    Without the label of a build (2.13.0+cpu): an index has the version, and gives the build for this machine.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read ({error.strerror}), and says which versions a framework had; --here runs with "
            "what is installed"
        ) from None
    return _versions(lines)


def _versions(lines: Iterable[str]) -> dict[str, str]:
    found = [_LINE.fullmatch(line.strip()) for line in lines]
    return {distribution(line[1]): line[2] for line in found if line}


def _of_framework(folder: Path, name: str, then: str, here: bool) -> Surroundings:
    needs = plugins().environment_of(name)
    if needs is None:  # its plug-in is all that it is
        return Surroundings(name, "here")
    frozen = read_freeze(RunFolder(folder).place(f"environments/{name}.txt"))
    own = _versions(environment.freeze_of(name, needs)) if environment.python_of(name, needs) else None
    if here:
        return Surroundings(name, "here", (), _changed(frozen, needs, own if plugins().place(name) != "here" else None))
    changed = _changed(frozen, needs)
    if then == "here" and not changed:
        return Surroundings(name, "here")
    if then != "here" and own == frozen:  # to the last version
        return Surroundings(name, "own environment")
    pins = tuple(f"{ALONG}{dist}=={its}" for dist, its in sorted(frozen.items()) if dist != "pip")
    return Surroundings(name, "frozen environment", pins, changed if then == "here" else {})


def _changed(
    frozen: Mapping[str, str], needs: Environment, own: Mapping[str, str] | None = None
) -> dict[str, tuple[str, str]]:
    """What a framework stands on that has another version here (or in its ``own`` environment), or is not there."""
    stated = {
        distribution(argument) for step in needs.steps for argument in step if not argument.startswith("-")
    } & frozen.keys()
    installed = {name: _installed(name) if own is None else own.get(name) for name in sorted(stated)}
    return {name: (frozen[name], its or "absent") for name, its in installed.items() if its != frozen[name]}


def _installed(name: str) -> str | None:
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return None
