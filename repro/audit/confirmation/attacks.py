"""Attacks on a policy: questions of the adversary, until it is refuted or every goal was met without a refutation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from repro.audit.aspects import reaching
from repro.audit.black_boxes.black_box import TOLERANCE, BlackBox, agree, contradicts
from repro.audit.confirmation.adversary import TRAITS, Adversary, Goal
from repro.audit.hypotheses.elimination import Asked, Elimination
from repro.audit.questions.question import Question
from repro.audit.simulation import Simulation
from repro.audit.space import Hypothesis

_ROUNDED = 1e-6  # tolerances from here on are those of answers that are rounded to decimals
_LONG_SUMS = 40  # times as inexact as a short one may a long sum in single precision be
_DRAWS = 4  # questions of which that is asked which tells most rivals from the policy
_RIVALS = 8
_AGAIN = 3  # further questions about long lists


@dataclass(frozen=True)
class Attempt:
    """A goal that a question is to meet: the sharpest of some questions, or any question; ``turn`` counts repeats."""

    goal: Goal
    is_sharp: bool
    turn: int = 0


@dataclass(eq=False)
class Attacks:
    """The questions with which policies of one black box were attacked, and what came of them.

    barred   features and traits that are known not to be explained where they occur together, with a name for that
    refused  traits whose questions the black box refuses, with the first refusal
    passed   questions that the present policy answered as the black box did, in a row
    met      the goals that these questions met
    """

    box: BlackBox
    engine: Elimination
    rng: np.random.Generator
    barred: dict[Goal, str] = field(default_factory=dict)
    refused: dict[str, Asked] = field(default_factory=dict)
    passed: list[Asked] = field(default_factory=list)
    met: set[Goal] = field(default_factory=set)
    _rivals_of: dict[frozenset[str], list[Hypothesis]] = field(default_factory=dict)
    _answers: dict[Attempt, Asked] = field(default_factory=dict)

    @property
    def tolerance(self) -> float:
        """How far an answer may be off: in single precision, long sums are less exact than short ones."""
        exact = self.engine.tolerance
        return exact * _LONG_SUMS if TOLERANCE < exact < _ROUNDED else exact

    def adversary(self) -> Adversary:
        """The adversary of what is explained now."""
        box, drawing = self.box, self.engine.drawing
        allowed = self.engine.always.union(*(aspect.needs for aspect in self.engine.explained))
        allowed |= {one for aspect in self.engine.explained for one in self.engine.features_of(aspect)}
        if drawing.predicted and "fractional" in box.possible - self.engine.puzzling:
            allowed |= {"fractional"}
        return Adversary(
            frozenset(allowed),
            self.engine.always,
            tuple(box.cutoffs),
            box.any_cutoff,
            box.least_k,
            drawing.predicted,
            drawing.binary,
            drawing.known,
            frozenset(self.refused) | {trait for goal in self.barred if not goal.features for trait in goal.traits},
        )

    def goals(self) -> list[Goal]:
        """What questions must have in them; not what is known to be unexplained."""
        explained = [frozenset(aspect.needs) for aspect in self.engine.explained]
        every = self.adversary().goals(explained)
        return [goal for goal in every if not any(self._covers(barred, goal) for barred in self.barred)]

    @staticmethod
    def _covers(barred: Goal, goal: Goal) -> bool:
        return barred.features <= goal.features and barred.traits <= goal.traits

    def bar(self, features: frozenset[str], traits: frozenset[str], names: Sequence[str]) -> str:
        """Ask no longer about features and traits together; what that is called."""
        name = " with ".join([*names, *(TRAITS[trait].words for trait in sorted(traits))])
        self.barred[Goal(features, traits)] = name
        return name

    def reopen(self, features: frozenset[str]) -> set[str]:
        """Forget what was barred only together with features that are not explained at all; what that was called."""

        def needs(goal: Goal) -> frozenset[str]:
            return goal.features.union(*(TRAITS[trait].needs for trait in goal.traits))

        gone = {goal: name for goal, name in self.barred.items() if features & needs(goal)}
        self.barred = {goal: name for goal, name in self.barred.items() if goal not in gone}
        return set(gone.values())

    def refute(self, policy: Hypothesis, progress: Callable[[int, int], None]) -> Asked | None:
        """The first question that refutes the policy; None when all goals were tried and no question did.

        Questions that were asked to refute an earlier policy are not asked again: their answers are compared with what
        this policy gives.
        """
        self.passed, self.met, self._rivals_of = [], set(), {}
        attempts, still_valid = self._attempts(), self._valid_answers()
        known = {attempt: None for attempt in attempts if attempt in still_valid}
        for attempt in known:
            if self._is_refuted(policy, attempt):
                return self._answers.pop(attempt)
        left = [attempt for attempt in attempts if attempt not in known]
        for done, place in enumerate(self.rng.permutation(len(left)), start=len(known)):
            progress(done, len(attempts))
            goal = left[place].goal
            if any(trait in self.refused for trait in goal.traits):
                continue
            asked = self._ask(self._sharpest(policy, goal)) if left[place].is_sharp else self.ask(goal)
            if asked.said.refusal and not asked.simulation.outcome(policy).refusal:
                self._note_refusal(goal, asked)
                continue
            self._answers[left[place]] = asked
            if self._is_refuted(policy, left[place]):
                return self._answers.pop(left[place])
        return None

    def _attempts(self) -> list[Attempt]:
        """Each goal with the sharpest of some questions and with any question; more about long lists."""
        goals = self.goals()
        of_long_lists = [goal for goal in goals if "long-lists" in goal.traits and len(goal.traits) == 1]
        return [
            *(Attempt(goal, is_sharp=True) for goal in goals),
            *(Attempt(goal, is_sharp=True, turn=turn) for turn in range(1, _AGAIN + 1) for goal in of_long_lists),
            *(Attempt(goal, is_sharp=False) for goal in goals),
        ]

    def _valid_answers(self) -> set[Attempt]:
        """Attempts of before whose questions have only features that are explained, and nothing that is barred."""
        allowed = self.adversary().allowed | self.engine.always
        return {
            attempt
            for attempt, asked in self._answers.items()
            if asked.question.features <= allowed and not any(goal.met(asked.question) for goal in self.barred)
        }

    def _is_refuted(self, policy: Hypothesis, attempt: Attempt) -> bool:
        """Whether the answer of an attempt refutes the policy; where it does not, it is noted that it did not."""
        asked = self._answers[attempt]
        predicted = asked.simulation.outcome(policy)
        is_refuted = contradicts(asked.said, predicted, self.tolerance)
        asked.simulation.forget()
        if agree(asked.said, predicted, self.tolerance):
            self.passed.append(asked)
            if attempt.goal.met(asked.question):
                self.met.add(attempt.goal)
        return is_refuted

    def _sharpest(self, policy: Hypothesis, goal: Goal) -> Question:
        """Of some questions that meet a goal, that to which most rivals of the policy have another answer."""
        adversary = self.adversary()
        if goal.features not in self._rivals_of:
            self._rivals_of[goal.features] = self._rivals(policy, goal.features)
        rivals = self._rivals_of[goal.features]
        best, most = adversary.question(goal, self.rng), -1
        for _ in range(_DRAWS if rivals else 0):
            question = adversary.question(goal, self.rng)
            simulation = Simulation(question, self.engine.space)
            mine = simulation.outcome(policy)
            apart = sum(not agree(mine, simulation.outcome(rival), self.tolerance) for rival in rivals)
            if apart > most:
                best, most = question, apart
            if apart == len(rivals):
                break
        return best

    def _rivals(self, policy: Hypothesis, features: frozenset[str]) -> list[Hypothesis]:
        """Policies that take one decision otherwise, of those that the features can touch; a sample of them."""
        touched = [
            key
            for key in sorted(self.engine.opened & policy.values.keys())
            if (needed := reaching(key)) and features.intersection(needed) - self.engine.always
        ]
        touched = touched or sorted(key for key in self.engine.opened & policy.values.keys() if not reaching(key))
        space = self.engine.space
        changes = [(key, value) for key in touched for value in space.tried(key) if value != policy.values[key]]
        some = [changes[at] for at in self.rng.permutation(len(changes))[:_RIVALS]]
        return [way for key, value in some for way in space.changed(policy, {key: value})[:1]]

    def ask(self, goal: Goal) -> Asked:
        """A question with what the goal names, and the answer."""
        return self._ask(self.adversary().question(goal, self.rng))

    def _ask(self, question: Question) -> Asked:
        return Asked(question, self.box.ask(question), Simulation(question, self.engine.space))

    def _note_refusal(self, goal: Goal, asked: Asked) -> None:
        """A trait is refused if a question that has nothing else is."""
        for trait in sorted(goal.traits):
            alone = Goal(frozenset(TRAITS[trait].needs) & self.adversary().allowed, frozenset({trait}))
            if alone == goal or all(self.ask(alone).said.refusal for _ in range(2)):
                self.refused[trait] = asked

    def questions(self) -> Iterator[Goal]:
        """Goals at random, without end."""
        goals = self.goals()
        while True:
            yield goals[int(self.rng.integers(len(goals)))]
