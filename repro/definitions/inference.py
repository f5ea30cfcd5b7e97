"""Inference of the definition that an implementation follows, by elimination on small training sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.definitions.comparison import FILLERS, Answer, Comparison, Level
from repro.definitions.confirmation import Confirmation, Refutation, confirm
from repro.definitions.evidence import Evidence, evidence_for
from repro.definitions.implementation import Implementation
from repro.definitions.reduction import fewest_rows
from repro.definitions.result import Definition, Undetermined, Unexplained
from repro.definitions.space import Setting, Space
from repro.definitions.training_sets import training_set
from repro.errors import PluginError
from repro.plugin import ParameterValue

Progress = Callable[[str], None]
# Training sets that are asked at least, and the most that are tried to split the definitions that are left.
FEWEST, SPLITTING = 10, 40
# The definitions with which the smallest training set is searched for.
NEAREST = 300


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The settings that are left, with their agreement."""

    settings: list[Setting]
    comparison: Comparison

    def take(self, chosen: Sequence[int]) -> _Candidates:
        positions = np.asarray(chosen, dtype=np.int64)
        return _Candidates([self.settings[n] for n in positions], self.comparison.take(positions))

    def at_best_level(self) -> _Candidates:
        levels = self.comparison.levels
        return self.take(np.flatnonzero(levels == levels.max()).tolist())


@dataclass(eq=False)
class Inference:
    """The search for the settings of a space that compute what an implementation computes.

    data     training sets on which the definition is confirmed too
    numbers  the values that are tried for each number; by default those of :func:`numbers_of`
    """

    implementation: Implementation
    space: Space
    seed: int = 0
    progress: Progress = lambda text: None
    evidence: bool = True
    data: Sequence[Interactions] = ()
    numbers: Mapping[str, Sequence[ParameterValue]] | None = None
    refused: list[str] = field(default_factory=list)
    asked: int = 0

    def run(self) -> Definition | Unexplained:
        """The definition that agrees with all answers, or the smallest training set that none explains."""
        numbers = self.numbers
        if numbers is None:
            numbers = numbers_of(self.space, self.implementation.parameters)
        settings = self.space.settings(numbers)
        self.progress(f"{len(settings):,} definitions")
        left = _Candidates(settings, Comparison.start(len(settings)))
        for number in range(FEWEST):
            after = self._after(left, training_set(self.seed, number))
            if isinstance(after, Unexplained):
                return after
            left = after
        if not self.asked:
            return Unexplained(self.space, None, None, "it rejects every training set: " + self.refused[0])
        return self._confirmed(self._split(left))

    def _after(self, left: _Candidates, train: Interactions) -> _Candidates | Unexplained:
        answer = self._ask(train)
        if answer is None:
            return left
        defined = np.stack(list(self.space.scores(left.settings, train)))
        comparison = left.comparison.after(defined, answer)
        chosen = np.flatnonzero(comparison.levels)
        if not len(chosen):
            return self._unexplained(left, train, defined, answer)
        self.progress(f"{len(chosen):,} definitions after {self.asked} training sets")
        return _Candidates(left.settings, comparison).take(chosen.tolist())

    def _ask(self, train: Interactions) -> Answer | None:
        """The answer of the implementation; None if it rejects the training set."""
        try:
            answer = self.implementation.answer(train)
        except PluginError as error:
            self.refused.append(str(error))
            return None
        self.asked += 1
        return answer

    def _split(self, left: _Candidates) -> _Candidates | Unexplained:
        """The definitions that are left after training sets on which those at the best level differ."""
        left = left.at_best_level()
        for number in range(FEWEST, FEWEST + SPLITTING):
            if len(left.settings) == 1:
                break
            train = training_set(self.seed, number)
            defined = np.stack(list(self.space.scores(left.settings, train)))
            if all(_same(defined[0], other) for other in defined[1:]):
                continue
            after = self._after(left, train)
            if isinstance(after, Unexplained):
                return after
            left = after.at_best_level()
        return left

    def _confirmed(self, left: _Candidates | Unexplained) -> Definition | Unexplained:
        """The simplest definition that no attempt refutes."""
        while not isinstance(left, Unexplained):
            setting = min(left.settings, key=self._complexity)
            simplest = left.settings.index(setting)
            level = Level(int(left.comparison.levels[simplest]))
            fillers = left.comparison.fillers[simplest]
            self.progress("confirmation")
            outcome = confirm(self.implementation, self.space, setting, (level, fillers), self.seed, self.data)
            if isinstance(outcome, Confirmation):
                return self._definition(left, setting, outcome)
            after = self._after(left, outcome.train)
            if isinstance(after, _Candidates):
                remaining = after.at_best_level()
                if setting in remaining.settings:  # a fall of the level, or of the filler, over several training sets
                    return self._refuted(left, outcome)
                after = remaining
            left = after
        return left

    def _definition(self, left: _Candidates, setting: Setting, confirmation: Confirmation) -> Definition:
        options: dict[str, tuple[ParameterValue, ...]] = {}
        for name in setting:
            values = tuple(dict.fromkeys(other[name] for other in left.settings))
            if len(values) > 1:
                options[name] = values
        found = FILLERS[int(np.flatnonzero(confirmation.fillers)[0])] if confirmation.uses_filler else ""
        evidence: list[Evidence] = []
        if self.evidence:
            self.progress("evidence")
            evidence = evidence_for(self.implementation, self.space, setting, confirmation.level, self.seed)
        return Definition(
            self.space,
            setting,
            confirmation,
            Undetermined(options, len(left.settings)),
            found,
            evidence,
            self.asked,
            tuple(self.refused),
        )

    def _refuted(self, left: _Candidates, refutation: Refutation) -> Unexplained:
        defined = np.stack(list(self.space.scores(left.settings, refutation.train)))
        return self._unexplained(left, refutation.train, defined, refutation.answer)

    def _unexplained(self, left: _Candidates, train: Interactions, defined: FloatArray, answer: Answer) -> Unexplained:
        """The nearest definition, and the smallest training set on which no definition agrees."""
        self.progress("no definition is left; search for the smallest training set")
        order = np.argsort([-_share_of_equal_pairs(scores, answer) for scores in defined], kind="stable")
        chosen = set(order[:NEAREST].tolist())
        while True:
            rows = fewest_rows(train, partial(self._none_agrees, left.take(sorted(chosen))))
            agreeing = {n for n, agrees in enumerate(self._agreement(left, rows)) if agrees}
            if not agreeing - chosen:
                break
            chosen |= agreeing
        return Unexplained(self.space, left.settings[order[0]], rows, "", self.asked, tuple(self.refused))

    def _none_agrees(self, candidates: _Candidates, rows: Interactions) -> bool:
        return not any(self._agreement(candidates, rows))

    def _agreement(self, candidates: _Candidates, rows: Interactions) -> Iterator[bool]:
        try:
            answer = self.implementation.answer(rows)
        except PluginError:
            yield True
            return
        for n, scores in enumerate(self.space.scores(candidates.settings, rows)):
            before = candidates.comparison.take(np.array([n]))
            yield bool(before.after(scores[None], answer).levels[0])

    def _complexity(self, setting: Setting) -> tuple[int, int]:
        """The number of parameters that are not the default, and how far their options are in the declaration."""
        different = [p for p in self.space.algorithm.parameters if setting[p.name] != p.default]
        places = [p.options.index(setting[p.name]) if setting[p.name] in p.options else 0 for p in different]
        return len(different), sum(places)


