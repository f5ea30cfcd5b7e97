"""A black box: something that can be asked questions, and what it may be asked."""

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
# Small, so that questions are; several, so that what hangs on the cut-off shows.
CUTOFFS = (1, 2, 3, 5)


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A name, a metric that it is taken for, a function that answers, and what it cannot be asked.

    cutoffs     those that it is asked with; none where the metric has none
    cannot      features that questions to it never have, and why
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
        """The features that questions may have."""
        barred = set(self.cannot) | ({"short-lists"} if not self.cutoffs else set())
        barred |= {feature for feature, others in IMPLIES.items() if barred & set(others)}
        return (frozenset(FEATURES) | frozenset(ALWAYS)) - barred

    def ask(self, question: Question) -> Outcome:
        """What it says; a refusal is an answer too."""
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


def agree(said: Outcome, predicted: Outcome, tolerance: float = TOLERANCE) -> bool:
    """Whether an answer is what was predicted: the number, or, where there is none, that of each user.

    A user who has no number, and one whose number is none, are the same.
    """
    if said.refusal or predicted.refusal:
        return bool(said.refusal) and bool(predicted.refusal)
    if said.value is not None:
        return predicted.value is not None and close(said.value, predicted.value, tolerance)
    mine, theirs = values_by_user(said), values_by_user(predicted)
    return mine.keys() == theirs.keys() and all(close(mine[user], theirs[user], tolerance) for user in mine)


def contradicts(said: Outcome, predicted: Outcome, tolerance: float = TOLERANCE) -> bool:
    """Whether an answer speaks against a prediction; where the core cannot evaluate a question, it predicts nothing."""
    if predicted.refusal and not predicted.by_decision and not said.refusal:
        return False
    return not agree(said, predicted, tolerance)


def distance(said: Outcome, predicted: Outcome) -> float:
    """How far an answer is from what was predicted: 0 where they agree, infinite where one of them is no number."""
    if agree(said, predicted):
        return 0.0
    if said.refusal or predicted.refusal:
        return math.inf
    if said.value is not None and predicted.value is not None:
        pairs = [(said.value, predicted.value)]
    else:
        mine, theirs = values_by_user(said), values_by_user(predicted)
        if mine.keys() != theirs.keys():
            return math.inf
        pairs = [(mine[user], theirs[user]) for user in mine]
    gaps = [abs(a - b) for a, b in pairs]
    return max(gaps) if all(map(math.isfinite, gaps)) else math.inf


def values_by_user(outcome: Outcome) -> dict[int, float]:
    """The users who have a number."""
    return {user: value for user, value in (outcome.per_user or {}).items() if not math.isnan(value)}


def close(a: float, b: float, tolerance: float) -> bool:
    """Whether two numbers are the same: both are none, or they differ by no more than the tolerance."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(1.0, abs(a))
