"""`repro explain`: how much of a gap each decision accounts for, and which protocol gives published numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import argument, command, count_option, flag, option
from repro.cli.options.protocol_options import complete_protocol, complete_varied
from repro.cli.options.shared_options import (
    FILE,
    FOLDER,
    StoredRunOptions,
    into_option,
    metric_option,
    seed_option,
    workers_option,
)
from repro.cli.output import echo, print_json, print_table
from repro.progress import Stages

if TYPE_CHECKING:
    from repro.explanations import Explanation, ScoredRun, SearchResult


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(StoredRunOptions):
    first: str = argument(type=FOLDER)
    second: str | None = argument(required=False, type=FOLDER)
    protocols: tuple[str, ...] = option(
        "Explain the gap to this protocol in place of another run; may be repeated.",
        "--to-protocol",
        metavar="NAME|FILE",
        shell_complete=complete_protocol,
    )
    metrics: tuple[str, ...] = metric_option(
        "The metric that is explained, such as ndcg@10; may be repeated [default: the run's first]."
    )
    refit: bool = flag("Fit again if decisions about data or split are switched.")
    orders: int = option(
        "Number of sampled orders, if more than 10 decisions differ.", type=click.IntRange(2), default=400
    )
    interactions: float = option(
        "Show interactions above this share of the gap.", type=click.FloatRange(0), default=0.05, metavar="SHARE"
    )
    published: tuple[str, ...] = option(
        "Search the protocols that give these published numbers: in the order of the algorithms, or as "
        "LABEL=0.199; repeated for each metric.",
        "--find",
        metavar="NUMBERS",
    )
    vary: str | None = option(
        "Decisions that --find searches [default: all about evaluation].",
        metavar="NAME,NAME,...",
        shell_complete=complete_varied,
    )
    budget: int = count_option("Number of protocols that --find tries.", 3000)
    plot: str | None = option("Write the waterfall: .svg, .png, .html or .json.", type=FILE)
    into: str | None = into_option("Write a report with tables into this folder.")
    workers: int = workers_option("Number of processes that fit.")
    seed: int = seed_option("Random seed of sampled orders.")


@command(
    "repro explain run-a run-b -m ndcg@10",
    "repro explain run --to-protocol said-bellogin-ut",
    "repro explain run --find 0.199,0.033,0.280 --budget 500",
)
def explain(options: ExplainOptions) -> None:
    """Attribute the gap between two evaluations to the decisions in which they differ.

    FIRST is the folder of a run with `--keep-scores`; SECOND is another one. The parts are Shapley values: what
    switching a decision changes, averaged over all orders in which the decisions are switched. They add up to the gap.
    """
    from repro.explanations import AttributionOptions, ScoredRun
    from repro.explanations import explain as explain_gap
    from repro.protocol import Protocol

    second, protocols, published, plot = options.second, options.protocols, options.published, options.plot
    if sum(map(bool, (second, protocols, published))) != 1:
        raise click.UsageError("give one of: a second run, --to-protocol, or --find")
    if published and (plot or options.into or options.refit):
        raise click.UsageError("--find prints the protocols that fit; --plot, --into and --refit are for gaps")
    if plot:
        from repro.reports.charts import refuse_other_formats

        refuse_other_formats(plot)
    run = ScoredRun.open(options.first, options.data)
    if published:
        _find(run, options)
        return
    targets = (
        [ScoredRun.open(second, options.data)] if second is not None else [Protocol.load(name) for name in protocols]
    )
    with Stages(hidden=options.hidden) as stages:
        explanations = [
            explain_gap(
                run,
                target,
                metric,
                algorithms=options.algorithms or None,
                options=AttributionOptions(options.refit, options.orders, options.seed, options.workers),
                progress=stages.update,
            )
            for target in targets
            for metric in options.metrics or (None,)
        ]
    _write(explanations, options, run.run.folder)
    if options.as_json:
        print_json([explanation.to_dict() for explanation in explanations])
        return
    for number, explanation in enumerate(explanations):
        echo("\n" if number else "", nl=False)
        _print(explanation, options.interactions)
    for path in (plot, options.into and f"{options.into}/report.html"):
        if path:
            echo(f"\nwritten  {path}")


def _write(explanations: list[Explanation], options: ExplainOptions, run: Path) -> None:
    if options.plot:
        from repro.reports.charts import save_chart
        from repro.reports.explain import waterfall

        save_chart(waterfall(*explanations), options.plot)
    if options.into:
        from repro.reports.explain import write_explanation

        title = explanations[0].question or f"From {explanations[0].first} to {explanations[0].second}"
        write_explanation(explanations, Path(options.into), title, run)


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
    for label, reason in explanation.left_out.items():
        echo(f"left out: {label} {reason}")
    for note in explanation.notes:
        echo(note)
    if notable := explanation.notable(threshold):
        echo("\nTogether they change more (or less) than one by one:")
        for label, decision, second, value in notable[:10]:
            echo(f"  {label}: {decision} and {second} {value:+.4f}")
        if len(notable) > 10:
            echo(f"  ({len(notable) - 10} more; --json has them all)")
    if explanation.needs_refit:
        echo("\nNot included, because they need another fit (--refit):")
        for change in explanation.needs_refit:
            echo(f"  {change.decision}: {change.before} -> {change.after}")


def _find(run: ScoredRun, options: ExplainOptions) -> None:
    """Search and print the protocols that give published numbers."""
    from repro.explanations.search import find_protocols, read_published

    names = options.metrics or tuple(measure.name for measure in run.run.measures)
    cells = read_published(options.published, names, options.algorithms or run.algorithms, run.algorithms)
    varied = options.vary.split(",") if options.vary else None
    with Stages(hidden=options.hidden) as stages:
        result = find_protocols(run, cells, varied, budget=options.budget, progress=stages.update)
    if options.as_json:
        print_json(result.to_dict())
    else:
        _print_search(result)


def _print_search(result: SearchResult) -> None:
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
