"""A sentence about the order of equal scores where no option of ``ties.break`` explains it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from repro.audits.hypotheses.simulation import Observation, Simulation
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.questions.answers import Answer, agree
from repro.audits.questions.question import Question, User

_QUESTIONS = 12
_MAX_ORDERS = 600
BY_THE_SORT = (
    "equal scores come as the sort happens to leave them: by a rule in short lists ({rule}), by none in longer ones"
)
PSEUDO_RANDOM = (
    "ties are pseudo-random: the same input gives the same answer each time, every answer is that of some order of the "
    "equal scores, and neither the ids nor the rows explain which"
)


def describe(
    policy: Hypothesis, space: Space, ask: Callable[[Question], Answer], plain: Sequence[Question], tolerance: float
) -> str:
    """A sentence about the order of equal scores; empty where no order of them explains the answers.

    ``plain`` are questions without equal scores; some of their scores are made equal.
    """
    observations: list[Observation] = []
    rng = np.random.default_rng(len(plain))
    for question in plain:
        tied = _with_ties(question, rng)
        if tied is None:
            continue
        predictions = [Simulation(ordered, space).outcome(policy) for ordered in _all_orders(tied)]
        if all(agree(predictions[0], prediction, tolerance) for prediction in predictions):
            continue  # the order does not matter
        answer = ask(tied)
        if answer.refusal:
            continue
        if not any(agree(answer, prediction.as_reported(answer.is_by_user), tolerance) for prediction in predictions):
            return ""
        observations.append(Observation(tied, answer, Simulation(tied, space)))
        if len(observations) == _QUESTIONS:
            break
    if len(observations) < _QUESTIONS // 2:
        return ""
    fitting = [
        hypothesis
        for rule in space.tried("ties.break")
        for hypothesis in space.with_changes(policy, {"ties.break": rule})
        if all(agree(observation.answer, observation.predicted(hypothesis), tolerance) for observation in observations)
    ]
    if fitting:
        return BY_THE_SORT.format(rule=f'ties.break = "{fitting[0].values["ties.break"]}"')
    return PSEUDO_RANDOM


def _with_ties(question: Question, rng: np.random.Generator) -> Question | None:
    """The question with two or three equal scores for each user, one of a held-out item; None where that fails."""
    users = [_with_tie(user, rng) if user.test else user for user in question.users]
    tied = replace(question, users=tuple(users))
    return tied if any(_groups_of_ties(user) for user in tied.tested) else None


def _with_tie(user: User, rng: np.random.Generator) -> User:
    items = [item for item, score in user.scores.items() if math.isfinite(score)]
    tested = {item for item, _ in user.test}
    held_out = [item for item in items if item in tested]
    others = [item for item in items if item not in tested]
    if not held_out or not others:
        return user
    first = int(rng.choice(held_out))
    equal = [int(item) for item in rng.permutation(others)[: int(rng.integers(1, 3))]]
    return replace(user, scores={**user.scores, **dict.fromkeys(equal, user.scores[first])})


def _groups_of_ties(user: User) -> list[list[int]]:
    """The items of a user in groups of equal scores; items with a score of their own are in none."""
    counts = Counter(user.scores.values())
    return [
        [item for item, score in user.scores.items() if score == value] for value, count in counts.items() if count > 1
    ]


def _all_orders(question: Question) -> Iterator[Question]:
    """The question with equal scores made different, in all orders of the items that have them."""
    groups = [(user, group) for user in question.tested for group in _groups_of_ties(user)]
    orders = itertools.product(*(itertools.permutations(group) for _, group in groups))
    for order in itertools.islice(orders, _MAX_ORDERS):
        users = {user.id: user for user in question.users}
        for (user, _), items in zip(groups, order, strict=True):
            scores = users[user.id].scores
            # Scores are multiples of 1/4: adding less than 1/8 separates equal ones, and changes no other order.
            ordered = {item: scores[item] + 0.05 * position for position, item in enumerate(items)}
            users[user.id] = replace(users[user.id], scores={**scores, **ordered})
        yield replace(question, users=tuple(users[user.id] for user in question.users))
