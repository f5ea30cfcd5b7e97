"""Checks of parameters when an algorithm is made; messages name the parameter, its value and what is expected."""

from __future__ import annotations

from collections.abc import Sequence

from repro.errors import PluginError
from repro.plugin import Choice


def at_least(name: str, value: float, lowest: float) -> None:
    if not value >= lowest:
        raise PluginError(f"{name} = {value!r} is too small; give a number of at least {lowest}")


def above(name: str, value: float, bound: float) -> None:
    if not value > bound:
        raise PluginError(f"{name} = {value!r} is too small; give a number above {bound}")


def at_most(name: str, value: float, highest: float) -> None:
    if not value <= highest:
        raise PluginError(f"{name} = {value!r} is too large; give a number up to {highest}")


def choices_of(model: object, **choices: Sequence[Choice]) -> None:
    """Check that each of these parameters of a model is one of its choices."""
    for name, known in choices.items():
        one_of(name, getattr(model, name), [str(choice.value) for choice in known])


def one_of(name: str, value: str, options: Sequence[str]) -> None:
    if value not in options:
        raise PluginError(f"{name} = {value!r} is not known; give one of {', '.join(options)}")
