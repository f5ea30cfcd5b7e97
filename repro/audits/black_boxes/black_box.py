"""A black box: something that answers questions, and which questions it can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from repro.audits.questions.answers import Answer
from repro.audits.questions.aspects import ALWAYS_POSSIBLE, IMPLIES
from repro.audits.questions.question import Question
from repro.errors import PluginError, nearest
from repro.evaluation.metrics import Metric, metric_named
from repro.plugin import FEATURES, Evaluator, Observed, plugins

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
        return (frozenset(FEATURES) | frozenset(ALWAYS_POSSIBLE)) - impossible

    def ask(self, question: Question) -> Answer:
        """The answer to a question; an error of the black box is a refusal."""
        try:
            observed = self.respond(question)
        except PluginError as error:
            return Answer(None, None, str(error))
        return Answer(observed.value, observed.per_user)


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
