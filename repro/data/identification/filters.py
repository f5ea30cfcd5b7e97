"""Filters that are tried on data: a threshold of ratings, and minimum numbers of rows of users and items.

With the same threshold and order of steps, higher minimum numbers never leave more rows, users or items. The pairs of
minimum numbers are therefore searched from one corner of their table along the border between too few and enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from repro.data.description import pair_codes
from repro.data.filters import one_row_per_pair
from repro.data.identification.sizes import NEAR, Sizes
from repro.data.interactions import Interactions

LEAST = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 100, 200)
_MOST_THRESHOLDS = 20  # data with more distinct ratings has counts or times rather than a scale
ROUNDS = {
    "until-stable": "repeated until both hold",
    "users-first": "once, users first",
    "items-first": "once, items first",
    "together": "once, both counted before",
}

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Filter:
    """A filter: merged duplicates, then a threshold of ratings before or after minimum numbers of rows."""

    user_core: int = 1
    item_core: int = 1
    rounds: tuple[str, ...] = ("until-stable",)
    min_rating: float | None = None
    threshold_last: bool = False
    merged: bool = False

    @property
    def sentence(self) -> str:
        """The steps of the filter in words."""
        threshold = [] if self.min_rating is None else [f"ratings of at least {self.min_rating:g}"]
        cores = [
            f"{noun} with at least {least} rows"
            for noun, least in (("users", self.user_core), ("items", self.item_core))
            if least > 1
        ]
        core = []
        if len(cores) == 2:
            core = [f"{' and '.join(cores)}, {' or '.join(ROUNDS[name] for name in self.rounds)}"]
        elif cores:
            core = cores
        steps = ["one row for each pair"] * self.merged
        steps += [*core, *threshold] if self.threshold_last else [*threshold, *core]
        return "; then ".join(steps) or "no filter"

    @property
    def decisions(self) -> dict[str, object] | None:
        """The decisions of a protocol that make this filter; None where no decision of the suite does."""
        if self.threshold_last:
            return None
        decisions: dict[str, object] = {"data.duplicates": "first"} if self.merged else {}
        if self.min_rating is not None:
            decisions["data.min_rating"] = self.min_rating
        decisions |= {
            f"data.{noun}_core": least
            for noun, least in (("user", self.user_core), ("item", self.item_core))
            if least > 1
        }
        if self.user_core > 1 and self.item_core > 1:
            rounds = {"until-stable": "until-stable", "users-first": 1}
            usual = next((rounds[name] for name in self.rounds if name in rounds), None)
            if usual is None:
                return None
            decisions["data.core_rounds"] = usual
        return decisions


@dataclass(frozen=True)
class _Rows:
    """Rows as codes, and their ratings."""

    users: Codes
    items: Codes
    ratings: npt.NDArray[np.float64]

    def where(self, rows: npt.NDArray[np.bool_]) -> _Rows:
        return self if rows.all() else _Rows(self.users[rows], self.items[rows], self.ratings[rows])

    @property
    def sizes(self) -> Sizes:
        users, items = (int((np.bincount(codes) > 0).sum()) for codes in (self.users, self.items))
        return Sizes(users, items, len(self.users))


def _often(codes: Codes, least: int) -> npt.NDArray[np.bool_]:
    """Whether the code of each row is that of at least so many rows."""
    return np.bincount(codes)[codes] >= least


def _core(rows: _Rows, user_core: int, item_core: int, rounds: str) -> _Rows:
    """The rows of users and items with enough rows."""
    if rounds == "together":
        return rows.where(_often(rows.users, user_core) & _often(rows.items, item_core))
    if rounds == "items-first":
        rows = rows.where(_often(rows.items, item_core))
        return rows.where(_often(rows.users, user_core))
    size = -1
    while len(rows.users) != size and len(rows.users):
        size = len(rows.users)
        rows = rows.where(_often(rows.users, user_core))
        rows = rows.where(_often(rows.items, item_core))
        if rounds == "users-first":
            break
    return rows


def try_filters(
    data: Interactions, stated: Sizes, step: Callable[[], None] = lambda: None
) -> Iterator[tuple[Filter, Sizes]]:
    """Filters of the data with the stated sizes or sizes near them, each with its sizes.

    Of filters that leave the same rows only the one with the lowest minimum numbers is given. ``step`` is called after
    each threshold of the ratings.
    """
    variants = [(False, data)]
    if len(np.unique(pair_codes(data))) < len(data):
        variants.append((True, one_row_per_pair(data, "first")[0]))
    seen: dict[Filter, Sizes] = {}
    for merged, part in variants:
        rows = _Rows(part.users, part.items, part.ratings)
        for threshold, last in thresholds(data):
            start = Filter(min_rating=threshold, threshold_last=last, merged=merged)
            for found, sizes in _cores(rows, start, stated):
                _add(seen, found, sizes)
            step()
    yield from seen.items()


def _add(seen: dict[Filter, Sizes], found: Filter, sizes: Sizes) -> None:
    """Add a filter, or its rounds to those of the same filter with the same sizes."""
    for earlier, of_earlier in seen.items():
        if of_earlier == sizes and replace(earlier, rounds=found.rounds) == found:
            del seen[earlier]
            found = replace(found, rounds=tuple(dict.fromkeys((*earlier.rounds, *found.rounds))))
            break
    seen[found] = sizes


def thresholds(data: Interactions) -> list[tuple[float | None, bool]]:
    """The lowest ratings to try, each with whether it comes after the minimum numbers of rows."""
    values = np.unique(data.ratings)
    if not data.explicit or not 1 < len(values) <= _MOST_THRESHOLDS:
        return [(None, False)]
    return [(None, False), *((float(value), last) for value in values[1:] for last in (False, True))]


def _cores(rows: _Rows, start: Filter, stated: Sizes) -> Iterator[tuple[Filter, Sizes]]:
    """The filters with this threshold that have the stated sizes, or sizes near them."""
    if start.min_rating is not None and not start.threshold_last:
        rows = rows.where(rows.ratings >= start.min_rating)
    if not _enough(rows.sizes, stated):
        return
    user_cores = [least for least in LEAST if _enough(rows.where(_often(rows.users, least)).sizes, stated)]
    item_cores = [least for least in LEAST if _enough(rows.where(_often(rows.items, least)).sizes, stated)]
    for rounds in ROUNDS:
        yield from _along_the_border(rows, replace(start, rounds=(rounds,)), stated, (user_cores, item_cores))


def _enough(sizes: Sizes, stated: Sizes) -> bool:
    """Whether no number is clearly below the stated one."""
    return all(
        off >= -NEAR * number for off, (_, number) in zip(sizes.minus(stated).values(), stated.named(), strict=True)
    )


def _along_the_border(
    rows: _Rows, start: Filter, stated: Sizes, cores: tuple[list[int], list[int]]
) -> Iterator[tuple[Filter, Sizes]]:
    user_cores, item_cores = cores
    measured: dict[tuple[int, int], Sizes] = {}

    def sizes_of(user: int, item: int) -> Sizes:
        pair = user_cores[user], item_cores[item]
        if pair not in measured:
            left = _core(rows, *pair, start.rounds[0])
            if start.threshold_last and start.min_rating is not None:
                left = left.where(left.ratings >= start.min_rating)
            measured[pair] = left.sizes
        return measured[pair]

    if stated.rows is None:  # data of the same number of users or items may differ: all pairs are measured
        for user in range(len(user_cores)):
            for item in range(len(item_cores)):
                sizes_of(user, item)
    user, item = 0, len(item_cores) - 1
    while user < len(user_cores) and item >= 0:
        off = sizes_of(user, item).minus(stated).values()
        if any(difference > 0 for difference in off) and all(difference >= 0 for difference in off):
            user += 1
        else:
            item -= 1
    lowest: dict[Sizes, Filter] = {}
    for pair, sizes in sorted(measured.items(), key=lambda entry: entry[0]):
        if sizes.distance(stated) <= NEAR and sizes not in lowest:
            user, item = user_cores.index(pair[0]), item_cores.index(pair[1])
            while user and sizes_of(user - 1, item) == sizes:
                user -= 1
            while item and sizes_of(user, item - 1) == sizes:
                item -= 1
            lowest[sizes] = replace(start, user_core=user_cores[user], item_core=item_cores[item])
    for sizes, found in lowest.items():
        alone = found.user_core == 1 or found.item_core == 1  # a single round is enough
        yield (replace(found, rounds=("until-stable",)) if alone else found), sizes
