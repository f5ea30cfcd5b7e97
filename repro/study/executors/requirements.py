"""Frameworks that a node of a cluster lacks: they are installed there in the versions that they have here.

Where that only adds packages, the cell runs in a runtime environment of Ray. Ray itself and the core run in it too, so
that it must not change their packages: where a framework needs other versions of them (RecBole of NumPy, and of Ray),
the node builds a separate environment, as `repro plugins install` does, and the framework runs in a worker.
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
    """The packages of a framework's environment, as lines for pip with the known hashes, and options of pip.

    ``isolated`` is whether the framework must run in its own environment wherever it is.
    """

    framework: str
    lines: tuple[str, ...]
    options: tuple[str, ...]
    isolated: bool

    def runtime_env(self) -> dict[str, Any] | None:
        """The missing packages as Ray's runtime environment; None where they would change packages of this node."""
        here = {
            distribution(package.metadata["Name"]): package.version
            for package in distributions()
            if package.metadata["Name"]
        }
        pins = {line: line.partition(" ")[0] for line in self.lines}
        lacking = [line for line, pin in pins.items() if distribution(pin) not in here]
        changed = any(here.get(distribution(pin), _version(pin)) != _version(pin) for pin in pins.values())
        hashed = {" --hash=" in line for line in lacking}
        if self.isolated or changed or len(hashed) > 1:  # pip takes hashes of all packages or of none
            return None
        pip = {"packages": lacking, "pip_install_options": list(self.options), "pip_check": False}
        return {"pip": pip, "config": {"setup_timeout_seconds": BUILD_SECONDS}, "env_vars": dict(SETTINGS)}

    def build(self) -> None:
        """Build a separate environment on this node, unless there is one."""
        declared = plugins().environment_of(self.framework)
        assert declared is not None
        environment.build(self.framework, declared, lambda line: None)


def requirements_of(frameworks: Sequence[str]) -> dict[str, Requirements]:
    """The requirements of the frameworks that have an environment of their own here: all its packages except pip."""
    requirements = {}
    for name in frameworks:
        freeze, declared = plugins().freeze(name), plugins().environment_of(name)
        if freeze is None or declared is None:
            continue
        hashes = {distribution(pin): digests for pin, digests in declared.hashes.items()}
        lines = [
            " ".join([pin, *(f"--hash={digest}" for digest in hashes.get(distribution(pin), ()))])
            for pin in freeze
            if distribution(pin) != "pip"
        ]
        last_step = declared.steps[-1] if declared.steps else ()
        further = (argument for argument in last_step if not is_pin(argument) and argument not in _OPTIONS)
        options = (*_OPTIONS, *further)
        requirements[name] = Requirements(name, tuple(lines), options, plugins().is_isolated(name))
    return requirements


def _version(pin: str) -> str:
    return pin.partition("==")[2]
