"""`repro compare`: test which algorithms of a run differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from repro.cli.options.comparison_options import complete_zeros, correct_option, test_option
from repro.cli.options.option_classes import argument, command, count_option, filled, option
from repro.cli.options.shared_options import FILE, SHARE, JsonOption, metric_option, seed_option
from repro.cli.output import echo, print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

    from repro.runs.comparison import Compared


@dataclass(frozen=True, kw_only=True)
class CompareOptions(JsonOption):
    sources: tuple[str, ...] = argument(nargs=-1, required=True, type=click.Path(), metavar="RUN_FOLDER|FILE...")
    metrics: tuple[str, ...] = metric_option("Such as ndcg@10; may be repeated [default: the first].")
    test: str = test_option()
    correct: str = correct_option("the pairs of a metric")
    baseline: str | None = option("Only pairs with this algorithm [default: all pairs].", metavar="LABEL")
    level: float = option(
        "Significance level for corrected p-values; intervals have confidence 1 - level.", type=SHARE, default=0.05
    )
    interval: str = option("Interval of the difference: t, percentile, bca.", default="t", metavar="NAME")
    zeros: str = option(
        "Ties in the Wilcoxon test: wilcox, pratt, zsplit.",
        shell_complete=complete_zeros,
        default="wilcox",
        metavar="NAME",
    )
    samples: int = count_option("Number of samples of the randomisation and bootstrap tests.", 100_000)
    seed: int = seed_option()
    select_on: float | None = option(
        "Choose the best setting of each algorithm on this share of users; test on the others.",
        type=SHARE,
        metavar="SHARE",
    )
    plot: str | None = option("A chart: .svg, .html or .png.", type=FILE)


@command(
    "repro compare run --test wilcoxon --correct holm -m ndcg@10",
    "repro compare run --baseline popularity --plot differences.svg",
    "repro compare ours.parquet theirs.parquet",
)
def compare(options: CompareOptions) -> None:
    """Test which algorithms of a run differ: paired tests, corrections, effect sizes, intervals.

    Pairs are tested on the values of each user. In place of a run folder, give files that `repro evaluate --per-user`
    wrote: one for each system, or one with several runs.
    """
    from repro.runs.comparison import compare_systems, systems_in
    from repro.stats import Settings

    if options.plot:
        from repro.reports.charts import refuse_other_formats

        if len(options.metrics) > 1:
            raise click.BadParameter("a chart is about one metric; give -m once", param_hint="--plot")
        refuse_other_formats(options.plot)
    settings = filled(Settings, options)
    sources = options.sources
    systems = systems_in(sources[0] if len(sources) == 1 else sources)
    comparisons = [
        compare_systems(systems, metric, settings, options.select_on)
        for metric in options.metrics or systems.metrics[:1]
    ]
    if options.plot:
        from repro.reports.charts import save_chart
        from repro.reports.charts.comparison_chart import comparison_chart

        save_chart(comparison_chart(comparisons[0].comparison, comparisons[0].metric), options.plot)
    if options.as_json:
        print_json([compared.to_dict() for compared in comparisons])
        return
    for comparison in comparisons:
        _print(comparison)
    if options.plot:
        echo(f"\nchart    {options.plot}")


def _print(compared: Compared) -> None:
    settings, friedman = compared.comparison.settings, compared.comparison.friedman
    if compared.selection:
        chosen = "; ".join(f"{algorithm}: {best}" for algorithm, best in compared.selection.chosen.items())
        echo(f"Selected settings: {chosen}")
    if friedman:
        word = "differ" if friedman.p <= settings.level else "are not shown to differ"
        echo(
            f"Friedman: the {len(compared.comparison.ranks)} systems {word} on {friedman.users:,} users "
            f"(chi-squared {friedman.statistic:.2f}, p {'' if friedman.p == 0 else '= '}{_p(friedman.p)})"
        )
    better = "" if compared.better == "neither" else f" ({compared.better} is better)"
    confidence = f"{100 * (1 - settings.level):g}% interval"
    pairs = compared.comparison.pairs
    columns = ["a", "b", "mean a", "mean b", "difference", confidence, "d_z", "a better", "p", "corrected", "verdict"]
    print_table(
        columns,
        [_cells(row) for _, row in pairs.iterrows()],
        title=f"{compared.metric}{better}: {compared.comparison.stated}",
        right=columns[2:10],
        spare=["mean b", "mean a", "a better", "d_z", "p"],
    )
    users = f"{pairs['users'].min():,}" + (f" to {pairs['users'].max():,}" if pairs["users"].nunique() > 1 else "")
    dropped = f", of which the test drops up to {pairs['dropped'].max():,}" if pairs["dropped"].any() else ""
    echo(
        f"users in a pair: {users}; tied: up to {pairs['ties'].max():,}{dropped}; p: {', '.join(pairs['how'].unique())}"
    )
    for note in compared.notes:
        echo(f"note: {note}")
    for caution in compared.cautions:
        echo(f"caution: {caution}")


def _cells(row: pd.Series) -> list[str]:
    means = [f"{row['mean_a']:.4f}", f"{row['mean_b']:.4f}", f"{row['difference']:+.4f}"]
    interval, effect = f"{row['low']:+.4f} to {row['high']:+.4f}", f"{row['cohen_dz']:+.2f}"
    p_values = [_p(row["p"]), _p(row["p_corrected"])]
    return [row["a"], row["b"], *means, interval, effect, f"{row['superiority']:.0%}", *p_values, row["verdict"]]


def _p(p: float) -> str:
    if p != p:
        return "-"
    if p == 0:
        return "< 1e-15"
    return f"{p:.4f}" if p >= 0.00005 else f"{p:.1e}"
