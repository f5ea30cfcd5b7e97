"""Results of an audit of an algorithm: the definition that it follows, or the case that no definition explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.definitions.confirmation import Confirmation
from repro.definitions.evidence import Evidence
from repro.definitions.space import Setting, Space
from repro.plugin import ParameterValue
from repro.text import plural

SHOWN = 24  # rows of a training set


@dataclass(frozen=True)
class Undetermined:
    """Definitions that agree with all answers and with each other: the decisions in which they differ.

    options   the values that are left, by decision
    count     the number of definitions
    together  where not all combinations of these values are left: those that are, or the first of many
    """

    options: Mapping[str, tuple[ParameterValue, ...]]
    count: int
    together: Sequence[Setting] = ()


@dataclass(frozen=True, eq=False)
class Definition:
    """A definition that no training set refuted.

    setting       the parameters of the reference implementation that compute the same
    confirmation  how far the scores agree, and on how many training sets
    undetermined  other definitions that agree as well
    filler        what the implementation gives where the definition has no score; empty where this never occurred
    evidence      for other options, a small training set on which they are wrong
    asked         the number of training sets in the inference
    clipped       whether the scores are those of the definition clipped to the range of the training ratings
    rejected      the messages with which the implementation rejected training sets
    """

    space: Space
    setting: Setting
    confirmation: Confirmation
    undetermined: Undetermined
    filler: str
    evidence: Sequence[Evidence]
    asked: int
    rejected: tuple[str, ...]
    clipped: bool = False

    @property
    def stated(self) -> dict[str, ParameterValue]:
        """The parameters of the setting that have an effect."""
        return {name: value for name, value in self.setting.items() if self.space.has_effect(name, self.setting)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        confirmation = self.confirmation
        return {
            "status": "explained",
            "definition": self.space.label,
            "parameters": self.stated,
            "agreement": confirmation.level.meaning,
            "undetermined": {name: list(values) for name, values in self.undetermined.options.items()},
            "undetermined_together": [dict(setting) for setting in self.undetermined.together],
            "without_a_score": self.filler,
            "clipped": self.clipped,
            "asked": self.asked,
            "confirmed": {
                "training_sets": confirmation.sets,
                "pairs": confirmation.pairs,
                "largest_difference": confirmation.largest,
                "rejected": confirmation.rejected,
            },
            "evidence": [evidence_to_dict(evidence) for evidence in self.evidence],
        }

    def lines(self) -> list[str]:
        """The definition in text."""
        confirmation = self.confirmation
        lines = [f"{confirmation.level.meaning} as {self.space.label} with"]
        choices = {p.name: {choice.value: choice for choice in p.choices} for p in self.space.algorithm.parameters}
        for name, value in self.stated.items():
            if name in self.undetermined.options:
                continue
            choice = choices[name].get(value)
            lines.append(f"  {name} = {value}" + (f": {choice.meaning}" if choice else ""))
        left = {name: values for name, values in self.undetermined.options.items() if name in self.stated}
        for name, values in left.items():
            lines.append(f"  {name}: undetermined among {', '.join(map(str, values))}")
        if left and self.undetermined.together:
            lines.append(f"  (in {plural(self.undetermined.count, 'combination')}, which --json lists)")
        if self.clipped:
            lines.append("  clipped to the range of the training ratings")
        if self.filler:
            lines.append(f"  without neighbours or rows: {self.filler}")
        largest = f", largest relative difference {confirmation.largest:.1e}" if confirmation.largest else ""
        lines.append(
            f"confirmed on {plural(confirmation.sets, 'other training set')} "
            f"with {confirmation.pairs:,} scores{largest}"
        )
        return lines


@dataclass(frozen=True)
class Shown:
    """A score that shows that a definition does not agree: the pair, the score given, and that of the definition."""

    user: Any
    item: Any
    given: float
    expected: float


@dataclass(frozen=True, eq=False)
class Unexplained:
    """No definition of a space agrees with an implementation.

    nearest   the setting that agrees with most pairs of the last training set
    case      the smallest training set on which no definition agrees that agrees with the others
    reason    where there is no such case: why
    shown     the score of the case that is farthest from that of the nearest definition
    ranks_as  of an implementation that predicts ratings: the definition that has its rankings, but not its ratings
    """

    space: Space
    nearest: Setting | None
    case: Interactions | None
    reason: str
    asked: int = 0
    rejected: tuple[str, ...] = field(default=())
    shown: Shown | None = None
    ranks_as: Definition | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "status": "unexplained",
            "definition": self.space.label,
            "nearest": None if self.nearest is None else dict(self.nearest),
            "case": None if self.case is None else rows_to_list(self.case),
            "reason": self.reason,
            "asked": self.asked,
            "shown": None if self.shown is None else {name: _plain(value) for name, value in vars(self.shown).items()},
            "ranks_as": None if self.ranks_as is None else self.ranks_as.to_dict(),
        }

    def lines(self) -> list[str]:
        """The case in text."""
        if self.case is None:
            return [f"no definition of {self.space.label} explains the scores: {self.reason}"]
        return [
            f"no definition of {self.space.label} explains the scores; the smallest training set that shows it, "
            "as (user, item, rating):",
            f"  {rows_as_text(self.case)}",
            *self._difference(),
        ]

    def _difference(self) -> list[str]:
        lines = []
        if self.shown is not None and self.nearest is not None:
            user, item, given, expected = vars(self.shown).values()
            stated = [
                f"{name} = {value}"
                for name, value in self.nearest.items()
                if self.space.has_effect(name, self.nearest) and value != self.space.default(name)
            ]
            lines.append(f"  it gives user {user} and item {item} the score {given:.10g}, the nearest definition")
            lines.append(f"  ({', '.join(stated) or 'the defaults'}) {expected:.10g}")
        if self.ranks_as is not None:
            lines.append("its ratings are not explained, but its rankings are:")
            lines += [f"  {line}" for line in self.ranks_as.lines()]
        return lines


def rows_to_list(rows: Interactions) -> list[tuple[Any, Any, float]]:
    """The rows as user, item and rating."""
    return [
        (_plain(rows.user_ids[user]), _plain(rows.item_ids[item]), float(rating))
        for user, item, rating in zip(rows.users, rows.items, rows.ratings, strict=True)
    ]


def rows_as_text(rows: Interactions) -> str:
    """The rows in a line; of many, the first ones and their number."""
    shown = [f"({user}, {item}, {rating:g})" for user, item, rating in rows_to_list(rows)]
    further = [f"and {len(shown) - SHOWN:,} more"] if len(shown) > SHOWN else []
    return ", ".join([*shown[:SHOWN], *further])


def evidence_to_dict(evidence: Evidence) -> dict[str, Any]:
    """Plain data of a case against an option."""
    return {
        "decision": evidence.decision,
        "option": evidence.option,
        "train": rows_to_list(evidence.train),
        "user": _plain(evidence.user),
        "item": _plain(evidence.item),
        "given": evidence.given,
        "expected": evidence.expected,
        "rejected": evidence.rejected,
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
