"""How `repro verify` and `repro replay` show numbers that were made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repro.cli.output import Styled, echo, print_table

if TYPE_CHECKING:
    from repro.verify.compare import Comparison, Number

tolerance_option = click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.01,
    show_default=True,
    help="By which share of the original a number may be off.",
)
baseline_option = click.option(
    "--baseline", metavar="LABEL", help="Effect ratios are over this algorithm [default: the study's first]."
)


def print_comparison(found: Comparison) -> None:
    """The verdict of each number, with the measures of how far it is off where it is not identical."""
    numbers = found.together or found.numbers
    if all(one.verdict == "identical" for one in numbers):
        print_table(
            ["algorithm", "metric", "value", "verdict"],
            [[one.algorithm, one.metric, _value(one.before), one.verdict] for one in numbers],
            right=["value"],
        )
    else:
        header = ["algorithm", "metric", "then", "now", "verdict", "users", "KTU", "RBO", "RMSE", "ER", "DRI"]
        print_table(header, [_row(found, one) for one in numbers], right=[*header[2:4], *header[5:]])
        echo(
            "(users: whose numbers differ; KTU: Kendall's tau union, and RBO: rank-biased overlap, of the lists; RMSE "
            f"of the users' numbers; ER: effect ratio, and DRI: delta relative improvement, over {found.baseline})"
        )
    for note in found.notes:
        echo(note)
    echo(Styled(found.summary, fg="green" if found.reproduced else "red"))


def _row(found: Comparison, one: Number) -> list[str]:
    order = found.orders.get(one.algorithm)
    measures = (order.ktu, order.rbo) if order else (float("nan"), float("nan"))
    return [
        one.algorithm,
        one.metric,
        _value(one.before),
        _value(one.after),
        one.verdict,
        f"{len(one.differing):,}" if one.differing else "-",
        *map(_value, (*measures, one.rmse, one.er, one.dri)),
    ]


def _value(value: float) -> str:
    return "-" if value != value else f"{value:.6f}"
