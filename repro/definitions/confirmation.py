"""Attempts to refute an inferred definition, with training sets of another kind than those of the inference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.definitions.comparison import DOUBLE, Answer, Comparison, Level, Mask
from repro.definitions.implementation import Implementation
from repro.definitions.space import Setting, Space, is_rejected
from repro.definitions.training_sets import moments
from repro.errors import PluginError

# Sums and inverses of larger training sets in 32 bits differ by more than those of small ones.
SINGLE_OF_MANY = 2e-5
SETS, LARGE = 13, (13,)


@dataclass(frozen=True, eq=False)
class Confirmation:
    """No attempt to refute a definition succeeded.

    level       how far the scores agree on all training sets
    sets        the number of training sets
    pairs       the number of pairs whose scores were compared
    largest     the largest difference relative to the largest score of a training set, where the level is EQUAL
    rejected    the number of training sets that the implementation or the definition rejected
    fillers     for each of FILLERS, whether the implementation can give it where the definition has no score
    uses_filler whether there was such a pair
    distinct    the number of different scores, added up over the training sets
    ordered     the number of steps from one score of a user to the next higher one
    answers     the answers of the implementation
    """

    level: Level
    sets: int
    pairs: int
    largest: float
    rejected: int
    fillers: Mask
    uses_filler: bool
    distinct: int = 0
    ordered: int = 0
    answers: Sequence[Answer] = ()


@dataclass(frozen=True, eq=False)
class Refutation:
    """A training set on which a definition and an implementation disagree."""

    train: Interactions
    answer: Answer


def confirm(
    implementation: Implementation,
    space: Space,
    setting: Setting,
    expected: tuple[Level, Mask],
    seed: int,
    data: Sequence[Interactions] = (),
) -> Confirmation | Refutation:
    """Compare a definition with an implementation on difficult training sets, and on ``data``.

    ``expected`` is the level of agreement so far, and what the implementation may give instead of a missing score. A
    fall from equal scores to a mere order is a disagreement too.
    """
    level, fillers = expected
    comparison = Comparison(np.array([level], dtype=np.int8), fillers[None].copy())
    pairs = rejected = distinct = ordered = 0
    answers: list[Answer] = []
    largest, uses_filler = 0.0, False
    for train in (*difficult_sets(seed), *data):
        try:
            answer = implementation.answer(train)
        except PluginError:
            rejected += 1
            continue
        if answer.precision > DOUBLE:
            answer = replace(answer, tolerance=SINGLE_OF_MANY)
        answers.append(answer)
        defined = space.fitted_scores(setting, train)
        if is_rejected(defined):
            answers.pop()
            rejected += 1
            continue
        comparison = comparison.after(defined[None], answer, level)
        if comparison.levels[0] < level:
            return Refutation(train, answer)
        both = np.isfinite(defined) & answer.scored
        pairs += int(both.sum())
        distinct += len(_distinct(defined[both]))
        ordered += sum(len(_distinct(defined[user, both[user]])) - 1 for user in np.flatnonzero(both.any(axis=1)))
        uses_filler |= bool((np.isnan(defined) & ~answer.trained).any())
        if level == Level.EQUAL and both.any():
            scale = max(float(np.abs(defined[both]).max()), 1e-300)
            largest = max(largest, float(np.abs(defined[both] - answer.values[both]).max()) / scale)
    return Confirmation(
        level,
        len(answers),
        pairs,
        largest,
        rejected,
        comparison.fillers[0],
        uses_filler,
        distinct,
        ordered,
        answers,
    )


def _distinct(scores: FloatArray) -> FloatArray:
    """The scores that differ by more than rounding, in ascending order."""
    ascending = np.sort(scores)
    steps = np.diff(ascending, prepend=-np.inf)
    distinct: FloatArray = ascending[steps > DOUBLE * np.abs(ascending).max(initial=0.0)]
    return distinct


def difficult_sets(seed: int) -> Iterator[Interactions]:
    """Training sets with popular and rare items, users with one row, constant and equal users, ids without rows, and
    rows in no order; from a few rows to thousands."""
    for number in (*range(SETS), *LARGE):
        rng = np.random.default_rng([seed, 7919, number])
        n_users, n_items = (260, 180) if number in LARGE else (int(rng.integers(6, 45)), int(rng.integers(5, 40)))
        weights = 1.0 / (1.0 + np.arange(n_items)) ** rng.uniform(0.2, 1.1)
        weights = rng.permutation(weights / weights.sum())
        most = max(2, int(n_items * rng.uniform(0.25, 0.8)))
        baskets = []
        for user in range(n_users):
            size = 1 if user == 0 else int(np.clip(rng.geometric(2.0 / most), 1, n_items - 1))
            baskets.append(rng.choice(n_items, size=size, replace=False, p=weights))
        baskets[-1] = baskets[1].copy()
        yield _rows(rng, baskets, _ratings(rng, number, baskets), n_items)


def _ratings(rng: np.random.Generator, number: int, baskets: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Ratings of each basket: stars, half stars, real numbers, counts, or all 1; some users give only one value."""
    kind = ("stars", "halves", "reals", "counts", "ones")[number % 5]
    ratings = []
    for user, basket in enumerate(baskets):
        size = len(basket)
        match kind:
            case "stars":
                values = np.clip(np.round(rng.normal(3.6, 1.1, size)), 1, 5)
            case "halves":
                values = rng.integers(1, 11, size) / 2.0
            case "reals":
                values = rng.uniform(0.3, 9.7, size)
            case "counts":
                values = np.floor(rng.pareto(1.2, size) * 2) + 1
            case _:
                values = np.ones(size)
        if user % 9 == 4:
            values = np.full(size, values[0])
        ratings.append(values)
    return ratings


def _rows(
    rng: np.random.Generator, baskets: Sequence[np.ndarray], ratings: Sequence[np.ndarray], n_items: int
) -> Interactions:
    """Interactions in no order, in a catalogue with two more users and one more item than have rows."""
    users = np.repeat(np.arange(len(baskets)), [len(basket) for basket in baskets])
    order = rng.permutation(len(users))
    values = np.concatenate(ratings)[order]
    return Interactions(
        users[order].astype(np.int32),
        np.concatenate(baskets)[order].astype(np.int32),
        values.astype(np.float64),
        moments(rng, len(users)),
        np.cumsum(rng.integers(1, 9, len(baskets) + 2)),
        np.cumsum(rng.integers(1, 9, n_items + 1)),
        explicit=bool((values != 1.0).any()),
    )
