"""LensKit's configuration as repro's parameters, which are text, numbers and flags; other values of LensKit are
written as one of these.
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
    """A parameter with LensKit's name and default, and the conversion of its value for LensKit.

    ``required``: LensKit has no default for it.
    """

    parameter: Parameter
    convert: Callable[[Any], object] = _same
    required: bool = False

    @property
    def name(self) -> str:
        return self.parameter.name


def setting(name: str, default: ParameterValue, meaning: str, options: tuple[ParameterValue, ...] = ()) -> Setting:
    """A parameter that LensKit takes without conversion."""
    return Setting(Parameter(name, default, meaning, options))


def count_or_none(name: str, meaning: str) -> Setting:
    """A number whose default in LensKit is None: 0 stands for None."""
    return Setting(Parameter(name, 0, meaning), lambda value: value or None)


def word_or_none(name: str, default: str, meaning: str, options: tuple[str, ...]) -> Setting:
    """One of some words; ``none`` stands for None."""
    return Setting(Parameter(name, default, meaning, options), lambda value: None if value == NONE else value)


def flag_or(name: str, default: str, meaning: str, other: str) -> Setting:
    """A flag, or a third value."""
    flags = {"true": True, "false": False, NONE: None}
    return Setting(Parameter(name, default, meaning, ("true", "false", other)), lambda value: flags.get(value, value))


def component(path: str, settings: tuple[Setting, ...], values: Mapping[str, object]) -> Any:
    """The LensKit component at ``path``, configured.

    Only values that differ from the defaults are passed, so that LensKit's presets apply to the others.
    """
    from pydantic import ValidationError

    known = {setting.name: setting for setting in settings}
    stated = {
        name: known[name].convert(value) if name in known else value
        for name, value in values.items()
        if name not in known or known[name].required or value != known[name].parameter.default
    }
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)(**stated)
    except ValidationError as error:
        # A value of several possible types has several errors: the innermost is about the value.
        inner = max(error.errors(), key=lambda detail: len(detail["loc"]))
        where = ".".join(part for part in map(str, inner["loc"]) if part.isidentifier()) or name
        raise PluginError(f"{where} = {inner['input']!r} is not what {name} takes: {inner['msg']}") from None
