"""Comparison of scores: equal, equal but for a factor, or in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

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

    values   NaN where there is no score
    filled   numbers that are marked as filled in where the algorithm has no score
    train    the training set; an implementation may leave its pairs without a score
    """

    values: FloatArray
    filled: Mask
    train: Interactions

    @cached_property
    def trained(self) -> Mask:
        """The pairs of the training set."""
        trained = np.zeros(self.values.shape, dtype=bool)
        trained[self.train.users, self.train.items] = True
        return trained

    @cached_property
    def scored(self) -> Mask:
        """The pairs with a finite number that is not marked as filled in."""
        return np.isfinite(self.values) & ~self.filled

    @cached_property
    def tolerance(self) -> float:
        """The tolerance for numbers of this precision: single if all of them are numbers of 32 bits."""
        present = self.values[np.isfinite(self.values)]
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
            masks.append(difference <= self.tolerance * np.maximum(np.abs(filler), 1e-300))
        return masks


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

    def after(self, defined: FloatArray, answer: Answer) -> Comparison:
        """With one more answer; ``defined`` has an array of users by items for each definition.

        Only pairs that both score are compared; either may leave out pairs of the training set. A definition is
        different if it scores another pair that the implementation leaves out, or if the implementation gives other
        numbers than ``FILLERS`` where the definition has no score.
        """
        expected = np.isfinite(defined)
        left_out = (expected & ~answer.scored & ~answer.trained).any(axis=(1, 2))
        unscored = ~expected & ~answer.trained
        fillers = self.fillers.copy()
        for number, mask in enumerate(answer.fillers):
            fillers[:, number] &= ~(unscored & ~mask).any(axis=(1, 2))
        levels = self.levels.copy()
        levels[left_out | ~fillers.any(axis=1)] = Level.DIFFERENT
        both = expected & answer.scored
        for n in np.flatnonzero(levels):
            if both[n].any():
                levels[n] = min(levels[n], _level(defined[n], answer.values, both[n], answer.tolerance))
        return Comparison(levels, fillers)


def _level(defined: FloatArray, answered: FloatArray, both: Mask, tolerance: float) -> Level:
    x, y = defined[both], answered[both]
    if np.abs(x - y).max() <= tolerance * max(np.abs(x).max(), np.abs(y).max()):
        return Level.EQUAL
    squares = float(x @ x)
    factor = float(x @ y) / squares if squares > 0 else 0.0
    if factor > 0 and np.abs(y - factor * x).max() <= tolerance * np.abs(y).max():
        return Level.PROPORTIONAL
    return Level.ORDER if _same_order(defined, answered, both, tolerance) else Level.DIFFERENT


def _same_order(defined: FloatArray, answered: FloatArray, both: Mask, tolerance: float) -> bool:
    """Whether an increasing map exists between the scores of each user: equal scores stay equal, others in order."""
    for user in np.flatnonzero(both.any(axis=1)):
        x, y = defined[user, both[user]], answered[user, both[user]]
        order = np.lexsort((y, x))
        steps_x, steps_y = np.diff(x[order]), np.diff(y[order])
        tied = steps_x <= tolerance * np.abs(x).max()
        small = tolerance * np.abs(y).max()
        if (np.abs(steps_y[tied]) > small).any() or (steps_y[~tied] <= small).any():
            return False
    return True
