"""Elimination: ask questions, and discard every hypothesis that predicted another answer."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from repro.audits.black_boxes.black_box import BlackBox
from repro.audits.hypotheses.simulation import AspectResult, NearestHypothesis, Observation, Simulation
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.questions.answers import TOLERANCE, Answer, agree, distance, values_by_user
from repro.audits.questions.aspects import Aspect, features_touching
from repro.audits.questions.generator import QuestionGenerator
from repro.audits.questions.question import Question
from repro.protocol import registry

Features = Callable[[], Collection[str]]  # gives the features of the next question

EMPTY_MEAN = "average.nobody"
JOINT_QUESTIONS = 100  # at least, with the features of several aspects
MAX_QUESTIONS = 60  # while hypotheses can be distinguished
_MAX_PREDICTIONS = 2_000  # to choose one question
_MAX_POOL = 16  # questions to choose from
_MAX_DRAWS = 64  # where no question of the pool distinguishes hypotheses
_SAMPLE = 300  # hypotheses that represent all of them in the choice of a question
_MANY = 1_000  # hypotheses from which on simulations are not cached
_GOOD = 8  # a question that is expected to leave one in so many hypotheses is good enough
_MAX_REOPENED = 2_000
_MAX_REPAIRS = 4
_SHARES = (0.15, 0.4)  # of explained aspects whose features a joint question has
_FEW = 2
_DISTINGUISHING_QUESTIONS = 24
_MIN_CHALLENGES = 40  # questions drawn to find one that distinguishes rivals
_MAX_CHALLENGES = 100  # where rivals are few


@dataclass(eq=False)
class Elimination:
    """The hypotheses that survive the answers of a black box.

    Of hypotheses that the questions of an aspect do not distinguish, one survives; where a later answer contradicts it,
    it is repaired by changing one or two decisions.

    base_features         features that all questions have
    free_decisions        decisions that hypotheses may take differently; the others are as in the start of the space
    explained             the aspects whose features any question may have
    unexplained_features  the features of other aspects, which no further question has
    observations          the answers that survivors must predict
    expected_refusals     the refused observations of which some hypothesis predicted that a run may stop
    examined_decisions    decisions that the aspect under examination frees
    """

    box: BlackBox
    space: Space
    generator: QuestionGenerator
    rng: np.random.Generator
    tolerance: float = TOLERANCE
    base_features: frozenset[str] = frozenset()
    free_decisions: set[str] = field(default_factory=set)
    survivors: list[Hypothesis] = field(default_factory=list)
    explained: list[Aspect] = field(default_factory=list)
    unexplained_features: set[str] = field(default_factory=set)
    observations: list[Observation] = field(default_factory=list)
    expected_refusals: set[Observation] = field(default_factory=set)
    examined_decisions: frozenset[str] = frozenset()

    def examine(self, aspect: Aspect) -> AspectResult:
        """Free the decisions of an aspect, and ask questions until they are settled.

        Where no hypothesis predicts the answers, the observations are forgotten and the decisions are not freed.
        """
        if not self.box.possible.issuperset(aspect.needs):
            return AspectResult(aspect, "unasked")
        features = self.features_of(aspect)
        touched = (key for key in self.space.matching(aspect.frees) if not aspect.needs or _can_touch(features, key))
        keys = set(touched) - self.free_decisions
        self.examined_decisions = frozenset(keys)
        observations: list[Observation] = []
        n_before = len(self.observations)

        def next_features() -> Collection[str]:
            return features | self.random_features(0.6)

        survivors = self.survivors or [self.space.start]
        if aspect.frees_again:
            survivors = (
                self.consistent(self.space.expand(survivors, self.space.matching(aspect.frees_again))) or survivors
            )
        hypotheses = self.space.expand(survivors, keys)
        remaining = self._narrow(hypotheses, next_features, observations, aspect.n_least)
        repaired = [] if remaining else [self.nearest(hypotheses, observations).hypothesis]
        for _ in range(_MAX_REPAIRS):
            if remaining or not repaired:
                break
            repaired = self._repair(repaired[0], self.free_decisions | keys)
            remaining = self._narrow(repaired, next_features, observations, aspect.n_least)
        if not aspect.own_features and self._observed_empty_mean(remaining, observations):
            keys.add(EMPTY_MEAN)
            self.examined_decisions = frozenset(keys)
            remaining = self.consistent(self.space.expand(remaining, {EMPTY_MEAN}))
        self.examined_decisions = frozenset()
        if not remaining:
            del self.observations[n_before:]
            self.unexplained_features |= aspect.own_features
            nearest = self.nearest(hypotheses, observations)
            return AspectResult(aspect, "unexplained", tuple(observations), nearest)
        if all(
            observation.answer.refusal and not observation.predicted(remaining[0]).refusal
            for observation in observations
        ):
            del self.observations[n_before:]
            self.unexplained_features |= aspect.own_features
            return AspectResult(aspect, "refused", tuple(observations))
        self.free_decisions |= keys
        self.survivors = self._representatives(remaining, next_features)
        if not all(observation.answer.refusal for observation in observations):
            self.explained.append(aspect)
        return AspectResult(aspect, "explained", tuple(observations))

    def challenge(self) -> None:
        """Ask questions that distinguish the survivors from their rivals.

        Rivals differ from a survivor in the decisions of one aspect and predict all answers so far. The questions are
        about that aspect first, then about any aspects.
        """
        for aspect in list(self.explained):
            rivals = self.consistent(self._reopen([aspect])) or self.survivors
            self.survivors = self._separate(rivals, partial(self.features_of, aspect))
        rivals = self.consistent([*self.survivors, *self._reopen(self.explained)]) or self.survivors
        self.survivors = self._representatives(self._separate(rivals, self.random_features), self.random_features)

    def _separate(self, rivals: Sequence[Hypothesis], features: Features) -> list[Hypothesis]:
        """The hypotheses that are left after questions to which they predict different answers."""
        remaining, n_drawn = list(rivals), 0
        while len(remaining) > 1 and n_drawn < max(
            _MIN_CHALLENGES, min(_MAX_CHALLENGES, _MAX_PREDICTIONS // len(remaining))
        ):
            n_drawn += 1
            question = self.generator.question(features(), self.rng)
            simulation = Simulation(question, self.space)
            if len({self._signature(simulation.outcome(hypothesis)) for hypothesis in remaining}) == 1:
                continue
            observation = self.ask(question)
            agreeing = self._agreeing(remaining, observation) or self._repair(remaining[0], self.free_decisions)
            if not agreeing:  # no hypothesis predicts the answer; the joint check reports such cases
                self.observations.remove(observation)
            remaining = agreeing or remaining
        return remaining

    def check_jointly(self, observations: list[Observation]) -> bool:
        """Test survivors on questions with the features of several explained aspects; whether any survives.

        The observations are appended to ``observations``.
        """
        hypotheses, n_before = self.survivors, len(self.observations)
        remaining = self._narrow(hypotheses, self.random_features, observations)
        for _ in range(_MAX_REPAIRS):
            if remaining or not (repaired := self._repair(hypotheses[0], self.free_decisions)):
                break
            remaining = self._narrow(repaired, self.random_features, observations)
        if not remaining:
            del self.observations[n_before:]
        self.survivors = self._representatives(remaining, self.random_features) if remaining else hypotheses
        return bool(remaining)

    def reconsider(self) -> bool:
        """Keep the survivors that predict all answers, or repair one; whether this leaves any."""
        remaining = self.consistent(self.survivors) or self._repair(self.survivors[0], self.free_decisions)
        self.survivors = remaining or self.survivors
        return bool(remaining)

    def _repair(self, hypothesis: Hypothesis, keys: Collection[str]) -> list[Hypothesis]:
        """A hypothesis that predicts all answers, reached by changing one or two decisions at a time.

        Each step must predict more answers than the one before; the list is empty where no step does.
        """
        while wrong := [
            observation for observation in self.observations if not self._agreeing([hypothesis], observation)
        ]:
            improvements = partial(self._improvements, hypothesis, keys, wrong)
            best = min(improvements(1), key=lambda pair: pair[0], default=None) or next(improvements(2), None)
            if best is None:
                return []
            _, hypothesis = best
        return [hypothesis]

    def _variations(self, hypothesis: Hypothesis, keys: Collection[str], n: int) -> Iterator[Hypothesis]:
        """The hypothesis with ``n`` of the decisions changed, in every way."""
        changeable = sorted(key for key in keys if key in hypothesis.values)
        for chosen in itertools.combinations(changeable, n):
            options = [[value for value in self.space.tried(key) if value != hypothesis.values[key]] for key in chosen]
            for values in itertools.product(*options):
                yield from self.space.with_changes(hypothesis, dict(zip(chosen, values, strict=True)))

    def _improvements(
        self, hypothesis: Hypothesis, keys: Collection[str], wrong: Sequence[Observation], n: int
    ) -> Iterator[tuple[int, Hypothesis]]:
        """The variations that predict more answers than the hypothesis, with the number of answers they get wrong."""
        right = [observation for observation in self.observations if observation not in wrong]
        for variation in self._variations(hypothesis, keys, n):
            mismatches = (
                1 for observation in itertools.chain(wrong, right) if not self._agreeing([variation], observation)
            )
            n_wrong = sum(itertools.islice(mismatches, len(wrong)))
            if n_wrong < len(wrong):
                yield n_wrong, variation

    def _reopen(self, aspects: Sequence[Aspect]) -> list[Hypothesis]:
        """The first survivors with the decisions of one of the aspects taken in every way again."""
        survivors = self.survivors[:_FEW]
        reopened = (
            hypothesis
            for aspect in aspects
            for hypothesis in self.space.expand(survivors, self.space.matching(aspect.frees))
        )
        return list(itertools.islice(reopened, _MAX_REOPENED))

    def random_features(self, share: float = 1.0) -> frozenset[str]:
        """The features of randomly chosen explained aspects, in a share of questions; in others, no further ones."""
        if self.rng.random() >= share:
            return self.base_features
        share_of_aspects = self.rng.choice(_SHARES)
        chosen = [aspect for aspect in self.explained if self.rng.random() < share_of_aspects]
        return self.base_features.union(*map(self.features_of, chosen))

    def features_of(self, aspect: Aspect) -> frozenset[str]:
        """The features of questions about an aspect only."""
        return self.base_features | aspect.features(self.box.possible - self.unexplained_features)

    def _narrow(
        self,
        hypotheses: Sequence[Hypothesis],
        features: Features,
        observations: list[Observation],
        n_least: int = JOINT_QUESTIONS,
    ) -> list[Hypothesis]:
        """The hypotheses that are left after questions; at least ``n_least`` are asked, and more to distinguish them.

        The observations are appended to ``observations``.
        """
        remaining = list(hypotheses)
        n_before, can_distinguish = len(observations), True
        while remaining and len(observations) - n_before < max(MAX_QUESTIONS, n_least):
            if can_distinguish and len(remaining) > 1:
                question, can_distinguish = self._best_question(remaining, features)
            elif len(observations) - n_before < n_least:
                question = self.generator.question(features(), self.rng)
            else:
                break
            observation = self.ask(question)
            observations.append(observation)
            remaining = self._agreeing(remaining, observation)
            if len(hypotheses) > _MANY:
                observation.simulation.forget()
        return remaining

    def withdraw(self, aspect: Aspect) -> None:
        """Treat an explained aspect as unexplained.

        Observations with its features are forgotten. Decisions that no other explained aspect frees are reset.
        """
        own_features = aspect.own_features
        self.unexplained_features |= own_features
        self.observations = [kept for kept in self.observations if not own_features <= kept.question.features]
        self.explained = [other for other in self.explained if other is not aspect]
        freed_by_others = self.space.matching(key for other in self.explained for key in other.frees)
        no_longer_free = self.free_decisions & (self.space.matching(aspect.frees) - freed_by_others)
        self.free_decisions -= no_longer_free
        self.survivors = [self._reset(survivor, no_longer_free) for survivor in self.survivors]

    def _reset(self, hypothesis: Hypothesis, keys: Collection[str]) -> Hypothesis:
        """The hypothesis with decisions as in the start of the space, if it predicts all answers then."""
        initial = {key: value for key, value in self.space.start.values.items() if key in keys}
        return next(iter(self.consistent(self.space.with_changes(hypothesis, initial))), hypothesis)

    def ask(self, question: Question) -> Observation:
        """Ask the black box; survivors must predict the answer from now on."""
        observation = Observation(question, self.box.ask(question), Simulation(question, self.space))
        self.observations.append(observation)
        return observation

    def nearest(self, hypotheses: Sequence[Hypothesis], observations: Sequence[Observation]) -> NearestHypothesis:
        """The hypothesis that predicts most answers and, of several, is least wrong about the others."""
        answered = [observation for observation in observations if not observation.answer.refusal]

        def errors_of(hypothesis: Hypothesis) -> list[float]:
            gaps = (distance(observation.answer, observation.predicted(hypothesis)) for observation in answered)
            return [0.0 if gap <= self.tolerance else gap for gap in gaps]

        def badness(hypothesis: Hypothesis) -> tuple[int, float]:
            errors = errors_of(hypothesis)
            return sum(error > 0 for error in errors), sum(min(error, 1e9) for error in errors)

        best = min(hypotheses, key=badness)
        errors = errors_of(best)
        wrong = [observation for observation, error in zip(answered, errors, strict=True) if error > 0]
        contradicting = [observation for observation in wrong if observation.contradicts(best, self.tolerance)]
        mismatches = tuple(contradicting or wrong)
        residual = max(errors, default=math.inf)
        return NearestHypothesis(best, residual, len(errors) - len(mismatches), len(errors), mismatches)

    def _representatives(self, hypotheses: Sequence[Hypothesis], features: Features) -> list[Hypothesis]:
        """The hypothesis with the most defaults among those that questions with these features do not distinguish."""
        if len(hypotheses) <= 1:
            return list(hypotheses)
        questions = [self.generator.question(features(), self.rng) for _ in range(_DISTINGUISHING_QUESTIONS)]
        simulations = [Simulation(question, self.space) for question in questions]
        classes: dict[tuple[object, ...], list[Hypothesis]] = {}
        for hypothesis in hypotheses:
            signature = tuple(self._signature(simulation.outcome(hypothesis)) for simulation in simulations)
            classes.setdefault(signature, []).append(hypothesis)
        return [min(equivalent, key=n_non_default) for equivalent in classes.values()]

    def consistent(self, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The hypotheses that predict all answers so far; the latest are compared first, as they discard most."""
        remaining = list(hypotheses)
        for observation in reversed(self.observations):
            remaining = self._agreeing(remaining, observation)
            if len(hypotheses) > _MANY:
                observation.simulation.forget()
        return remaining

    def _best_question(self, hypotheses: Sequence[Hypothesis], features: Features) -> tuple[Question, bool]:
        """The question of a random pool that is expected to leave fewest hypotheses; whether it distinguishes them.

        A sample represents very many hypotheses.
        """
        if len(hypotheses) > _SAMPLE:
            hypotheses = [hypotheses[at] for at in self.rng.choice(len(hypotheses), _SAMPLE, replace=False)]
        n = len(hypotheses)
        best: tuple[float, Question] | None = None
        pool, most = (min(size, max(3, _MAX_PREDICTIONS // n)) for size in (_MAX_POOL, _MAX_DRAWS))
        for n_drawn in range(most):
            if best is not None and n_drawn >= pool and best[0] < n:
                break
            question = self.generator.question(features(), self.rng)
            simulation = Simulation(question, self.space)
            classes = Counter(self._signature(simulation.outcome(hypothesis)) for hypothesis in hypotheses)
            expected = sum(size * size for size in classes.values()) / n
            if best is None or expected < best[0]:
                best = expected, question
            if best[0] <= max(1.0, n / _GOOD):
                break
        assert best is not None
        return best[1], best[0] < n

    def _agreeing(self, hypotheses: Sequence[Hypothesis], observation: Observation) -> list[Hypothesis]:
        """The hypotheses that an observation does not contradict.

        A black box may refuse for reasons that are no decision. A refusal therefore says something about hypotheses
        only if one of them predicts that a run may stop.
        """
        answer = observation.answer
        if not answer.refusal:
            may_be_empty = not self._is_empty_mean_free and _is_empty_mean(answer, zero=True)
            return [
                hypothesis
                for hypothesis in hypotheses
                if agree(answer, observation.predicted(hypothesis), self.tolerance)
                or (may_be_empty and _is_empty_mean(observation.predicted(hypothesis)))
            ]
        if any(_may_refuse(hypothesis, observation) for hypothesis in hypotheses):
            self.expected_refusals.add(observation)
        if observation not in self.expected_refusals:
            return list(hypotheses)
        return [
            hypothesis
            for hypothesis in hypotheses
            if _may_refuse(hypothesis, observation)
            or (not self._is_empty_mean_free and _is_empty_mean(observation.predicted(hypothesis)))
        ]

    @property
    def _is_empty_mean_free(self) -> bool:
        """Whether hypotheses differ in the mean over no users. Until they do, it may be 0, not a number or an error."""
        return EMPTY_MEAN in self.free_decisions or EMPTY_MEAN in self.examined_decisions

    def _observed_empty_mean(self, hypotheses: Sequence[Hypothesis], observations: Sequence[Observation]) -> bool:
        """Whether a mean over no users was asked for before its aspect: plain lists may leave a metric undefined."""
        if self._is_empty_mean_free or EMPTY_MEAN not in self.space.decisions:
            return False
        return any(
            _is_empty_mean(observation.predicted(hypothesis))
            for hypothesis in hypotheses[:_FEW]
            for observation in observations
        )

    def _signature(self, outcome: Answer) -> tuple[object, ...]:
        """Equal for outcomes that the answers of this black box cannot distinguish."""
        if outcome.refusal:
            return ("refused",)
        digits = int(-math.log10(self.tolerance)) - 1
        if not self.by_user:
            return (None if outcome.value is None else repr(round(outcome.value, digits)),)
        return tuple(sorted((user, round(value, digits)) for user, value in values_by_user(outcome).items()))

    @property
    def by_user(self) -> bool:
        """Whether the first answers have a number for each user and none for all users together."""
        return any(observation.answer.is_by_user for observation in self.observations[:8])


def _can_touch(features: Collection[str], decision: str) -> bool:
    """Whether a decision can change the answers to questions with these features."""
    needed = features_touching(decision)
    return not needed or not set(needed).isdisjoint(features)


def _may_refuse(hypothesis: Hypothesis, observation: Observation) -> bool:
    """Whether a run stops under a hypothesis, or may stop at a feature of the question."""
    decisions = registry()
    options = {key: decisions[key].option(value) for key, value in hypothesis.values.items()}
    stopping = [key for key, option in options.items() if option is not None and option.stops_run]
    features = observation.question.features
    if any(not features_touching(key) or features.intersection(features_touching(key)) for key in stopping):
        return True
    return bool(stopping and observation.predicted(hypothesis).refusal)


def _is_empty_mean(outcome: Answer, zero: bool = False) -> bool:
    """Whether no user has a number, and the number for all is missing (``zero``: or is 0)."""
    if values_by_user(outcome) or outcome.refusal:
        return False
    return outcome.value is None or math.isnan(outcome.value) or (zero and outcome.value == 0)


def n_non_default(hypothesis: Hypothesis) -> int:
    """The number of decisions that a hypothesis takes differently from their defaults."""
    decisions = registry()
    return sum(decisions[key].default != value for key, value in hypothesis.values.items())
