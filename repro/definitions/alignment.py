"""Alignment: the parameters with which an implementation computes what another one computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.definitions.audit import defining_spaces
from repro.definitions.comparison import DOUBLE, SINGLE, Answer, Level
from repro.definitions.grid import Grid
from repro.definitions.implementation import Implementation
from repro.definitions.inference import ALIASES, Inference, Progress, is_number
from repro.definitions.result import Definition, Unexplained
from repro.definitions.space import Setting, Space
from repro.definitions.training_sets import training_set
from repro.plugin import ParameterValue, plugins

# Settings of an algorithm that are tried with 0 and 1 for all of its numbers.
FEW = 100
# Numbers of one framework that mean the same as a number of another one, by what is done to it.
CONVERSIONS = {
    "{}": lambda value: value,
    "{} + 1": lambda value: value + 1,
    "{} - 1": lambda value: value - 1,
    "2 * {}": lambda value: 2 * value,
    "{} / 2": lambda value: value / 2,
    "{} ** 2": lambda value: value**2,
    "sqrt({})": lambda value: value**0.5 if value >= 0 else value,
}


@dataclass(frozen=True, eq=False)
class Aligned:
    """A framework's algorithm beside a target.

    finding      the parameters that compute the same, or the smallest training set on which none does
    conversions  for each number that is not a constant, how it follows from a parameter of the target
    decisions    where nothing aligns: the decisions in which the definitions differ, as (own, of the target)
    tolerance    the largest relative difference of scores that count as equal; None for that of the numbers given
    """

    label: str
    finding: Definition | Unexplained
    conversions: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, tuple[ParameterValue, ParameterValue]] = field(default_factory=dict)
    tolerance: float | None = None

    @property
    def parameters(self) -> Setting | None:
        """The parameters that compute the same as the target; None where there are none."""
        return self.finding.setting if isinstance(self.finding, Definition) else None

    def lines(self) -> list[str]:
        """The parameters, or what stands in the way, in text."""
        if not isinstance(self.finding, Definition):
            lines = [f"{name}: {own} here, {wanted} there" for name, (own, wanted) in self.decisions.items()]
            differences = ["the definitions differ:", *(f"  {line}" for line in lines)] if lines else []
            return [*differences, *self.finding.lines()]
        lines = []
        for name, value in self.finding.stated.items():
            text = self.conversions.get(name, "")
            lines.append(f"{name} = {value}" + (f" ({text})" if text not in ("", name) else ""))
        confirmation = self.finding.confirmation
        return [
            f"{confirmation.level.meaning} with",
            *(f"  {line}" for line in lines),
            f"confirmed with {confirmation.pairs:,} scores of {confirmation.sets} training sets",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        finding = self.finding.to_dict()
        return {
            "algorithm": self.label,
            "aligned": self.parameters is not None,
            "parameters": None if self.parameters is None else dict(self.parameters),
            "conversions": dict(self.conversions),
            "decisions": {name: list(values) for name, values in self.decisions.items()},
        } | {name: value for name, value in finding.items() if name in ("agreement", "confirmed", "case")}


def align_with(
    target: Implementation,
    label: str,
    *,
    seed: int = 0,
    data: Sequence[Interactions] = (),
    progress: Progress = lambda text: None,
) -> Aligned:
    """The parameters of an algorithm of a plug-in with which it computes what the target computes."""
    space = Space(label, plugins().algorithm(label)[1])
    target = as_precise_as(target, space)
    numbers = _converted(space, target)
    finding = Inference(target, space, seed, progress, evidence=False, data=data, numbers=numbers).run()
    if target.tolerance is None and not _equal(finding):
        # Some algorithms compute in single precision, and give numbers of 64 bits.
        less = replace(target, tolerance=SINGLE)
        again = Inference(less, space, seed, progress, evidence=False, data=data, numbers=numbers).run()
        if _equal(again):
            target, finding = less, again
    if isinstance(finding, Unexplained):
        # A batch of 1, or a weight of 0: numbers that say nothing about the target, and may make both the same.
        constants = {p.name: _with_constants(type(p.default), numbers[p.name]) for p in space.numbers}
        if constants != numbers and Grid(space, constants).all().size <= FEW:
            again = Inference(target, space, seed, progress, evidence=False, data=data, numbers=constants).run()
            finding = again if isinstance(again, Definition) else finding
    if isinstance(finding, Unexplained):
        return Aligned(label, finding)
    conversions = conversions_of(space, finding.setting, effective_numbers(target))
    return Aligned(label, finding, conversions, tolerance=target.tolerance)


def _equal(finding: Definition | Unexplained) -> bool:
    return isinstance(finding, Definition) and finding.confirmation.level > Level.ORDER


def _converted(space: Space, target: Implementation) -> dict[str, tuple[ParameterValue, ...]]:
    """For each number of a space, the numbers of the target that it can mean, as they are and converted.

    A number that has the name of one of the target's, or an alias of it, means that one. Others have their default or
    the value without effect, or mean a number of the target that no name means.
    """
    given = effective_numbers(target)
    meant = {p.name: [n for n in given if n == p.name or p.name.lower() in ALIASES.get(n, ())] for p in space.numbers}
    by_name = {name for names in meant.values() for name in names}
    values: dict[str, tuple[ParameterValue, ...]] = {}
    for parameter in space.numbers:
        sources = meant[parameter.name] or [name for name in given if name not in by_name]
        tried = [convert(given[name]) for name in sources for convert in CONVERSIONS.values()]
        if not meant[parameter.name]:
            tried = [parameter.default, *tried]
        neutral = [] if parameter.neutral is None else [parameter.neutral]
        kind = type(parameter.default)
        fitting = [kind(value) for value in (*tried, *neutral) if kind(value) == value]
        values[parameter.name] = tuple(dict.fromkeys(fitting)) or (parameter.default,)
    return values


def as_precise_as(target: Implementation, space: Space) -> Implementation:
    """The target, compared with the tolerance of single precision where the algorithms of the space have that."""
    defaults = space.complete({})
    for number in range(3):
        train = training_set(0, number)
        scores = space.fitted_scores(defaults, train)
        precision = Answer(scores, np.zeros(scores.shape, dtype=bool), train).precision
        if np.isfinite(scores).any() and precision > DOUBLE:
            return replace(target, tolerance=precision)
        if np.isfinite(scores).any():
            break
    return target


def _with_constants(kind: type, values: tuple[ParameterValue, ...]) -> tuple[ParameterValue, ...]:
    return tuple(dict.fromkeys((*values, kind(1), kind(0))))


def effective_numbers(target: Implementation) -> dict[str, ParameterValue]:
    """The numbers among the parameters of a target, without those that have no effect."""
    numbers = {name: value for name, value in target.parameters.items() if is_number(value)}
    if target.canonical not in defining_spaces():
        return numbers
    space = defining_spaces()[target.canonical]
    neutral = {p.name: p.neutral for p in space.numbers}
    own = target.label == space.label
    return {
        name: value
        for name, value in numbers.items()
        if name not in neutral or (neutral[name] != value and (not own or space.has_effect(name, target.parameters)))
    }


def conversions_of(space: Space, setting: Setting, parameters: Mapping[str, ParameterValue]) -> dict[str, str]:
    """The simplest conversion of the target's parameters into each number of a setting."""
    conversions = {}
    given = {name: value for name, value in parameters.items() if is_number(value)}
    for parameter in space.numbers:
        value = setting[parameter.name]
        alike = [n for n in given if n == parameter.name or parameter.name.lower() in ALIASES.get(n, ())]
        own_first = sorted(given, key=lambda name: name not in alike)
        texts = (
            text.format(name)
            for text, convert in CONVERSIONS.items()
            for name in own_first
            if convert(given[name]) == value
        )
        text = next(texts, "")
        if text and (value != parameter.default or alike):
            conversions[parameter.name] = text
    return conversions
