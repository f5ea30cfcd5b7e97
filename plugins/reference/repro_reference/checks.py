"""Checks of parameters when an algorithm is made; messages name the parameter, its value and what is expected."""

from __future__ import annotations

from collections.abc import Sequence

from repro.errors import PluginError
from repro.plugin import Choice


def at_least(model: object, **lowest: float) -> None:
    """Check that these parameters of a model are not lower."""
    for name, bound in lowest.items():
        if not (value := getattr(model, name)) >= bound:
            raise PluginError(f"{name} = {value!r} is too small; give a number of at least {bound}")


def above(model: object, **bounds: float) -> None:
    """Check that these parameters of a model are higher."""
    for name, bound in bounds.items():
        if not (value := getattr(model, name)) > bound:
            raise PluginError(f"{name} = {value!r} is too small; give a number above {bound}")


def at_most(model: object, **highest: float) -> None:
    """Check that these parameters of a model are not higher."""
    for name, bound in highest.items():
        if not (value := getattr(model, name)) <= bound:
            raise PluginError(f"{name} = {value!r} is too large; give a number up to {bound}")


def one_of(model: object, **options: Sequence[str | Choice]) -> None:
    """Check that each of these parameters of a model is one of its options."""
    for name, known in options.items():
        require_option(name, getattr(model, name), [str(getattr(option, "value", option)) for option in known])


def require_option(name: str, value: str, options: Sequence[str]) -> None:
    if value not in options:
        raise PluginError(f"{name} = {value!r} is not known; give one of {', '.join(options)}")
