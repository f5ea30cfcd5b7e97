"""Questions drawn at random, with these features in them and no others."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from repro.audit.questions.question import HIGHEST, Question, Rating, User

_IDS = np.arange(1, 130)  # of one to three digits: their order as text is not their order as numbers
_MOST_USERS = 4


@dataclass(frozen=True)
class QuestionGenerator:
    """What questions are drawn with.

    cutoffs    one of them is taken; none where the measure has no cut-off
    predicted  whether scores are predictions on the rating scale
    binary     whether held-out ratings can only be 1
    known      whether all users have training rows: nobody has then trained on everything, and, but in questions
               about ratings, what was trained on is relevant for everybody
    """

    cutoffs: Sequence[int]
    predictions: bool = False
    binary: bool = False
    known_users: bool = False

    def question(self, features: Collection[str], rng: np.random.Generator) -> Question:
        """A question that has what ``features`` names, as far as chance puts it there."""
        return _Draw(self, frozenset(features), rng).question()


class _Draw:
    def __init__(self, generator: QuestionGenerator, features: frozenset[str], rng: np.random.Generator) -> None:
        self._generator = generator
        self._features = features
        self._has = features.__contains__
        self._rng = rng

    def question(self) -> Question:
        k = self._cutoff()
        items = self._some(_IDS, self._size(k))
        fewest = 2 if self._features & {"no-relevant", "no-list", "neither", "no-negatives"} else 1
        crowd = 2 if self._generator.known_users else 1
        users = self._some(_IDS, crowd + int(self._rng.integers(fewest, _MOST_USERS)))
        unknown = self._some(items, max(1, len(items) // 4)) if self._has("unknown-items") else []
        trained = self._trained([item for item in items if item not in unknown])
        drawn = [self._user(user, items, k) for user in users[crowd:]]
        if self._has("ties"):  # whose order may be that of the data: it is not that of the lists
            trained = tuple(trained[at] for at in self._rng.permutation(len(trained)))
        others = [User(user, train=trained[place::crowd]) for place, user in enumerate(users[:crowd])]
        return Question((*self._with_outcasts(drawn), *others), tuple(items), k, features=self._features)

    def _cutoff(self) -> int | None:
        cutoffs = list(self._generator.cutoffs)
        if self._has("short-lists"):  # of which there are none below a small one
            cutoffs = [k for k in cutoffs if k > 2] or cutoffs[-1:]
        return int(self._rng.choice(cutoffs)) if cutoffs else None

    def _size(self, k: int | None) -> int:
        """How many items: enough for k of them to be listed, whatever is left out, unless lists are to be short."""
        if k is None:
            return int(self._rng.integers(5, 10))
        if self._has("short-lists"):
            return int(self._rng.integers(2, max(k + 1, 3)))
        return k + self._spare + 4 * self._has("partial-lists") + int(self._rng.integers(0, 4))

    @property
    def _spare(self) -> int:
        """How many items a list may lose to a policy."""
        return 2 + 4 * self._has("training") + 4 * self._has("unknown-items") + 4 * self._has("graded")

    def _user(self, user: int, items: Sequence[int], k: int | None) -> User:
        mixed = self._some(items, len(items))
        room = len(items) - 1
        n_test = int(self._rng.integers(1, max(2, min(room, (k or 3) + 2))))
        n_train = int(self._rng.integers(1, 4)) if self._has("training") else 0
        test = self._ratings(mixed[:n_test])
        train = self._trained(mixed[n_test : n_test + min(n_train, room - n_test + 1)])
        if self._generator.known_users and not self._generator.binary and not self._has("graded"):
            train = tuple((item, float(HIGHEST)) for item, _ in train)
        return User(user, self._scores(items, k, test), test, train, self._made_up(items))

    def _with_outcasts(self, users: list[User]) -> list[User]:
        """One user loses the relevant items, one the list, one both, one the negatives; somebody keeps everything.

        With "nobody" everybody loses something.
        """
        n = len(users)
        if self._has("nobody"):
            # Nobody has a list, or relevant items, or each lacks one of them.
            only = self._rng.integers(3) if self._has("no-list") else 1
            for at in range(n):
                lacks_list = only == 0 or (only == 2 and self._chance(0.5))
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
        low = tuple((item, self._low()) for item, _ in user.test[: int(self._rng.integers(1, 3))])
        return User(user.id, user.scores, low, user.train, user.made_up)

    def _without_list(self, user: User) -> User:
        return User(user.id, {}, user.test, user.train)

    def _without_negatives(self, user: User) -> User:
        """Everything that the user has a score for is held out, and liked."""
        liked = 1.0 if self._generator.binary else float(HIGHEST)
        trained = {item for item, _ in user.train}
        scores = {item: score for item, score in user.scores.items() if item not in trained}
        return User(user.id, scores, tuple((item, liked) for item in scores) or user.test, user.train, user.made_up)

    def _scores(self, items: Sequence[int], k: int | None, test: tuple[Rating, ...]) -> dict[int, float]:
        listed = list(items)
        if self._has("partial-lists"):
            fewest = 1 if self._has("short-lists") or k is None else min(k + self._spare, len(items))
            kept = set(self._some(items, int(self._rng.integers(fewest, len(items) + 1))))
            listed = [item for item in items if item in kept]
        if self._generator.predictions:
            low, high = (-1.0, 7.0) if self._has("off-scale") else (1.0, HIGHEST)
            drawn = self._rng.integers(round(low * 8), round(high * 8) + 1, len(listed)) / 8  # exact in any precision
        else:
            drawn = self._rng.choice(np.arange(1, 130), len(listed), replace=False) / 4  # apart in any precision
        scores = drawn.tolist()
        if self._has("non-positive"):
            scores = [score - 16.125 if self._chance(0.5) else score for score in scores]  # none is met twice
            scores = self._some_as(scores, [0.0], 0.15)
        if self._has("ties"):
            scores = self._tied(scores)
        if self._has("infinite"):
            scores = self._some_as(scores, [math.inf, -math.inf], 0.2)
        if self._has("missing"):
            stays = int(self._rng.integers(len(scores)))  # a list without any score is another matter
            tested = [at for at, item in enumerate(listed) if item in {one for one, _ in test}]
            if self._generator.predictions and tested:
                stays = int(self._rng.choice(tested))
            spared = scores[stays]
            scores = self._some_as(scores, [math.nan], 0.3)
            scores[stays] = spared
        return dict(zip(listed, scores, strict=True))

    def _some_as(self, scores: list[float], values: Sequence[float], share: float) -> list[float]:
        """Some scores replaced by one of ``values``; each of them once, unless there may be ties."""
        if self._has("ties") or self._generator.predictions:
            return [float(self._rng.choice(values)) if self._chance(share) else one for one in scores]
        places = self._some(range(len(scores)), min(len(values), len(scores)))
        for at, value in zip(places, values, strict=False):
            if self._chance(0.8):
                scores[at] = value
        return scores

    def _tied(self, scores: list[float]) -> list[float]:
        """Some scores made equal; others equal but for digits that not everybody looks at."""
        for at in range(1, len(scores)):
            if self._chance(0.5):
                scores[at] = scores[int(self._rng.integers(at))]
                if self._chance(0.5):
                    near = float(self._rng.choice([1e-9, 3e-7, 4e-5, 4e-4, 4e-3, 0.04]))
                    scores[at] += near * float(self._rng.choice([-1, 1])) * max(1.0, abs(scores[at]) * (near == 1e-9))
        return scores

    def _made_up(self, items: Sequence[int]) -> frozenset[int]:
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
            again = self._grade() if graded else rating
            rows.append((item, again))
        return tuple(rows[at] for at in self._rng.permutation(len(rows)))

    def _grade(self) -> float:
        if self._has("fractional") and self._chance(0.5):
            return float(self._rng.integers(1, 2 * HIGHEST)) / 2 + float(self._rng.choice([0.0, 0.0, 0.1, 0.4]))
        lowest = 0 if self._has("zero-ratings") else 1
        return float(self._rng.integers(lowest, HIGHEST + 1))

    def _low(self) -> float:
        """A rating that hardly anybody takes for relevant."""
        return 0.0 if self._has("zero-ratings") and self._chance(0.5) else 1.0

    def _trained(self, items: Sequence[int]) -> tuple[Rating, ...]:
        """Training ratings whose mean is below the highest rating, which is relevant for everybody then."""
        highest = np.full(len(items), HIGHEST) - (np.arange(len(items)) == 0)
        ratings = np.ones(len(items)) if self._generator.binary else self._rng.integers(1, highest + 1)
        if self._chance(0.25):  # the mean is what a rating may be
            ratings = np.repeat(ratings[:1], len(items))
        return tuple(zip(items, ratings.astype(float).tolist(), strict=True))

    def _some(self, of: Sequence[int] | np.ndarray, n: int) -> list[int]:
        return [int(one) for one in self._rng.choice(of, n, replace=False)]

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)
