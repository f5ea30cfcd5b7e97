"""Pins: other versions of a framework than those of its plug-in, so that an old one can run next to a new one."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from types import MappingProxyType

from repro.errors import PluginError, nearest
from repro.plugin.api.interfaces import Environment
from repro.plugin.api.requirements import distribution_name

SETTING = "REPRO_PINS"
Pins = tuple[str, ...]

# Before a pin of a dependency: it is not installed for itself, but has this version where something needs it.
DEPENDENCY = "~"
_FORM = "surprise: scikit-surprise==1.1.4 numpy==1.26.4; cornac: cornac==2.2.2"
# No wildcards, ranges, extras, options or addresses: a name and one version.
_PIN = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([0-9][A-Za-z0-9.!_-]*(?:\+[A-Za-z0-9._-]+)?)")
# The pins of `with pinned(...)`: a thread has its own, so that two replications in one process do not meet.
_PINNED: ContextVar[Mapping[str, Pins]] = ContextVar("pinned", default=MappingProxyType({}))


@contextlib.contextmanager
def pinned(pins: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Run frameworks in environments with these versions, in this thread and in the workers of studies started by it.

    ``pins`` has, by the name of a framework, exact versions of distributions (``scikit-surprise==1.1.4``): they replace
    those in the plug-in's own requirements, and the others stay. ``~numpy==1.26.4`` pins a dependency that is not
    installed for itself, so that a whole freeze can be stated. Earlier pins of other frameworks stay in force.
    """
    token = _PINNED.set({**_PINNED.get(), **{name: checked_pins(name, listed) for name, listed in pins.items()}})
    try:
        yield
    finally:
        _PINNED.reset(token)


def use_pins(pins: Mapping[str, Pins]) -> None:
    """Use these pins from now on: for a process that a study starts, which is given those of its parent."""
    _PINNED.set(dict(pins))


def current_pins() -> dict[str, Pins]:
    """The pins in force, by the name of a framework: those of ``REPRO_PINS``, replaced by those of ``pinned``."""
    return {**_pins_of_setting(os.environ.get(SETTING, "")), **_PINNED.get()}


def pins_as_setting(pins: Mapping[str, Pins]) -> str:
    """Pins as ``REPRO_PINS`` states them."""
    return "; ".join(f"{name}: {' '.join(listed)}" for name, listed in sorted(pins.items()))


def _pins_of_setting(setting: str) -> dict[str, Pins]:
    pins: dict[str, Pins] = {}
    for part in filter(str.strip, setting.split(";")):
        name, colon, listed = part.partition(":")
        if not colon or not name.strip() or name.strip() in pins:
            raise PluginError(
                f"{SETTING} has '{part.strip()}'; write each framework once, before its pins, as in '{_FORM}'"
            )
        pins[name.strip()] = checked_pins(name.strip(), re.sub(r"\s*==\s*", "==", listed).replace(",", " ").split())
    return pins


def pins_of(name: str, known: Collection[str]) -> Pins:
    """The pins of a framework, if any. Every pinned framework must be one of ``known``."""
    pins = current_pins()
    for other in pins:
        if other not in known:
            raise PluginError(
                f"versions are pinned for '{other}', and no such framework is installed{nearest(other, known)} "
                f"Installed: {', '.join(sorted(known)) or 'none'}"
            )
    return pins.get(name, ())


def checked_pins(framework: str, listed: Sequence[str]) -> Pins:
    """Normalised pins, sorted by name, each distribution once; anything but an exact version is refused."""
    if isinstance(listed, str) or not listed:
        raise PluginError(f"the pins of {framework} are {listed!r}; expected exact versions, as in ['numpy==1.26.4']")
    pins: dict[str, str] = {}
    for text in listed:
        plain = re.sub(r"\s*==\s*", "==", text.strip())
        mark = DEPENDENCY if plain.startswith(DEPENDENCY) else ""
        match = _PIN.fullmatch(plain.removeprefix(DEPENDENCY))
        if not match:
            raise PluginError(
                f"'{text}' is not a pin of {framework}; a pin is a name and one exact version, as in numpy==1.26.4 "
                "(no ranges, extras, options or addresses)"
            )
        name, pin = distribution(match[1]), f"{mark}{distribution(match[1])}=={match[2]}"
        if pins.setdefault(name, pin) != pin:
            raise PluginError(f"{framework} is pinned to both {pins[name]} and {pin}; remove one of them")
    return tuple(pins[name] for name in sorted(pins))


def is_pin(argument: str) -> bool:
    """Whether an argument of pip is a name and one exact version."""
    return _PIN.fullmatch(argument) is not None


def distribution(requirement: str) -> str:
    """The name in a pinned requirement, spelt as the package index does."""
    return distribution_name(requirement.removeprefix(DEPENDENCY))


def with_pins(environment: Environment, pins: Pins) -> Environment:
    """The plug-in's environment with the pinned versions in place of its own.

    A pin that replaces no requirement is installed with the last step; one of a dependency only constrains it.
    """
    versions = {distribution(pin): pin.removeprefix(DEPENDENCY) for pin in pins}
    dependencies = {distribution(pin) for pin in pins if pin.startswith(DEPENDENCY)}
    replaceable = {argument for step in environment.steps for argument in step if is_pin(argument)}
    present = {distribution(argument) for argument in replaceable}
    added = [pin for name, pin in versions.items() if name not in dependencies and name not in present]
    steps = [
        [versions.get(distribution(argument), argument) if argument in replaceable else argument for argument in step]
        for step in environment.steps or ((),)
    ]
    steps[-1] += added
    frozen = tuple(versions[name] for name in sorted(dependencies))
    return replace(environment, steps=tuple(map(tuple, steps)), install="", frozen=frozen)
