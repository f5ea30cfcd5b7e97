"""Other versions of a framework than those its plug-in pins, so that an old one can be run next to a new one."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repro.errors import PluginError, nearest
from repro.plugin.interfaces import Environment

PINNED = "REPRO_PINS"
Pins = tuple[str, ...]

# Before a pin: not to be installed for itself, but in this version where it comes along.
ALONG = "~"
_HASH = "--hash="
_FORM = "surprise: scikit-surprise==1.1.4 numpy==1.26.4; cornac: cornac==2.2.2"
# No wildcards, ranges, extras, options or addresses: a name and one version.
_PIN = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([0-9][A-Za-z0-9.!_-]*(?:\+[A-Za-z0-9._-]+)?)")


@contextlib.contextmanager
def pinned(pins: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Run frameworks in environments with these versions, here and in the processes started meanwhile.

    ``pins`` has, by the name of a framework, exact versions of distributions (``scikit-surprise==1.1.4``): they take
    the place of those in the plug-in's own requirements, and the others stay. ``~numpy==1.26.4`` is of what comes
    along, so that a whole freeze can be stated. What was pinned before stays pinned, but for the frameworks named here.
    """
    before = os.environ.get(PINNED)
    asked = {name: checked_pins(name, given) for name, given in pins.items()}
    os.environ[PINNED] = _written({**stated_pins(), **asked})
    try:
        yield
    finally:
        if before is None:
            del os.environ[PINNED]
        else:
            os.environ[PINNED] = before


def stated_pins() -> dict[str, Pins]:
    """What ``REPRO_PINS`` says, by the name of a framework."""
    found: dict[str, Pins] = {}
    for part in filter(str.strip, os.environ.get(PINNED, "").split(";")):
        name, colon, listed = part.partition(":")
        if not colon or not name.strip() or name.strip() in found:
            raise PluginError(
                f"{PINNED} has '{part.strip()}'; each framework stands once, before its pins, as in '{_FORM}'"
            )
        found[name.strip()] = checked_pins(name.strip(), re.sub(r"\s*==\s*", "==", listed).replace(",", " ").split())
    return found


def pins_of(name: str, known: Collection[str]) -> Pins:
    """The pins of a framework; none where it runs as its plug-in has it. All names must be of ``known`` frameworks."""
    stated = stated_pins()
    for other in stated:
        if other not in known:
            raise PluginError(
                f"{PINNED} names '{other}', and no such framework is installed{nearest(other, known)} "
                f"Installed: {', '.join(sorted(known)) or 'none'}"
            )
    return stated.get(name, ())


def checked_pins(framework: str, given: Sequence[str]) -> Pins:
    """The pins in one form, by name, each distribution once; anything but an exact version is refused."""
    if isinstance(given, str) or not given:
        raise PluginError(f"the pins of {framework} are {given!r}; expected exact versions, as in ['numpy==1.26.4']")
    found: dict[str, str] = {}
    for text in given:
        plain = re.sub(r"\s*==\s*", "==", text.strip())
        along = ALONG if plain.startswith(ALONG) else ""
        stated = _PIN.fullmatch(plain.removeprefix(ALONG))
        if not stated:
            raise PluginError(
                f"'{text}' is no pin of {framework}; a pin is a name and one exact version, as in numpy==1.26.4 "
                "(no ranges, extras, options or addresses)"
            )
        name, pin = distribution(stated[1]), f"{along}{distribution(stated[1])}=={stated[2]}"
        if found.setdefault(name, pin) != pin:
            raise PluginError(f"{framework} is pinned to both {found[name]} and {pin}; leave one of them")
    return tuple(found[name] for name in sorted(found))


def is_pin(argument: str) -> bool:
    """Whether an argument of pip is a name and one exact version."""
    return _PIN.fullmatch(argument) is not None


def distribution(requirement: str) -> str:
    """The name in a pinned requirement, spelt as the package index does."""
    return re.sub(r"[-_.]+", "-", requirement.removeprefix(ALONG).partition("==")[0]).lower()


def with_pins(environment: Environment, pins: Pins) -> Environment:
    """An environment whose requirements are the plug-in's own, but for the distributions that are pinned.

    A pin that replaces none is installed with the last step, or, of what comes along, is for whatever needs it.
    """
    wanted = {distribution(pin): pin.removeprefix(ALONG) for pin in pins}
    along = {distribution(pin) for pin in pins if pin.startswith(ALONG)}
    own = {argument for step in environment.steps for argument in step if is_pin(argument)}
    added = [pin for name, pin in wanted.items() if name not in along and name not in map(distribution, own)]
    steps = [
        [wanted.get(distribution(argument), argument) if argument in own else argument for argument in step]
        for step in environment.steps or ((),)
    ]
    steps[-1] += added
    frozen = tuple(wanted[name] for name in sorted(along))
    return replace(environment, steps=tuple(map(tuple, steps)), install="", frozen=frozen)


def read_requirements(path: Path) -> tuple[Pins, dict[str, tuple[str, ...]]]:
    """The pins of a plug-in's requirements as pip takes them, and the hashes of each that has some."""
    pins: list[str] = []
    hashes: dict[str, tuple[str, ...]] = {}
    for word in path.read_text(encoding="utf-8").replace("\\\n", " ").split():
        if word.startswith(_HASH):
            hashes[pins[-1]] = (*hashes.get(pins[-1], ()), word.removeprefix(_HASH))
        else:
            pins.append(word)
    return tuple(pins), hashes


def _written(pins: Mapping[str, Pins]) -> str:
    return "; ".join(f"{name}: {' '.join(listed)}" for name, listed in sorted(pins.items()))
