"""`repro diff`: show what differs between two runs, or a run and a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repro.cli.options.comparison_options import correct_option, test_option
from repro.cli.options.option_classes import argument, command, flag
from repro.cli.options.shared_options import FOLDER, JsonOption
from repro.cli.output import echo, print_json, print_table, written_number

if TYPE_CHECKING:
    from repro.explanations.difference import Difference, Fact

_FACTS = 8  # rows of a table of facts, without --all


@dataclass(frozen=True, kw_only=True)
class DiffOptions(JsonOption):
    first: str = argument(type=FOLDER)
    second: str = argument()
    test: str = test_option()
    correct: str = correct_option("the algorithms of a metric")
    all_facts: bool = flag("Every package and fold that differs, not only the first ones.", "--all")


@command("repro diff run-a run-b", "repro diff run-a said-bellogin-ut", "repro diff run-a p.toml")
def diff(options: DiffOptions) -> None:
    """Show what differs between two runs, or a run and a protocol: decisions, data, versions, numbers.

    FIRST is the folder of a run. SECOND is another one, the name of a protocol, or its file.
    """
    from repro.explanations import diff as compare

    difference = compare(options.first, options.second, options.test, options.correct)
    if options.as_json:
        print_json(difference.to_dict())
        return
    _print_decisions(difference)
    for title, facts in (
        ("Data", difference.data),
        ("Algorithms", difference.algorithms),
        ("Environment", difference.environment),
    ):
        _print_facts(title, facts, None if options.all_facts else _FACTS)
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
    header = ["algorithm", "metric", "first", "second", "change", "users up", "down", "same"]
    header += ["5% .. median .. 95%", "p", "corrected", "verdict"]
    rows = []
    for pair in difference.numbers:
        quantiles = [pair.quantiles.get(share) for share in (0.05, 0.5, 0.95)]
        paired = pair.users > 0
        rows.append(
            [
                pair.algorithm,
                pair.metric,
                written_number(pair.before, ".4f"),
                written_number(pair.after, ".4f"),
                written_number(pair.change, "+.4f"),
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


def _p(value: float) -> str:
    if value != value:
        return "-"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
