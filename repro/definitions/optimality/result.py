"""Results of the inference of an objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from repro.definitions.optimality.biases import BiasFit
from repro.definitions.optimality.equations import STEP, Method, Residual
from repro.definitions.optimality.fits import Fit
from repro.definitions.optimality.terms import SideName
from repro.plugin import ParameterValue, plugins
from repro.text import plural


@dataclass(frozen=True, eq=False)
class Rival:
    """The best objective with another option of a decision."""

    decision: str
    option: ParameterValue
    fit: Fit


@dataclass(frozen=True, eq=False)
class FactorDefinition:
    """The objective that is lowest at the factors that an implementation learns.

    fit           the objective, with its numbers and the residual on the training sets
    methods       the ways to learn that the factors agree with
    same          the same objective in other words
    undetermined  other objectives that the factors meet as well
    rivals        for each other option of a decision, the best objective that has it
    parameters    the parameters that the audit chose
    confirmation  the largest residual on further training sets, their number, and that of sets that were refused
    data          for each further data set, its rows and the residual
    single        whether the factors have single precision
    biases        what the biases of each side are, where there are any
    note          where the factors were read from, if the implementation does not offer them by itself
    both          where only the side that was learnt last is known to be at the minimum: the same objective for both
    """

    label: str
    fit: Fit
    methods: Sequence[Method]
    same: Sequence[Fit]
    undetermined: Sequence[Fit]
    rivals: Sequence[Rival]
    parameters: Mapping[str, ParameterValue]
    confirmation: tuple[Residual | None, int, int]
    data: Sequence[tuple[int, Residual]] = ()
    single: bool = False
    biases: Mapping[SideName, BiasFit] = field(default_factory=dict)
    both: Fit | None = None
    note: str = ""

    @property
    def algorithm(self) -> str:
        """The algorithm of the reference plug-in whose objective it is."""
        return self.fit.hypothesis.algorithm

    @property
    def options(self) -> dict[str, tuple[ParameterValue, ...]]:
        """By decision, the options that are left, where there are several."""
        settings = [fit.hypothesis.setting for fit in (self.fit, *self.undetermined)]
        names = dict.fromkeys(name for setting in settings for name in setting)
        left = {name: tuple(dict.fromkeys(s[name] for s in settings if name in s)) for name in names}
        return {name: values for name, values in left.items() if len(values) > 1}

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of the objective; one weight of the penalty where that of both sides is the same."""
        return shown_numbers(self.fit)

    @property
    def setting(self) -> dict[str, ParameterValue]:
        """The decisions and numbers."""
        return {**self.fit.hypothesis.setting, **self.numbers}

    @property
    def is_complete(self) -> bool:
        """Whether the objective is that of both sides: the one learnt first is known only if learning has converged."""
        return self.both is None or self.both.residual.whole <= 1e-3

    @property
    def _is_determined(self) -> bool:
        biases = all(fit.is_determined for fit in self.biases.values())
        return not self.undetermined and self.is_complete and biases

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        confirmed, sets, rejected = self.confirmation
        return {
            "status": "explained" if self._is_determined else "undetermined",
            "definition": f"reference/{self.algorithm}",
            "objective": dict(self.fit.hypothesis.setting),
            "numbers": self.numbers,
            "numbers_from": {name: text for name, text in self.fit.sources.items() if text},
            "biases": {side: fit.to_dict() for side, fit in self.biases.items()},
            "undetermined": {name: list(values) for name, values in self.options.items()},
            "same_objective": [{**fit.hypothesis.setting, **shown_numbers(fit)} for fit in self.same],
            "learnt_by": [method.meaning for method in self.methods],
            "factors": self.note,
            "parameters_of_the_audit": dict(self.parameters),
            "residual": self.fit.residual.whole,
            "rivals": [
                {"decision": rival.decision, "option": rival.option, "residual": rival.fit.residual.whole}
                for rival in self.rivals
            ],
            "confirmed": {
                "training_sets": sets,
                "residual": None if confirmed is None else confirmed.whole,
                "rejected": rejected,
            },
            "both_sides": None
            if self.both is None
            else {**shown_numbers(self.both), "residual": self.both.residual.whole},
            "data": [{"rows": rows, "residual": residual.whole} for rows, residual in self.data],
        }

    def lines(self) -> list[str]:
        """The objective in text."""
        confirmed, sets, _ = self.confirmation
        lines = [f"the factors minimise the objective of reference/{self.algorithm} with"]
        options = self.options
        for name, value in self.fit.hypothesis.setting.items():
            if name in options:
                lines.append(f"  {name}: undetermined among {', '.join(map(str, options[name]))}")
            else:
                lines.append(f"  {name} = {value}{_meaning(self.algorithm, name, value)}")
        for name, number in self.numbers.items():
            lines.append(f"  {name} = {number:.6g}{_source(self.fit, name)}")
        lines += [
            f"  biases of {side}: {fit.meaning} (residual {fit.residual.whole:.1e})"
            for side, fit in self.biases.items()
        ]
        for fit in self.same[:3]:
            numbers = ", ".join(f"{name} = {number:.6g}" for name, number in shown_numbers(fit).items())
            differing = _differing(self.fit, fit)
            lines.append(f"  which is the same as: {', '.join(filter(None, (differing, numbers)))}")
        lines.append(f"learnt by {' or '.join(method.meaning for method in self.methods)}")
        lines.append(
            f"residual {self.fit.residual.whole:.1e}"
            + ("" if confirmed is None else f", and {confirmed.whole:.1e} on {plural(sets, 'further training set')}")
        )
        if self.both is not None:
            numbers = ", ".join(f"{name} = {number:.3g}" for name, number in shown_numbers(self.both).items())
            lines.append(f"both sides at the end, with {numbers}: residual {self.both.residual.whole:.1e}")
        if not self.is_complete:
            lines.append(
                "the objective of the side that was learnt first is undetermined: learning stopped before both sides "
                "agreed, and there is no parameter for the number of epochs"
            )
        if self.note:
            lines.append(f"the factors {self.note}")
        lines += [f"residual {residual.whole:.1e} on {rows:,} rows of data" for rows, residual in self.data]
        if self.rivals:
            lines.append("the smallest residual with another option:")
            lines += [f"  {each.decision} = {each.option}: {each.fit.residual.whole:.1e}" for each in self.rivals]
        return lines


