"""Comparison of scores: equal, equal but for a factor, or in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.compiling import compiled
from repro.data.interactions import CodeArray, FloatArray, Interactions

Mask = npt.NDArray[np.bool_]
# The largest difference of equal scores, relative to the largest score, in double and in single precision.
DOUBLE, SINGLE = 1e-9, 1e-6
# What implementations give where the algorithm has no score: nothing, a number that is marked as filled in, zero, or
# a mean rating.
FILLERS = ("no score", "a fallback", "zero", "the mean rating", "the user's mean rating", "the item's mean rating")


class Level(IntEnum):
    """A level of agreement between two sets of scores; a higher level includes the lower ones."""

    DIFFERENT = 0
    ORDER = 1
    PROPORTIONAL = 2
    EQUAL = 3

    @property
    def meaning(self) -> str:
        return ("different scores", "the same order", "the same scores but for a factor", "the same scores")[self]


@dataclass(frozen=True, eq=False)
class Answer:
    """The scores of an implementation on a training set, users by items.

    values     NaN where there is no score
    filled     numbers that are marked as filled in where the algorithm has no score
    train      the training set; an implementation may leave its pairs without a score
    open       pairs for which any number agrees
    clipped    whether the numbers are clipped to the range of the training ratings
    tolerance  the largest relative difference of equal scores; by default that of the precision of the numbers
    """

    values: FloatArray
    filled: Mask
    train: Interactions
    tolerance: float | None = None
    open: Mask | None = None
    clipped: bool = False

    @cached_property
    def trained(self) -> Mask:
        """The pairs of the training set, and those for which any number agrees: either side may leave them out."""
        trained = np.zeros(self.values.shape, dtype=bool) if self.open is None else self.open.copy()
        trained[self.train.users, self.train.items] = True
        return trained

    @cached_property
    def scored(self) -> Mask:
        """The pairs with a finite number that is not marked as filled in."""
        scored = np.isfinite(self.values) & ~self.filled
        return scored if self.open is None else scored & ~self.open

    @cached_property
    def precision(self) -> float:
        """The largest relative difference of equal scores: that of single precision if all numbers have 32 bits."""
        if self.tolerance is not None:
            return self.tolerance
        present = self.values[np.isfinite(self.values)]
        with np.errstate(over="ignore"):
            return SINGLE if np.array_equal(present, present.astype(np.float32).astype(np.float64)) else DOUBLE

    @cached_property
    def fillers(self) -> list[Mask]:
        """For each of ``FILLERS``, the pairs whose value could be that one."""
        ratings, users, items = self.train.ratings, self.train.users, self.train.items
        overall = float(ratings.mean()) if len(ratings) else 0.0
        by_user = _means(users, ratings, self.train.n_users, overall)[:, None]
        by_item = _means(items, ratings, self.train.n_items, overall)[None, :]
        masks = [~np.isfinite(self.values), self.filled]
        for filler in (0.0, overall, by_user, by_item):
            difference = np.abs(self.values - np.broadcast_to(filler, self.values.shape))
            masks.append(difference <= self.precision * np.maximum(np.abs(filler), 1e-300))
        return masks

    @cached_property
    def filler_masks(self) -> Mask:
        """``fillers`` as one array."""
        return np.stack(self.fillers)


def _means(codes: CodeArray, ratings: FloatArray, size: int, otherwise: float) -> FloatArray:
    counts = np.bincount(codes, minlength=size)
    sums = np.bincount(codes, weights=ratings, minlength=size)
    return np.divide(sums, counts, out=np.full(size, otherwise), where=counts > 0)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The agreement of several definitions with an implementation, over all training sets so far.

    levels    the lowest level of each definition
    fillers   for each definition and each of ``FILLERS``, whether it can be what the implementation gives where the
              definition has no score
    """

    levels: npt.NDArray[np.int8]
    fillers: Mask

    @classmethod
    def start(cls, count: int) -> Comparison:
        """Before the first training set: everything is possible."""
        return cls(np.full(count, Level.EQUAL, dtype=np.int8), np.ones((count, len(FILLERS)), dtype=bool))

    def take(self, chosen: npt.NDArray[Any]) -> Comparison:
        """Some of the definitions."""
        return Comparison(self.levels[chosen], self.fillers[chosen])

    def repeated(self, count: int) -> Comparison:
        """The same agreement for several definitions."""
        return self.take(np.zeros(count, dtype=np.int64))

    def after(self, defined: FloatArray, answer: Answer, lowest: Level = Level.ORDER) -> Comparison:
        """With one more answer; ``defined`` has an array of users by items for each definition.

        Only pairs that both score are compared; either may leave out pairs of the training set, and infinity in
        ``defined`` means that any number agrees. A definition is
        different if it scores another pair that the implementation leaves out, or if the implementation gives other
        numbers than ``FILLERS`` where the definition has no score. So is one that agrees less than ``lowest``.
        """
        if answer.clipped and len(answer.train):
            low, high = answer.train.ratings.min(), answer.train.ratings.max()
            defined = np.where(np.isposinf(defined), np.inf, np.clip(defined, low, high))
        levels, fillers = _agreement(
            np.ascontiguousarray(defined),
            np.ascontiguousarray(answer.values),
            (answer.scored, answer.trained, answer.filler_masks),
            float(answer.precision),
            int(lowest),
        )
        fillers &= self.fillers
        levels = np.minimum(levels, self.levels)
        levels[~fillers.any(axis=1)] = Level.DIFFERENT
        return Comparison(levels, fillers)


