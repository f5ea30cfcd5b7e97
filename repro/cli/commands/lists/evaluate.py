"""`repro evaluate`: measure recommendations that are in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repro.cli.options.list_files import ListFileOptions, print_mismatches, require_table_suffix, write_table
from repro.cli.options.option_classes import command, flag, option
from repro.cli.options.shared_options import FILE, into_option, metric_option
from repro.cli.output import echo, marked, print_footnotes, print_json, print_table, written_number
from repro.terminal import printable

if TYPE_CHECKING:
    import pandas as pd

    from repro.evaluation.suspicion import Finding, Summary
    from repro.lists import Evaluation

_OUTPUTS = "--per-user, --into"


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(ListFileOptions):
    metrics: tuple[str, ...] = metric_option(
        "Such as ndcg@10; may be repeated [default: ndcg@10, precision@10, recall@10]. See `repro metrics list`."
    )
    truth: str | None = option("The held-out rows [default: the ratings that come with predictions].", type=FILE)
    features: str | None = option("Features of items, for metrics such as diversity.", type=FILE)
    previous: tuple[str, ...] = option("Lists of earlier times, latest first; may be repeated.", type=FILE)
    per_user: str | None = option(
        "Write the values of each user to this file (.parquet, .csv, .tsv); {run} in its name stands for each run.",
        type=FILE,
    )
    into: str | None = into_option("Write the table to this file (.csv, .tsv, .parquet).", FILE)
    full: bool = flag("Show the full names of metrics, with every variant.")


@command(
    "repro evaluate --run run.tsv --truth test.tsv -m ndcg@10 -m map@100",
    "repro evaluate --run bpr=bpr.run --run ease=ease.run --truth test.qrels --set ties.break=trec -m ndcg@10",
    "repro evaluate --run predictions.csv -m rmse -m mae",
)
def evaluate(options: EvaluateOptions) -> None:
    """Measure recommendations that are in files.

    Files may be CSV, TSV, Parquet, JSON, RecBole atomic files, TREC runs and qrels, or predictions of Surprise that
    were written as CSV or JSON; they may be compressed. Recommendations have a user, an item, and a score or a rank;
    if there are both, the score counts, as always in a TREC run. Equal scores are in the order of ties.break:
    `--set ties.break=trec` orders them as trec_eval does. The lists are measured as they are: what a protocol says
    about splits and candidates has no effect.
    """
    from repro.evaluation.suspicion import summaries
    from repro.lists import DEFAULT_METRICS, measure_frames, read_frames, suspicious
    from repro.lists.mismatches import mismatch_findings

    for file in filter(None, (options.per_user, options.into)):
        require_table_suffix(file, _OUTPUTS)
        if not Path(file).absolute().parent.is_dir():
            raise click.BadParameter(f"{file}: there is no such folder", param_hint=_OUTPUTS)
    with _status() as progress, options.reader(progress) as read:
        extras: dict[str, Any] = {
            "truth": read("truth", options.truth) if options.truth else None,
            "train": read("train", options.train) if options.train else None,
        }
        if options.features:
            extras["features"] = options.features
        if options.previous:
            extras["previous"] = [read("recommendations", file) for file in options.previous]
        evaluations: dict[str, Evaluation] = {}
        mismatched: list[Finding] = []
        for label, file in options.files(lambda file: file.name).items():
            frames = read_frames(read("recommendations", file), **extras)
            progress(f"measuring {label}")
            protocol = options.protocol_for(frames)
            evaluations[label] = measure_frames(frames, protocol, options.metrics or DEFAULT_METRICS, options.seed)
            print_mismatches(frames, protocol, label)
            mismatched += mismatch_findings(frames, protocol, label)
    if options.into:
        write_table(_long_table(evaluations, with_runs=len(evaluations) > 1), options.into)
    if options.per_user:
        _write_users(evaluations, options.per_user)
    if options.as_json:
        first = next(iter(evaluations.values()))
        print_json(
            {
                "protocol": {"name": first.protocol.name, "hash": first.protocol.hash},
                "seed": options.seed,
                "results": _long_table(evaluations, with_runs=True).to_dict("records"),
                "findings": [asdict(finding) for finding in (*mismatched, *suspicious(evaluations))],
            }
        )
        return
    _print(evaluations, options.full, summaries(suspicious(evaluations)))


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Shows the current step on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("reading") as status:
        yield lambda text: status.update(escape(printable(text)))


def _long_table(evaluations: Mapping[str, Evaluation], *, with_runs: bool) -> pd.DataFrame:
    """A row for each run and metric, with the full name of the metric."""
    import pandas as pd

    tables = []
    for label, evaluation in evaluations.items():
        table = evaluation.table()
        table.insert(1, "full", [measure.full_name for measure in evaluation.measures.values()])
        if with_runs:
            table.insert(0, "run", label)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _write_users(evaluations: Mapping[str, Evaluation], file: str) -> None:
    """The values of each user: a file for each run, or one file, with a column ``run`` if there are several."""
    import pandas as pd

    for evaluation in evaluations.values():
        if len(evaluation.without_users) == len(evaluation.measures):
            raise click.BadParameter(
                f"{', '.join(evaluation.without_users)}: about all users together, without a value for each of them",
                param_hint="--per-user",
            )
    tables = {label: evaluation.per_user() for label, evaluation in evaluations.items()}
    if "{run}" in file:
        for label, table in tables.items():
            write_table(table, file.replace("{run}", label))
        return
    if len(tables) > 1:
        for label, table in tables.items():
            table.insert(0, "run", label)
    write_table(pd.concat(list(tables.values()), ignore_index=True), file)


def _print(evaluations: Mapping[str, Evaluation], full: bool, findings: Sequence[Summary]) -> None:
    """A row for each metric, a column for each run; below it, suspicious findings."""
    first = next(iter(evaluations.values()))
    rows = []
    for name, measure in first.measures.items():
        averages = [evaluation.numbers[name] for evaluation in evaluations.values()]
        users = sorted({averaged.users_counted for averaged in averages})
        rows.append(
            [
                measure.full_name if full else name,
                *(written_number(averaged.value, ".6f") for averaged in averages),
                f"{users[0]:,}" if len(users) == 1 else f"{users[0]:,} to {users[-1]:,}",
            ]
        )
    labels = [marked(label, findings) for label in evaluations] if len(evaluations) > 1 else ["value"]
    print_table(["metric", *labels, "users"], rows, right=[*labels, "users"])
    print_footnotes(findings)
    echo(f"\nprotocol {first.protocol.name or 'by default'}, hash {first.protocol.hash[:12]}")
