"""Which decisions the answers determine: equivalent policies are looked for as a whole, not one decision at a time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repro.audit.black_boxes.black_box import agree
from repro.audit.hypotheses.elimination import Asked, Elimination
from repro.audit.space import Hypothesis
from repro.protocol import Value, toml_value

_SHOWN = 8  # combinations that are written out
_MOST = 400  # equivalent policies that are kept; beyond that, decisions are listed one by one

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
        at = self.decisions.index(decision)
        options = (row[at] for row in self.options)
        return tuple(dict.fromkeys(option for option in options if option is not None))

    def to_text(self) -> str:
        if len(self.decisions) > 1 and len(self.options) > _SHOWN:
            lines = [f"{key}: {' or '.join(map(toml_value, self.of(key)))}" for key in self.decisions]
            return "\n".join([f"{self.why}, in {len(self.options)} combinations or more:", *lines])
        left = " or ".join(self._row(row) for row in self.options)
        return f"{', '.join(self.decisions)}: {left}{': ' if left else ''}{self.why}"

    def _row(self, row: tuple[Option, ...]) -> str:
        shown = ["no effect" if option is None else toml_value(option) for option in row]
        return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"

    def to_dict(self) -> dict[str, object]:
        """The same as plain data."""
        return {"decisions": list(self.decisions), "options": [list(row) for row in self.options], "why": self.why}


def equivalent(engine: Elimination, policy: Hypothesis) -> list[Hypothesis]:
    """The policies that differ from ``policy`` in one or two decisions and give every answer of the black box too."""
    consistent = _Consistency(engine, policy)
    changes = [
        (key, value)
        for key in sorted(engine.opened & policy.values.keys())
        for value in engine.space.tried(key)
        if value != policy.values[key]
    ]
    found: dict[frozenset[tuple[str, Value]], Hypothesis] = {}

    def keep(values: Mapping[str, Value]) -> None:
        for way in engine.space.changed(policy, values):
            known = frozenset(way.values.items())
            if known not in found and way.values != policy.values and consistent(way):
                found[known] = way

    for key, value in changes:
        keep({key: value})
    for (first, one), (second, other) in itertools.combinations(changes, 2):
        if len(found) >= _MOST:
            break
        if first != second:
            keep({first: one, second: other})
    return list(found.values())


class _Consistency:
    """Whether a hypothesis gives every answer; the questions that rejected the last ones are tried first.

    Where the black box refused to answer, it must refuse if the policy does, and only then.
    """

    def __init__(self, engine: Elimination, policy: Hypothesis) -> None:
        self._asked = list(engine.asked)
        self._policy = policy
        self._tolerance = engine.tolerance

    def __call__(self, hypothesis: Hypothesis) -> bool:
        for at, asked in enumerate(self._asked):
            if not self._gives(hypothesis, asked):
                self._asked.insert(0, self._asked.pop(at))
                return False
        return True

    def _gives(self, hypothesis: Hypothesis, asked: Asked) -> bool:
        predicted = asked.simulation.outcome(hypothesis)
        if asked.said.refusal:
            return bool(predicted.refusal) == bool(asked.simulation.outcome(self._policy).refusal)
        return agree(asked.said, predicted, self._tolerance)


def groups(policy: Hypothesis, others: Sequence[Hypothesis], why: str) -> list[Undetermined]:
    """The decisions in which equivalent policies differ: those that vary independently stand alone."""
    changes = [_change(policy, other) for other in others]
    keys = sorted({key for change in changes for key in change})
    joined = {key: {key} for key in keys}
    singles = {(key, value) for change in changes if len(change) == 1 for key, value in change.items()}
    pairs = {frozenset(change.items()) for change in changes if len(change) == 2}

    def join(some: Sequence[str]) -> None:
        together = set().union(*(joined[key] for key in some))
        for key in together:
            joined[key] = together

    for change in changes:
        if len(change) > 1 and not all(item in singles for item in change.items()):
            join(list(change))
    for one, other in itertools.combinations(sorted(singles, key=str), 2):
        if one[0] != other[0] and frozenset((one, other)) not in pairs and len(others) < _MOST:
            join([one[0], other[0]])
    found: list[Undetermined] = []
    for keys_of in {tuple(sorted(group)) for group in joined.values()}:
        own = tuple(policy.values.get(key) for key in keys_of)
        rows = [own]
        for change in changes:
            if change.keys() <= set(keys_of):
                rows.append(tuple(change.get(key, policy.values.get(key)) for key in keys_of))
        options = tuple(dict.fromkeys(rows))
        found.append(Undetermined(keys_of, options, why))
    return sorted(found, key=lambda one: one.decisions)


def _change(policy: Hypothesis, other: Hypothesis) -> dict[str, Option]:
    """In which decisions another policy differs, and how; one that only has an effect there is part of it."""
    keys = policy.values.keys() | other.values.keys()
    return {key: other.values.get(key) for key in keys if policy.values.get(key) != other.values.get(key)}
