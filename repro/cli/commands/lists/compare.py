"""`repro compare`: which algorithms of a run differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from repro.cli.options.protocol_options import metric_option
from repro.cli.output import echo, json_option, print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

    from repro.runs.comparison import Compared, Systems


def completes(name: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Offers what the table of that name in :mod:`repro.stats` has."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        import repro.stats

        return [CompletionItem(option) for option in getattr(repro.stats, name) if option.startswith(incomplete)]

    return complete


test_option = click.option(
    "--test",
    shell_complete=completes("TESTS"),
    default="randomisation",
    show_default=True,
    help="randomisation, wilcoxon, t, sign, bootstrap, nemenyi, conover.",
)


def correct_option(family: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The correction for a number of tests; ``family`` says which."""
    return click.option(
        "--correct",
        shell_complete=completes("CORRECTIONS"),
        default="holm",
        show_default=True,
        help=f"none, bonferroni, holm, hochberg, sidak, benjamini-hochberg; over {family}.",
    )


@click.command(
    epilog=(
        "Examples: repro compare run --test wilcoxon --correct holm -m ndcg@10; "
        "repro compare run --baseline popularity --plot differences.svg; "
        "repro compare ours.parquet theirs.parquet"
    )
)
@click.argument("sources", nargs=-1, required=True, type=click.Path(), metavar="RUN_FOLDER | FILE...")
@metric_option("Such as ndcg@10; may be repeated [default: the first].")
@test_option
@correct_option("the pairs of a metric")
@click.option("--baseline", metavar="LABEL", help="Only pairs with this one [default: all pairs].")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Up to which a corrected p is a difference; intervals hold with 1 - level.",
)
@click.option("--interval", default="t", show_default=True, help="Of the difference: t, percentile, bca.")
@click.option(
    "--zeros",
    shell_complete=completes("ZEROS"),
    default="wilcox",
    show_default=True,
    help="Ties in the Wilcoxon test: wilcox, pratt, zsplit.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Of the randomisation and bootstrap tests.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all draws.")
@click.option(
    "--tune",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Choose the best setting of each algorithm on this share of users; test on the others.",
)
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="A chart: .svg, .html or .png.")
@json_option
def compare(
    sources: tuple[str, ...],
    metrics: tuple[str, ...],
    plot: str | None,
    tune: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Test which algorithms of a run differ: paired tests, corrections, effect sizes, intervals.

    Pairs are tested on the values of each user. In place of a run folder, give files that `repro evaluate --per-user`
    wrote: one for each system, or one with several runs.
    """
    from repro.runs.comparison import compare_systems
    from repro.stats import Settings

    if plot and len(metrics) > 1:
        raise click.BadParameter("a chart is about one metric; give -m once", param_hint="--plot")
    if plot:
        from repro.report.charts import refuse_other_formats

        refuse_other_formats(plot)
    systems = _systems(sources)
    comparisons = [
        compare_systems(systems, metric, Settings(**options), tune) for metric in metrics or systems.metrics[:1]
    ]
    if plot:
        from repro.report.charts import save_chart
        from repro.report.charts.comparison_chart import comparison_chart

        save_chart(comparison_chart(comparisons[0].comparison, comparisons[0].metric), plot)
    if as_json:
        print_json([_plain(comparison) for comparison in comparisons])
        return
    for comparison in comparisons:
        _print(comparison)
    if plot:
        echo(f"\nchart    {plot}")


def _systems(sources: tuple[str, ...]) -> Systems:
    from repro.runs.comparison import systems_of_files, systems_of_run
    from repro.runs.run import Run

    if len(sources) == 1 and not Path(sources[0]).is_file():
        return systems_of_run(Run(sources[0]))
    for source in sources:
        if Path(source).is_dir():
            raise click.BadParameter(f"{source} is a folder; give one run folder, or files of per-user values")
    return systems_of_files(sources)


def _plain(compared: Compared) -> dict[str, Any]:
    settings, friedman = compared.comparison.settings, compared.comparison.friedman
    return {
        "metric": compared.metric,
        "better": compared.better,
        "test": settings.test,
        "correct": settings.correct,
        "family": compared.comparison.family,
        "level": settings.level,
        "stated": compared.comparison.stated,
        "friedman": friedman
        and {
            "statistic": friedman.statistic,
            "p": friedman.p,
            "f_statistic": friedman.f_statistic,
            "f_p": friedman.f_p,
            "users": friedman.users,
            "average_ranks": compared.comparison.ranks,
            "critical_difference": friedman.critical_difference(settings.level),
        },
        "chosen": compared.tuned and compared.tuned.chosen,
        "notes": list(compared.notes),
        "cautions": list(compared.cautions),
        "pairs": compared.comparison.pairs.to_dict(orient="records"),
    }


def _print(compared: Compared) -> None:
    settings, friedman = compared.comparison.settings, compared.comparison.friedman
    if compared.tuned:
        echo(
            "Chosen on the tuning users: " + "; ".join(f"{use}: {best}" for use, best in compared.tuned.chosen.items())
        )
    if friedman:
        word = "differ" if friedman.p <= settings.level else "are not shown to differ"
        echo(
            f"Friedman: the {len(compared.comparison.ranks)} systems {word} on {friedman.users:,} users "
            f"(chi-squared {friedman.statistic:.2f}, p {_compared_p(friedman.p)})"
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
    return [
        row["a"],
        row["b"],
        f"{row['mean_a']:.4f}",
        f"{row['mean_b']:.4f}",
        f"{row['difference']:+.4f}",
        f"{row['low']:+.4f} to {row['high']:+.4f}",
        f"{row['cohen_dz']:+.2f}",
        f"{100 * row['superiority']:.0f}%",
        _p(row["p"]),
        _p(row["p_corrected"]),
        row["verdict"],
    ]


def _compared_p(p: float) -> str:
    return _p(p) if p == 0 else f"= {_p(p)}"


def _p(p: float) -> str:
    if p != p:
        return "-"
    if p == 0:
        return "< 1e-15"
    return f"{p:.4f}" if p >= 0.00005 else f"{p:.1e}"
