"""`repro multiverse`: the numbers of a study under many protocols."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.options.protocol_options import complete_varied, metric_option
from repro.cli.options.score_options import algorithms_option, kept_data_option
from repro.cli.output import echo, json_option, print_json, print_table
from repro.cli.progress import Progress, Stages, quiet_option

if TYPE_CHECKING:
    from repro.explain import Multiverse
    from repro.explain.multiverse import Universe


@click.command(
    epilog=(
        "Examples: repro multiverse study.toml "
        "--vary ties,missing,candidates,relevance.threshold,metric.ndcg --budget 2000; "
        "repro multiverse run --vary 'relevance.threshold=3|4|5,metric.ndcg' -m ndcg@10"
    )
)
@click.argument("study", type=click.Path())
@click.option(
    "--vary",
    default="relevance,candidates,missing,ties",
    show_default=True,
    metavar="NAME,NAME,...",
    shell_complete=complete_varied,
    help="Families of decisions, decisions, or decisions with values (relevance.threshold=3|4|5).",
)
@click.option("--budget", type=click.IntRange(1), default=1000, show_default=True, help="Protocols at most.")
@metric_option("Only this metric, such as ndcg@10; may be repeated [default: those of the study].")
@algorithms_option
@click.option("--into", type=click.Path(file_okay=False), help="Where to write [default: multiverse/ beside the run].")
@click.option(
    "--workers", type=click.IntRange(1), help="Processes that fit, where scores are not kept [default: all cores]."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sample of protocols.")
@kept_data_option
@quiet_option
@json_option
def multiverse(
    study: str,
    vary: str,
    budget: int,
    metrics: tuple[str, ...],
    algorithms: tuple[str, ...],
    into: str | None,
    workers: int | None,
    seed: int,
    data: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compute the numbers of a study under many protocols: spread, win rates, rank reversals.

    STUDY is a study's file, which is run first if its scores are not kept yet, or the folder of a run that kept them.
    Where there are more combinations of decisions than the budget, a designed sample of them is taken.
    """
    from repro.explain import ScoredRun
    from repro.explain import multiverse as try_all
    from repro.report.explain import write_multiverse

    folder = Path(study) if Path(study).is_dir() else _run(Path(study), workers, quiet or as_json)
    run = ScoredRun.open(folder, data)
    with Stages(hidden=quiet or as_json) as stages:
        result = try_all(
            run,
            vary.split(","),
            metric_names=metrics or None,
            algorithms=algorithms or None,
            budget=budget,
            seed=seed,
            progress=stages.tell,
        )
    target = Path(into) if into else folder.resolve().parent / "multiverse"
    used = [Path(study).name] if Path(study).resolve().parent == target.resolve() else []
    report = write_multiverse(result, target, folder, used=used)
    if as_json:
        print_json(_plain(result, target))
        return
    _print(result)
    echo(f"\nreport   {report}\ntables   {target}")


def _run(study: Path, workers: int | None, hidden: bool) -> Path:
    """The study's run, with its scores: begun, finished or left as it is."""
    from repro.study import RunOptions, Study, run_study

    folder = study.parent / "run"
    with Progress(hidden=hidden) as watcher:
        study_file = Study.load(study)
        options = RunOptions(workers=workers or os.cpu_count() or 1, keep_scores=True, resume=True, watcher=watcher)
        run_study(study_file, folder, options)
    return folder


def _print(result: Multiverse) -> None:
    from repro.report.explain.multiverse_page import covered, flips

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
    for metric, whys in result.refused.items():
        count, why = sum(whys.values()), next(iter(whys))
        others = f" (and {len(whys) - 1} other reasons; --json has them)" if len(whys) > 1 else ""
        echo(f"\n{count:,} protocols have no {metric}: {why}{others}", err=True)


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
        "refused": {metric: dict(whys) for metric, whys in result.refused.items()},
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
