"""A question to a black box: the input of an evaluation with a handful of users and items."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import FALLBACK, Case, Scores

Rating = tuple[int, float]  # an item and its rating
Row = TypeVar("Row")
Part = TypeVar("Part")
HIGHEST = 5  # the highest rating of the scale
NEAR = 0.1  # scores that differ by less may count as equal


@dataclass(frozen=True, eq=False)
class User:
    """A user of a question.

    scores    by item; other items are not in the user's list
    test      held-out items with their ratings; a user without any is not tested
    train     training items with their ratings
    fallback  the items whose scores are marked as fallback scores
    """

    id: int
    scores: Mapping[int, float] = field(default_factory=dict)
    test: tuple[Rating, ...] = ()
    train: tuple[Rating, ...] = ()
    fallback: frozenset[int] = frozenset()

    @property
    def has_no_relevant(self) -> bool:
        """Whether no held-out item is relevant under any usual threshold."""
        return all(grade <= 1 for _, grade in self.test)

    def without(self, items: Collection[int]) -> User:
        """The user without some items."""
        return replace(
            self,
            scores={item: score for item, score in self.scores.items() if item not in items},
            test=tuple(row for row in self.test if row[0] not in items),
            train=tuple(row for row in self.train if row[0] not in items),
            fallback=self.fallback.difference(items),
        )


@dataclass(frozen=True, eq=False)
class Question:
    """Users with scores, held-out rows and training rows.

    items        in the order in which the evaluator gets them
    k            the cut-off; None where the measure has none
    features     the features that it was drawn with
    text_ids     whether ids are text
    interleaved  the seed with which rows of different users are interleaved; 0 if they are not
    """

    users: tuple[User, ...]
    items: tuple[int, ...]
    k: int | None
    scale: tuple[float, float] = (1.0, float(HIGHEST))
    features: frozenset[str] = frozenset()
    text_ids: bool = False
    interleaved: int = 0

    @property
    def tested(self) -> tuple[User, ...]:
        """The users with held-out items."""
        return tuple(user for user in self.users if user.test)

    @property
    def size(self) -> int:
        """The number of scores and ratings that a reader has to look at, ratings counted twice."""
        return sum(len(user.scores) + 2 * len(user.test) + 2 * len(user.train) for user in self.users) + (self.k or 0)

    @cached_property
    def oddities(self) -> frozenset[str]:
        """Properties that evaluators may treat differently: short lists, unknown items, users without training rows."""
        known_items = {item for user in self.users for item, _ in user.train}
        trained = {user.id: {item for item, _ in user.train} for user in self.users}
        is_short = self.k is not None and any(
            len((user.scores.keys() & known_items) - trained[user.id]) < self.k for user in self.tested if user.scores
        )
        oddities = {
            "short lists": is_short,
            "unknown items": not known_items.issuperset(self.items),
            "unknown users": any(not user.train for user in self.tested),
        }
        return frozenset(oddity for oddity, is_there in oddities.items() if is_there)

    @cached_property
    def shown(self) -> frozenset[str]:
        """The features that the question shows; shrinking may remove features that it was drawn with."""
        lists = [list(user.scores.values()) for user in self.tested]
        scores = [score for of_user in lists for score in of_user]
        grades = [grade for user in self.tested for _, grade in user.test]
        features = {
            "graded": len(set(grades)) > 1,
            "fractional": any(not grade.is_integer() for grade in grades),
            "zero-ratings": 0 in grades,
            "training": any(user.train for user in self.tested),
            "unknown-items": "unknown items" in self.oddities,
            "short-lists": "short lists" in self.oddities,
            "partial-lists": any(0 < len(user.scores) < len(self.items) for user in self.tested),
            "ties": any(_smallest_gap(of_user) < NEAR for of_user in lists),
            "missing": any(map(math.isnan, scores)),
            "non-positive": any(-math.inf < score <= 0 for score in scores),
            "infinite": any(map(math.isinf, scores)),
            "fallback": any(user.fallback for user in self.tested),
            "no-relevant": any(user.has_no_relevant for user in self.tested),
            "no-list": any(not user.scores for user in self.tested),
            "neither": any(not user.scores and user.has_no_relevant for user in self.tested),
            "no-negatives": any(user.scores and user.scores.keys() <= dict(user.test).keys() for user in self.tested),
            "nobody": all(not user.scores or user.has_no_relevant for user in self.tested),
            "duplicates": any(len(dict(user.test)) < len(user.test) for user in self.tested),
            "off-scale": any(score < self.scale[0] or score > self.scale[1] for score in scores),
        }
        return frozenset(feature for feature, is_there in features.items() if is_there)

    def label(self, number: int) -> int | str:
        """The id of a user or an item in the input of the evaluator."""
        return f"x{number}" if self.text_ids else number

    def in_rows(self, of_users: Sequence[Sequence[Row]]) -> list[Row]:
        """The rows of all users, one user after the other or interleaved; the rows of a user keep their order."""
        if not self.interleaved:
            return [row for rows in of_users for row in rows]
        rng = np.random.default_rng(self.interleaved)
        keyed = [pair for rows in of_users for pair in zip(np.sort(rng.random(len(rows))).tolist(), rows, strict=True)]
        return [row for _, row in sorted(keyed, key=lambda pair: pair[0])]

    @cached_property
    def case(self) -> Case:
        """The question in the form that evaluators of plug-ins take."""
        users = sorted((user.id for user in self.users), key=self.label)
        items = sorted(self.items, key=self.label)
        rows = {user: row for row, user in enumerate(users)}
        columns = {item: column for column, item in enumerate(items)}
        values = np.full((len(users), len(items)), np.nan)
        listed = np.zeros(values.shape, dtype=np.bool_)
        state = np.zeros(values.shape, dtype=np.uint8)
        for user in self.users:
            if not user.test:  # any scores will do: the list of a user who is not tested has no effect
                values[rows[user.id]], listed[rows[user.id]] = np.arange(len(items), 0, -1), True
                continue
            for item, score in user.scores.items():
                cell = rows[user.id], columns[item]
                values[cell], listed[cell] = score, True
                state[cell] = FALLBACK if item in user.fallback else 0
        return Case(
            Scores(values, state if state.any() else None),
            self._rows(rows, columns, [[(user.id, *row) for row in user.train] for user in self.users]),
            self._rows(rows, columns, [[(user.id, *row) for row in user.test] for user in self.users]),
            np.array([columns[item] for item in self.items], dtype=np.int32),
            self.scale,
            None if listed.all() else listed,
        )

    def _rows(
        self, users: Mapping[int, int], items: Mapping[int, int], of_users: Sequence[Sequence[tuple[int, int, float]]]
    ) -> Interactions:
        rows = self.in_rows(of_users)
        return Interactions(
            np.array([users[user] for user, _, _ in rows], dtype=np.int32),
            np.array([items[item] for _, item, _ in rows], dtype=np.int32),
            np.array([rating for _, _, rating in rows], dtype=np.float64),
            None,
            np.array([self.label(user) for user in users]),
            np.array([self.label(item) for item in items]),
        )

    def smaller(self) -> Iterator[Question]:
        """The question with some part removed, in every way; large parts first."""
        tested = self.tested
        for removed in _parts(tested):
            if len(removed) < len(tested):
                yield replace(self, users=tuple(user for user in self.users if user not in removed))
        for items in _parts(self.items):
            without = frozenset(items)
            users = tuple(user.without(without) for user in self.users)
            if all(new.test or not old.test for new, old in zip(users, self.users, strict=True)):
                yield replace(self, users=users, items=tuple(item for item in self.items if item not in without))
        for at, user in enumerate(self.users):
            for rows in _parts(user.test):
                if len(rows) < len(user.test):
                    yield self._with(at, replace(user, test=_without(user.test, rows)))
            for rows in _parts(user.train):
                yield self._with(at, replace(user, train=_without(user.train, rows)))
        if self.text_ids:
            yield replace(self, text_ids=False)
        if self.interleaved:
            yield replace(self, interleaved=0)
        if self.k is not None and self.k > 1:
            yield from (replace(self, k=k) for k in dict.fromkeys((self.k // 2, self.k - 1)))

    def with_plain_scores(self, at: int) -> Question:
        """The question with the scores of a user replaced by their ranks, unless some are zero or below."""
        user = self.users[at]
        finite = sorted({score for score in user.scores.values() if math.isfinite(score)})
        if not finite or finite[0] <= 0:
            return self
        ranks = {score: float(rank) for rank, score in enumerate(finite, start=1)}
        return self._with(
            at, replace(user, scores={item: ranks.get(score, score) for item, score in user.scores.items()})
        )

    def with_plain_ratings(self, at: int) -> Question:
        """The question with the highest rating for all held-out items of a user, if it has graded ratings."""
        if "graded" not in self.features:
            return self
        user = self.users[at]
        return self._with(at, replace(user, test=tuple((item, float(HIGHEST)) for item, _ in user.test)))

    def with_reversed_rows(self) -> Question:
        """The question with all users, rows and items in reverse order."""
        users = [replace(user, test=user.test[::-1], train=user.train[::-1]) for user in self.users]
        return replace(self, users=tuple(users[::-1]), items=self.items[::-1])

    def to_text(self) -> str:
        """The question in lines: for each user the scores, the held-out and the training ratings."""
        lines = [] if self.k is None else [f"k = {self.k}"]
        for user in self.users:
            parts = []
            if user.test:
                listed = [item for item in self.items if item in user.scores]
                shown = ", ".join(f"{self.label(item)}: {_score(user, item)}" for item in listed)
                parts = [f"scores {{{shown}}}" if listed else "no list", f"held out {self._ratings(user.test)}"]
            if user.train:
                parts.append(f"trained on {self._ratings(user.train)}")
            if parts:
                lines.append(f"user {self.label(user.id)}: " + "; ".join(parts))
        if self.interleaved:
            lines.append("the rows of users are interleaved")
        return "\n".join(lines)

    def _ratings(self, rows: Sequence[Rating]) -> str:
        return "{" + ", ".join(f"{self.label(item)}: {rating:.9g}" for item, rating in rows) + "}"

    def to_dict(self) -> dict[str, Any]:
        """The question as plain data; scores that are not finite are text."""
        return {
            "k": self.k,
            "items": list(self.items),
            "scale": list(self.scale),
            "users": [
                {
                    "user": user.id,
                    "scores": {str(item): _plain(user.scores[item]) for item in self.items if item in user.scores},
                    "test": [list(row) for row in user.test],
                    "train": [list(row) for row in user.train],
                    "made_up": sorted(user.fallback),
                }
                for user in self.users
            ],
            **({"text_ids": True} if self.text_ids else {}),
            **({"interleaved": self.interleaved} if self.interleaved else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Question:
        """The question from the data of :meth:`to_dict`, which do not have its features."""
        users = tuple(
            User(
                user["user"],
                {int(item): float(score) for item, score in user["scores"].items()},
                tuple((item, rating) for item, rating in user["test"]),
                tuple((item, rating) for item, rating in user["train"]),
                frozenset(user["made_up"]),
            )
            for user in data["users"]
        )
        low, high = data["scale"]
        return cls(
            users,
            tuple(data["items"]),
            data["k"],
            (low, high),
            text_ids=bool(data.get("text_ids", False)),
            interleaved=int(data.get("interleaved", 0)),
        )

    def _with(self, at: int, user: User) -> Question:
        return replace(self, users=(*self.users[:at], user, *self.users[at + 1 :]))


def _smallest_gap(scores: Sequence[float]) -> float:
    """The smallest difference between two scores; two infinite scores, and two missing ones, do not differ."""
    finite = np.sort([score for score in scores if math.isfinite(score)])
    not_finite = [str(score) for score in scores if not math.isfinite(score)]
    if len(set(not_finite)) < len(not_finite):
        return 0.0
    return float(np.diff(finite).min(initial=math.inf))


def _plain(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _score(user: User, item: int) -> str:
    return f"{user.scores[item]:.12g}" + (" (fallback)" if item in user.fallback else "")


def _parts(whole: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Halves of a sequence, then quarters and so on, and single elements last."""
    size = len(whole) // 2
    while size > 1:
        yield from (whole[at : at + size] for at in range(0, len(whole), size))
        size //= 2
    yield from (whole[at : at + 1] for at in range(len(whole)))


