"""Agreement of the implementations of an algorithm in different frameworks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.definitions.comparison import Answer, Comparison, Level
from repro.definitions.confirmation import difficult_sets
from repro.definitions.implementation import Implementation
from repro.definitions.inference import Progress
from repro.definitions.reduction import fewest_rows
from repro.definitions.result import Definition, rows_as_text, rows_to_list
from repro.definitions.training_sets import training_set
from repro.errors import PluginError
from repro.plugin import ParameterValue

MARKS = {Level.EQUAL: "=", Level.PROPORTIONAL: "~", Level.ORDER: "o", Level.DIFFERENT: "x"}
LEGEND = "=: the same scores, ~: but for a factor, o: the same order, x: different, ?: no training set for both"
SMALL = 10


@dataclass(frozen=True, eq=False)
class Pair:
    """Two implementations of an algorithm.

    level       how far their scores agree on all training sets; None where no training set is accepted by both
    sets        the number of training sets that both accept
    coverage    whether they have scores for the same pairs outside of the training set
    case        the smallest training set on which they agree less than they could
    decisions   the decisions in which their definitions differ, with both values, where both are known
    """

    first: str
    second: str
    level: Level | None
    sets: int
    coverage: bool
    case: Interactions | None = None
    decisions: Mapping[str, tuple[ParameterValue, ParameterValue]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "agreement": None if self.level is None else self.level.meaning,
            "training_sets": self.sets,
            "same_coverage": self.coverage,
            "case": None if self.case is None else rows_to_list(self.case),
            "decisions": {name: list(values) for name, values in self.decisions.items()},
        }


@dataclass(frozen=True, eq=False)
class AlgorithmAgreement:
    """Compare what frameworks compute under the name of an algorithm.

    implementations  each with its parameters
    pairs            each pair of them
    definitions      the definition of each implementation that has one, where definitions were inferred
    left_out         by framework, why it takes no part
    """

    name: str
    implementations: Sequence[Implementation]
    pairs: Sequence[Pair]
    definitions: Mapping[str, Definition]
    left_out: Mapping[str, str]

    legend = LEGEND

    @property
    def labels(self) -> list[str]:
        """The implementations."""
        return [implementation.label for implementation in self.implementations]

    def groups(self, level: Level = Level.ORDER) -> list[list[str]]:
        """The implementations that agree at least to a level with each other, the largest group first."""
        together = {(p.first, p.second) for p in self.pairs if p.level is not None and p.level >= level}
        groups: list[list[str]] = []
        for label in (implementation.label for implementation in self.implementations):
            for group in groups:
                if all((other, label) in together or (label, other) in together for other in group):
                    group.append(label)
                    break
            else:
                groups.append([label])
        return sorted(groups, key=lambda group: -len(group))

    def marks(self) -> list[list[str]]:
        """The matrix of the marks of ``LEGEND``."""
        labels = [implementation.label for implementation in self.implementations]
        marks = [["." if a == b else "?" for b in labels] for a in labels]
        for pair in self.pairs:
            a, b = labels.index(pair.first), labels.index(pair.second)
            if pair.level is not None:
                marks[a][b] = marks[b][a] = MARKS[pair.level]
        return marks

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "algorithm": self.name,
            "implementations": {each.label: dict(each.parameters) for each in self.implementations},
            "pairs": [pair.to_dict() for pair in self.pairs],
            "definitions": {label: definition.to_dict() for label, definition in self.definitions.items()},
            "groups": self.groups(),
            "left_out": dict(self.left_out),
        }

    def details(self) -> str:
        """The groups, and the decisions and the smallest training set of each pair that differs."""
        lines = [f"the same order: {', '.join(group)}" for group in self.groups() if len(group) > 1]
        for pair in self.pairs:
            if pair.level is None or pair.level == Level.EQUAL:
                continue
            lines.append(f"{pair.first} and {pair.second}: {pair.level.meaning}")
            for name, (first, second) in pair.decisions.items():
                lines.append(f"  {name}: {first} | {second}")
            if pair.case is not None:
                lines.append(f"  smallest training set (user, item, rating): {rows_as_text(pair.case)}")
        lines += [f"left out: {framework}: {reason}" for framework, reason in self.left_out.items()]
        return "\n".join(lines)


def compare_implementations(
    implementations: Sequence[Implementation], seed: int, data: Sequence[Interactions], progress: Progress
) -> list[Pair]:
    """Each pair of implementations, compared on the same training sets."""
    sets = [*(training_set(seed, number) for number in range(SMALL)), *difficult_sets(seed), *data]
    answers: dict[str, list[Answer | None]] = {}
    for implementation in implementations:
        progress(f"scores of {implementation.label}")
        answers[implementation.label] = [_answer(implementation, train) for train in sets]
    pairs = []
    for first, second in combinations(implementations, 2):
        progress(f"{first.label} and {second.label}")
        pairs.append(_pair(first, second, list(zip(answers[first.label], answers[second.label], strict=True))))
    return pairs


def _answer(implementation: Implementation, train: Interactions) -> Answer | None:
    try:
        return implementation.answer(train)
    except PluginError:
        return None


def _pair(
    first: Implementation, second: Implementation, answers: Sequence[tuple[Answer | None, Answer | None]]
) -> Pair:
    both = [(a, b) for a, b in answers if a is not None and b is not None]
    if not both:
        return Pair(first.label, second.label, None, 0, False)
    levels = [level_of(a, b) for a, b in both]
    lowest = min(levels)
    coverage = all(not ((a.scored != b.scored) & ~a.trained).any() for a, b in both)
    case = None
    if lowest < Level.EQUAL:
        smallest = min((a.train for (a, b), level in zip(both, levels, strict=True) if level == lowest), key=len)

        def shows(rows: Interactions) -> bool:
            a, b = _answer(first, rows), _answer(second, rows)
            return a is not None and b is not None and level_of(a, b) <= lowest

        case = fewest_rows(smallest, shows)
    return Pair(first.label, second.label, lowest, len(both), coverage, case)


def level_of(first: Answer, second: Answer) -> Level:
    """The agreement of two answers to the same training set, on the pairs that both score."""
    both = first.scored & second.scored
    defined: FloatArray = np.where(both, first.values, np.nan)
    tolerance = max(first.precision, second.precision)
    answered = Answer(np.where(both, second.values, np.nan), np.zeros(both.shape, dtype=bool), first.train, tolerance)
    return Level(int(Comparison.start(1).after(defined[None], answered).levels[0]))