def numbers_of(space: Space, parameters: Mapping[str, ParameterValue]) -> dict[str, tuple[ParameterValue, ...]]:
    """The values to try for each number of a space, given the parameters of an implementation.

    A number that the implementation has under the same name has its value, or none that matters. Others have the value
    without effect, or one of the numbers that the implementation has under names that the space does not know.
    """
    numeric = {name: value for name, value in parameters.items() if is_number(value)}
    own = {parameter.name for parameter in space.algorithm.parameters}
    further = [value for name, value in numeric.items() if name not in own]
    values: dict[str, tuple[ParameterValue, ...]] = {}
    for parameter in space.numbers:
        kind = type(parameter.default)
        neutral = parameter.default if parameter.neutral is None else parameter.neutral
        if parameter.name in numeric:
            tried = [numeric[parameter.name], *([] if parameter.neutral is None else [neutral])]
        else:
            tried = [neutral, *further]
        fitting = [kind(value) for value in tried if kind(value) == value]
        values[parameter.name] = tuple(dict.fromkeys(fitting))
    return values


def is_number(value: ParameterValue) -> bool:
    """Whether the value of a parameter is a number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(first: FloatArray, second: FloatArray) -> bool:
    """Whether two definitions give the same scores on a training set, up to rounding."""
    return np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True)


def _share_of_equal_pairs(defined: FloatArray, answer: Answer) -> float:
    both = np.isfinite(defined) & answer.scored
    if not both.any():
        return 0.0
    close = np.abs(defined - answer.values) <= answer.tolerance * np.maximum(np.abs(answer.values), 1e-300)
    return float(close[both].mean())
