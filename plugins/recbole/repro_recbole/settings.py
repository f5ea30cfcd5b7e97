"""Parameters, checked and in the form that RecBole's configuration has."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from repro.errors import PluginError
from repro.plugin import ParameterValue
from repro_recbole.models import Model

Settings = dict[str, Any]


def settings_of(model: Model, given: Mapping[str, ParameterValue]) -> Settings:
    """RecBole's settings for these parameters of a model; those not given have their defaults."""
    values = {parameter.name: given.get(parameter.name, parameter.default) for parameter in model.parameters}
    for name in ("epochs", "train_batch_size", "sample_num"):
        if name in values:
            _at_least_one(name, values[name])
    settings: Settings = {
        parameter.name: _numbers(parameter.name, values[parameter.name])
        if str(parameter.default).startswith("[")
        else values[parameter.name]
        for parameter in model.parameters
    }
    return settings | {"train_neg_sample_args": _sampling(settings)}


def _sampling(settings: Settings) -> Settings | None:
    """How items that a user does not have are drawn: RecBole keeps this in a dictionary of its own."""
    distribution, number = settings.pop("distribution", "none"), settings.pop("sample_num", 0)
    return None if distribution == "none" else {"distribution": distribution, "sample_num": number}


def _at_least_one(name: str, value: ParameterValue) -> None:
    if not float(value) >= 1:
        raise PluginError(f"{name} = {value!r} is too small; give a number of at least 1")


def _numbers(name: str, value: ParameterValue) -> list[float]:
    """A list written as text. RecBole would evaluate any expression here; only numbers are taken."""
    try:
        numbers = ast.literal_eval(str(value))
    except (ValueError, SyntaxError):
        numbers = None
    if not isinstance(numbers, list) or not all(type(number) in (int, float) for number in numbers):
        raise PluginError(f"{name} = {value!r} is not a list of numbers; write it as text, such as '[128, 64]'")
    return numbers
