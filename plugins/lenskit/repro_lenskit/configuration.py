"""LensKit's configuration in repro's parameters, which are text, numbers and flags: what else LensKit takes is put
into one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from repro.errors import PluginError
from repro.plugin import Parameter, ParameterValue

NONE = "none"


def _same(value: ParameterValue) -> object:
    return value


@dataclass(frozen=True)
class Setting:
    """A parameter with LensKit's name and default, and how its value is given to LensKit.

    ``required`` is one that LensKit has no default for.
    """

    parameter: Parameter
    given: Callable[[Any], object] = _same
    required: bool = False

    @property
    def name(self) -> str:
        return self.parameter.name


def setting(name: str, default: ParameterValue, meaning: str, options: tuple[ParameterValue, ...] = ()) -> Setting:
    """A parameter that LensKit takes as it is."""
    return Setting(Parameter(name, default, meaning, options))


def count_or_none(name: str, meaning: str) -> Setting:
    """A number that LensKit leaves open by default: 0 stands for that."""
    return Setting(Parameter(name, 0, meaning), lambda value: value or None)


def word_or_none(name: str, default: str, meaning: str, options: tuple[str, ...]) -> Setting:
    """A word that may be none."""
    return Setting(Parameter(name, default, meaning, options), lambda value: None if value == NONE else value)


def flag_or(name: str, default: str, meaning: str, other: str) -> Setting:
    """A flag or a third thing."""
    flags = {"true": True, "false": False, NONE: None}
    return Setting(Parameter(name, default, meaning, ("true", "false", other)), lambda value: flags.get(value, value))


def component(path: str, settings: tuple[Setting, ...], values: Mapping[str, object]) -> Any:
    """The LensKit component at ``path``, configured.

    Only what differs from the defaults is handed over: LensKit's presets count for what is not stated.
    """
    from pydantic import ValidationError

    known = {one.name: one for one in settings}
    stated = {
        name: known[name].given(value) if name in known else value
        for name, value in values.items()
        if name not in known or known[name].required or value != known[name].parameter.default
    }
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)(**stated)
    except ValidationError as error:
        # Of what may be one thing or another there are several complaints: the innermost is about the value.
        inner = max(error.errors(), key=lambda one: len(one["loc"]))
        where = ".".join(part for part in map(str, inner["loc"]) if part.isidentifier()) or name
        raise PluginError(f"{where} = {inner['input']!r} is not what {name} takes: {inner['msg']}") from None
