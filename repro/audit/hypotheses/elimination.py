"""Elimination: ask, and discard every hypothesis that predicted another answer."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from repro.audit.aspects import Aspect, reaching
from repro.audit.black_boxes.black_box import TOLERANCE, BlackBox, agree, contradicts, distance, told
from repro.audit.questions.generator import Drawing
from repro.audit.questions.question import Question
from repro.audit.simulation import Outcome, Simulation
from repro.audit.space import Hypothesis, Space
from repro.protocol import registry

Features = Callable[[], Collection[str]]  # gives those of the next question
State = Literal["explained", "unexplained", "unreachable", "refused", "random"]

NOBODY = "average.nobody"
LEAST_ASKED = 100  # about everything together
MOST_ASKED = 60
_WORK = 2_000  # predictions that a pool may cost
_LARGEST_POOL = 16
_MOST_TRIED = 64  # where no question parts them
_STAND_FOR_ALL = 300
_MANY = 1_000  # hypotheses of which simulations keep nothing
_GOOD = 8  # a question that leaves so small a part is good enough
_MOST_REOPENED = 2_000
_MENDINGS = 4
_SHARES = (0.15, 0.4)  # of aspects that are in a question about several
_FEW = 2
_TO_TELL_APART = 24
_CHALLENGES = 40  # questions looked at for one that parts rivals, at least
_MOST_CHALLENGES = 100  # where rivals are few


@dataclass(frozen=True, eq=False)
class Asked:
    """A question, what the black box said, and what the core says under any hypothesis."""

    question: Question
    said: Outcome
    simulation: Simulation


@dataclass(frozen=True, eq=False)
class Closest:
    """Where no hypothesis fits: the one that comes closest, how far it is off, and where it is."""

    hypothesis: Hypothesis
    residual: float
    agreed: int
    asked: int
    wrong: tuple[Asked, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """What came of an aspect: its state, and what was asked.

    ``why`` says why it could not be asked about, or how the black box refused.
    """

    aspect: Aspect
    state: State
    asked: tuple[Asked, ...] = ()
    closest: Closest | None = None
    why: str = ""


@dataclass(eq=False)
class Elimination:
    """A black box under examination: hypotheses that are left, and what it was asked of that which they explain.

    Of hypotheses that questions do not tell apart, one goes on; where a later question would have told, it is mended.
    ``explained`` are the aspects whose features may be in any question, ``puzzling`` the features of those that are
    not. ``always`` are features that all questions have, ``foreseen`` the refusals that some hypothesis would have
    given.
    """

    box: BlackBox
    space: Space
    drawing: Drawing
    rng: np.random.Generator
    tolerance: float = TOLERANCE
    always: frozenset[str] = frozenset()
    opened: set[str] = field(default_factory=set)
    survivors: list[Hypothesis] = field(default_factory=list)
    explained: list[Aspect] = field(default_factory=list)
    puzzling: set[str] = field(default_factory=set)
    asked: list[Asked] = field(default_factory=list)
    foreseen: set[int] = field(default_factory=set)
    examined: frozenset[str] = frozenset()  # decisions that the current aspect opens

    def examine(self, aspect: Aspect) -> Found:
        """Open the decisions of an aspect, and ask until they are settled.

        Where nothing fits, everything is again as it was before it.
        """
        missing = [one for one in aspect.needs if one not in self.box.possible]
        if missing:
            return Found(aspect, "unreachable", why=self.box.cannot.get(missing[0], "it has no cut-off"))
        features = self.features_of(aspect)
        reached = (key for key in self.space.below(aspect.opens) if not aspect.needs or self._reached(key, features))
        keys = set(reached) - self.opened
        self.examined = frozenset(keys)
        asked: list[Asked] = []
        before = len(self.asked)

        def of_question() -> Collection[str]:
            return features | self._mixed(0.6)

        survivors = self.survivors or [self.space.start]
        if aspect.reopens:
            survivors = self.consistent(self.space.opened(survivors, self.space.below(aspect.reopens))) or survivors
        hypotheses = self.space.opened(survivors, keys)
        left = self._narrow(hypotheses, of_question, asked, aspect.least)
        mended = [] if left else [self.closest(hypotheses, asked).hypothesis]
        for _ in range(_MENDINGS):
            if left or not mended:
                break
            mended = self._mended(mended[0], self.opened | keys)
            left = self._narrow(mended, of_question, asked, aspect.least)
        if not aspect.own and self._averaged_nobody(left, asked):
            keys.add(NOBODY)
            self.examined = frozenset(keys)
            left = self.consistent(self.space.opened(left, {NOBODY}))
        self.examined = frozenset()
        if not left:
            del self.asked[before:]
            self.puzzling |= aspect.own
            return Found(aspect, "unexplained", asked=tuple(asked), closest=self.closest(hypotheses, asked))
        if all(one.said.refusal and not one.simulation.outcome(left[0]).refusal for one in asked):
            del self.asked[before:]
            self.puzzling |= aspect.own
            return Found(aspect, "refused", asked=tuple(asked), why=asked[0].said.refusal)
        self.opened |= keys
        self.survivors = self._told_apart(left, of_question)
        if not all(one.said.refusal for one in asked):
            self.explained.append(aspect)
        return Found(aspect, "explained", tuple(asked))

    def challenge(self) -> None:
        """Look for questions that part the survivors from whatever differs from them in one aspect, and agrees with all
        answers so far: questions about that aspect, and then about anything."""
        for aspect in list(self.explained):
            rivals = self.consistent(self._reopened([aspect])) or self.survivors
            self.survivors = self._parted(rivals, partial(self.features_of, aspect))
        rivals = self.consistent([*self.survivors, *self._reopened(self.explained)]) or self.survivors
        self.survivors = self._told_apart(self._parted(rivals, self.mixed), self.mixed)

    def _parted(self, rivals: Sequence[Hypothesis], features: Features) -> list[Hypothesis]:
        """What is left of hypotheses when questions that part them were asked."""
        left, tried = list(rivals), 0
        while len(left) > 1 and tried < max(_CHALLENGES, min(_MOST_CHALLENGES, _WORK // len(left))):
            tried += 1
            question = self.drawing.question(features(), self.rng)
            simulation = Simulation(question, self.space)
            if len({self._signature(simulation.outcome(one)) for one in left}) == 1:
                continue
            one = self.ask(question)
            agreeing = self._agreeing(left, one) or self._mended(left[0], self.opened)
            if not agreeing:
                self.asked.remove(one)  # nobody foresaw that: it is for others to tell
            left = agreeing or left
        return left

    def examine_together(self, asked: list[Asked]) -> bool:
        """Let survivors answer questions with everything in them that is explained; whether any is left."""
        hypotheses, before = self.survivors, len(self.asked)
        left = self._narrow(hypotheses, self.mixed, asked)
        for _ in range(_MENDINGS):
            if left or not (mended := self._mended(hypotheses[0], self.opened)):
                break
            left = self._narrow(mended, self.mixed, asked)
        if not left:
            del self.asked[before:]
        self.survivors = self._told_apart(left, self.mixed) if left else hypotheses
        return bool(left)

    def reconsider(self) -> bool:
        """Let survive whatever agrees with all answers; whether something does."""
        left = self.consistent(self.survivors) or self._mended(self.survivors[0], self.opened)
        self.survivors = left or self.survivors
        return bool(left)

    def _mended(self, hypothesis: Hypothesis, keys: Collection[str]) -> list[Hypothesis]:
        """A hypothesis that agrees with all answers, found by taking decisions otherwise, one or two at a time, as long
        as more answers are right; none where that ends before."""
        while wrong := [one for one in self.asked if not self._agreeing([hypothesis], one)]:
            better = partial(self._better, hypothesis, keys, wrong)
            found = min(better(1), key=lambda pair: pair[0], default=None) or next(better(2), None)
            if found is None:
                return []
            _, hypothesis = found
        return [hypothesis]

    def _changed(self, hypothesis: Hypothesis, keys: Collection[str], n: int) -> Iterator[Hypothesis]:
        """The hypothesis with ``n`` of the decisions taken otherwise, in all ways."""
        taken = sorted(key for key in keys if key in hypothesis.values)
        for some in itertools.combinations(taken, n):
            others = [[value for value in self.space.tried(key) if value != hypothesis.values[key]] for key in some]
            for values in itertools.product(*others):
                yield from self.space.changed(hypothesis, dict(zip(some, values, strict=True)))

    def _better(
        self, hypothesis: Hypothesis, keys: Collection[str], wrong: Sequence[Asked], n: int
    ) -> Iterator[tuple[int, Hypothesis]]:
        """The hypotheses so changed that have fewer answers ``wrong`` than it has, with how many of them they have."""
        right = [one for one in self.asked if one not in wrong]
        for way in self._changed(hypothesis, keys, n):
            still = (1 for one in itertools.chain(wrong, right) if not self._agreeing([way], one))
            found = sum(itertools.islice(still, len(wrong)))
            if found < len(wrong):
                yield found, way

    def _reopened(self, aspects: Sequence[Aspect]) -> list[Hypothesis]:
        """Some survivors with all that one of the aspects is about taken in every way again."""
        some = self.survivors[:_FEW]
        found = (way for aspect in aspects for way in self.space.opened(some, self.space.below(aspect.opens)))
        return list(itertools.islice(found, _MOST_REOPENED))

    def mixed(self) -> Collection[str]:
        """The features of some of the aspects that are explained."""
        return self._mixed(1.0)

    def _mixed(self, share: float) -> frozenset[str]:
        if self.rng.random() >= share:
            return self.always
        many = self.rng.choice(_SHARES)
        some = [aspect for aspect in self.explained if self.rng.random() < many]
        return self.always.union(*map(self.features_of, some))

    def features_of(self, aspect: Aspect) -> frozenset[str]:
        """The features of questions about an aspect and nothing else."""
        return self.always | aspect.features(self.box.possible - self.puzzling)

    def _narrow(
        self, hypotheses: Sequence[Hypothesis], features: Features, asked: list[Asked], least: int = LEAST_ASKED
    ) -> list[Hypothesis]:
        left = list(hypotheses)
        first, apart = len(asked), True
        while left and len(asked) - first < max(MOST_ASKED, least):
            if apart and len(left) > 1:
                question, apart = self._best(left, features)
            elif len(asked) - first < least:
                question = self.drawing.question(features(), self.rng)
            else:
                break
            one = self.ask(question)
            asked.append(one)
            left = self._agreeing(left, one)
            if len(hypotheses) > _MANY:
                one.simulation.forget()
        return left

    def close(self, aspect: Aspect) -> None:
        """An aspect that is not explained after all: no question has its features any more, those that had them are
        forgotten, and what only it opened is not opened, and is as it was."""
        self.puzzling |= aspect.own
        self.asked = [one for one in self.asked if not aspect.own <= one.question.features]
        self.explained = [one for one in self.explained if one is not aspect]
        elsewhere = self.space.below(key for one in self.explained for key in one.opens)
        closed = self.opened & (self.space.below(aspect.opens) - elsewhere)
        self.opened -= closed
        self.survivors = [self._as_at_first(one, closed) for one in self.survivors]

    def _as_at_first(self, hypothesis: Hypothesis, keys: Collection[str]) -> Hypothesis:
        """The hypothesis with decisions as they were before anything was asked, if it agrees with all answers then."""
        first = {key: value for key, value in self.space.start.values.items() if key in keys}
        return next(iter(self.consistent(self.space.changed(hypothesis, first))), hypothesis)

    def ask(self, question: Question) -> Asked:
        one = Asked(question, self.box.ask(question), Simulation(question, self.space))
        self.asked.append(one)
        return one

    def closest(self, hypotheses: Sequence[Hypothesis], asked: Sequence[Asked]) -> Closest:
        """Of hypotheses none of which fits: the one that agrees most often, and is least off where it does not."""
        answered = [one for one in asked if not one.said.refusal]

        def errors(hypothesis: Hypothesis) -> list[float]:
            gaps = (distance(one.said, one.simulation.outcome(hypothesis)) for one in answered)
            return [0.0 if gap <= self.tolerance else gap for gap in gaps]

        def badness(hypothesis: Hypothesis) -> tuple[int, float]:
            found = errors(hypothesis)
            return sum(gap > 0 for gap in found), sum(min(gap, 1e9) for gap in found)

        best = min(hypotheses, key=badness)
        found = errors(best)
        off = [one for one, gap in zip(answered, found, strict=True) if gap > 0]
        refuting = [one for one in off if contradicts(one.said, one.simulation.outcome(best), self.tolerance)]
        wrong = tuple(refuting or off)
        return Closest(best, max(found, default=math.inf), len(found) - len(wrong), len(found), wrong)

    def _told_apart(self, hypotheses: Sequence[Hypothesis], features: Features) -> list[Hypothesis]:
        """One hypothesis for all that questions with these features do not tell apart: that with most defaults."""
        if len(hypotheses) <= 1:
            return list(hypotheses)
        questions = [self.drawing.question(features(), self.rng) for _ in range(_TO_TELL_APART)]
        simulations = [Simulation(question, self.space) for question in questions]
        classes: dict[tuple[object, ...], list[Hypothesis]] = {}
        for one in hypotheses:
            signature = tuple(self._signature(simulation.outcome(one)) for simulation in simulations)
            classes.setdefault(signature, []).append(one)
        return [min(alike, key=unusual) for alike in classes.values()]

    def consistent(self, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
        """The hypotheses that agree with all answers so far, of which the latest tell most."""
        left = list(hypotheses)
        for one in reversed(self.asked):
            left = self._agreeing(left, one)
            if len(hypotheses) > _MANY:
                one.simulation.forget()
        return left

    def _reached(self, key: str, features: Collection[str]) -> bool:
        needed = reaching(key)
        return not needed or bool(set(needed) & set(features))

    def _best(self, left: Sequence[Hypothesis], features: Features) -> tuple[Question, bool]:
        """Of a pool of questions, that which is expected to leave fewest hypotheses; whether it can part them.

        Of very many hypotheses, some stand for all.
        """
        if len(left) > _STAND_FOR_ALL:
            left = [left[at] for at in self.rng.choice(len(left), _STAND_FOR_ALL, replace=False)]
        best: tuple[float, Question] | None = None
        enough, most = (min(size, max(3, _WORK // len(left))) for size in (_LARGEST_POOL, _MOST_TRIED))
        for tried in range(most):
            if best is not None and tried >= enough and best[0] < len(left):
                break
            question = self.drawing.question(features(), self.rng)
            simulation = Simulation(question, self.space)
            classes = Counter(self._signature(simulation.outcome(one)) for one in left)
            expected = sum(n * n for n in classes.values()) / len(left)
            if best is None or expected < best[0]:
                best = expected, question
            if best[0] <= max(1.0, len(left) / _GOOD):
                break
        assert best is not None
        return best[1], best[0] < len(left)

    def _agreeing(self, left: Sequence[Hypothesis], one: Asked) -> list[Hypothesis]:
        if not one.said.refusal:
            nothing = not self._nobody_is_open and _of_nobody(one.said, zero=True)
            return [
                each
                for each in left
                if agree(one.said, one.simulation.outcome(each), self.tolerance)
                or (nothing and _of_nobody(one.simulation.outcome(each)))
            ]
        # Who refuses may look at more than is ranked. What no hypothesis would refuse tells nothing of those there are.
        if any(_may_stop(each, one) for each in left):
            self.foreseen.add(id(one))
        if id(one) not in self.foreseen:
            return list(left)
        return [
            each
            for each in left
            if _may_stop(each, one) or (not self._nobody_is_open and _of_nobody(one.simulation.outcome(each)))
        ]

    @property
    def _nobody_is_open(self) -> bool:
        """Whether hypotheses differ in the mean of nobody. Until then it may be 0, not a number or an error."""
        return NOBODY in self.opened or NOBODY in self.examined

    def _averaged_nobody(self, left: Sequence[Hypothesis], asked: Sequence[Asked]) -> bool:
        """Whether the mean of nobody was asked for before its own aspect: plain lists may leave a metric undefined."""
        if self._nobody_is_open or NOBODY not in self.space.decisions:
            return False
        return any(_of_nobody(one.simulation.outcome(each)) for each in left[:_FEW] for one in asked)

    def _signature(self, outcome: Outcome) -> tuple[object, ...]:
        """Outcomes that the answers of this black box could not tell apart have the same."""
        if outcome.refusal:
            return ("refused",)
        digits = int(-math.log10(self.tolerance)) - 1
        if not self.by_user:
            return (None if outcome.value is None else repr(round(outcome.value, digits)),)
        return tuple(sorted((user, round(value, digits)) for user, value in told(outcome).items()))

    @property
    def by_user(self) -> bool:
        """Whether answers are numbers of users only, as far as is known."""
        return any(one.said.is_by_user for one in self.asked[:8])


def _may_stop(hypothesis: Hypothesis, asked: Asked) -> bool:
    """Whether a run stops under a hypothesis, or may stop at something that the question has."""
    known = registry()
    options = {key: known[key].option(value) for key, value in hypothesis.values.items()}
    stopping = [key for key, option in options.items() if option is not None and option.stops_run]
    if any(not reaching(key) or asked.question.features.intersection(reaching(key)) for key in stopping):
        return True
    return bool(stopping and asked.simulation.outcome(hypothesis).refusal)


def _of_nobody(outcome: Outcome, zero: bool = False) -> bool:
    """Whether there is neither a number (``zero``: or it is 0) nor a user who has one."""
    if told(outcome) or outcome.refusal:
        return False
    return outcome.value is None or math.isnan(outcome.value) or (zero and outcome.value == 0)


def unusual(hypothesis: Hypothesis) -> int:
    """How many decisions a hypothesis takes otherwise than by default."""
    known = registry()
    return sum(known[key].default != value for key, value in hypothesis.values.items())
