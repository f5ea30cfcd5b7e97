"""Canonical algorithms: one name and one set of parameters for the same algorithm in every framework.

A framework maps the canonical parameters to its own, and declares which of them it cannot express. Each framework has
its own defaults, so that a study has to state the parameters that should be equal. They are in ``canonical.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files


@dataclass(frozen=True)
class Canonical:
    """An algorithm that several frameworks have: its name, title, source, and parameters with their meaning."""

    name: str
    title: str
    cite: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def _read() -> dict[str, Canonical]:
    table = tomllib.loads(files(__package__).joinpath("canonical.toml").read_text(encoding="utf-8"))
    shared: dict[str, dict[str, str]] = table["parameters"]

    def canonical(
        name: str, title: str, cite: str = "", groups: Sequence[str] = (), parameters: dict[str, str] | None = None
    ) -> Canonical:
        of_groups = {parameter: meaning for group in groups for parameter, meaning in shared[group].items()}
        return Canonical(name, title, cite, of_groups | (parameters or {}))

    return {name: canonical(name, **fields) for name, fields in table["algorithms"].items()}


CANONICAL = _read()
