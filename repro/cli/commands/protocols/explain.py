"""`repro explain`: how much of a gap each decision accounts for, and which protocol gives published numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.protocol_options import complete_protocol, complete_varied, metric_option
from repro.cli.options.score_options import algorithms_option, kept_data_option
from repro.cli.output import echo, json_option, print_json, print_table
from repro.cli.progress import Stages, quiet_option

if TYPE_CHECKING:
    from repro.explain import Explanation, ScoredRun, SearchResult


@click.command(
    epilog=(
        "Examples: repro explain run-a run-b -m ndcg@10; repro explain run --to-protocol said-bellogin-ut; "
        "repro explain run --find 0.199,0.033,0.280 --budget 500"
    )
)
@click.argument("first", type=click.Path(file_okay=False))
@click.argument("second", required=False, type=click.Path(file_okay=False))
@click.option(
    "--to-protocol",
    "protocols",
    multiple=True,
    metavar="PROTOCOL",
    shell_complete=complete_protocol,
    help="Explain the way to this protocol, by its name or file, in place of another run; may be repeated.",
)
@metric_option("The metric that is explained, such as ndcg@10; may be repeated [default: the run's first].")
@algorithms_option
@click.option("--refit", is_flag=True, help="Fit again where decisions about data or split are switched.")
@click.option(
    "--orders", type=click.IntRange(2), default=400, show_default=True, help="Sampled where over 10 decisions differ."
)
@click.option(
    "--interactions",
    type=click.FloatRange(0),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="Show interactions above this share of the gap.",
)
@click.option(
    "--find",
    "published",
    multiple=True,
    metavar="NUMBERS",
    help="Search the protocols that give these published numbers: in the order of the algorithms, or as LABEL=0.199; "
    "repeated for each metric.",
)
@click.option(
    "--vary",
    metavar="NAME,NAME,...",
    shell_complete=complete_varied,
    help="What --find searches [default: all about evaluation].",
)
@click.option("--budget", type=click.IntRange(1), default=3000, show_default=True, help="Protocols that --find tries.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Write the waterfall: .svg, .png, .html or .json.")
@click.option("--into", type=click.Path(file_okay=False), help="Write a report with tables into this folder.")
@click.option("--workers", type=click.IntRange(1), help="Processes that fit [default: all cores].")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of sampled orders.")
@kept_data_option
@quiet_option
@json_option
def explain(
    first: str,
    second: str | None,
    protocols: tuple[str, ...],
    metrics: tuple[str, ...],
    algorithms: tuple[str, ...],
    refit: bool,
    orders: int,
    interactions: float,
    published: tuple[str, ...],
    vary: str | None,
    budget: int,
    plot: str | None,
    into: str | None,
    workers: int | None,
    seed: int,
    data: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Attribute the gap between two evaluations to the decisions in which they differ.

    FIRST is the folder of a run with `--keep-scores`; SECOND is another one. The parts are Shapley values: what
    switching a decision changes, averaged over all orders in which the decisions are switched. They add up to the gap.
    """
    from repro.explain import AttributionOptions, ScoredRun
    from repro.explain import explain as explain_gap
    from repro.protocol import Protocol

    if sum(map(bool, (second, protocols, published))) != 1:
        raise click.UsageError("give one of: a second run, --to-protocol, or --find")
    if published and (plot or into or refit):
        raise click.UsageError("--find prints what it found; --plot, --into and --refit are for gaps")
    if plot:
        from repro.report.charts import refuse_other_formats

        refuse_other_formats(plot)
    run = ScoredRun.open(first, data)
    if published:
        _find(run, published, metrics, algorithms, vary, budget, quiet, as_json)
        return
    others = [ScoredRun.open(second, data)] if second is not None else [Protocol.load(name) for name in protocols]
    with Stages(hidden=quiet or as_json) as stages:
        explanations = [
            explain_gap(
                run,
                other,
                metric,
                algorithms=algorithms or None,
                options=AttributionOptions(refit, orders, seed, workers or os.cpu_count() or 1),
                progress=stages.tell,
            )
            for other in others
            for metric in metrics or (None,)
        ]
    _written(explanations, plot, into, run.run.folder)
    if as_json:
        print_json([explanation.to_dict() for explanation in explanations])
        return
    for number, explanation in enumerate(explanations):
        echo("\n" if number else "", nl=False)
        _print(explanation, interactions)
    for path in (plot, into and f"{into}/report.html"):
        if path:
            echo(f"\nwritten  {path}")


