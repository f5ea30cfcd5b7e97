"""What is known of the order of equal scores where no rule explains it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from repro.audit.black_boxes.black_box import agree
from repro.audit.hypotheses.elimination import Asked
from repro.audit.questions.question import Question, User
from repro.audit.simulation import Outcome, Simulation
from repro.audit.space import Hypothesis, Space

_QUESTIONS = 12
_MOST_ORDERS = 600
BY_THE_SORT = (
    "equal scores come as the sort happens to leave them: by a rule in short lists ({rule}), by none in longer ones"
)
PSEUDO_RANDOM = (
    "ties are pseudo-random: the same input gives the same answer each time, every answer is that of some order of the "
    "equal scores, and neither the ids nor the rows explain which"
)


def describe(
    policy: Hypothesis, space: Space, ask: Callable[[Question], Outcome], plain: Sequence[Question], tolerance: float
) -> str:
    """A sentence about the order of equal scores; empty where the answers are those of no order.

    ``plain`` are questions without equal scores, in which some scores are made equal here.
    """
    asked: list[Asked] = []
    rng = np.random.default_rng(len(plain))
    for question in plain:
        tied = _with_ties(question, rng)
        if tied is None:
            continue
        values = [Simulation(one, space).outcome(policy) for one in _in_all_orders(tied)]
        if all(agree(values[0], value, tolerance) for value in values):
            continue  # whatever the order is
        said = ask(tied)
        if said.refusal:
            continue
        if not any(agree(said, value.as_told(said.is_by_user), tolerance) for value in values):
            return ""
        asked.append(Asked(tied, said, Simulation(tied, space)))
        if len(asked) == _QUESTIONS:
            break
    if len(asked) < _QUESTIONS // 2:
        return ""
    rules = [
        way
        for rule in space.tried("ties.break")
        for way in space.changed(policy, {"ties.break": rule})
        if all(agree(one.said, one.simulation.outcome(way), tolerance) for one in asked)
    ]
    if rules:
        return BY_THE_SORT.format(rule=f'ties.break = "{rules[0].values["ties.break"]}"')
    return PSEUDO_RANDOM


def _with_ties(question: Question, rng: np.random.Generator) -> Question | None:
    """The question with two or three scores of each user made equal, one of them that of a held-out item if it can."""
    users = [_tied_user(user, rng) if user.test else user for user in question.users]
    tied = replace(question, users=tuple(users))
    return tied if any(_groups(user) for user in tied.tested) else None


def _tied_user(user: User, rng: np.random.Generator) -> User:
    items = [item for item, score in user.scores.items() if math.isfinite(score)]
    held_out = [item for item in items if item in {one for one, _ in user.test}]
    others = [item for item in items if item not in held_out]
    if not held_out or not others:
        return user
    first = int(rng.choice(held_out))
    rest = [int(item) for item in rng.permutation(others)[: int(rng.integers(1, 3))]]
    return replace(user, scores={**user.scores, **dict.fromkeys(rest, user.scores[first])})


def _groups(user: User) -> list[list[int]]:
    """The items of a user that have a score in common with others."""
    counts = Counter(user.scores.values())
    return [
        [item for item, score in user.scores.items() if score == value] for value, count in counts.items() if count > 1
    ]


def _in_all_orders(question: Question) -> Iterator[Question]:
    """The question with equal scores made different, in all orders of the items that had them."""
    groups = [(user, group) for user in question.tested for group in _groups(user)]
    orders = itertools.product(*(itertools.permutations(group) for _, group in groups))
    for order in itertools.islice(orders, _MOST_ORDERS):
        users = {user.id: user for user in question.users}
        for (user, _), items in zip(groups, order, strict=True):
            known = users[user.id]
            # Scores are quarters: less than an eighth parts equal ones, and changes no other order.
            apart = {item: known.scores[item] + 0.05 * place for place, item in enumerate(items)}
            users[user.id] = replace(known, scores={**known.scores, **apart})
        yield replace(question, users=tuple(users[user.id] for user in question.users))
