"""The way in which a model is called, from the names of the parameters of its methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from repro.errors import StudyError

ONE_USER = ("user", "user_id", "userid", "uid")
ONE_ITEM = ("item", "item_id", "itemid", "iid")
COLUMNS = {
    **dict.fromkeys(("users", *ONE_USER, "user_ids"), "user"),
    **dict.fromkeys(("items", *ONE_ITEM, "item_ids"), "item"),
    **dict.fromkeys(("ratings", "rating"), "rating"),
    **dict.fromkeys(("timestamps", "timestamp"), "timestamp"),
}
SEEDS = ("seed", "random_state")

Way = Literal["pairs", "user", "pair", "arrays"]


@dataclass(frozen=True)
class Signature:
    """The parameters of a function: those without a default that are given by position, and all names."""

    required: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def seed(self) -> str | None:
        """The parameter that takes a seed."""
        return next((name for name in SEEDS if name in self.names), None)

    @property
    def way(self) -> Way:
        """The way to ask for scores, by the names of the first parameters.

        pairs   of a frame of pairs: ``predict(X)``
        pair    of one pair: ``predict(user, item)``
        user    of one user and some items: ``score(user, items)``
        arrays  of users and items: ``score(users, items)``
        """
        first, second = (*self.required, *(name for name in self.names if name not in self.required), "", "")[:2]
        if len(self.required) == 1 and second not in COLUMNS:
            return "pairs"
        if first.lower() not in ONE_USER:
            return "arrays"
        return "pair" if second.lower() in ONE_ITEM else "user"


def signature_of(function: Callable[..., Any], label: str, most: int = 2) -> Signature:
    """The signature of a function; refused where it requires more arguments than ``most``, besides a seed."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of compiled code without a signature
        return Signature(("users", "items")[:most], ())
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = tuple(
        p.name for p in parameters if p.kind in positional and p.default is p.empty and p.name not in SEEDS
    )
    keyword_only = [
        p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in SEEDS
    ]
    if len(required) > most or keyword_only:
        unknown = ", ".join([*required[most:], *keyword_only])
        raise StudyError(f"{label} requires {unknown}, which is not known here; give these arguments a default value")
    return Signature(required, tuple(p.name for p in parameters))
