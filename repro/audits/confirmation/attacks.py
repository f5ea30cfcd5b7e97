"""Attacks on a policy: questions of the adversary, until one refutes it or every goal was tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from repro.audits.black_boxes.black_box import BlackBox
from repro.audits.confirmation.adversary import TRAITS, Adversary, Goal
from repro.audits.hypotheses.elimination import Elimination
from repro.audits.hypotheses.simulation import Observation, Simulation
from repro.audits.hypotheses.space import Hypothesis
from repro.audits.questions.answers import TOLERANCE, agree, contradicts
from repro.audits.questions.aspects import features_touching
from repro.audits.questions.question import Question

_ROUNDED = 1e-6  # tolerances from here on are those of answers that are rounded to decimals
_LONG_SUMS = 40  # error of a long sum in single precision, relative to that of a short one
_DRAWS = 4  # questions of which the one is asked that distinguishes most rivals from the policy
_RIVALS = 8
_REPEATS = 3  # further questions about long lists


@dataclass(frozen=True)
class Attempt:
    """A goal, and how a question that meets it is chosen: the most distinguishing of several, or the first drawn.

    ``turn`` counts repeats.
    """

    goal: Goal
    is_chosen: bool
    turn: int = 0


@dataclass(eq=False)
class Attacks:
    """The attacks on policies of one black box.

    excluded  combinations of features and traits that are known to be unexplained, each with its name
    refused   traits whose questions the black box refuses, with the first refusal
    passed    observations of the present attack that agree with the policy
    met       the goals that their questions meet
    excused   observations that refute a policy only by what is excluded
    """

    box: BlackBox
    engine: Elimination
    rng: np.random.Generator
    excluded: dict[Goal, str] = field(default_factory=dict)
    refused: dict[str, Observation] = field(default_factory=dict)
    passed: list[Observation] = field(default_factory=list)
    met: set[Goal] = field(default_factory=set)
    excused: list[Observation] = field(default_factory=list)
    _rivals_of: dict[frozenset[str], list[Hypothesis]] = field(default_factory=dict)
    _observations: dict[Attempt, Observation] = field(default_factory=dict)
    _last: tuple[Attempt, Observation] | None = None

    @property
    def tolerance(self) -> float:
        """The tolerated difference between answer and prediction: in single precision, long sums are less exact."""
        exact = self.engine.tolerance
        return exact * _LONG_SUMS if TOLERANCE < exact < _ROUNDED else exact

    def adversary(self) -> Adversary:
        """The adversary that asks about the aspects that are explained now."""
        box, engine, generator = self.box, self.engine, self.engine.generator
        allowed = engine.base_features.union(*(aspect.needs for aspect in engine.explained))
        allowed |= {feature for aspect in engine.explained for feature in engine.features_of(aspect)}
        if generator.predictions and "fractional" in box.possible - engine.unexplained_features:
            allowed |= {"fractional"}
        excluded_traits = {trait for goal in self.excluded if not goal.features for trait in goal.traits}
        return Adversary(
            frozenset(allowed),
            engine.base_features,
            tuple(box.cutoffs),
            box.any_cutoff,
            box.least_k,
            generator.predictions,
            generator.binary,
            generator.known_users,
            frozenset(self.refused) | excluded_traits,
        )

    def goals(self) -> list[Goal]:
        """The goals of an attack; those that include an excluded combination are left out."""
        explained = [frozenset(aspect.needs) for aspect in self.engine.explained]
        goals = self.adversary().goals(explained)
        return [goal for goal in goals if not any(goal.includes(excluded) for excluded in self.excluded)]

    def random_goals(self) -> Iterator[Goal]:
        """Goals at random, without end."""
        goals = self.goals()
        while True:
            yield goals[int(self.rng.integers(len(goals)))]

    def exclude(self, features: frozenset[str], traits: frozenset[str], aspects: Sequence[str]) -> str:
        """Ask no longer about features and traits together; the name of the combination."""
        name = " with ".join([*aspects, *(TRAITS[trait].words for trait in sorted(traits))])
        self.excluded[Goal(features, traits)] = name
        return name

    def readmit(self, features: frozenset[str]) -> set[str]:
        """Exclude combinations with these features no longer, now that no question has them; the names of these."""

        def features_of(goal: Goal) -> frozenset[str]:
            return goal.features.union(*(TRAITS[trait].needs for trait in goal.traits))

        readmitted = {goal: name for goal, name in self.excluded.items() if features & features_of(goal)}
        self.excluded = {goal: name for goal, name in self.excluded.items() if goal not in readmitted}
        self.excused = []
        return set(readmitted.values())

    def refute(self, policy: Hypothesis, progress: Callable[[int, int], None]) -> Observation | None:
        """The first observation that refutes the policy; None when all goals were tried and none does.

        Questions that were asked about an earlier policy are not asked again: their answers are compared with the
        predictions of this one. ``progress`` is called with the number of attempts done and of all.
        """
        self.passed, self.met, self._rivals_of = [], set(), {}
        attempts, still_valid = self._attempts(), self._valid_attempts()
        answered = {attempt: None for attempt in attempts if attempt in still_valid}
        for attempt in answered:
            if self._is_refuted(policy, attempt):
                return self._refutation(attempt)
        new = [attempt for attempt in attempts if attempt not in answered]
        for done, position in enumerate(self.rng.permutation(len(new)), start=len(answered)):
            progress(done, len(attempts))
            attempt = new[position]
            if any(trait in self.refused for trait in attempt.goal.traits):
                continue
            observation = self._try(policy, attempt)
            if observation.answer.refusal and not observation.predicted(policy).refusal:
                self._note_refusal(attempt.goal, observation)
                continue
            self._observations[attempt] = observation
            if self._is_refuted(policy, attempt):
                return self._refutation(attempt)
        return None

    def _refutation(self, attempt: Attempt) -> Observation:
        """The observation of an attempt that refutes a policy; the attempt is then made with another question."""
        observation = self._observations.pop(attempt)
        self._last = (attempt, observation)
        return observation

    def excuse(self, refutation: Observation) -> None:
        """Let an observation refute no policy: its smallest case has an excluded combination."""
        if self._last is not None and self._last[1] is refutation:
            self._observations[self._last[0]] = refutation
        self.excused.append(refutation)

    def _attempts(self) -> list[Attempt]:
        """Each goal with a chosen and with a random question; chosen ones about long lists several times."""
        goals = self.goals()
        of_long_lists = [goal for goal in goals if "long-lists" in goal.traits and len(goal.traits) == 1]
        return [
            *(Attempt(goal, is_chosen=True) for goal in goals),
            *(Attempt(goal, is_chosen=True, turn=turn) for turn in range(1, _REPEATS + 1) for goal in of_long_lists),
            *(Attempt(goal, is_chosen=False) for goal in goals),
        ]

    def _valid_attempts(self) -> set[Attempt]:
        """Earlier attempts whose questions have only features that are explained, and no excluded combination."""
        allowed = self.adversary().allowed | self.engine.base_features
        return {
            attempt
            for attempt, observation in self._observations.items()
            if observation.question.features <= allowed
            and not any(goal.is_met_by(observation.question) for goal in self.excluded)
        }

    def _try(self, policy: Hypothesis, attempt: Attempt) -> Observation:
        if attempt.is_chosen:
            return self._observe(self._most_distinguishing(policy, attempt.goal))
        return self.ask(attempt.goal)

    def _is_refuted(self, policy: Hypothesis, attempt: Attempt) -> bool:
        """Whether the answer of an attempt refutes the policy; an answer that agrees with it is recorded as passed."""
        observation = self._observations[attempt]
        if any(observation is excused for excused in self.excused):
            return False
        predicted = observation.predicted(policy)
        is_refuted = contradicts(observation.answer, predicted, self.tolerance)
        observation.simulation.forget()
        if agree(observation.answer, predicted, self.tolerance):
            self.passed.append(observation)
            if attempt.goal.is_met_by(observation.question):
                self.met.add(attempt.goal)
        return is_refuted

    def _most_distinguishing(self, policy: Hypothesis, goal: Goal) -> Question:
        """The question that meets a goal and to which most rivals of the policy predict another answer."""
        adversary = self.adversary()
        if goal.features not in self._rivals_of:
            self._rivals_of[goal.features] = self._rivals(policy, goal.features)
        rivals = self._rivals_of[goal.features]
        best, most = adversary.question(goal, self.rng), -1
        for _ in range(_DRAWS if rivals else 0):
            question = adversary.question(goal, self.rng)
            simulation = Simulation(question, self.engine.space)
            predicted = simulation.outcome(policy)
            n_distinguished = sum(not agree(predicted, simulation.outcome(rival), self.tolerance) for rival in rivals)
            if n_distinguished > most:
                best, most = question, n_distinguished
            if n_distinguished == len(rivals):
                break
        return best

    def _rivals(self, policy: Hypothesis, features: frozenset[str]) -> list[Hypothesis]:
        """A sample of policies with one decision changed, of the decisions that the features can touch."""
        free = sorted(self.engine.free_decisions & policy.values.keys())
        touched = [key for key in free if features.intersection(features_touching(key)) - self.engine.base_features]
        touched = touched or [key for key in free if not features_touching(key)]
        space = self.engine.space
        changes = [(key, value) for key in touched for value in space.tried(key) if value != policy.values[key]]
        sample = [changes[at] for at in self.rng.permutation(len(changes))[:_RIVALS]]
        return [rival for key, value in sample for rival in space.with_changes(policy, {key: value})[:1]]

    def ask(self, goal: Goal) -> Observation:
        """The answer to a question that meets the goal."""
        return self._observe(self.adversary().question(goal, self.rng))

    def _observe(self, question: Question) -> Observation:
        return Observation(question, self.box.ask(question), Simulation(question, self.engine.space))

    def _note_refusal(self, goal: Goal, observation: Observation) -> None:
        """Record the traits of a refused question that are refused on their own."""
        for trait in sorted(goal.traits):
            alone = Goal(frozenset(TRAITS[trait].needs) & self.adversary().allowed, frozenset({trait}))
            if alone == goal or all(self.ask(alone).answer.refusal for _ in range(2)):
                self.refused[trait] = observation
