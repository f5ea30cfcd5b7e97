"""`repro multiverse`: the numbers of a study under many protocols."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.option_classes import argument, command, count_option, option
from repro.cli.options.protocol_options import complete_varied
from repro.cli.options.shared_options import (
    StoredRunOptions,
    into_option,
    metric_option,
    seed_option,
    workers_option,
)
from repro.cli.output import echo, print_json, print_table
from repro.cli.progress import Progress
from repro.progress import Stages

if TYPE_CHECKING:
    from repro.explanations import Multiverse
    from repro.explanations.multiverses import Universe


@dataclass(frozen=True, kw_only=True)
class MultiverseOptions(StoredRunOptions):
    study: Path = argument(type=click.Path(path_type=Path))
    vary: str = option(
        "Families of decisions, decisions, or decisions with values (relevance.threshold=3|4|5).",
        default="relevance,candidates,missing,ties",
        metavar="NAME,NAME,...",
        shell_complete=complete_varied,
    )
    budget: int = count_option("Maximum number of protocols.", 1000)
    metrics: tuple[str, ...] = metric_option(
        "Only this metric, such as ndcg@10; may be repeated [default: those of the study]."
    )
    into: str | None = into_option("The folder of the report [default: multiverse/ next to the run].")
    workers: int = workers_option("Number of processes that fit, if the run has no scores.")
    seed: int = seed_option("Random seed of the sample of protocols.")


@command(
    "repro multiverse study.toml --vary ties,missing,candidates,relevance.threshold,metric.ndcg --budget 2000",
    "repro multiverse run --vary 'relevance.threshold=3|4|5,metric.ndcg' -m ndcg@10",
)
def multiverse(options: MultiverseOptions) -> None:
    """Compute the numbers of a study under many protocols: spread, win rates, rank reversals.

    STUDY is a study's file, which is run first if its scores are not stored yet, or the folder of a run with scores.
    If there are more combinations of decisions than the budget, a designed sample of them is computed.
    """
    from repro.explanations import ScoredRun
    from repro.explanations import multiverse as compute_all
    from repro.reports.explain import write_multiverse

    study = options.study
    folder = study if study.is_dir() else _run(options)
    run = ScoredRun.open(folder, options.data)
    with Stages(hidden=options.hidden) as stages:
        result = compute_all(
            run,
            options.vary.split(","),
            metrics=options.metrics or None,
            algorithms=options.algorithms or None,
            budget=options.budget,
            seed=options.seed,
            progress=stages.update,
        )
    target = Path(options.into) if options.into else folder.resolve().parent / "multiverse"
    used = [study.name] if study.resolve().parent == target.resolve() else []
    report = write_multiverse(result, target, folder, used=used)
    if options.as_json:
        print_json(_plain(result, target))
        return
    _print(result)
    echo(f"\nreport   {report}\ntables   {target}")


def _run(options: MultiverseOptions) -> Path:
    """The run of the study with its scores; it is started, finished, or left as it is."""
    from repro.study import RunOptions, Study, run_study

    folder = options.study.parent / "run"
    with Progress(hidden=options.hidden) as watcher:
        study = Study.load(options.study)
        run_study(study, folder, RunOptions(workers=options.workers, keep_scores=True, resume=True, watcher=watcher))
    return folder


def _print(result: Multiverse) -> None:
    from repro.reports.explain.multiverse_page import covered, flips

    echo(covered(result))
    for metric in result.metrics:
        universe = result.of(metric)
        echo()
        _print_spread(universe)
        echo(flips(universe))
        echo()
        _print_decisions(universe)
    for note in result.notes:
        echo(f"\n{note}")
    for metric, reasons in result.refused.items():
        more = f" (and {len(reasons) - 1} other reasons; --json has them)" if len(reasons) > 1 else ""
        echo(f"\n{sum(reasons.values()):,} protocols have no {metric}: {next(iter(reasons))}{more}", err=True)


def _print_spread(universe: Universe) -> None:
    wins = universe.wins()
    names = ("own", "min", "q1", "median", "q3", "max")
    rows = [
        [row.algorithm, *(f"{getattr(row, name):.4f}" for name in names), f"{wins[row.algorithm]:.1%}"]
        for row in universe.spread().itertuples()
    ]
    header = ["algorithm", "study", "least", "quarter", "median", "three quarters", "most", "wins"]
    print_table(header, rows, title=universe.metric, right=header[1:], spare=["quarter", "three quarters"])


def _print_decisions(universe: Universe) -> None:
    decisions = universe.decisions()
    rows = [
        [row.decision, f"{row.pairs:,}", f"{row.moves:.4f}", f"{row.order:.0%}", f"{row.winner:.0%}"]
        for row in decisions[decisions["pairs"] > 0].itertuples()
    ]
    header = ["decision", "pairs", "moves a number by", "another order", "another winner"]
    print_table(header, rows, right=header[1:])


def _plain(result: Multiverse, folder: Path) -> dict[str, object]:
    return {
        "folder": str(folder),
        "variants": len(result.variants),
        "combinations": result.combinations,
        "complete": result.complete,
        "varied": {axis.decision: list(axis.values) for axis in result.axes},
        "refused": {metric: dict(reasons) for metric, reasons in result.refused.items()},
        "notes": list(result.notes),
        "metrics": {
            metric: {
                "spread": (universe := result.of(metric)).spread().to_dict(orient="records"),
                "wins": universe.wins().to_dict(),
                "decisions": universe.decisions().to_dict(orient="records"),
                "mean_tau": universe.mean_tau(),
            }
            for metric in result.metrics
        },
    }
