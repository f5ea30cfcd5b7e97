"""`repro diff`: what differs between two runs, or a run and a protocol, in one screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from repro.cli.commands.lists.compare import correct_option, test_option
from repro.cli.output import echo, json_option, print_json, print_table

if TYPE_CHECKING:
    from repro.explain.diff import Difference, Fact


@click.command(epilog="Examples: repro diff run-a run-b; repro diff run-a said-bellogin-ut; repro diff run-a p.toml")
@click.argument("first", type=click.Path(file_okay=False))
@click.argument("second")
@test_option
@correct_option("the algorithms of a metric")
@click.option("--all", "everything", is_flag=True, help="Every package and fold that differs, not only the first ones.")
@json_option
def diff(first: str, second: str, test: str, correct: str, everything: bool, as_json: bool) -> None:
    """Show what differs between two runs, or a run and a protocol: decisions, data, versions, numbers.

    FIRST is the folder of a run. SECOND is another one, the name of a protocol, or its file.
    """
    from repro.explain import diff as compare

    difference = compare(first, second, test, correct)
    if as_json:
        print_json(difference.to_dict())
        return
    _print_decisions(difference)
    for title, facts in (
        ("Data", difference.data),
        ("Algorithms", difference.algorithms),
        ("Environment", difference.environment),
    ):
        _print_facts(title, facts, None if everything else 8)
    _print_numbers(difference)


def _print_decisions(difference: Difference) -> None:
    if not difference.decisions:
        echo("No decision differs.")
        return
    rows = [
        [
            change.decision,
            "-" if change.before is None else change.before,
            "-" if change.after is None else change.after,
            f"{change.meaning(change.before)} -> {change.meaning(change.after)}",
            "yes" if change.needs_refit else "",
        ]
        for change in difference.decisions
    ]
    title = f"Decisions that differ: {difference.first} -> {difference.second}"
    print_table(["decision", "first", "second", "meaning", "refit"], rows, title=title)


def _print_facts(title: str, facts: Sequence[Fact], limit: int | None) -> None:
    if not facts:
        return
    echo()
    print_table([title.lower(), "first", "second"], [[f.about, f.before, f.after] for f in facts[:limit]])
    if limit is not None and len(facts) > limit:
        echo(f"({len(facts) - limit} more; --all shows them)")


def _print_numbers(difference: Difference) -> None:
    if not difference.numbers:
        return
    echo()
    header = [
        "algorithm",
        "metric",
        "first",
        "second",
        "change",
        "users up",
        "down",
        "same",
        "5% .. median .. 95%",
        "p",
        "corrected",
        "verdict",
    ]
    rows = []
    for pair in difference.numbers:
        quantiles = [pair.quantiles.get(share) for share in (0.05, 0.5, 0.95)]
        paired = pair.users > 0
        rows.append(
            [
                pair.algorithm,
                pair.metric,
                *(_number(value) for value in (pair.before, pair.after)),
                _number(pair.change, "+"),
                *((pair.higher, pair.lower, pair.same) if paired else ("-", "-", "-")),
                " .. ".join(f"{q:+.3f}" for q in quantiles if q is not None) or "-",
                _p(pair.p),
                _p(pair.p_corrected),
                pair.verdict or "-",
            ]
        )
    print_table(header, rows, right=header[2:-1], spare=["5% .. median .. 95%", "same", "p"])
    echo(f"p: {difference.stated}")
    weak = [f"{pair.algorithm}, {pair.metric}: {pair.caution}" for pair in difference.numbers if pair.caution]
    for caution in (*difference.cautions, *weak):
        echo(f"caution: {caution}")


def _number(value: float, sign: str = "") -> str:
    return "-" if value != value else f"{value:{sign}.4f}"


def _p(value: float) -> str:
    if value != value:
        return "-"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
