"""Options and output of `repro verify` and `repro replay`, which compute the numbers of a run again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from repro.cli.options.option_classes import option
from repro.cli.options.shared_options import StoredRunOptions, workers_option
from repro.cli.output import Styled, echo, print_table, written_number

if TYPE_CHECKING:
    from repro.verification.compare import Comparison, Number


@dataclass(frozen=True, kw_only=True)
class RerunOptions(StoredRunOptions):
    """Options for repeating a run, and the differences that are accepted."""

    tolerance: float = option(
        "Accepted difference of a number, as a share of the original.", type=click.FloatRange(min=0), default=0.01
    )
    baseline: str | None = option(
        "The algorithm that effect ratios refer to [default: the study's first].", metavar="LABEL"
    )
    workers: int = workers_option("Number of processes that run cells.")

    @property
    def arguments(self) -> dict[str, Any]:
        """These options as arguments of :func:`repro.verify` and :func:`repro.replay`."""
        return {
            "data": self.data,
            "algorithms": self.algorithms or None,
            "tolerance": self.tolerance,
            "baseline": self.baseline,
            "workers": self.workers,
        }


def print_comparison(comparison: Comparison) -> None:
    """The verdict of each number, with the measures of its difference if it is not identical."""
    numbers = comparison.together or comparison.numbers
    if all(number.verdict == "identical" for number in numbers):
        rows = [[number.algorithm, number.metric, _value(number.before), number.verdict] for number in numbers]
        print_table(["algorithm", "metric", "value", "verdict"], rows, right=["value"])
    else:
        header = ["algorithm", "metric", "then", "now", "verdict", "users", "KTU", "RBO", "RMSE", "ER", "DRI"]
        print_table(header, [_row(comparison, number) for number in numbers], right=[*header[2:4], *header[5:]])
        echo(
            "(users: whose numbers differ; KTU: Kendall's tau union, and RBO: rank-biased overlap, of the lists; RMSE "
            f"of the users' numbers; ER: effect ratio, and DRI: delta relative improvement, over {comparison.baseline})"
        )
    for note in comparison.notes:
        echo(note)
    echo(Styled(comparison.summary, fg="green" if comparison.reproduced else "red"))


def _row(comparison: Comparison, number: Number) -> list[str]:
    order = comparison.orders.get(number.algorithm)
    measures = (order.ktu, order.rbo) if order else (math.nan, math.nan)
    return [
        number.algorithm,
        number.metric,
        _value(number.before),
        _value(number.after),
        number.verdict,
        f"{len(number.differing):,}" if number.differing else "-",
        *map(_value, (*measures, number.rmse, number.er, number.dri)),
    ]


def _value(value: float) -> str:
    return written_number(value, ".6f")
