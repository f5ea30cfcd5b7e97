"""The classes of a framework as a table in a TOML file.

Each class has a table with its summary and other fields, and one with its parameters in the framework's order::

    [parameters.factors]                                  # a group that several classes share
    size = [64, "how many latent factors"]

    [classes.BPR]
    summary = "pairwise ranking with factors"
    cite = "Rendle et al. (2009), UAI"

    [classes.BPR.parameters]
    factors = "group"
    loss = ["log", "the loss of a pair", ["log", "hinge"]]

A parameter is an array of its default, its meaning and, if they are listed, its options; or a table of the fields of
its class. A group stands for its parameters.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from repro.plugin.api.interfaces import Parameter

Class = TypeVar("Class")


def read_classes(path: Path, made: Callable[..., Class], kind: type[Parameter] = Parameter) -> dict[str, Class]:
    """The classes in a file by name: ``made(name=..., parameters=..., **fields)``, with parameters of ``kind``."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    groups = tables.get("parameters", {})

    def parameters(declared: Mapping[str, Any]) -> Iterator[Parameter]:
        for name, value in declared.items():
            if value == "group":
                yield from parameters(groups[name])
            elif isinstance(value, list):
                default, meaning, *options = value
                yield kind(name, default, meaning, tuple(*options))
            else:
                yield kind(name, **_fields(value))

    return {
        name: made(name=name, **_fields(fields) | {"parameters": tuple(parameters(fields.get("parameters", {})))})
        for name, fields in tables["classes"].items()
    }


def _fields(table: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a table, with arrays as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
