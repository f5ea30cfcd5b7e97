"""Parameters, checked and in the form of RecBole's configuration."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from repro.errors import PluginError
from repro.plugin import ParameterValue
from repro.plugin.api.adapting import require_at_least
from repro_recbole.models import Model

Settings = dict[str, Any]


def settings_of(model: Model, parameters: Mapping[str, ParameterValue]) -> Settings:
    """RecBole's settings for these parameters of a model; others have their defaults."""
    values = {parameter.name: parameters.get(parameter.name, parameter.default) for parameter in model.parameters}
    require_at_least(dict.fromkeys(("epochs", "train_batch_size", "sample_num"), 1), values)
    settings: Settings = {
        parameter.name: _numbers(parameter.name, values[parameter.name])
        if str(parameter.default).startswith("[")
        else values[parameter.name]
        for parameter in model.parameters
    }
    return settings | {"train_neg_sample_args": _sampling(settings)}


def _sampling(settings: Settings) -> Settings | None:
    """The rule for drawing items that a user does not have, which RecBole has in a separate dictionary."""
    distribution, number = settings.pop("distribution", "none"), settings.pop("sample_num", 0)
    return None if distribution == "none" else {"distribution": distribution, "sample_num": number}


def _numbers(name: str, value: ParameterValue) -> list[float]:
    """A list of numbers written as text. RecBole would evaluate any expression."""
    try:
        numbers = ast.literal_eval(str(value))
    except (ValueError, SyntaxError):
        numbers = None
    if not isinstance(numbers, list) or not all(type(number) in (int, float) for number in numbers):
        raise PluginError(f"{name} = {value!r} is not a list of numbers; write it as text, such as '[128, 64]'")
    return numbers
