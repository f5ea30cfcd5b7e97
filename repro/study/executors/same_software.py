"""The same bits need the same software: what runs on a node is compared with what the run was started with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from repro.errors import PluginError, StudyError
from repro.plugin import plugins
from repro.study.environment import software

_ROOMS = ("data", "protocol", "split", "evaluation", "plugin", "study")
TO_DO = "install on every node what is installed where the run is started"


def software_of(framework: str) -> dict[str, str]:
    """The versions that a cell of a framework runs with here: of the core, and of the framework where it is there."""
    there = plugins().location(framework) != "missing"
    return {**software([framework] if there else []), "the source of repro": _source()[:12]}


def require_same(expected: Mapping[str, str], framework: str, node: str) -> None:
    """Refuse to compute here with other versions than those that are ``expected``."""
    try:
        here = software_of(framework)
    except PluginError as error:
        raise StudyError(f"node {node} lacks a plug-in: {error}; {TO_DO}") from None
    other = [
        f"{name} {here[name]} and not {expected[name]}" for name in here if here[name] != expected.get(name, here[name])
    ]
    if other:
        raise StudyError(f"node {node} has {', '.join(other)}; {TO_DO}")


@cache
def _source() -> str:
    """SHA-256 of the modules between data and numbers: a version alone does not tell a change."""
    digest, root = hashlib.sha256(), Path(__file__).parents[2]
    for path in sorted(path for room in _ROOMS for path in (root / room).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
