"""Alignment: the parameters with which an implementation computes what another one computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repro.data.interactions import Interactions
from repro.definitions.implementation import Implementation
from repro.definitions.inference import Inference, Progress, is_number
from repro.definitions.result import Definition, Unexplained
from repro.definitions.space import Setting, Space
from repro.plugin import ParameterValue, plugins

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
    """

    label: str
    finding: Definition | Unexplained
    conversions: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, tuple[ParameterValue, ParameterValue]] = field(default_factory=dict)

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
    inference = Inference(
        target, space, seed, progress, evidence=False, data=data, numbers=_converted(space, target.parameters)
    )
    finding = inference.run()
    if isinstance(finding, Unexplained):
        return Aligned(label, finding)
    return Aligned(label, finding, conversions_of(space, finding.setting, target.parameters))


def _converted(space: Space, parameters: Mapping[str, ParameterValue]) -> dict[str, tuple[ParameterValue, ...]]:
    """For each number of a space, its default, and the numbers of the target as they are and converted."""
    given = {name: value for name, value in parameters.items() if is_number(value)}
    values: dict[str, tuple[ParameterValue, ...]] = {}
    for parameter in space.numbers:
        sources = [given[parameter.name]] if parameter.name in given else list(given.values())
        tried = [parameter.default, *(convert(value) for value in sources for convert in CONVERSIONS.values())]
        kind = type(parameter.default)
        if parameter.name in given:
            tried = tried[1:]
        values[parameter.name] = tuple(dict.fromkeys(kind(value) for value in tried if kind(value) == value))
    return values


def conversions_of(space: Space, setting: Setting, parameters: Mapping[str, ParameterValue]) -> dict[str, str]:
    """The simplest conversion of the target's parameters into each number of a setting."""
    conversions = {}
    given = {name: value for name, value in parameters.items() if is_number(value)}
    for parameter in space.numbers:
        value = setting[parameter.name]
        own_first = sorted(given, key=lambda name: name != parameter.name)
        texts = (
            text.format(name)
            for text, convert in CONVERSIONS.items()
            for name in own_first
            if convert(given[name]) == value
        )
        text = next(texts, "")
        if text and (value != parameter.default or parameter.name in given):
            conversions[parameter.name] = text
    return conversions
