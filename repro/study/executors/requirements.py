"""Frameworks that a node of a cluster lacks: they are installed there in the versions that they have here.

Where that only adds to the packages of the node, it is Ray's runtime environment, and the cell runs in it. Ray itself
and the core run in such an environment too, so that it must leave their packages as they are: where a framework needs
other versions of them (RecBole of NumPy, and of Ray), the node builds an environment apart, as `repro plugins install`
does, and the framework runs in a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from typing import Any

from repro.plugin import plugins
from repro.plugin.isolation import environment
from repro.plugin.isolation.client import SETTINGS
from repro.plugin.isolation.pins import distribution, is_pin

# How long Ray may take to build an environment: some are gigabytes to download.
BUILD_SECONDS = 3600
_OPTIONS = ("--disable-pip-version-check", "--no-input", "--no-deps")


@dataclass(frozen=True)
class Requirements:
    """What the environment of a framework has, as lines for pip with the hashes that are known, and options of pip.

    ``isolated`` is whether the framework must run in its own environment wherever it is.
    """

    framework: str
    lines: tuple[str, ...]
    options: tuple[str, ...]
    isolated: bool

    def runtime_env(self) -> dict[str, Any] | None:
        """What this node lacks, as Ray's runtime environment; None where it would change what the node has."""
        here = {
            distribution(package.metadata["Name"]): package.version
            for package in distributions()
            if package.metadata["Name"]
        }
        pins = {line: line.partition(" ")[0] for line in self.lines}
        lacking = [line for line, pin in pins.items() if distribution(pin) not in here]
        changed = any(here.get(distribution(pin), version_of(pin)) != version_of(pin) for pin in pins.values())
        hashed = {" --hash=" in line for line in lacking}
        if self.isolated or changed or len(hashed) > 1:  # pip wants hashes of all or of none
            return None
        pip = {"packages": lacking, "pip_install_options": list(self.options), "pip_check": False}
        return {"pip": pip, "config": {"setup_timeout_seconds": BUILD_SECONDS}, "env_vars": dict(SETTINGS)}

    def build(self) -> None:
        """Build an environment apart on this node, unless it is there."""
        needs = plugins().environment_of(self.framework)
        assert needs is not None
        environment.build(self.framework, needs, lambda line: None)


def requirements_of(frameworks: Sequence[str]) -> dict[str, Requirements]:
    """The requirements of those frameworks that have an environment of their own here: all that is in it but pip."""
    requirements = {}
    for name in frameworks:
        freeze, needs = plugins().freeze(name), plugins().environment_of(name)
        if freeze is None or needs is None:
            continue
        hashes = {distribution(pin): stated for pin, stated in needs.hashes.items()}
        lines = [
            " ".join([pin, *(f"--hash={digest}" for digest in hashes.get(distribution(pin), ()))])
            for pin in freeze
            if distribution(pin) != "pip"
        ]
        stated = [argument for argument in needs.steps[-1] if not is_pin(argument)] if needs.steps else []
        options = (*_OPTIONS, *(argument for argument in stated if argument not in _OPTIONS))
        requirements[name] = Requirements(name, tuple(lines), options, plugins().is_isolated(name))
    return requirements


def version_of(pin: str) -> str:
    return pin.partition("==")[2]
