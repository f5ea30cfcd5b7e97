"""Observations of a black box: answers, the state of an aspect, and the nearest hypothesis where none fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repro.audit.hypotheses.simulation import Simulation
from repro.audit.hypotheses.space import Hypothesis
from repro.audit.questions.answers import Answer, contradicts
from repro.audit.questions.aspects import Aspect
from repro.audit.questions.question import Question

# unasked      the black box cannot be given the features of the aspect, or has not been yet
# explained    some hypothesis predicts every answer
# unexplained  no hypothesis does
# refused      the black box refuses every question
# random       the same question gets different answers
State = Literal["unasked", "explained", "unexplained", "refused", "random"]


@dataclass(frozen=True, eq=False)
class Observation:
    """A question, the answer of the black box, and a simulation that predicts the answer under any hypothesis."""

    question: Question
    answer: Answer
    simulation: Simulation

    def predicted(self, hypothesis: Hypothesis) -> Answer:
        """The answer under a hypothesis."""
        return self.simulation.outcome(hypothesis)

    def contradicts(self, hypothesis: Hypothesis, tolerance: float) -> bool:
        """Whether the answer contradicts the prediction of a hypothesis."""
        return contradicts(self.answer, self.predicted(hypothesis), tolerance)


@dataclass(frozen=True, eq=False)
class NearestHypothesis:
    """The hypothesis that comes closest to some answers, where none predicts all of them.

    residual    the largest difference between an answer and its prediction
    agreed      the number of answers that it predicts, of ``compared``
    mismatches  the observations that it does not predict
    """

    hypothesis: Hypothesis
    residual: float
    agreed: int
    compared: int
    mismatches: tuple[Observation, ...]


@dataclass(frozen=True, eq=False)
class AspectResult:
    """The state of an aspect, and the observations that led to it.

    ``reason`` says why the aspect could not be asked about, or how the black box refused.
    """

    aspect: Aspect
    state: State
    observations: tuple[Observation, ...] = ()
    nearest: NearestHypothesis | None = None
    reason: str = ""