def _written(explanations: list[Explanation], plot: str | None, into: str | None, run: Path) -> None:
    if plot:
        from repro.report.charts import save_chart
        from repro.report.explain import waterfall

        save_chart(waterfall(*explanations), plot)
    if into:
        from repro.report.explain import write_explanation

        title = explanations[0].question or f"From {explanations[0].first} to {explanations[0].second}"
        write_explanation(explanations, Path(into), title, run)


def _print(explanation: Explanation, threshold: float) -> None:
    exact = "exact, over all orders" if explanation.orders is None else f"over {explanation.orders:,} sampled orders"
    labels = list(explanation.algorithms)
    rows = [["(" + explanation.first + ")", *(f"{value:.4f}" for value in explanation.before)]]
    for part in sorted(explanation.contributions, key=lambda part: -abs(part.values).sum()):
        parts = [
            f"{value:+.4f}" + (f" ±{error:.4f}" if error else "")
            for value, error in zip(part.values, part.errors, strict=True)
        ]
        rows.append([part.sentence, *parts])
    rows.append(["(" + explanation.second + ")", *(f"{value:.4f}" for value in explanation.after)])
    print_table(["decision", *labels], rows, title=f"{explanation.metric}, parts of the gap ({exact})", right=labels)
    if not explanation.contributions:
        echo("No decision about evaluation differs.")
    for label, why in explanation.left_out.items():
        echo(f"left out: {label} {why}")
    for note in explanation.notes:
        echo(note)
    if notable := explanation.notable(threshold):
        echo("\nTogether they change more (or less) than one by one:")
        for label, decision, other, value in notable[:10]:
            echo(f"  {label}: {decision} and {other} {value:+.4f}")
        if len(notable) > 10:
            echo(f"  ({len(notable) - 10} more; --json has them all)")
    if explanation.needs_refit:
        echo("\nNot accounted for, as they need another fit (--refit):")
        for change in explanation.needs_refit:
            echo(f"  {change.decision}: {change.before} -> {change.after}")


def _find(
    run: ScoredRun,
    published: tuple[str, ...],
    metrics: tuple[str, ...],
    algorithms: tuple[str, ...],
    vary: str | None,
    budget: int,
    quiet: bool,
    as_json: bool,
) -> None:
    from repro.explain import find_protocols
    from repro.explain.published import read_published

    names = metrics or tuple(measure.name for measure in run.run.measures)
    cells = read_published(published, names, algorithms or run.algorithms, run.algorithms)
    with Stages(hidden=quiet or as_json) as stages:
        result = find_protocols(run, cells, vary.split(",") if vary else None, budget=budget, progress=stages.tell)
    if as_json:
        print_json(result.to_dict())
        return
    _print_found(result)


def _print_found(result: SearchResult) -> None:
    names = [f"{cell.algorithm}, {cell.metric}" for cell in result.cells]
    rows: list[list[object]] = [["as published", "", *(f"{c.value:.{c.decimals}f}" for c in result.cells), ""]]
    for number, fit in enumerate((result.own, *result.nearest)):
        which = "the run's own" if not number else f"{number}."
        decided = ", ".join(
            f"{c.decision}={c.after}" for c in fit.changes if c.after is not None and c.before is not None
        )
        values = [f"{v:.{c.decimals + 1}f}" for v, c in zip(fit.values, result.cells, strict=True)]
        rows.append([which, f"{fit.residual:.5f}" + (" fits" if fit.fits else ""), *values, decided])
    print_table(["protocol", "off by", *names, "decided otherwise"], rows, right=["off by", *names])
    echo(
        f"\n{result.tried:,} protocols were tried. {result.fitting:,} of them give all printed digits; "
        f"{result.equally_near:,} are as near as the nearest."
    )
    for note in result.notes:
        echo(note)
    if result.fitting > 1:
        echo("Several protocols fit: the numbers alone do not say which one was used.")
    elif not result.fitting:
        echo("None fits: another split, other data, other parameters, or a protocol outside of the search.")
