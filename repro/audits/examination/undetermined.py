"""Decisions that the answers do not determine, because other policies give the same answers.

Equivalent policies are searched with one or two decisions changed at once: two decisions may only be open together.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repro.audits.hypotheses.elimination import Elimination
from repro.audits.hypotheses.simulation import Observation
from repro.audits.hypotheses.space import Hypothesis
from repro.audits.questions.answers import agree
from repro.protocol import Value, toml_value

_MAX_SHOWN = 8  # combinations that are written out
_MAX_EQUIVALENT = 400  # policies; beyond that, decisions are listed one by one

Option = Value | None  # None: the decision has no effect


@dataclass(frozen=True)
class Undetermined:
    """Decisions that the answers leave open: ``options`` are the combinations that remain, that of the policy first.

    Each combination has an option for each of ``decisions``, None where the decision has no effect in it. Without
    options, the decisions could not be asked about. ``why`` says why they are open.
    """

    decisions: tuple[str, ...]
    options: tuple[tuple[Option, ...], ...]
    why: str

    def of(self, decision: str) -> tuple[Value, ...]:
        """The options that remain of one of the decisions."""
        column = self.decisions.index(decision)
        options = (combination[column] for combination in self.options)
        return tuple(dict.fromkeys(option for option in options if option is not None))

    def to_text(self) -> str:
        if len(self.decisions) > 1 and len(self.options) > _MAX_SHOWN:
            lines = [f"{key}: {' or '.join(map(toml_value, self.of(key)))}" for key in self.decisions]
            return "\n".join([f"{self.why}, in {len(self.options)} combinations or more:", *lines])
        options = " or ".join(map(_combination_text, self.options))
        return f"{', '.join(self.decisions)}: {options}{': ' if options else ''}{self.why}"

    def to_dict(self) -> dict[str, object]:
        """The same as plain data."""
        return {"decisions": list(self.decisions), "options": [list(row) for row in self.options], "why": self.why}


def _combination_text(combination: tuple[Option, ...]) -> str:
    options = ["no effect" if option is None else toml_value(option) for option in combination]
    return options[0] if len(options) == 1 else f"({', '.join(options)})"


def equivalent_policies(engine: Elimination, policy: Hypothesis) -> list[Hypothesis]:
    """The policies that differ from ``policy`` in one or two decisions and predict every answer too."""
    is_consistent = _ConsistencyCheck(engine, policy)
    changes = [
        (key, value)
        for key in sorted(engine.free_decisions & policy.values.keys())
        for value in engine.space.tried(key)
        if value != policy.values[key]
    ]
    equivalent: dict[frozenset[tuple[str, Value]], Hypothesis] = {}

    def add(values: Mapping[str, Value]) -> None:
        for changed in engine.space.with_changes(policy, values):
            identity = frozenset(changed.values.items())
            if identity not in equivalent and changed.values != policy.values and is_consistent(changed):
                equivalent[identity] = changed

    for key, value in changes:
        add({key: value})
    for (first, first_value), (second, second_value) in itertools.combinations(changes, 2):
        if len(equivalent) >= _MAX_EQUIVALENT:
            break
        if first != second:
            add({first: first_value, second: second_value})
    return list(equivalent.values())


class _ConsistencyCheck:
    """Whether a hypothesis predicts every answer; the observations that rejected the last ones are compared first.

    Where the black box refused to answer, a hypothesis must predict a refusal if and only if the policy does.
    """

    def __init__(self, engine: Elimination, policy: Hypothesis) -> None:
        self._observations = list(engine.observations)
        self._policy = policy
        self._tolerance = engine.tolerance

    def __call__(self, hypothesis: Hypothesis) -> bool:
        for position, observation in enumerate(self._observations):
            if not self._predicts(hypothesis, observation):
                self._observations.insert(0, self._observations.pop(position))
                return False
        return True

    def _predicts(self, hypothesis: Hypothesis, observation: Observation) -> bool:
        predicted = observation.predicted(hypothesis)
        if observation.answer.refusal:
            return bool(predicted.refusal) == bool(observation.predicted(self._policy).refusal)
        return agree(observation.answer, predicted, self._tolerance)


def group_differences(policy: Hypothesis, others: Sequence[Hypothesis], why: str) -> list[Undetermined]:
    """The decisions in which equivalent policies differ: those that vary independently are listed separately."""
    differences = [_difference(policy, other) for other in others]
    keys = sorted({key for difference in differences for key in difference})
    group_of = {key: {key} for key in keys}
    singles = {item for difference in differences if len(difference) == 1 for item in difference.items()}
    pairs = {frozenset(difference.items()) for difference in differences if len(difference) == 2}

    def join(decisions: Sequence[str]) -> None:
        joined = set().union(*(group_of[key] for key in decisions))
        for key in joined:
            group_of[key] = joined

    for difference in differences:
        if len(difference) > 1 and not all(item in singles for item in difference.items()):
            join(list(difference))
    for first, second in itertools.combinations(sorted(singles, key=str), 2):
        if first[0] != second[0] and frozenset((first, second)) not in pairs and len(others) < _MAX_EQUIVALENT:
            join([first[0], second[0]])
    groups: list[Undetermined] = []
    for decisions in {tuple(sorted(group)) for group in group_of.values()}:
        combinations = [tuple(policy.values.get(key) for key in decisions)]
        for difference in differences:
            if difference.keys() <= set(decisions):
                combinations.append(tuple(difference.get(key, policy.values.get(key)) for key in decisions))
        groups.append(Undetermined(decisions, tuple(dict.fromkeys(combinations)), why))
    return sorted(groups, key=lambda group: group.decisions)


def _difference(policy: Hypothesis, other: Hypothesis) -> dict[str, Option]:
    """The decisions in which another policy differs, with its options; None where one has no effect there."""
    keys = policy.values.keys() | other.values.keys()
    return {key: other.values.get(key) for key in keys if policy.values.get(key) != other.values.get(key)}
