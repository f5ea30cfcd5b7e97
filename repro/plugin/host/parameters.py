"""The parameters of an algorithm: stated values checked against its declaration, defaults for the rest."""

from __future__ import annotations

import math

from repro.errors import PluginError, nearest
from repro.plugin.api.interfaces import Algorithm, Parameter, ParameterValue


def parameters_of(algorithm: Algorithm, given: dict[str, ParameterValue]) -> dict[str, ParameterValue]:
    """All parameters of ``algorithm``: the given ones, and the defaults of the others."""
    known = {parameter.name: parameter for parameter in algorithm.parameters}
    for name in given:
        if name not in known:
            raise PluginError(
                f"{algorithm.name} has no parameter '{name}'{nearest(name, known)} It has: {', '.join(known) or 'none'}"
            )
    return {
        name: _declared_form(algorithm, p, given[name]) if name in given else p.default for name, p in known.items()
    }


def _declared_form(algorithm: Algorithm, parameter: Parameter, value: ParameterValue) -> ParameterValue:
    """The value as the declaration writes it (500 and 500.0 are the same); values that are not allowed are refused."""
    name, default = parameter.name, parameter.default
    if not parameter.options:
        if not _fits(value, type(default)):
            raise PluginError(f"{algorithm.name}: {name} = {value!r} must be {type(default).__name__}")
        return type(default)(value)
    for option in parameter.options:
        if option == value and _fits(value, type(option)):
            return option
    allowed = ", ".join(map(str, parameter.options))
    raise PluginError(f"{algorithm.name}: {name} = {value!r} is not allowed; allowed: {allowed}")


def _fits(value: ParameterValue, wanted: type) -> bool:
    """Whether a value can stand for one of that type: a whole number may be written 20 or 20.0."""
    if wanted in (bool, str):
        return type(value) is wanted
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return number and (wanted is float or value == int(value))
