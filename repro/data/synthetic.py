"""Synthetic data with a chosen skew of item popularity and no other pattern.

Bellogín (2012, section 4.5.2): the number of ratings of the k-th most popular item follows a shifted power law,

    r(i_k) = c1 + beta * (c2 + k)^(-alpha),

with alpha from 0 (every item equally popular) to 2 (a very steep long tail); about 1.4 for MovieLens 1M. Numbers
of users, items and ratings are parameters, and beta makes the counts add up. The users of an item, their ratings and
times are random and independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from repro.compiling import compiled, inlined
from repro.data.interactions import Interactions
from repro.errors import DataError
from repro.rng import child_keys, combine, id_keys, mix, stream, uniform

inlined(mix, combine)

# The shares of 1 to 5 stars in MovieLens 1M.
MOVIELENS_PRIOR = (0.056, 0.108, 0.261, 0.349, 0.226)

# c1 (in mean counts) and c2 (in numbers of items) with which alpha = 1.4 meets three figures of MovieLens 1M:
# 1,000,209 ratings of 3,706 items in all, 3,428 of the most popular one, and a Gini coefficient of 0.634.
FITTED_C1 = -0.0192
FITTED_C2 = 0.0444

FIRST_SECOND = 946_684_800  # 2000-01-01
SECONDS = 3 * 365 * 86_400

IntArray = npt.NDArray[np.int64]


def synthetic_interactions(
    users: int = 6040,
    items: int = 3706,
    ratings: int = 1_000_209,
    alpha: float = 1.4,
    c1: float | None = None,
    c2: float | None = None,
    prior: Sequence[float] = MOVIELENS_PRIOR,
    seed: int = 0,
) -> Interactions:
    """Interactions with power-law popularity; by default of the size and shape of MovieLens 1M.

    ``prior`` are the chances of the ratings 1, 2, ... The ids of users and items are 1, 2, ...; which item is
    the most popular is drawn, so that an item's id says nothing about its popularity.
    """
    _check(users, items, ratings, alpha, c2, prior)
    counts = popularity_counts(users, items, ratings, alpha, c1, c2)
    user_ids, item_ids = np.arange(1, users + 1), np.arange(1, items + 1)
    user_keys, item_keys = id_keys(user_ids), id_keys(item_ids)
    by_popularity = np.argsort(child_keys(stream(seed, "synthetic", "popularity"), item_keys), kind="stable")
    per_item = np.empty(items, dtype=np.int64)
    per_item[by_popularity] = counts

    item_codes = np.repeat(np.arange(items, dtype=np.int32), per_item)
    user_codes = _draw_users(child_keys(stream(seed, "synthetic", "users"), item_keys), per_item, users)

    def draws(purpose: str) -> npt.NDArray[np.float64]:
        keys = child_keys(stream(seed, "synthetic", purpose), user_keys[user_codes], item_keys[item_codes])
        return uniform(keys)

    chances = np.cumsum(np.asarray(prior, dtype=np.float64))
    stars = (np.searchsorted(chances[:-1] / chances[-1], draws("ratings"), side="right") + 1).astype(np.float64)
    times = FIRST_SECOND + (draws("times") * SECONDS).astype(np.int64)
    return Interactions(user_codes, item_codes, stars, times, user_ids, item_ids).compact()


def popularity_counts(
    users: int, items: int, ratings: int, alpha: float, c1: float | None = None, c2: float | None = None
) -> IntArray:
    """The number of ratings of each item, most popular first: whole numbers that add up to ``ratings``.

    No item has more ratings than there are users, and none has less than one (none at all only where there are
    fewer ratings than items); beta is solved for within these bounds. The fractions are rounded by largest
    remainder.
    """
    c1 = FITTED_C1 * ratings / items if c1 is None else c1
    c2 = FITTED_C2 * items if c2 is None else c2
    least = 1 if ratings >= items else 0
    law = (c2 + np.arange(1, items + 1, dtype=np.float64)) ** -alpha

    def bounded(beta: float) -> npt.NDArray[np.float64]:
        return np.clip(c1 + beta * law, least, users)

    low, high = -users - abs(c1), users + abs(c1)
    low, high = low / law[-1], high / law[-1]  # every item at its least, every item at its most
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if bounded(middle).sum() < ratings else (low, middle)
    exact = bounded(high)
    counts = np.floor(exact).astype(np.int64)
    return _topped_up(counts, exact - counts, ratings, least, users)


def _topped_up(counts: IntArray, remainders: npt.NDArray[np.float64], total: int, least: int, most: int) -> IntArray:
    """Adjust counts by 1 until they add up to ``total``, beginning where rounding changed most."""
    while (short := total - int(counts.sum())) != 0:
        step = 1 if short > 0 else -1
        free = np.flatnonzero(counts < most if step > 0 else counts > least)
        first = free[np.argsort(-step * remainders[free], kind="stable")][: abs(short)]
        counts[first] += step
    return np.sort(counts)[::-1]


@compiled()
def _draw_users(item_keys, counts, n_users):  # type: ignore[no-untyped-def]  # compiled
    """The users of each item, item after item, in ascending order; no item has a user twice.

    The j-th draw of an item is a hash of its key and j; a user drawn before is skipped. An item that more than half of
    the users rate draws those who do not.
    """
    drawn = np.empty(counts.sum(), dtype=np.int32)
    taken = np.zeros(n_users, dtype=np.bool_)
    start = 0
    for item in range(len(counts)):
        end = start + counts[item]
        inverted = counts[item] > n_users // 2
        needed = n_users - counts[item] if inverted else counts[item]
        chosen = np.empty(needed, dtype=np.int32)
        count, draw = 0, np.uint64(0)
        while count < needed:
            key = combine(item_keys[item], draw)
            draw += np.uint64(1)
            user = np.int64(np.float64(key >> np.uint64(11)) * 2.0**-53 * n_users)
            if not taken[user]:
                taken[user] = True
                chosen[count] = user
                count += 1
        if inverted:
            drawn[start:end] = np.flatnonzero(~taken)
        else:
            drawn[start:end] = np.sort(chosen)
        taken[chosen] = False
        start = end
    return drawn


def _check(users: int, items: int, ratings: int, alpha: float, c2: float | None, prior: Sequence[float]) -> None:
    if users < 1 or items < 1 or ratings < 1:
        raise DataError(f"synthetic: {users} users, {items} items and {ratings} ratings; each must be at least 1")
    if ratings > users * items:
        raise DataError(
            f"synthetic: {ratings:,} ratings do not fit {users:,} users and {items:,} items, "
            f"which have {users * items:,} pairs; ask for fewer ratings"
        )
    if not 0 <= alpha <= 2:
        raise DataError(f"synthetic: alpha is {alpha}; it goes from 0 (uniform) to 2 (very steep)")
    if c2 is not None and c2 <= -1:
        raise DataError(f"synthetic: c2 is {c2}; it must be above -1, so that c2 + k is positive for every item")
    if not len(prior) or min(prior) < 0 or not sum(prior) > 0:
        raise DataError(f"synthetic: prior is {list(prior)}; it gives each rating a chance of at least 0")
