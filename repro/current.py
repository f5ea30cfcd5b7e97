"""The application in use: the composition root (:class:`repro.app.Application`), built once for all packages.

Packages get decisions, metrics, data sets and plug-ins through functions of their own (``registry()``, ``metrics()``,
``datasets()``, ``plugins()``), which read them from the application in use. There is one default application, made
when it is first used. :func:`use` replaces it within a block, and :func:`reset` discards it, for example after another
plug-in was installed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


class Views(Protocol):
    """The functions that show results."""

    def plot(self, result: object, /, **options: Any) -> alt.TopLevelMixin:
        """The chart of a result."""

    def report(self, result: object, into: Path | None, /) -> Path:
        """Write the report of a result; its path."""


class _Holder:
    """The application in use, how a default one is made, and how views are found."""

    make: Callable[[], Any] | None = None
    application: Any = None
    views: Callable[[], Views] | None = None


def provide(make: Callable[[], Any], views: Callable[[], Views]) -> None:
    """Set the functions that make the default application and the views; ``repro`` does when it is imported."""
    _Holder.make = make
    _Holder.views = views


def views() -> Views:
    """Charts and reports of results."""
    assert _Holder.views is not None, "repro was not imported"
    return _Holder.views()


def current() -> Any:
    """The application in use; the default one is made at the first call."""
    if _Holder.application is None:
        assert _Holder.make is not None, "repro was not imported"
        _Holder.application = _Holder.make()
    return _Holder.application


@contextmanager
def use(application: Any) -> Iterator[None]:
    """Use another application inside a ``with`` block."""
    before, _Holder.application = _Holder.application, application
    try:
        yield
    finally:
        _Holder.application = before


def reset() -> None:
    """Discard the application in use: plug-ins, metrics and decisions are looked up again."""
    _Holder.application = None


class Slot(Generic[Value]):
    """A place for one value that lives as long as the application in use."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Any, Value] = WeakKeyDictionary()

    def get(self) -> Value | None:
        return self._values.get(current())

    def set(self, value: Value) -> None:
        self._values[current()] = value


def once(make: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """Cache the results of a function, by its arguments, as long as the application in use."""
    slot: Slot[dict[Hashable, Value]] = Slot()

    @wraps(make)
    def cached(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        if (results := slot.get()) is None:
            slot.set(results := {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = make(*args, **kwargs)
        return results[key]

    return cached
