"""From judgements to the numbers of a table, and from the causes that explain them to verdicts."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace

import numpy as np

from repro.data.interactions import FloatArray
from repro.replications.causes.cause import BoolArray, PrintedNumbers
from repro.replications.causes.search import Explanation
from repro.replications.claims.claim import Cell
from repro.replications.claims.printed import Rounding
from repro.replications.verdicts.judgement import FoundCause, Judgement


def printed_numbers(
    judgements: Sequence[Judgement], rounding: Rounding, values: FloatArray, held: BoolArray, off: BoolArray
) -> PrintedNumbers:
    """The printed numbers of judgements, with their tolerances; ``values`` are the measured ones."""
    ends = np.array([_ends(judgement, rounding) for judgement in judgements]).reshape(-1, 2)
    return PrintedNumbers(ends.mean(axis=1), values, (ends[:, 1] - ends[:, 0]) / 2, held, off)


def _ends(judgement: Judgement, rounding: Rounding) -> tuple[float, float]:
    """The lowest and the highest number that a printed one stands for, with the tolerance."""
    printed = judgement.printed
    assert printed is not None
    low, high = printed.value - printed.slack, printed.value + printed.slack
    if rounding.rule == "truncated":
        low, high = rounding.interval(printed)
    return low - judgement.reach, high + judgement.reach


def give_cause(
    explanation: Explanation,
    cells: Sequence[Cell],
    by_digits: Mapping[Cell, Judgement],
    judgements: MutableMapping[Cell, Judgement],
) -> FoundCause:
    """Give the cells that a cause explains its verdict; ``by_digits`` are the judgements by their digits alone."""
    cause, numbers = explanation.cause, []
    for position, value in zip(explanation.met, explanation.values, strict=True):
        cell = cells[position]
        judgement = by_digits[cell]
        own, given = cell.printed.shown(judgement.value), cell.printed.shown(value)
        why = f"{cause.name}: gives {given}, and {len(explanation.met)} of {explanation.off} numbers in question"
        without = f"; without it the number is {own}" if cause.kind == "leak" else ""
        judgements[cell] = replace(
            judgement,
            verdict=cause.kind,
            why=why + without,
            cause=cause.name,
            by_cause=value,
            met=len(explanation.met),
            chance=explanation.chance,
        ).tried(judgements[cell])
        numbers.append((cell.key.sentence, cell.printed.text, judgement.value, value))
    return FoundCause(cause.name, cause.kind, explanation.sentence, tuple(numbers))
