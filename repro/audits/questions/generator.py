"""Random questions with given features and no others."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from repro.audits.questions.question import HIGHEST, Question, Rating, User

_IDS = np.arange(1, 130)  # one to three digits: sorted as text, they are in another order than as numbers
_MOST_USERS = 4


@dataclass(frozen=True)
class QuestionGenerator:
    """Draws questions for one black box.

    cutoffs      each question has one of them; none where the measure has no cut-off
    predictions  whether scores are predictions on the rating scale
    binary       whether all held-out ratings are 1
    known_users  whether all users have training rows; none of them has then trained on all items and, unless
                 ratings are graded, all training ratings are the highest
    """

    cutoffs: Sequence[int]
    predictions: bool = False
    binary: bool = False
    known_users: bool = False

    def question(self, features: Collection[str], rng: np.random.Generator) -> Question:
        """A random question; ``features`` are those that it may show, and most questions do."""
        return _QuestionDraw(self, frozenset(features), rng).question()


class _QuestionDraw:
    """One question being drawn."""

    def __init__(self, generator: QuestionGenerator, features: frozenset[str], rng: np.random.Generator) -> None:
        self._generator = generator
        self._features = features
        self._has = features.__contains__
        self._rng = rng

    def question(self) -> Question:
        k = self._cutoff()
        items = self._sample(_IDS, self._n_items(k))
        fewest = 2 if self._features & {"no-relevant", "no-list", "neither", "no-negatives"} else 1
        n_others = 2 if self._generator.known_users else 1  # users with training rows only
        users = self._sample(_IDS, n_others + int(self._rng.integers(fewest, _MOST_USERS)))
        unknown = self._sample(items, max(1, len(items) // 4)) if self._has("unknown-items") else []
        rows = self._training_rows([item for item in items if item not in unknown])
        tested = [self._user(user, items, k) for user in users[n_others:]]
        if self._has("ties"):  # ties may be broken by the order of rows, which then must differ from that of items
            rows = tuple(rows[at] for at in self._rng.permutation(len(rows)))
        others = [User(user, train=rows[position::n_others]) for position, user in enumerate(users[:n_others])]
        return Question((*self._with_exceptions(tested), *others), tuple(items), k, features=self._features)

    def _cutoff(self) -> int | None:
        cutoffs = list(self._generator.cutoffs)
        if self._has("short-lists"):  # a list with two items is not short for a small cut-off
            cutoffs = [k for k in cutoffs if k > 2] or cutoffs[-1:]
        return int(self._rng.choice(cutoffs)) if cutoffs else None

    def _n_items(self, k: int | None) -> int:
        """The number of items: k remain in a list whatever a policy excludes, unless lists are short."""
        if k is None:
            return int(self._rng.integers(5, 10))
        if self._has("short-lists"):
            return int(self._rng.integers(2, max(k + 1, 3)))
        return k + self._spare + 4 * self._has("partial-lists") + int(self._rng.integers(0, 4))

    @property
    def _spare(self) -> int:
        """The number of items that a policy may exclude from a list."""
        return 2 + 4 * self._has("training") + 4 * self._has("unknown-items") + 4 * self._has("graded")

    def _user(self, user: int, items: Sequence[int], k: int | None) -> User:
        shuffled = self._sample(items, len(items))
        room = len(items) - 1
        n_test = int(self._rng.integers(1, max(2, min(room, (k or 3) + 2))))
        n_train = int(self._rng.integers(1, 4)) if self._has("training") else 0
        test = self._ratings(shuffled[:n_test])
        train = self._training_rows(shuffled[n_test : n_test + min(n_train, room - n_test + 1)])
        if self._generator.known_users and not self._generator.binary and not self._has("graded"):
            train = tuple((item, float(HIGHEST)) for item, _ in train)
        return User(user, self._scores(items, k, test), test, train, self._fallback_items(items))

    def _with_exceptions(self, users: list[User]) -> list[User]:
        """The users, of whom one loses the relevant items, one the list, one both or one the negative items.

        With "nobody", every user loses the list or the relevant items.
        """
        n = len(users)
        if self._has("nobody"):
            # 0: no user has a list; 1: none has relevant items; 2: each user lacks one of the two.
            lacking = self._rng.integers(3) if self._has("no-list") else 1
            for at in range(n):
                lacks_list = lacking == 0 or (lacking == 2 and self._chance(0.5))
                users[at] = self._without_list(users[at]) if lacks_list else self._without_relevant(users[at])
            return users
        if self._has("no-negatives") and n > 1:
            users[n // 2] = self._without_negatives(users[n // 2])
        if self._has("neither") and n > 1:
            users[n // 2] = self._without_list(self._without_relevant(users[n // 2]))
        if self._has("no-relevant") and n > 1:
            users[0] = self._without_relevant(users[0])
        if self._has("no-list") and n > 1:
            users[-1] = self._without_list(users[-1])
        return [users[at] for at in self._rng.permutation(n)]

    def _without_relevant(self, user: User) -> User:
        """The user with one or two held-out items, with low ratings."""
        low = tuple((item, self._low()) for item, _ in user.test[: int(self._rng.integers(1, 3))])
        return User(user.id, user.scores, low, user.train, user.fallback)

    def _without_list(self, user: User) -> User:
        return User(user.id, {}, user.test, user.train)

    def _without_negatives(self, user: User) -> User:
        """The user with all listed items held out, with the highest rating."""
        highest = 1.0 if self._generator.binary else float(HIGHEST)
        trained = {item for item, _ in user.train}
        scores = {item: score for item, score in user.scores.items() if item not in trained}
        return User(user.id, scores, tuple((item, highest) for item in scores) or user.test, user.train, user.fallback)

    def _scores(self, items: Sequence[int], k: int | None, test: tuple[Rating, ...]) -> dict[int, float]:
        listed = list(items)
        if self._has("partial-lists"):
            fewest = 1 if self._has("short-lists") or k is None else min(k + self._spare, len(items))
            kept = set(self._sample(items, int(self._rng.integers(fewest, len(items) + 1))))
            listed = [item for item in items if item in kept]
        if self._generator.predictions:
            low, high = (-1.0, 7.0) if self._has("off-scale") else (1.0, HIGHEST)
            drawn = (
                self._rng.integers(round(low * 8), round(high * 8) + 1, len(listed)) / 8
            )  # exact also in half precision
        else:
            drawn = (
                self._rng.choice(np.arange(1, 130), len(listed), replace=False) / 4
            )  # different also in half precision
        scores = drawn.tolist()
        if self._has("non-positive"):
            # Scores are multiples of 1/4: subtracting an odd multiple of 1/8 makes no two of them equal.
            scores = [score - 16.125 if self._chance(0.5) else score for score in scores]
            scores = self._with_values(scores, [0.0], 0.15)
        if self._has("ties"):
            scores = self._tied(scores)
        if self._has("infinite"):
            scores = self._with_values(scores, [math.inf, -math.inf], 0.2)
        if self._has("missing"):
            kept_at = int(self._rng.integers(len(scores)))  # every list keeps a score
            held_out = {item for item, _ in test}
            tested = [at for at, item in enumerate(listed) if item in held_out]
            if self._generator.predictions and tested:
                kept_at = int(self._rng.choice(tested))
            kept_score = scores[kept_at]
            scores = self._with_values(scores, [math.nan], 0.3)
            scores[kept_at] = kept_score
        return dict(zip(listed, scores, strict=True))

    def _with_values(self, scores: list[float], values: Sequence[float], share: float) -> list[float]:
        """Some scores replaced by one of ``values``; by each of them once, unless scores may be equal."""
        if self._has("ties") or self._generator.predictions:
            return [float(self._rng.choice(values)) if self._chance(share) else score for score in scores]
        positions = self._sample(range(len(scores)), min(len(values), len(scores)))
        for at, value in zip(positions, values, strict=False):
            if self._chance(0.8):
                scores[at] = value
        return scores

    def _tied(self, scores: list[float]) -> list[float]:
        """Some scores made equal, others almost equal: evaluators may round or compare with a tolerance."""
        for at in range(1, len(scores)):
            if self._chance(0.5):
                scores[at] = scores[int(self._rng.integers(at))]
                if self._chance(0.5):
                    near = float(self._rng.choice([1e-9, 3e-7, 4e-5, 4e-4, 4e-3, 0.04]))
                    scores[at] += near * float(self._rng.choice([-1, 1])) * max(1.0, abs(scores[at]) * (near == 1e-9))
        return scores

    def _fallback_items(self, items: Sequence[int]) -> frozenset[int]:
        return frozenset(item for item in items if self._has("fallback") and self._chance(0.3))

    def _ratings(self, items: Sequence[int]) -> tuple[Rating, ...]:
        if self._generator.binary:
            ratings = [1.0] * len(items)
        elif self._has("graded") or self._generator.predictions:
            ratings = [float(HIGHEST), *(self._grade() for _ in items[1:])]
            if self._generator.predictions:
                ratings = [self._grade() for _ in items]
        else:
            ratings = [float(HIGHEST)] * len(items)
        rows = list(zip(items, ratings, strict=True))
        if self._has("duplicates"):
            item, rating = rows[int(self._rng.integers(len(rows)))]
            graded = (self._has("graded") or self._generator.predictions) and not self._generator.binary
            rows.append((item, self._grade() if graded else rating))
        return tuple(rows[at] for at in self._rng.permutation(len(rows)))

    def _grade(self) -> float:
        if self._has("fractional") and self._chance(0.5):
            return float(self._rng.integers(1, 2 * HIGHEST)) / 2 + float(self._rng.choice([0.0, 0.0, 0.1, 0.4]))
        lowest = 0 if self._has("zero-ratings") else 1
        return float(self._rng.integers(lowest, HIGHEST + 1))

    def _low(self) -> float:
        """A rating that is not relevant under any usual threshold."""
        return 0.0 if self._has("zero-ratings") and self._chance(0.5) else 1.0

    def _training_rows(self, items: Sequence[int]) -> tuple[Rating, ...]:
        """Training ratings with a mean below the highest rating, which is thus relevant relative to the mean too."""
        highest = np.full(len(items), HIGHEST) - (np.arange(len(items)) == 0)
        ratings = np.ones(len(items)) if self._generator.binary else self._rng.integers(1, highest + 1)
        if self._chance(0.25):  # equal ratings: the mean is a value that ratings have
            ratings = np.repeat(ratings[:1], len(items))
        return tuple(zip(items, ratings.astype(float).tolist(), strict=True))

    def _sample(self, population: Sequence[int] | np.ndarray, n: int) -> list[int]:
        return [int(drawn) for drawn in self._rng.choice(population, n, replace=False)]

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)
