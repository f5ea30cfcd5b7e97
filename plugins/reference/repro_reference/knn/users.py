"""Names of algorithms that compute a choice so."""

from __future__ import annotations

from dataclasses import dataclass

_ITEMS_ONLY = ("implicit", "rectools", "recpack")


@dataclass(frozen=True)
class Used:
    """Names of algorithms (``framework/algorithm``) from those of frameworks; by_items: item-knn."""

    by_items: bool

    def __call__(self, *both: str, user: tuple[str, ...] = (), item: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Those of ``both`` that have the algorithm, and those that compute so for users, or for items, only."""
        name = "item-knn" if self.by_items else "user-knn"
        having = [framework for framework in both if self.by_items or framework not in _ITEMS_ONLY]
        return tuple(f"{framework}/{name}" for framework in (*having, *(item if self.by_items else user)))
