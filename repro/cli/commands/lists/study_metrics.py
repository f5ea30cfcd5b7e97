"""`repro study-metrics`: which metric and cut-off to trust, from the lists of a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.output import echo, json_option, print_json, print_table
from repro.cli.progress import Stages, quiet_option

if TYPE_CHECKING:
    from repro.metric_study import MetricStudy


@click.command(
    epilog=(
        "Examples: repro study-metrics reports/metric-study-ml100k/run; "
        "repro study-metrics run -m ndcg -m precision --cutoffs 5,10,50 --samples 10 --into metrics"
    )
)
@click.argument("run_folder", type=click.Path(file_okay=False))
@click.option(
    "--into", type=click.Path(file_okay=False), help="Where to write [default: metric-study/ beside the run]."
)
@click.option(
    "-m",
    "--metric",
    "names",
    multiple=True,
    metavar="NAME",
    help="A metric without its cut-off, such as ndcg or ndcg[gain=exp2]; may be repeated "
    "[default: precision, recall, ap, ndcg, rr, bpref, infap].",
)
@click.option("--cutoffs", metavar="K,K,...", help="The cut-offs [default: 5,10,20,...,100].")
@click.option(
    "--cutoff-metric",
    metavar="NAME",
    help="The metric whose cut-offs are compared in robustness and power [default: ndcg, or the first].",
)
@click.option("--samples", type=click.IntRange(1), default=50, show_default=True, help="Random test sets of each size.")
@click.option(
    "--randomisations",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Samples of the randomisation test.",
)
@click.option(
    "--level", type=float, default=0.05, show_default=True, help="The p-value below which two systems are told apart."
)
@click.option("--seed", type=click.IntRange(0), help="Of all draws [default: that of the run].")
@click.option("--workers", type=click.IntRange(1), help="Processes; they change no number [default: all cores].")
@quiet_option
@json_option
def study_metrics(
    run_folder: str,
    into: str | None,
    names: tuple[str, ...],
    cutoffs: str | None,
    cutoff_metric: str | None,
    samples: int,
    randomisations: int,
    level: float,
    seed: int | None,
    workers: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find out which metric and cut-off to trust: correlation, robustness, discriminative power.

    RUN_FOLDER is that of a finished `repro run` with several algorithms and a metric at the deepest cut-off.
    Its lists are judged again with part of the held-out ratings (Valcarce et al., RecSys 2018).
    """
    from repro.metric_study import DEFAULT_CUTOFFS, DEFAULT_METRICS, Settings
    from repro.metric_study import study_metrics as study_run
    from repro.report.metric_study import write_metric_study

    settings = Settings(
        metrics=names or DEFAULT_METRICS,
        cutoffs=_cutoffs(cutoffs) if cutoffs else DEFAULT_CUTOFFS,
        cutoff_metric=cutoff_metric,
        samples=samples,
        randomisations=randomisations,
        level=level,
        seed=seed,
    )
    target = Path(into) if into else Path(run_folder).resolve().parent / "metric-study"
    with Stages(hidden=quiet or as_json) as stages:
        study = study_run(run_folder, settings, workers=workers or os.cpu_count() or 1, tell=stages.tell)
        stages.tell("report", 0, 1)
        report = write_metric_study(study, target, Path(run_folder))
        stages.tell("report", 1, 1)
    if as_json:
        print_json(_summary(study, target))
        return
    _print_metrics(study)
    echo(f"\nreport   {report}\ntables   {target}")


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(
            f"'{text}': write whole numbers with commas, such as 5,10,100", param_hint="--cutoffs"
        ) from None


def _summary(study: MetricStudy, folder: Path) -> dict[str, object]:
    from repro.report.metric_study import metric_table

    return {
        "folder": str(folder),
        "systems": list(study.run.systems),
        "users": study.run.n_users,
        "ratings": study.run.n_ratings,
        "seed": study.seed,
        "metrics": metric_table(study, study.metrics_compared).to_dict(orient="records"),
        "cutoffs": metric_table(study, study.cutoffs_compared).to_dict(orient="records"),
    }


def _print_metrics(study: MetricStudy) -> None:
    from repro.report.metric_study import metric_table

    for title, compared in (
        (f"Metrics at cut-off {study.settings.depth}", study.metrics_compared),
        (f"Cut-offs of {study.settings.whose_cutoffs}", study.cutoffs_compared),
    ):
        table = metric_table(study, compared)
        header = ["metric", "tau, fewer ratings", "tau, less popular", "DP", "pairs told apart", "of"]
        print_table(
            header,
            [
                [
                    f"{row.metric}@{row.cutoff}",
                    f"{row.sparsity:.3f}",
                    f"{row.popularity:.3f}",
                    f"{row.dp:.2f}",
                    row.significant,
                    row.pairs,
                ]
                for row in table.itertuples()
            ],
            title=title,
            right=header[1:],
        )
        echo("")
    echo(
        "tau: mean Kendall correlation (tau-b) with the systems' order under the whole test set, over all smaller "
        "test sets; higher is more robust.\nDP: sum of the p-values of all pairs of systems; lower tells more apart."
    )
