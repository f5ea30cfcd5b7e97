"""The state of an examination, which each step reads and changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from repro.audits.black_boxes.black_box import BlackBox
from repro.audits.confirmation.attacks import Attacks
from repro.audits.examination.inference import Unexplained, Unstable
from repro.audits.examination.thresholds import Interval
from repro.audits.hypotheses.elimination import Elimination, n_non_default
from repro.audits.hypotheses.simulation import AspectResult, Observation, Simulation, State
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.questions.answers import TOLERANCE, Answer, contradicts
from repro.audits.questions.generator import QuestionGenerator
from repro.audits.questions.question import Question, shrink
from repro.plugin import Observed

Progress = Callable[[str], None]  # is called with the name of each step
TRANSITIONS: Mapping[State, frozenset[State]] = {
    "unasked": frozenset({"explained", "unexplained", "refused", "random"}),
    "explained": frozenset({"unexplained"}),
    "unexplained": frozenset({"explained", "unexplained", "refused", "random"}),
    "refused": frozenset(),
    "random": frozenset(),
}


@dataclass(eq=False)
class AspectLedger:
    """The results of aspects in the order of their examination, unexplained cases and instabilities."""

    results: list[AspectResult] = field(default_factory=list)
    unexplained: list[Unexplained] = field(default_factory=list)
    instabilities: list[Unstable] = field(default_factory=list)

    def in_state(self, *states: State) -> list[AspectResult]:
        """The results of the aspects in one of these states."""
        return [result for result in self.results if result.state in states]

    def move(self, result: AspectResult, successor: AspectResult) -> None:
        """Replace the result of an aspect by a later one."""
        if successor.state not in TRANSITIONS[result.state]:
            raise ValueError(f"{result.aspect.name} cannot become {successor.state}: it is {result.state}")
        self.results[self.results.index(result)] = successor

    def mark_explained(self, result: AspectResult, successor: AspectResult) -> None:
        """An aspect that seemed unexplained is explained: its unexplained cases are void."""
        self.move(result, successor)
        self.drop_cases(lambda case: case.aspect == result.aspect.name)

    def drop_cases(self, is_void: Callable[[Unexplained], bool]) -> None:
        """Remove unexplained cases."""
        self.unexplained = [case for case in self.unexplained if not is_void(case)]

    @property
    def is_doubtful(self) -> bool:
        """Whether anything was observed that a policy does not explain."""
        return bool(self.unexplained or self.instabilities or self.in_state("unexplained", "random"))


class _CountingResponder:
    """Answers questions, counts them and keeps the numbers of the answers."""

    def __init__(self, respond: Callable[[Question], Observed]) -> None:
        self._respond = respond
        self.n_questions = 0
        self.numbers: list[float] = []

    def __call__(self, question: Question) -> Observed:
        self.n_questions += 1
        observed = self._respond(question)
        values = (observed.per_user or {}).values() if observed.value is None else [observed.value]
        self.numbers += [float(value) for value in values if math.isfinite(value)]
        return observed


@dataclass(eq=False)
class ExaminationState:
    """A black box under examination.

    engine          the hypotheses that are left, and the observations that they explain
    attacks         attempts to refute the policy
    known_decimals  to how many decimals answers are rounded, where that is known from the start
    equivalent      other policies that no question distinguishes from the policy
    threshold       the interval in which the threshold of relevance lies
    """

    box: BlackBox
    seed: int
    progress: Progress
    space: Space
    rng: np.random.Generator
    generator: QuestionGenerator
    engine: Elimination
    attacks: Attacks
    responder: _CountingResponder
    ledger: AspectLedger = field(default_factory=AspectLedger)
    equivalent: list[Hypothesis] = field(default_factory=list)
    threshold: Interval | None = None
    known_decimals: int | None = None

    @classmethod
    def begin(cls, box: BlackBox, seed: int, progress: Progress, known_decimals: int | None = None) -> ExaminationState:
        """The state before the first question."""
        responder = _CountingResponder(box.respond)
        counted = replace(box, respond=responder)
        space, rng = Space(box.metric), np.random.default_rng(seed)
        generator = QuestionGenerator(box.cutoffs, box.metric.kind == "prediction", "graded" in box.cannot)
        engine = Elimination(counted, space, generator, rng)
        attacks = Attacks(counted, engine, rng)
        parts = (space, rng, generator, engine, attacks, responder)
        return cls(counted, seed, progress, *parts, known_decimals=known_decimals)

    @property
    def n_questions(self) -> int:
        """The number of questions that the black box was asked, refusals included."""
        return self.responder.n_questions

    @property
    def policy(self) -> Hypothesis:
        """The hypothesis with the most default options among those that predict all answers so far."""
        best = min(self.engine.survivors, key=n_non_default)
        about_relevance = self.space.matching(["relevance"])
        if self.engine.free_decisions.isdisjoint(about_relevance) and "relevance.rule" in best.values:
            [best] = self.space.with_changes(best, {"relevance.rule": "any"})[:1] or [best]
        return best

    @property
    def asks_known_users(self) -> bool:
        """Whether all tested users have training rows."""
        return "training" in self.engine.base_features

    def start_engine(self, tolerance: float = TOLERANCE, base_features: frozenset[str] = frozenset()) -> None:
        """Begin elimination anew, with all hypotheses and without observations."""
        engine = Elimination(self.box, self.space, self.generator, self.rng, tolerance, base_features)
        self.use_engine(engine)

    def use_engine(self, engine: Elimination) -> None:
        """Go on with another engine; no policy of the one before was attacked."""
        self.engine = engine
        self.attacks = Attacks(self.box, engine, self.rng)

    def ask_new(self, features: Collection[str]) -> Observation:
        """The answer to a new random question; the engine keeps it."""
        return self.engine.ask(self.generator.question(features, self.rng))

    def observe(self, question: Question) -> Observation:
        """The answer to a question; the engine does not keep it."""
        return Observation(question, self.box.ask(question), Simulation(question, self.space))

    def predicted(self, hypothesis: Hypothesis, question: Question) -> Answer:
        """The answer to a question under a hypothesis."""
        return Simulation(question, self.space).outcome(hypothesis)

    def is_mispredicted(self, policy: Hypothesis, question: Question, tolerance: float) -> bool:
        """Whether the black box, asked now, gives another answer than the policy predicts."""
        answer = self.box.ask(question)
        return not answer.refusal and contradicts(answer, self.predicted(policy, question), tolerance)

    def withstands(self, policy: Hypothesis, observation: Observation) -> bool:
        """Whether an observation does not contradict the policy, to the tolerance of attacks."""
        return not observation.contradicts(policy, self.attacks.tolerance)

    def shrunk(self, question: Question, is_kept: Callable[[Question], bool]) -> Question:
        """The smallest question found that the black box can be asked and that ``is_kept`` accepts."""
        return shrink(question, is_kept, known_users=self.asks_known_users, takes=self.box.takes)
