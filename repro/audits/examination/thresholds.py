"""The interval of thresholds of relevance that the answers allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.audits.hypotheses.simulation import Observation, Simulation
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.questions.answers import agree
from repro.audits.questions.question import HIGHEST, Question

THRESHOLD, INCLUSIVE, RULE = "relevance.threshold", "relevance.inclusive", "relevance.rule"
NARROW = 1e-6
_FRACTIONS = (1e-6, 0.01, 0.1, 0.25, 0.45, 0.5, 0.7)
_MAX_DRAWS = 24  # questions that are drawn to see whether a rating is relevant
_BISECTIONS = 26


@dataclass(frozen=True)
class Interval:
    """Ratings of ``relevant`` and above are relevant, those of ``not_relevant`` and below are not.

    ``not_relevant`` is minus infinity where all ratings that were asked about are relevant.
    """

    not_relevant: float
    relevant: float

    @property
    def exact(self) -> bool:
        """Whether the interval is so narrow that it holds one number."""
        return self.relevant - self.not_relevant <= NARROW

    @property
    def simplest(self) -> tuple[float, bool]:
        """The number with the fewest digits in the interval, and whether a rating equal to it is relevant."""
        if math.isinf(self.not_relevant):
            return self.relevant, True
        for digits in range(9):
            number = math.ceil(self.not_relevant * 10**digits - 1e-12) / 10**digits
            if number <= self.relevant + 1e-12:
                is_nearer_to_the_top = abs(number - self.relevant) <= abs(number - self.not_relevant)
                return number, is_nearer_to_the_top
        return self.relevant, True

    def contains(self, threshold: float, *, inclusive: bool) -> bool:
        """Whether a threshold separates the same ratings; ``inclusive``: a rating equal to it is relevant."""
        if self.not_relevant < threshold < self.relevant:
            return True
        return threshold == (self.relevant if inclusive else self.not_relevant)

    def to_dict(self) -> dict[str, float | None]:
        """The interval as plain data; null where every rating that was asked about is relevant."""
        low = None if math.isinf(self.not_relevant) else self.not_relevant
        return {"not_relevant": low, "relevant": self.relevant}

    def __str__(self) -> str:
        if math.isinf(self.not_relevant):
            return f"ratings from {self.relevant:.9g} on are relevant; no lower rating was asked about"
        return f"ratings from {self.relevant:.9g} on are relevant, ratings up to {self.not_relevant:.9g} are not"


@dataclass(frozen=True, eq=False)
class RatingProbe:
    """Asks whether a rating is relevant, all other decisions being those of a policy.

    ask   asks the black box a question
    draw  draws a question with graded ratings
    """

    policy: Hypothesis
    space: Space
    ask: Callable[[Question], Observation]
    draw: Callable[[], Question]
    tolerance: float
    rng: np.random.Generator

    def is_relevant(self, rating: float) -> bool | None:
        """Whether a rating is relevant, from a question with this rating and the highest one only.

        None where the black box refuses such questions, or its answer fits both or neither.
        """
        if_relevant, if_not = (
            self.space.with_changes(self.policy, {THRESHOLD: rating, INCLUSIVE: inclusive})
            for inclusive in (True, False)
        )
        if not (if_relevant and if_not):
            return None
        for _ in range(_MAX_DRAWS):
            question = self._with_rating(self.draw(), rating)
            simulation = Simulation(question, self.space)
            predictions = simulation.outcome(if_relevant[0]), simulation.outcome(if_not[0])
            if agree(*predictions, max(1e-6, 2 * self.tolerance)):
                continue
            answer = self.ask(question).answer
            if answer.refusal:
                continue
            is_relevant, is_not = (agree(answer, prediction, self.tolerance) for prediction in predictions)
            return is_relevant if is_relevant != is_not else None
        return None

    def _with_rating(self, question: Question, rating: float) -> Question:
        """The question with this rating for some held-out items, and the highest rating for the others."""
        users = []
        for user in question.users:
            grades = np.where(self.rng.random(len(user.test)) < 0.5, rating, float(HIGHEST))
            if len(grades):
                grades[int(self.rng.integers(len(grades)))] = float(HIGHEST)
            rows = tuple((item, float(grade)) for (item, _), grade in zip(user.test, grades, strict=True))
            users.append(replace(user, test=rows))
        return replace(question, users=tuple(users))


def interval(probe: RatingProbe, *, fractions: bool, zero: bool) -> Interval | None:
    """The interval in which the threshold lies; None where answers do not determine one.

    ``fractions`` and ``zero`` say whether ratings may be fractional or 0.
    """
    whole = [float(rating) for rating in range(1, HIGHEST)]
    grid = sorted({*_FRACTIONS, *whole, *(rating + 0.5 for rating in whole)}) if fractions else whole
    grid = [0.0, *grid] if zero else grid
    neighbours = _first_relevant(grid, probe.is_relevant)
    if neighbours is None:
        return None
    low, high = neighbours
    if not fractions or math.isinf(low):
        return Interval(low, high)
    for _ in range(_BISECTIONS):
        if high - low <= NARROW:
            break
        middle = (low + high) / 2
        is_relevant = probe.is_relevant(middle)
        if is_relevant is None:
            break
        low, high = (low, middle) if is_relevant else (middle, high)
    number, _ = Interval(low, high).simplest
    if low < number < high and (is_relevant := probe.is_relevant(number)) is not None:
        low, high = (low, number) if is_relevant else (number, high)
    return Interval(low, high)


def _first_relevant(grid: Sequence[float], is_relevant: Callable[[float], bool | None]) -> tuple[float, float] | None:
    """The two neighbours in an ascending grid between which ratings become relevant; the highest rating always is."""
    ratings = [-math.inf, *grid, float(HIGHEST)]
    below, above = 0, len(ratings) - 1
    while above - below > 1:
        middle = (below + above) // 2
        answer = is_relevant(ratings[middle])
        if answer is None:
            return None
        below, above = (below, middle) if answer else (middle, above)
    return ratings[below], ratings[above]
