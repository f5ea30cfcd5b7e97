"""Evidence for a definition: for each other option, a small training set on which an implementation rejects it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.definitions.comparison import Answer, Comparison, Level
from repro.definitions.implementation import Implementation
from repro.definitions.reduction import fewest_rows
from repro.definitions.space import Setting, Space
from repro.definitions.training_sets import training_set
from repro.errors import PluginError
from repro.plugin import ParameterValue

# Training sets that are tried for each option.
TRIED = 30


@dataclass(frozen=True, eq=False)
class Evidence:
    """An option that an implementation rejects.

    decision, option  the rejected option
    train             the training set
    user, item        the ids of the pair whose scores differ most
    given             the score of the implementation
    expected          that of the definition
    rejected          that of the definition with the rejected option
    """

    decision: str
    option: ParameterValue
    train: Interactions
    user: Any
    item: Any
    given: float
    expected: float
    rejected: float


def evidence_for(
    implementation: Implementation, space: Space, setting: Setting, level: Level, seed: int
) -> list[Evidence]:
    """A case for each option that the implementation rejects, where one is found."""
    evidence = []
    for parameter in space.decisions:
        if not space.has_effect(parameter.name, setting):
            continue
        for option in parameter.options:
            if option == setting[parameter.name] or space.algorithm.adapts_with.get(parameter.name) == option:
                continue
            other = {**setting, parameter.name: option}
            if case := _case(implementation, space, (setting, other), level, seed):
                train, answer, scores = case
                evidence.append(_largest(parameter.name, option, train, answer, scores))
    return evidence


def _case(
    implementation: Implementation, space: Space, settings: tuple[Setting, Setting], level: Level, seed: int
) -> tuple[Interactions, Answer, list[FloatArray]] | None:
    """A small training set where only the first of two settings agrees with the implementation."""

    def differ(rows: Interactions) -> bool:
        expected, other = space.scores(list(settings), rows)
        answer = Answer(expected, np.zeros(expected.shape, dtype=bool), rows)
        return Comparison.start(1).after(other[None], answer).levels[0] < level

    for number in range(TRIED):
        train = training_set(seed + 1, number)
        if not differ(train):
            continue
        rows = fewest_rows(train, differ)
        try:
            answer = implementation.answer(rows)
        except PluginError:
            rows = train
            try:
                answer = implementation.answer(rows)
            except PluginError:
                continue
        scores = list(space.scores(list(settings), rows))
        agrees = [Comparison.start(1).after(each[None], answer).levels[0] >= level for each in scores]
        if agrees == [True, False]:
            return rows, answer, scores
    return None


def _largest(
    decision: str, option: ParameterValue, train: Interactions, answer: Answer, scores: list[FloatArray]
) -> Evidence:
    expected, rejected = scores
    difference = np.abs(np.nan_to_num(expected, nan=np.inf) - np.nan_to_num(rejected, nan=np.inf))
    difference = np.where(answer.scored, np.nan_to_num(difference, nan=0.0, posinf=1e300), -1.0)
    user, item = np.unravel_index(int(difference.argmax()), difference.shape)
    values = (float(array[user, item]) for array in (answer.values, expected, rejected))
    return Evidence(decision, option, train, train.user_ids[user], train.item_ids[item], *values)
