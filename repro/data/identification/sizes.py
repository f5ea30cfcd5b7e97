"""Numbers of users, items and rows, published and stated, and how far they are from each other."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import inf

NEAR = 0.02  # the largest share by which each number of a near miss may differ


@dataclass(frozen=True)
class Sizes:
    """The numbers of users, items and rows; None for one that is not known."""

    users: int | None = None
    items: int | None = None
    rows: int | None = None

    def named(self) -> Iterator[tuple[str, int]]:
        """The numbers that are known, by name."""
        for name in ("users", "items", "rows"):
            if (number := getattr(self, name)) is not None:
                yield name, number

    def minus(self, stated: Sizes) -> dict[str, int]:
        """The difference of each number from the stated one, where both are known."""
        own = dict(self.named())
        return {name: own[name] - number for name, number in stated.named() if name in own}

    def unknown(self, stated: Sizes) -> list[str]:
        """The names of stated numbers that are not known here."""
        own = dict(self.named())
        return [name for name, _ in stated.named() if name not in own]

    def distance(self, stated: Sizes) -> float:
        """The largest relative difference from a stated number: 0 where all agree, infinite if none can be compared."""
        differences, numbers = self.minus(stated), dict(stated.named())
        return max((abs(off) / max(numbers[name], 1) for name, off in differences.items()), default=inf)

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        return ", ".join(f"{number:,} {name}" for name, number in self.named())


@dataclass(frozen=True)
class PublishedSizes:
    """The sizes of a data set, or of a filtered version of it, and the source that states them."""

    data: str
    version: str
    sizes: Sizes
    source: str
    address: str


@cache
def published_sizes() -> tuple[PublishedSizes, ...]:
    """All published sizes, in the order of the table."""
    text = (files("repro.data.identification") / "known_sizes.toml").read_text(encoding="utf-8")
    return tuple(
        PublishedSizes(
            data,
            version,
            Sizes(*(None if number < 0 else number for number in numbers)),
            source["title"],
            source["address"],
        )
        for source in tomllib.loads(text)["source"]
        for data, version, *numbers in source["sizes"]
    )
