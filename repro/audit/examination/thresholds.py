"""Where the threshold of relevance lies: the interval that the answers allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repro.audit.black_boxes.black_box import agree
from repro.audit.hypotheses.elimination import Asked
from repro.audit.questions.question import HIGHEST, Question
from repro.audit.simulation import Simulation
from repro.audit.space import Hypothesis, Space

THRESHOLD, INCLUSIVE, RULE = "relevance.threshold", "relevance.inclusive", "relevance.rule"
NARROW = 1e-6
_FRACTIONS = (1e-6, 0.01, 0.1, 0.25, 0.45, 0.5, 0.7)
_TRIES = 24  # questions that are drawn to see whether a rating counts
_HALVINGS = 26


@dataclass(frozen=True)
class Interval:
    """Ratings of ``relevant`` and above are relevant, those of ``not_relevant`` and below are not.

    ``not_relevant`` is minus infinity where all ratings that were asked about are relevant.
    """

    not_relevant: float
    relevant: float

    @property
    def exact(self) -> bool:
        """Whether one number is left, but for what no question can tell."""
        return self.relevant - self.not_relevant <= NARROW

    @property
    def simplest(self) -> tuple[float, bool]:
        """The number of fewest digits in the interval, and whether a rating equal to it is relevant."""
        if math.isinf(self.not_relevant):
            return self.relevant, True
        for digits in range(9):
            number = math.ceil(self.not_relevant * 10**digits - 1e-12) / 10**digits
            if number <= self.relevant + 1e-12:
                at_the_top = abs(number - self.relevant) <= abs(number - self.not_relevant)
                return number, at_the_top
        return self.relevant, True

    def to_dict(self) -> dict[str, float | None]:
        """The interval as plain data; null where no rating is known that is not relevant."""
        low = None if math.isinf(self.not_relevant) else self.not_relevant
        return {"not_relevant": low, "relevant": self.relevant}

    def __str__(self) -> str:
        if math.isinf(self.not_relevant):
            return f"ratings from {self.relevant:.9g} on are relevant; no lower rating was asked about"
        return f"ratings from {self.relevant:.9g} on are relevant, ratings up to {self.not_relevant:.9g} are not"


def interval(
    policy: Hypothesis,
    space: Space,
    ask: Callable[[Question], Asked],
    draw: Callable[[], Question],
    *,
    fractions: bool,
    zero: bool,
    tolerance: float,
    rng: np.random.Generator,
) -> Interval | None:
    """The interval in which the threshold of a policy lies; None where answers do not tell.

    ``draw`` gives questions with graded ratings; ``fractions`` and ``zero`` say which ratings they may have.
    """

    def relevant(rating: float) -> bool | None:
        return _is_relevant(rating, policy, space, ask, draw, tolerance, rng)

    whole = [float(rating) for rating in range(1, HIGHEST)]
    grid = sorted({*_FRACTIONS, *whole, *(rating + 0.5 for rating in whole)}) if fractions else whole
    grid = [0.0, *grid] if zero else grid
    found = _change(grid, relevant)
    if found is None:
        return None
    low, high = found
    if not fractions or math.isinf(low):
        return Interval(low, high)
    for _ in range(_HALVINGS):
        if high - low <= NARROW:
            break
        middle = (low + high) / 2
        answer = relevant(middle)
        if answer is None:
            break
        low, high = (low, middle) if answer else (middle, high)
    number, _ = Interval(low, high).simplest
    if low < number < high and (answer := relevant(number)) is not None:
        low, high = (low, number) if answer else (number, high)
    return Interval(low, high)


def _change(grid: Sequence[float], relevant: Callable[[float], bool | None]) -> tuple[float, float] | None:
    """The two neighbours in an ascending grid between which ratings become relevant; the highest rating always is."""
    ratings = [-math.inf, *grid, float(HIGHEST)]
    below, above = 0, len(ratings) - 1
    while above - below > 1:
        middle = (below + above) // 2
        answer = relevant(ratings[middle])
        if answer is None:
            return None
        below, above = (below, middle) if answer else (middle, above)
    return ratings[below], ratings[above]


def _is_relevant(
    rating: float,
    policy: Hypothesis,
    space: Space,
    ask: Callable[[Question], Asked],
    draw: Callable[[], Question],
    tolerance: float,
    rng: np.random.Generator,
) -> bool | None:
    """Whether a rating counts as relevant, seen on a question that has it and the highest one only."""
    ways = [space.changed(policy, {THRESHOLD: rating, INCLUSIVE: inclusive}) for inclusive in (True, False)]
    if not all(ways):
        return None
    yes, no = ways[0][0], ways[1][0]
    for _ in range(_TRIES):
        question = _with_rating(draw(), rating, rng)
        simulation = Simulation(question, space)
        if agree(simulation.outcome(yes), simulation.outcome(no), max(1e-6, 2 * tolerance)):
            continue
        asked = ask(question)
        if asked.said.refusal:
            continue
        is_relevant, is_not = (agree(asked.said, simulation.outcome(way), tolerance) for way in (yes, no))
        return is_relevant if is_relevant != is_not else None
    return None


def _with_rating(question: Question, rating: float, rng: np.random.Generator) -> Question:
    """The question with some held-out items rated so, and the others with the highest rating."""
    users = []
    for user in question.users:
        grades = np.where(rng.random(len(user.test)) < 0.5, rating, float(HIGHEST))
        if len(grades):
            grades[int(rng.integers(len(grades)))] = float(HIGHEST)
        rows = tuple((item, float(grade)) for (item, _), grade in zip(user.test, grades, strict=True))
        users.append(replace(user, test=rows))
    return replace(question, users=tuple(users))
