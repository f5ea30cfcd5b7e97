"""Converts parameters of repro (text, numbers, flags) to the configuration of LensKit's components, which also has
None, tuples and sets.
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
    """A setting whose value LensKit takes without conversion."""
    return Setting(Parameter(name, default, meaning, options))


def count_or_none(name: str, meaning: str) -> Setting:
    """A setting with a number whose default in LensKit is None; 0 stands for None."""
    return Setting(Parameter(name, 0, meaning), lambda value: value or None)


def word_or_none(name: str, default: str, meaning: str, options: tuple[str, ...]) -> Setting:
    """A setting with a choice of words, where ``none`` stands for None."""
    return Setting(Parameter(name, default, meaning, options), lambda value: None if value == NONE else value)


def flag_or(name: str, default: str, meaning: str, other: str) -> Setting:
    """A setting that is true, false, or the third value ``other``."""
    flags = {"true": True, "false": False, NONE: None}
    return Setting(Parameter(name, default, meaning, ("true", "false", other)), lambda value: flags.get(value, value))


def component(path: str, settings: tuple[Setting, ...], values: Mapping[str, object]) -> Any:
    """An instance of the LensKit component class at ``path``, configured with these values.

    Only values that differ from the defaults are passed, so that LensKit's presets apply to the others.
    """
    from pydantic import ValidationError

    settings_by_name = {setting.name: setting for setting in settings}
    passed = {
        name: settings_by_name[name].convert(value) if name in settings_by_name else value
        for name, value in values.items()
        if name not in settings_by_name
        or settings_by_name[name].required
        or value != settings_by_name[name].parameter.default
    }
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)(**passed)
    except ValidationError as error:
        # A value of several possible types has several errors: the innermost is about the value.
        inner = max(error.errors(), key=lambda detail: len(detail["loc"]))
        where = ".".join(part for part in map(str, inner["loc"]) if part.isidentifier()) or name
        raise PluginError(f"{where} = {inner['input']!r} is not what {name} takes: {inner['msg']}") from None