@compiled("numpy")
def _agreement(defined: Any, answered: Any, masks: Any, tolerance: float, lowest: int) -> Any:
    """The level of each definition, and which fillers are possible."""
    scored, trained, fillers = masks
    count, n_users, n_items = defined.shape
    levels = np.full(count, 3, dtype=np.int8)
    possible = np.ones((count, len(fillers)), dtype=np.bool_)
    x, y = np.empty(n_items), np.empty(n_items)
    for n in range(count):
        difference, most_x, most_y, squares, products = 0.0, 0.0, 0.0, 0.0, 0.0
        all_x, all_y = 0.0, 0.0  # with the pairs that are not compared, beside which rounding may be large
        for user in range(n_users):
            for item in range(n_items):
                value = defined[n, user, item]
                if np.isfinite(value) and np.isfinite(answered[user, item]):
                    all_x, all_y = max(all_x, abs(value)), max(all_y, abs(answered[user, item]))
                if np.isfinite(value):
                    if scored[user, item]:
                        other = answered[user, item]
                        difference = max(difference, abs(value - other))
                        most_x, most_y = max(most_x, abs(value)), max(most_y, abs(other))
                        squares += value * value
                        products += value * other
                    elif not trained[user, item]:
                        levels[n] = 0
                elif not trained[user, item] and value != np.inf:
                    for f in range(len(fillers)):
                        if not fillers[f, user, item]:
                            possible[n, f] = False
        if levels[n] == 0 or difference <= tolerance * max(most_x, most_y, min(all_x, all_y)):
            continue
        factor = products / squares if squares > 0.0 else 0.0
        levels[n] = 2 if factor > 0.0 else 0
        if factor > 0.0:
            for user in range(n_users):
                for item in range(n_items):
                    value = defined[n, user, item]
                    both = scored[user, item] and np.isfinite(value)
                    if both and abs(answered[user, item] - factor * value) > tolerance * most_y:
                        levels[n] = 0
        if levels[n] == 0 and lowest <= 1:
            levels[n] = 1
            for user in range(n_users):
                size = 0
                for item in range(n_items):
                    if scored[user, item] and np.isfinite(defined[n, user, item]):
                        x[size], y[size] = defined[n, user, item], answered[user, item]
                        size += 1
                if not _same_order(x, y, size, tolerance):
                    levels[n] = 0
                    break
    return levels, possible


@compiled("numpy")
def _same_order(x: Any, y: Any, size: int, tolerance: float) -> bool:
    """Whether an increasing map exists between two lists of scores: equal ones stay equal, others in order."""
    most_x, most_y = 0.0, 0.0
    for n in range(size):
        most_x, most_y = max(most_x, abs(x[n])), max(most_y, abs(y[n]))
        first, second = x[n], y[n]
        place = n
        while place > 0 and (x[place - 1] > first or (x[place - 1] == first and y[place - 1] > second)):
            x[place], y[place] = x[place - 1], y[place - 1]
            place -= 1
        x[place], y[place] = first, second
    for n in range(1, size):
        step = y[n] - y[n - 1]
        if x[n] - x[n - 1] <= tolerance * most_x:
            if abs(step) > tolerance * most_y:
                return False
        elif step <= tolerance * most_y:
            return False
    return True
