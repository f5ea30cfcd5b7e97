"""`repro study-metrics`: which metric and cut-off to trust, from the lists of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import argument, command, count_option, filled, option
from repro.cli.options.shared_options import FOLDER, ProgressOptions, into_option, metric_option, workers_option
from repro.cli.output import echo, print_json, print_table
from repro.progress import Stages

if TYPE_CHECKING:
    from repro.metric_study import MetricStudy


@dataclass(frozen=True, kw_only=True)
class StudyMetricsOptions(ProgressOptions):
    run_folder: str = argument(type=FOLDER)
    into: str | None = into_option("The folder of the report [default: metric-study/ next to the run].")
    metrics: tuple[str, ...] = metric_option(
        "A metric without its cut-off, such as ndcg or ndcg[gain=exp2]; may be repeated "
        "[default: precision, recall, ap, ndcg, rr, bpref, infap]."
    )
    cutoffs: str | None = option("The cut-offs [default: 5,10,20,...,100].", metavar="K,K,...")
    cutoff_metric: str | None = option(
        "The metric whose cut-offs are compared in robustness and power [default: ndcg, or the first].", metavar="NAME"
    )
    samples: int = count_option("Random test sets of each size.", 50)
    randomisations: int = count_option("Samples of the randomisation test.", 100_000)
    level: float = option("The p-value below which two systems count as different.", type=float, default=0.05)
    seed: int | None = option("Random seed [default: that of the run].", type=click.IntRange(0))
    workers: int = workers_option("Number of processes; no effect on results.")


@command(
    "repro study-metrics reports/metric-study-ml100k/run",
    "repro study-metrics run -m ndcg -m precision --cutoffs 5,10,50 --samples 10 --into metrics",
)
def study_metrics(options: StudyMetricsOptions) -> None:
    """Find out which metric and cut-off to trust: correlation, robustness, discriminative power.

    RUN_FOLDER is that of a finished `repro run` with several algorithms and a metric at the deepest cut-off.
    Its lists are judged again with part of the held-out ratings (Valcarce et al., RecSys 2018).
    """
    from repro.metric_study import DEFAULT_CUTOFFS, DEFAULT_METRICS, Settings
    from repro.metric_study import study_metrics as study_run
    from repro.reports.metric_study import write_metric_study

    cutoffs = _cutoffs(options.cutoffs) if options.cutoffs else DEFAULT_CUTOFFS
    settings = filled(Settings, options, metrics=options.metrics or DEFAULT_METRICS, cutoffs=cutoffs)
    run = Path(options.run_folder)
    target = Path(options.into) if options.into else run.resolve().parent / "metric-study"
    with Stages(hidden=options.hidden) as stages:
        study = study_run(options.run_folder, settings, workers=options.workers, progress=stages.update)
        stages.update("report", 0, 1)
        report = write_metric_study(study, target, run)
        stages.update("report", 1, 1)
    if options.as_json:
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
    from repro.reports.metric_study import metric_table

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
    from repro.reports.metric_study import metric_table

    for title, compared in (
        (f"Metrics at cut-off {study.settings.depth}", study.metrics_compared),
        (f"Cut-offs of {study.settings.whose_cutoffs}", study.cutoffs_compared),
    ):
        header = ["metric", "tau, fewer ratings", "tau, less popular", "DP", "significant pairs", "of"]
        rows = []
        for row in metric_table(study, compared).itertuples():
            numbers = (f"{row.sparsity:.3f}", f"{row.popularity:.3f}", f"{row.dp:.2f}")
            rows.append([f"{row.metric}@{row.cutoff}", *numbers, row.significant, row.pairs])
        print_table(header, rows, title=title, right=header[1:])
        echo("")
    echo(
        "tau: mean Kendall correlation (tau-b) with the systems' order under the whole test set, over all smaller "
        "test sets; higher is more robust.\nDP: sum of the p-values of all pairs of systems; lower is more "
        "discriminative."
    )
