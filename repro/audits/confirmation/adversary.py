"""Questions that try to refute a policy: larger and more unusual than those with which it was inferred.

Inference asks about a handful of users and items. A policy that holds for such questions may fail for others: a sort
may treat 17 items differently from 16, a threshold may lie between two ratings that never occurred, a rule may not hold
where no user has a list. This generator shares no code with :mod:`repro.audits.questions.generator`, only the names of
features. Beyond *features*, its questions have *traits*, which no question of inference has. Every pair of features or
traits is a goal (:meth:`Adversary.goals`): one question shows both, in one user where possible.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from repro.audits.questions.question import HIGHEST, Question, Rating, User

SHORT = 16  # the longest list that sorts of NumPy and others always treat as stable
FEW_USERS = 4
USUAL_CUTOFFS = (1, 2, 3, 5)
_OTHER_CUTOFFS = (1, 4, 6, 7, 10, 15, 20, 50, 100)
_SIZES = (17, 18, 24, 33, 64, 65, 100, 129, 200)
_SMALL_RATINGS = (0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.45)
_ODD_RATINGS = (0.7, 1.2, 1.5, 1.9, 2.3, 2.5, 2.75, 3.2, 3.5, 3.8, 4.1, 4.5, 4.9)
_HIGH_RATINGS = (6.0, 7.0, 8.0, 9.0, 10.0)
_NEAR = (1e-13, 1e-9, 3e-8, 3e-7, 4e-5, 4e-4, 4e-3, 0.04)  # differences that some evaluators round away
_MAGNITUDES = (2.0**-12, 2.0**10, 2.0**20)

Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Trait:
    """A property of questions beyond their features: its name, how to recognise it, and the features it requires."""

    words: str
    is_shown_by: Callable[[Question], bool]
    needs: tuple[str, ...] = ()


def _lists(question: Question) -> list[list[float]]:
    return [list(user.scores.values()) for user in question.tested]


def _grades(question: Question) -> list[float]:
    return [grade for user in question.tested for _, grade in user.test]


TRAITS: Mapping[str, Trait] = {
    "long-lists": Trait(f"lists of more than {SHORT} items", lambda q: any(len(s) > SHORT for s in _lists(q))),
    "many-users": Trait(f"more than {FEW_USERS} test users", lambda q: len(q.tested) > FEW_USERS),
    "other-cutoffs": Trait("cut-offs above 5", lambda q: q.k is not None and q.k > max(USUAL_CUTOFFS)),
    "small-ratings": Trait(
        "ratings between 0 and 0.5", lambda q: any(0 < g < 0.5 for g in _grades(q)), ("graded", "fractional")
    ),
    "high-ratings": Trait("ratings above 5", lambda q: any(g > HIGHEST for g in _grades(q)), ("graded",)),
    "large-ids": Trait("ids of many digits", lambda q: max(q.items, default=0) > 10**6),
    "text-ids": Trait("ids that are text", lambda q: q.text_ids),
    "interleaved-rows": Trait("rows of several users in turn", lambda q: q.interleaved > 0),
    "other-magnitudes": Trait(
        "scores of other magnitudes",
        lambda q: any(0 < abs(s) < 0.2 or 1000 < abs(s) < math.inf for scores in _lists(q) for s in scores),
    ),
    "more-relevant-than-listed": Trait(
        "more held-out than listed items",
        lambda q: any(0 < len(u.scores) < len({item for item, _ in u.test}) for u in q.tested),
        ("partial-lists", "short-lists"),
    ),
    "constant-scores": Trait(
        "users all of whose scores are equal",
        lambda q: any(len(s) > 2 and len(set(s)) == 1 and math.isfinite(s[0]) for s in _lists(q)),
        ("ties",),
    ),
    "only-missing-scores": Trait(
        "users all of whose scores are missing",
        lambda q: any(scores and all(map(math.isnan, scores)) for scores in _lists(q)),
        ("missing", "ties", "short-lists"),
    ),
    "no-positive-score": Trait(
        "users all of whose scores are zero or below",
        lambda q: any(scores and all(-math.inf < score <= 0 for score in scores) for scores in _lists(q)),
        ("non-positive", "short-lists"),
    ),
    "held-out-in-training": Trait(
        "held-out items that the user has in training",
        lambda q: any({item for item, _ in u.test} & {item for item, _ in u.train} for u in q.tested),
        ("training",),
    ),
    "nobody-listed": Trait("no user with a list", lambda q: not any(u.scores for u in q.tested), ("no-list", "nobody")),
    "nobody-relevant": Trait(
        "no user with relevant items",
        lambda q: all(user.has_no_relevant for user in q.tested),
        ("no-relevant", "nobody", "graded"),
    ),
}


def traits_of(question: Question) -> frozenset[str]:
    """The traits that a question shows."""
    return frozenset(name for name, trait in TRAITS.items() if trait.is_shown_by(question))


@dataclass(frozen=True)
class Goal:
    """The features and traits that a question must show."""

    features: frozenset[str] = frozenset()
    traits: frozenset[str] = frozenset()

    def __or__(self, other: Goal) -> Goal:
        return Goal(self.features | other.features, self.traits | other.traits)

    def includes(self, other: Goal) -> bool:
        """Whether it has all features and traits of another goal."""
        return other.features <= self.features and other.traits <= self.traits

    def is_met_by(self, question: Question) -> bool:
        """Whether a question shows all features and traits of the goal."""
        silent = {"graded", "ties"} if "only-missing-scores" in self.traits else {"graded"}
        return self.features - silent <= question.shown and self.traits <= traits_of(question)


@dataclass(frozen=True)
class Adversary:
    """Draws questions to refute a policy with.

    allowed          the features that questions may have
    base_features    the features that all questions have
    cutoffs          the cut-offs of inference; none where the measure has none
    any_cutoff       whether questions may have other cut-offs too, from ``least_k`` on
    predictions      whether scores are predictions on the rating scale
    binary           whether all held-out ratings are 1
    known_users      whether all users have training rows
    excluded_traits  traits that no question has
    """

    allowed: frozenset[str]
    base_features: frozenset[str] = frozenset()
    cutoffs: Sequence[int] = ()
    any_cutoff: bool = False
    least_k: int = 1
    predictions: bool = False
    binary: bool = False
    known_users: bool = False
    excluded_traits: frozenset[str] = field(default=frozenset())

    @property
    def traits(self) -> tuple[str, ...]:
        """The traits that questions may have."""
        return tuple(name for name in TRAITS if name not in self.excluded_traits and self._is_possible(name))

    def _is_possible(self, name: str) -> bool:
        needs = set(TRAITS[name].needs)
        if not self.cutoffs:
            needs.discard("short-lists")
        if name == "other-cutoffs" and not (self.cutoffs and self.any_cutoff):
            return False
        if name in ("small-ratings", "high-ratings") and self.binary:
            return False
        if self.predictions:
            if name == "small-ratings":
                return "fractional" in self.allowed
            if name in ("high-ratings", "other-magnitudes", "constant-scores", "no-positive-score", "nobody-relevant"):
                return False
        return needs <= self.allowed

    def goals(self, explained: Iterable[frozenset[str]]) -> list[Goal]:
        """Each set of features and each trait alone, and every pair of them together."""
        units = [Goal(), *(Goal(features) for features in dict.fromkeys(explained) if features)]
        units += [Goal(frozenset(TRAITS[name].needs) & self.allowed, frozenset({name})) for name in self.traits]
        return [*units, *(first | second for first, second in itertools.combinations(units[1:], 2))]

    def question(self, goal: Goal, rng: np.random.Generator, tries: int = 6) -> Question:
        """A random question that meets the goal, if one of a few draws does."""
        for _ in range(tries):
            question = _QuestionDraw(self, goal, rng).draw()
            if goal.is_met_by(question):
                break
        return question


class _QuestionDraw:
    """One question being drawn."""

    def __init__(self, adversary: Adversary, goal: Goal, rng: np.random.Generator) -> None:
        self._adversary = adversary
        base = adversary.base_features
        self._features = (goal.features | base) & (adversary.allowed | base)
        self._traits = goal.traits
        self._rng = rng

    def draw(self) -> Question:
        k = self._cutoff()
        n_items = self._n_items(k)
        item_ids = self._ids(n_items + 240)
        items, spare_items = item_ids[:n_items], item_ids[n_items:]
        unknown = set(self._sample(items, max(1, n_items // 5))) if self._has("unknown-items") else set()
        user_ids = self._ids(self._n_users() + 3)
        users = [self._user(user, items, is_first=at == 0) for at, user in enumerate(user_ids[3:])]
        users = self._with_exceptions(users)
        if k is not None and not self._has("short-lists"):
            users, added = self._with_long_lists(users, spare_items, k, unknown)
            items = self._shuffled([*items, *added])
        if self._has("no-negatives"):
            users[0] = self._without_negatives(users[0])
        untested = self._untested_users(user_ids[:3], [item for item in items if item not in unknown])
        return Question(
            tuple(self._shuffled([*users, *untested])),
            tuple(items),
            k,
            features=self._features,
            text_ids="text-ids" in self._traits,
            interleaved=int(self._rng.integers(1, 1000)) if "interleaved-rows" in self._traits else 0,
        )

    def _has(self, feature: str) -> bool:
        return feature in self._features

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def _between(self, low: int, high: int) -> int:
        return int(self._rng.integers(low, high + 1))

    def _sample(self, population: Sequence[Drawn], n: int) -> list[Drawn]:
        return [population[at] for at in self._rng.permutation(len(population))[:n]]

    def _shuffled(self, sequence: Sequence[Drawn]) -> list[Drawn]:
        return [sequence[at] for at in self._rng.permutation(len(sequence))]

    def _ids(self, n: int) -> list[int]:
        highest = 10**9 if "large-ids" in self._traits else 2_000
        return self._shuffled(sorted(set(self._rng.integers(1, highest, 3 * n).tolist())))[:n]

    def _cutoff(self) -> int | None:
        if not self._adversary.cutoffs:
            return None
        cutoffs: Sequence[int] = self._adversary.cutoffs
        if "other-cutoffs" in self._traits:
            cutoffs = [k for k in _OTHER_CUTOFFS if k > max(USUAL_CUTOFFS)]
        if self._has("short-lists"):  # a list with two items is not short for a small cut-off
            cutoffs = [k for k in cutoffs if k > 2] or cutoffs
        return int(self._rng.choice([k for k in cutoffs if k >= self._adversary.least_k] or [self._adversary.least_k]))

    def _n_items(self, k: int | None) -> int:
        fewest = (
            3
            if "constant-scores" in self._traits
            else 2
            if self._adversary.known_users or self._has("partial-lists")
            else 1
        )
        return max(self._any_number(k), fewest)

    def _any_number(self, k: int | None) -> int:
        if "long-lists" in self._traits:
            return int(self._rng.choice(_SIZES)) if self._chance(0.5) else self._between(17, 200)
        if "more-relevant-than-listed" in self._traits:
            return self._between(5, SHORT)
        if k is not None and self._has("short-lists"):
            return self._between(1, max(1, min(k - 1, SHORT)))
        return self._between(1, SHORT)

    def _n_users(self) -> int:
        if "many-users" in self._traits:
            return self._between(FEW_USERS + 1, 24)
        if "long-lists" in self._traits:
            return self._between(3, 6)
        fewest = 2 if self._features & {"no-relevant", "no-list", "neither", "no-negatives"} else 1
        return self._between(fewest, FEW_USERS)

    def _user(self, user: int, items: Sequence[int], *, is_first: bool) -> User:
        """A user with all features of the question if it is the first one, otherwise with half of them."""
        features = {feature for feature in sorted(self._features) if is_first or self._chance(0.5)}
        shuffled = self._shuffled(items)
        has_more_relevant = "more-relevant-than-listed" in self._traits and (is_first or self._chance(0.5))
        room = len(items) - 1 if self._adversary.known_users else len(items)  # known users have a training item
        is_long = has_more_relevant and room > 3
        n_test = self._between(3, room) if is_long else self._between(1, min(max(6, room // 4), room))
        test = self._test(shuffled[:n_test], features)
        train = self._train(shuffled[n_test:]) if "training" in features or self._adversary.known_users else ()
        if "held-out-in-training" in self._traits and is_first:
            train = (*train, (test[0][0], self._training_rating()))
        listed = list(items)
        if has_more_relevant:
            listed = self._sample(items, self._between(1, max(1, n_test - 1)))
        elif "partial-lists" in features:
            listed = self._sample(items, self._between(1, len(items)))
        fallback: list[int] = []
        if "fallback" in features:
            several = self._adversary.predictions or self._has("ties")
            fallback = self._sample(listed, self._between(1, max(1, len(listed) // 2)) if several else 1)
        scores = self._scores(listed, features, is_first)
        if "ties" in features and self._chance(0.7):
            scores = self._tied_at_the_top(scores, [item for item, _ in test])
        return User(user, scores, test, train, frozenset(fallback))

    def _with_exceptions(self, users: list[User]) -> list[User]:
        """The users, some without relevant items, some without a list, some without both; with "nobody", all."""
        n = len(users)
        unliked, unlisted = self._exceptions(n, "no-relevant"), self._exceptions(n, "no-list")
        if self._has("neither"):
            both = self._exceptions(n, "neither")
            unliked, unlisted = unliked | both, unlisted | both
        if "nobody-relevant" in self._traits:
            unliked = set(range(n))
        if "nobody-listed" in self._traits:
            unlisted = set(range(n))
        if self._has("nobody"):
            if "no-list" in self._adversary.allowed:
                unlisted |= {at for at in range(n) if at not in unliked | unlisted and self._chance(0.5)}
            unliked |= set(range(n)) - unlisted
        for at in unliked:
            user = users[at]
            rows = user.test[: self._between(1, 3)]
            users[at] = User(user.id, user.scores, tuple((i, self._low()) for i, _ in rows), user.train, user.fallback)
        for at in unlisted:
            users[at] = User(users[at].id, {}, users[at].test, users[at].train)
        return users

    def _exceptions(self, n: int, feature: str) -> set[int]:
        """The positions of up to a third of the users, never of the first one."""
        if not self._has(feature) or n < 2:
            return set()
        return set(self._sample(range(1, n), self._between(1, max(1, n // 3))))

    def _without_negatives(self, user: User) -> User:
        """The user with all listed items held out, with the highest rating."""
        highest = 1.0 if self._adversary.binary else float(HIGHEST)
        scores = {item: score for item, score in user.scores.items() if item not in dict(user.train)}
        return User(user.id, scores, tuple((item, highest) for item in scores) or user.test, user.train, user.fallback)

    def _low(self) -> float:
        """A rating that is not relevant under any usual threshold."""
        if self._has("zero-ratings") and self._chance(0.5):
            return 0.0
        return 0.1 if "small-ratings" in self._traits and self._chance(0.5) else 1.0

    def _test(self, items: Sequence[int], features: Collection[str]) -> tuple[Rating, ...]:
        if self._adversary.binary:
            ratings = [1.0 for _ in items]
        elif self._adversary.predictions:
            ratings = [self._grade(features) for _ in items]
        elif self._has("graded"):
            best = 10.0 if "high-ratings" in self._traits and self._chance(0.5) else float(HIGHEST)
            ratings = [best, *(self._grade(features) for _ in items[1:])]
        else:
            ratings = [float(HIGHEST) for _ in items]
        rows = list(zip(items, ratings, strict=True))
        if "duplicates" in features:
            graded = not self._adversary.binary and (self._has("graded") or self._adversary.predictions)
            for _ in range(self._between(1, 3)):
                item, rating = rows[self._between(0, len(rows) - 1)]
                rows.append((item, self._grade(features) if graded and self._chance(0.5) else rating))
        return tuple(self._shuffled(rows))

    def _grade(self, features: Collection[str]) -> float:
        if "small-ratings" in self._traits and self._chance(0.4):
            return float(self._rng.choice(_SMALL_RATINGS))
        if "high-ratings" in self._traits and self._chance(0.4):
            return float(self._rng.choice(_HIGH_RATINGS))
        if "fractional" in features and self._chance(0.5):
            return float(self._rng.choice(_ODD_RATINGS))
        if "zero-ratings" in features and self._chance(0.3):
            return 0.0
        return float(self._between(1, HIGHEST))

    def _train(self, items: Sequence[int]) -> tuple[Rating, ...]:
        return tuple((item, self._training_rating()) for item in items[: self._between(1, 4)])

    def _training_rating(self) -> float:
        if self._adversary.binary:
            return 1.0
        if self._adversary.known_users and not self._has("graded"):
            return float(HIGHEST)
        return float(self._between(1, HIGHEST - 1))

    def _scores(self, listed: Sequence[int], features: Collection[str], is_first: bool) -> dict[int, float]:
        n = len(listed)
        if self._adversary.predictions:
            low, high = (-1, 7) if "off-scale" in features else (1, HIGHEST)
            scores = [self._between(8 * low, 8 * high) / 8 for _ in listed]
        else:
            scores = [quarters / 4 for quarters in self._sample(range(1, 4 * n + 40), n)]
        if "other-magnitudes" in self._traits and (is_first or self._chance(0.5)):
            factor = float(self._rng.choice(_MAGNITUDES if self._has("ties") else _MAGNITUDES[1:]))
            scores = [score * factor for score in scores]
        several = self._has("ties") or self._adversary.predictions
        if "non-positive" in features:
            scores = [-score - 1 / 8 if self._chance(0.4) else score for score in scores]
            scores = self._with_values(scores, (0.0,), several)
        if "no-positive-score" in self._traits and is_first:
            scores = [min(score, -score) for score in scores]
        if "ties" in features:
            scores = self._tied(scores, constant="constant-scores" in self._traits and (is_first or self._chance(0.3)))
        if "infinite" in features:
            scores = self._with_values(scores, (math.inf, -math.inf), several)
        if "missing" in features:
            kept_at = self._between(0, max(0, n - 1))
            kept_score = scores[kept_at] if n else 0.0
            scores = self._with_values(scores, (math.nan,), several)
            if n:
                scores[kept_at] = kept_score
        if "only-missing-scores" in self._traits and is_first:
            scores = [math.nan] * n
        return dict(zip(listed, scores, strict=True))

    def _with_values(self, scores: list[float], values: Sequence[float], several: bool) -> list[float]:
        """Some scores replaced by ``values``: by each of them once, or many times where scores may be equal."""
        if several:
            share = float(self._rng.choice([0.1, 0.3, 0.6]))
            return [float(self._rng.choice(values)) if self._chance(share) else score for score in scores]
        for at, value in zip(self._sample(range(len(scores)), len(values)), values, strict=False):
            scores[at] = value
        return scores

    def _tied(self, scores: list[float], *, constant: bool) -> list[float]:
        if constant:
            return [scores[0]] * len(scores) if scores else []
        pool = self._sample(scores, max(1, min(len(scores), self._between(1, 5))))
        tied = [float(self._rng.choice(pool)) if self._chance(0.7) else score for score in scores]
        near = float(self._rng.choice(_NEAR))
        if self._chance(0.5):
            tied = [score + near * self._between(-1, 1) * max(1.0, abs(score)) for score in tied]
        return tied

    def _tied_at_the_top(self, scores: dict[int, float], held_out: Sequence[int]) -> dict[int, float]:
        """The scores with many ties at the top, also of held-out items: their order decides which items a list has."""
        finite = [score for score in scores.values() if math.isfinite(score)]
        if not finite:
            return scores
        items = [item for item, score in scores.items() if math.isfinite(score)]
        tied = {item for item in held_out if item in scores and self._chance(0.8)}
        tied |= set(self._sample(items, self._between(1, len(items))))
        return {item: max(finite) if item in tied and item in items else score for item, score in scores.items()}

    def _with_long_lists(
        self, users: list[User], spare_items: Sequence[int], k: int, unknown: Collection[int]
    ) -> tuple[list[User], list[int]]:
        """The users with lists of which k items remain whatever a policy excludes; and the items that were added."""

        def n_plain(user: User) -> int:
            rated = {item for item, _ in (*user.train, *user.test)}
            return sum(
                0 < score < math.inf and not (item in rated or item in unknown or item in user.fallback)
                for item, score in user.scores.items()
            )

        lacking = max((k - n_plain(user) for user in users if user.scores), default=0)
        added = list(spare_items[: max(0, lacking)])
        return [self._with_items(user, added) for user in users], added

    def _with_items(self, user: User, added: Sequence[int]) -> User:
        """The user with further items in the list, with scores between and above those of the others."""
        if not user.scores or not added:
            return user
        if self._adversary.predictions:
            more = [self._between(8, 8 * HIGHEST) / 8 for _ in added]
        elif len(set(user.scores.values())) == 1 and "constant-scores" in self._traits:
            more = list(user.scores.values())[:1] * len(added)
        else:
            finite = [abs(score) for score in user.scores.values() if math.isfinite(score)]
            near = {math.floor(4 * score) + step for score in finite for step in (-1, 0, 1, 2)}
            highest = 4 * len(finite) + 40 + 8 * len(added)
            free = [quarters for quarters in range(1, highest) if quarters not in near]
            more = [quarters / 4 for quarters in self._sample(free, len(added))]
        scores = {**user.scores, **dict(zip(added, more, strict=True))}
        return User(user.id, scores, user.test, user.train, user.fallback)

    def _untested_users(self, ids: Sequence[int], items: Sequence[int]) -> Iterator[User]:
        """Users with training rows only; each item has a row of at least one of them."""
        n = self._between(2 if self._adversary.known_users else 1, len(ids))
        users_of = {item: {self._between(0, n - 1)} | {at for at in range(n) if self._chance(0.3)} for item in items}
        for at, user in enumerate(ids[:n]):
            rows = [(item, self._training_rating()) for item in items if at in users_of[item]]
            if self._adversary.known_users and len(rows) == len(items) > 1:  # no known user has trained on all items
                rows = rows[1:] if len(users_of[rows[0][0]]) > 1 else rows[:-1]
            if rows:
                yield User(user, train=tuple(self._shuffled(rows)))
