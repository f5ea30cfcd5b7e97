"""Altair, the library of the charts, or a stand-in where it is not installed.

Pages are useful without charts: the stand-in takes all that Altair takes, so that a page is made as always, and each
figure says what to install instead of its chart.
"""

from __future__ import annotations

from typing import Any

__all__ = ["NoChart", "alt"]


class NoChart:
    """Accepts every use of Altair, and draws nothing."""

    def __getattr__(self, name: str) -> NoChart:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *arguments: Any, **settings: Any) -> NoChart:
        return self

    def __add__(self, other: Any) -> NoChart:
        return self

    __radd__ = __or__ = __and__ = __getitem__ = __add__


try:
    import altair as alt
except ModuleNotFoundError:
    alt = NoChart()  # type: ignore[assignment]
