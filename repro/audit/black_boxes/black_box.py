"""A black box: something that answers questions, and which questions it can be asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from repro.audit.aspects import ALWAYS, IMPLIES
from repro.audit.questions.question import Question
from repro.audit.simulation import Outcome
from repro.errors import PluginError, nearest
from repro.evaluation.metrics import Metric, metric_named
from repro.plugin import FEATURES, Evaluator, Observed, plugins

TOLERANCE = 1e-9
# Small cut-offs make small questions; several of them show what depends on the cut-off.
CUTOFFS = (1, 2, 3, 5)


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A name, the metric that it is declared as, a function that answers questions, and what it cannot be asked.

    cutoffs     the cut-offs that it is asked with; none where the metric has none
    cannot      features that no question to it has, and why
    any_cutoff  whether it can be asked with any other cut-off too, from ``least_k`` on
    """

    name: str
    metric: Metric
    respond: Callable[[Question], Observed]
    cutoffs: Sequence[int] = CUTOFFS
    cannot: Mapping[str, str] = field(default_factory=dict)
    any_cutoff: bool = False
    least_k: int = 1

    def takes(self, k: int | None) -> bool:
        """Whether it can be asked with a cut-off."""
        return k in self.cutoffs or (self.any_cutoff and k is not None and k >= self.least_k)

    @property
    def possible(self) -> frozenset[str]:
        """The features that questions to it may have."""
        impossible = set(self.cannot) | ({"short-lists"} if not self.cutoffs else set())
        impossible |= {feature for feature, others in IMPLIES.items() if impossible & set(others)}
        return (frozenset(FEATURES) | frozenset(ALWAYS)) - impossible

    def ask(self, question: Question) -> Outcome:
        """The answer to a question; an error of the black box is a refusal."""
        try:
            observed = self.respond(question)
        except PluginError as error:
            return Outcome(None, None, str(error))
        return Outcome(observed.value, observed.per_user)


def box_of_evaluator(evaluator: Evaluator, measure: str) -> BlackBox:
    """A measure of a plug-in's evaluator as a black box."""
    if measure not in evaluator.measures:
        known = ", ".join(evaluator.measures)
        raise PluginError(
            f"{evaluator.name} has no measure '{measure}'{nearest(measure, evaluator.measures)} It has: {known}"
        )
    metric, at, _ = evaluator.measures[measure].partition("@")
    cutoffs = tuple(k for k in CUTOFFS if k >= evaluator.least_k) if at else ()

    def respond(question: Question) -> Observed:
        return plugins().evaluate(evaluator, question.case, measure, question.k)

    return BlackBox(
        f"{evaluator.name} {measure}",
        metric_named(metric),
        respond,
        cutoffs,
        evaluator.cannot,
        any_cutoff=bool(at),
        least_k=evaluator.least_k,
    )


def agree(answer: Outcome, predicted: Outcome, tolerance: float = TOLERANCE) -> bool:
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


def contradicts(answer: Outcome, predicted: Outcome, tolerance: float = TOLERANCE) -> bool:
    """Whether an answer contradicts its prediction; a question that the core cannot evaluate has no prediction."""
    if predicted.refusal and not predicted.by_decision and not answer.refusal:
        return False
    return not agree(answer, predicted, tolerance)


def distance(answer: Outcome, predicted: Outcome) -> float:
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


def values_by_user(outcome: Outcome) -> dict[int, float]:
    """The numbers of the users who have one."""
    return {user: value for user, value in (outcome.per_user or {}).items() if not math.isnan(value)}


def close(a: float, b: float, tolerance: float) -> bool:
    """Whether two numbers differ by no more than the tolerance, relative to ``a`` if it is above 1; NaN equals NaN."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(1.0, abs(a))