def _without(rows: tuple[Rating, ...], removed: Sequence[Rating]) -> tuple[Rating, ...]:
    """The rows without the removed ones; of equal rows, as many go as are removed."""
    remaining = list(rows)
    for row in removed:
        remaining.remove(row)
    return tuple(remaining)


MAX_TRIES = 400


def shrink(
    question: Question,
    is_kept: Callable[[Question], bool],
    max_tries: int = MAX_TRIES,
    *,
    known_users: bool = False,
    takes: Callable[[int | None], bool] = lambda k: True,
) -> Question:
    """The smallest question that is reached by removing parts, one at a time, as long as ``is_kept`` accepts it.

    ``is_kept`` is called at most ``max_tries`` times. A smaller question gets no oddity that the question does not
    have: short lists, unknown items and, with ``known_users``, unknown users. ``takes`` says which cut-offs the
    black box accepts.
    """
    tries_left = max_tries
    allowed = question.oddities | (set() if known_users else {"unknown users"})
    # Candidates that were rejected are not tried again until all others were tried.
    n_rejected, is_smaller = 0, False
    while tries_left > 0:
        for smaller in islice(question.smaller(), n_rejected, None):
            if smaller.oddities <= allowed and (smaller.k == question.k or takes(smaller.k)):
                tries_left -= 1
                if is_kept(smaller):
                    question, is_smaller = smaller, True
                    break
            n_rejected += 1
            if tries_left <= 0:
                break
        else:
            if not is_smaller:
                break
            n_rejected, is_smaller = 0, False
    for at in range(len(question.users)):
        for simplify in (Question.with_plain_scores, Question.with_plain_ratings):
            simpler = simplify(question, at)
            question = simpler if is_kept(simpler) else question
    return question
