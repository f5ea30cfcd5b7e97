"""Data sets, versions and filters with given numbers of users, items and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.data.identification.filters import thresholds, try_filters
from repro.data.identification.sizes import NEAR, Sizes, published_sizes
from repro.data.interactions import Interactions
from repro.data.load import load_dataset
from repro.data.registry import datasets
from repro.errors import DataError
from repro.progress import Shown, progress_reporter

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 10  # near misses


@dataclass(frozen=True)
class Match:
    """Data whose sizes are the stated ones, or near them.

    data         the name of the data set, or of the file
    version      its version and filter
    sizes        its sizes
    differences  how much each of its numbers is above the stated one; all are 0 for a match
    source       the source that states the sizes, or "counted here"
    address      where the source is
    decisions    the decisions of a protocol that make the filter, where it was tried here
    """

    data: str
    version: str
    sizes: Sizes
    differences: Mapping[str, int]
    source: str
    address: str = ""
    decisions: Mapping[str, object] | None = None

    @property
    def exact(self) -> bool:
        """Whether all stated numbers agree."""
        return not any(self.differences.values())

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-compatible data."""
        return {**vars(self), "sizes": vars(self.sizes), "differences": dict(self.differences)}


@dataclass(frozen=True)
class Identification:
    """The data with the stated sizes.

    matches   data that has all stated numbers
    near      near misses, the nearest first: each stated number differs by at most 2 %. They are no matches
    tried     the data whose filters were tried here
    skipped   the data that was not tried, with the reason
    """

    stated: Sizes
    matches: tuple[Match, ...]
    near: tuple[Match, ...]
    tried: tuple[str, ...]
    skipped: Mapping[str, str]

    @property
    def summary(self) -> str:
        """The result as a sentence."""
        if self.matches:
            names = ", ".join(dict.fromkeys(f"{match.data} ({match.version})" for match in self.matches))
            return f"{self.stated.sentence}: {names}"
        if self.near:
            return (
                f"{self.stated.sentence}: undetermined, no known data has these sizes; the nearest is "
                f"{self.near[0].data} ({self.near[0].version}), which has {self.near[0].sizes.sentence}"
            )
        return f"{self.stated.sentence}: undetermined, no known data has these sizes or sizes near them"

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON-compatible data."""
        return {
            "stated": vars(self.stated),
            "matches": [match.to_dict() for match in self.matches],
            "near": [match.to_dict() for match in self.near],
            "tried": list(self.tried),
            "skipped": dict(self.skipped),
        }

    def to_frame(self) -> pd.DataFrame:
        """Matches and near misses, a row for each."""
        import pandas as pd

        columns = ["match", "data", "version", "users", "items", "rows", "source"]
        rows = [
            [match.exact, match.data, match.version, *vars(match.sizes).values(), match.source]
            for match in (*self.matches, *self.near)
        ]
        return pd.DataFrame(rows, columns=columns)


def identify(
    users: int | None = None,
    items: int | None = None,
    rows: int | None = None,
    *,
    data: Sequence[str | PathLike[str] | Interactions] = (),
    try_here: bool = True,
    progress: Shown = True,
) -> Identification:
    """Name the data sets, versions and filters with so many users, items and rows; any of the three may be left out.

    data      further data to try filters on: files, names of data sets, or interactions
    try_here  whether to try filters on the registered data sets that are on this machine
    progress  whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    >>> result = repro.data.identify(22_363, 12_101, 198_502, try_here=False)
    >>> sorted({match.data for match in result.matches})
    ['Amazon 2014 Beauty']
    """
    stated = Sizes(users, items, rows)
    _check(stated)
    published = [
        Match(
            known.data,
            known.version + "".join(f"; no {name} are stated there" for name in known.sizes.unknown(stated)),
            known.sizes,
            known.sizes.minus(stated),
            known.source,
            known.address,
        )
        for known in published_sizes()
        if not known.sizes.unknown(stated) or len(known.sizes.minus(stated)) > 1
    ]
    sources: list[str | PathLike[str] | Interactions] = list(data)
    if try_here:
        sources += [name for name, dataset in datasets().items() if dataset.cached()]
    tried, skipped, filtered = [], {}, []
    with progress_reporter(progress) as report_progress:
        for number, source in enumerate(sources):
            name, part = _loaded(source, number)
            if short := _too_small(part, stated):
                skipped[name] = short
                continue
            tried.append(name)
            filtered += _tried(name, part, stated, report_progress)
    found = [match for match in (*published, *filtered) if _distance(match, stated) <= NEAR]
    found.sort(key=lambda match: _distance(match, stated))
    near = [match for match in found if not match.exact and not match.sizes.unknown(stated)]
    return Identification(
        stated, tuple(match for match in found if match.exact), tuple(near[:_SHOWN]), tuple(tried), skipped
    )


def _check(stated: Sizes) -> None:
    numbers = dict(stated.named())
    if not numbers:
        raise DataError("no size is stated; give at least one of users, items and rows, or a file to count them in")
    for name, number in numbers.items():
        if number < 1:
            raise DataError(f"{name} is {number}; a number of at least 1 was expected")
    if {"users", "items", "rows"} <= set(numbers) and max(numbers["users"], numbers["items"]) > numbers["rows"]:
        raise DataError(
            f"{stated.sentence} are not possible: every user and every item has at least one row; are the numbers in "
            "their places?"
        )


def _loaded(source: str | PathLike[str] | Interactions, number: int) -> tuple[str, Interactions]:
    if isinstance(source, Interactions):
        return (source.origin.name if source.origin else f"data {number + 1}"), source
    name = str(source) if isinstance(source, str) else Path(source).name
    return name, load_dataset(source)


def _too_small(part: Interactions, stated: Sizes) -> str:
    """The reason why no filter of the data can have the stated sizes; empty if one may."""
    whole = Sizes(int((part.user_counts() > 0).sum()), int((part.item_counts() > 0).sum()), len(part))
    for name, off in whole.minus(stated).items():
        number = getattr(stated, name)
        if off < -NEAR * number:
            return f"it has {getattr(whole, name):,} {name} before any filter"
    return ""


def _tried(name: str, part: Interactions, stated: Sizes, report_progress: Any) -> list[Match]:
    stage, steps, done = f"filters of {name}", len(thresholds(part)), 0

    def step() -> None:
        nonlocal done
        done += 1
        report_progress(stage, min(done, steps), steps)

    return [
        Match(name, found.sentence, sizes, sizes.minus(stated), "counted here", decisions=found.decisions)
        for found, sizes in try_filters(part, stated, step)
    ]


def _distance(match: Match, stated: Sizes) -> float:
    return match.sizes.distance(stated)
