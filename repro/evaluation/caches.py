"""Caches of the results of evaluation stages.

A study needs none: it runs each stage once. Under many protocols a stage is run once for each set of decisions that
it reads (:class:`Cache`, used by explanations and multiverses). On small cases many decisions make no difference, so
results with equal content also become one object (:class:`ContentCache`, used by audits), and the stages after them
are run once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import numpy as np

from repro.data.interactions import Interactions
from repro.errors import ReproError

Result = TypeVar("Result")
_LONG = 1024  # bytes of an array above which its digest stands for it


class Cache(Generic[Result]):
    """The result for each key, or the error that it ended with.

    ``size`` is how many results are kept at most; where one more comes, all others are dropped.
    """

    def __init__(self, size: int | None = None) -> None:
        self._results: dict[Hashable, Result | ReproError] = {}
        self._size = size

    def get(self, key: Hashable, make: Callable[..., Result], *arguments: Any) -> Result:
        """The result of the key, computed as ``make(*arguments)`` the first time."""
        result = self._results.get(key)
        if result is None:
            try:
                result = self._share(make(*arguments))
            except ReproError as error:
                result = error
            if self._size is not None and len(self._results) >= self._size:
                self._results.clear()
            self._results[key] = result
        if isinstance(result, ReproError):
            raise result.with_traceback(None)
        return result

    def _share(self, result: Result) -> Result:
        return result


class ContentCache(Cache[Result]):
    """The same, and results with equal content are one and the same object."""

    def __init__(self) -> None:
        super().__init__()
        self._by_content: dict[Hashable, Result] = {}

    def _share(self, result: Result) -> Result:
        return self._by_content.setdefault(content(result), result)


def content(value: object) -> Hashable:
    """A key that is equal for equal contents: arrays by their bytes, dataclasses by their compared fields.

    A class with a method ``content`` says itself what it is compared by.
    """
    if isinstance(value, np.ndarray):
        stored = value.tobytes()
        return (value.shape, stored if len(stored) <= _LONG else blake2b(stored, digest_size=32).digest())
    if isinstance(value, tuple):
        return tuple(map(content, value))
    if isinstance(value, Interactions):  # of one data set, so that ids are the same
        return tuple(map(content, (value.users, value.items, value.ratings)))
    if (own := getattr(value, "content", None)) is not None:
        compared: Hashable = own()
        return compared
    if is_dataclass(value):
        kind: type = type(value)
        return tuple(content(getattr(value, name)) for name in _compared(kind))
    return value if isinstance(value, Hashable) else id(value)


@cache
def _compared(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.compare)
