"""Answers: what a black box reports for a question, or a simulation predicts, and whether two answers agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from repro.evaluation.metrics import Averaged

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Answer:
    """A number for all users, and one for each user by code; or a refusal, which says why there is no number.

    value        None where there are only the numbers of users
    per_user     None where there is only the number for all
    by_decision  whether a decision of the protocol makes the core refuse
    """

    value: float | None
    per_user: Mapping[int, float] | None = None
    refusal: str = ""
    by_decision: bool = False

    @classmethod
    def of(cls, averaged: Averaged) -> Answer:
        """The answer with a number for all users and for each."""
        return cls(averaged.value, dict(zip(averaged.users.tolist(), averaged.values.tolist(), strict=True)))

    @property
    def is_by_user(self) -> bool:
        """Whether there are only the numbers of users."""
        return self.value is None and not self.refusal

    def as_reported(self, by_user: bool) -> Answer:
        """The answer of an evaluator that only reports the numbers of users, or only the number for all."""
        return replace(self, value=None) if by_user else replace(self, per_user=None)


def agree(answer: Answer, predicted: Answer, tolerance: float = TOLERANCE) -> bool:
    """Whether an answer equals its prediction: the number for all users or, without one, the number of each user.

    A user without a number and a user whose number is NaN are the same.
    """
    if answer.refusal or predicted.refusal:
        return bool(answer.refusal) and bool(predicted.refusal)
    if answer.value is not None:
        return predicted.value is not None and close(answer.value, predicted.value, tolerance)
    answered, expected = values_by_user(answer), values_by_user(predicted)
    if answered.keys() != expected.keys():
        return False
    return all(close(answered[user], expected[user], tolerance) for user in answered)


def contradicts(answer: Answer, predicted: Answer, tolerance: float = TOLERANCE) -> bool:
    """Whether an answer contradicts its prediction; a question that the core cannot evaluate has no prediction."""
    if predicted.refusal and not predicted.by_decision and not answer.refusal:
        return False
    return not agree(answer, predicted, tolerance)


def distance(answer: Answer, predicted: Answer) -> float:
    """The largest difference between an answer and its prediction; infinite where one of them is not a number."""
    if agree(answer, predicted):
        return 0.0
    if answer.refusal or predicted.refusal:
        return math.inf
    if answer.value is not None and predicted.value is not None:
        pairs = [(answer.value, predicted.value)]
    else:
        answered, expected = values_by_user(answer), values_by_user(predicted)
        if answered.keys() != expected.keys():
            return math.inf
        pairs = [(answered[user], expected[user]) for user in answered]
    gaps = [abs(a - b) for a, b in pairs]
    return max(gaps) if all(map(math.isfinite, gaps)) else math.inf


def values_by_user(answer: Answer) -> dict[int, float]:
    """The numbers of the users who have one."""
    return {user: value for user, value in (answer.per_user or {}).items() if not math.isnan(value)}


def close(a: float, b: float, tolerance: float) -> bool:
    """Whether two numbers differ by no more than the tolerance, relative to ``a`` if it is above 1; NaN equals NaN."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(1.0, abs(a))