@dataclass(frozen=True, eq=False)
class FactorUnexplained:
    """No objective is lowest at the factors that an implementation learns.

    nearest  the objectives that the factors are nearest to, with their residuals
    """

    label: str
    nearest: Sequence[Fit]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "status": "unexplained",
            "definition": None,
            "reason": self.reason,
            "nearest": [
                {
                    "definition": f"reference/{fit.hypothesis.algorithm}",
                    "objective": dict(fit.hypothesis.setting),
                    "numbers": shown_numbers(fit),
                    "learnt_by": fit.method.meaning,
                    "residual": fit.residual.whole,
                }
                for fit in self.nearest
            ],
        }

    def lines(self) -> list[str]:
        """The nearest objectives in text."""
        if not self.nearest:
            return [f"no objective explains the factors: {self.reason}"]
        return [
            f"no objective explains the factors{': ' + self.reason if self.reason else ''}",
            "the nearest ones, and how far the factors are from meeting them:",
            *(
                f"  {fit.residual.whole:.1e}  {fit.hypothesis.algorithm}: {fit.hypothesis} ({fit.method.meaning})"
                for fit in self.nearest
            ),
        ]


def shown_numbers(fit: Fit) -> dict[str, float]:
    """The numbers of an objective without the step; one weight of the penalty where both sides have the same."""
    numbers = {name: value for name, value in fit.numbers.items() if name != STEP}
    users, items = numbers.get("user_regularisation"), numbers.get("item_regularisation")
    if users is not None and items is not None and abs(users - items) <= 1e-3 * max(users, items):
        numbers = {"regularisation": users} | {
            name: value for name, value in numbers.items() if not name.endswith("_regularisation")
        }
    return numbers


def _source(fit: Fit, name: str) -> str:
    own = "user_regularisation" if name == "regularisation" else name
    source = fit.sources.get(own)
    if source is None:
        return " (estimated)"
    return f" ({source})" if source else ""


def _differing(first: Fit, second: Fit) -> str:
    return ", ".join(
        f"{name} = {value}"
        for name, value in second.hypothesis.setting.items()
        if first.hypothesis.setting.get(name) != value
    )


def _meaning(algorithm: str, decision: str, option: ParameterValue) -> str:
    """The meaning of an option, where a plug-in declares it."""
    for framework in plugins().frameworks.values():
        for declared in framework.algorithms:
            if declared.name != algorithm:
                continue
            for parameter in declared.parameters:
                for choice in parameter.choices if parameter.name == decision else ():
                    if choice.value == option:
                        return f": {choice.meaning}" + (f", {choice.formula}" if choice.formula else "")
    return ""
