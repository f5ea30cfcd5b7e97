"""`repro evaluate`: numbers of recommendations that are in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repro.cli.finding_footnotes import marked, print_footnotes
from repro.cli.options.list_files import chosen_protocol, complete_run, labelled, print_mismatches, reader
from repro.cli.options.protocol_options import complete_change, complete_protocol, metric_option
from repro.cli.output import echo, json_option, print_json, print_table
from repro.terminal import printable

if TYPE_CHECKING:
    import pandas as pd

    from repro.evaluate import Evaluation
    from repro.evaluation.suspicion import Finding, Summary

_FILE = click.Path(dir_okay=False)
_WRITTEN = (".parquet", ".csv", ".tsv")


@click.command(
    epilog=(
        "Examples: repro evaluate --run run.tsv --truth test.tsv -m ndcg@10 -m map@100; "
        "repro evaluate --run bpr=bpr.run --run ease=ease.run --truth test.qrels --set ties.break=trec -m ndcg@10; "
        "repro evaluate --run predictions.csv -m rmse -m mae"
    )
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    required=True,
    metavar="[LABEL=]FILE",
    shell_complete=complete_run,
    help="The recommendations; may be repeated, each with a column of its own. - is standard input.",
)
@click.option("--truth", type=_FILE, help="The held-out rows [default: the ratings that come with predictions].")
@click.option("--train", type=_FILE, help="The training rows, where decisions or metrics ask for them.")
@click.option("--protocol", metavar="NAME|FILE", shell_complete=complete_protocol, help="See `repro protocol list`.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="DECISION=VALUE",
    shell_complete=complete_change,
    help="Change a decision of the protocol; may be repeated.",
)
@metric_option(
    "Such as ndcg@10; may be repeated [default: ndcg@10, precision@10, recall@10]. See `repro metrics list`."
)
@click.option("--features", type=_FILE, help="Features of the items, for metrics of diversity and the like.")
@click.option("--previous", type=_FILE, multiple=True, help="Lists of earlier times, latest first; may be repeated.")
@click.option(
    "--columns",
    multiple=True,
    metavar="ROLE=NAME",
    help="What a column is called: user=userId, or truth.user=uid in one of the files alone (run, truth, train). "
    "Without a header, columns are called by place: rank=3. Common names are known.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="[FILE=]FORMAT",
    help="text, parquet, json, recbole, trec or surprise, of all files or of one: run=trec [default: recognised].",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of ties.break=random.")
@click.option(
    "--per-user",
    type=_FILE,
    help="Write the values of each user to this file (.parquet, .csv, .tsv); {run} in its name stands for each run.",
)
@click.option("-o", "--output", type=_FILE, help="Write the table to this file (.csv, .tsv, .parquet).")
@click.option("--full", is_flag=True, help="Show the full names of metrics, with every variant.")
@json_option
def evaluate(
    runs: tuple[str, ...],
    truth: str | None,
    train: str | None,
    protocol: str | None,
    changes: tuple[str, ...],
    metrics: tuple[str, ...],
    features: str | None,
    previous: tuple[str, ...],
    columns: tuple[str, ...],
    formats: tuple[str, ...],
    seed: int,
    per_user: str | None,
    output: str | None,
    full: bool,
    as_json: bool,
) -> None:
    """Measure recommendations that are in files.

    Files may be CSV, TSV, Parquet, JSON, RecBole atomic files, TREC runs and qrels, or predictions of Surprise that
    were written as CSV or JSON; they may be compressed. Recommendations have a user, an item, and a score or a rank;
    where there are both, the score counts, and of a TREC run always. Equal scores are in the order of ties.break:
    `--set ties.break=trec` orders them as trec_eval does. The lists are measured as they are: what a protocol says
    about splits and candidates has no effect.
    """
    from repro.evaluate import DEFAULT_METRICS, measure_frames, read_frames, suspicious
    from repro.evaluate.mismatches import mismatch_findings
    from repro.evaluation.suspicion import summaries

    for file in filter(None, (per_user, output)):
        _require_known_suffix(file)
    files = labelled(runs)
    with _status() as say, reader(columns, formats, say) as read:
        extras: dict[str, Any] = {
            "truth": read("truth", truth) if truth else None,
            "train": read("train", train) if train else None,
        }
        if features:
            extras["features"] = features
        if previous:
            extras["previous"] = [read("recommendations", file) for file in previous]
        evaluations: dict[str, Evaluation] = {}
        mismatched: list[Finding] = []
        for label, file in files.items():
            frames = read_frames(read("recommendations", file), **extras)
            say(f"measuring {label}")
            chosen = chosen_protocol(protocol, changes, frames)
            evaluations[label] = measure_frames(frames, chosen, metrics or DEFAULT_METRICS, seed)
            print_mismatches(frames, chosen, label)
            mismatched += mismatch_findings(frames, chosen, label)
    if output:
        _write(_long_table(evaluations, several=len(evaluations) > 1), output)
    if per_user:
        _write_users(evaluations, per_user)
    if as_json:
        first = next(iter(evaluations.values()))
        print_json(
            {
                "protocol": {"name": first.protocol.name, "hash": first.protocol.hash},
                "seed": seed,
                "results": _long_table(evaluations, several=True).to_dict("records"),
                "findings": [asdict(finding) for finding in (*mismatched, *suspicious(evaluations))],
            }
        )
        return
    _print(evaluations, full, summaries(suspicious(evaluations)))


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Says on standard error what is being done, where that is a terminal."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("reading") as status:
        yield lambda text: status.update(escape(printable(text)))


def _long_table(evaluations: Mapping[str, Evaluation], *, several: bool) -> pd.DataFrame:
    """A row for each run and metric, with the full name of the metric."""
    import pandas as pd

    tables = []
    for label, evaluation in evaluations.items():
        table = evaluation.table()
        table.insert(1, "full", [measure.full_name for measure in evaluation.asked.values()])
        if several:
            table.insert(0, "run", label)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _write_users(evaluations: Mapping[str, Evaluation], file: str) -> None:
    """The values of each user: a file for each run, or one file with a column ``run`` where there are several."""
    import pandas as pd

    for evaluation in evaluations.values():
        if len(evaluation.without_users) == len(evaluation.asked):
            raise click.BadParameter(
                f"{', '.join(evaluation.without_users)}: about all users together, without a value for each of them",
                param_hint="--per-user",
            )
    tables = {label: evaluation.per_user() for label, evaluation in evaluations.items()}
    if "{run}" in file:
        for label, table in tables.items():
            _write(table, file.replace("{run}", label))
        return
    if len(tables) > 1:
        for label, table in tables.items():
            table.insert(0, "run", label)
    _write(pd.concat(list(tables.values()), ignore_index=True), file)


def _require_known_suffix(file: str) -> None:
    if Path(file).suffix.lower() not in _WRITTEN:
        raise click.BadParameter(f"{file}: its name must end in {', '.join(_WRITTEN)}", param_hint="--per-user, -o")
    if not Path(file).absolute().parent.is_dir():
        raise click.BadParameter(f"{file}: there is no such folder", param_hint="--per-user, -o")


def _write(table: pd.DataFrame, file: str) -> None:
    from repro.data.spreadsheet import frame_csv

    match Path(file).suffix.lower():
        case ".parquet":
            table.to_parquet(file, index=False)
        case ".tsv":
            Path(file).write_bytes(frame_csv(table, "\t"))
        case _:
            Path(file).write_bytes(frame_csv(table))


def _print(evaluations: Mapping[str, Evaluation], full: bool, findings: Sequence[Summary]) -> None:
    """A row for each metric, a column for each run; below, what is suspicious."""
    first = next(iter(evaluations.values()))
    rows = []
    for name, measure in first.asked.items():
        averages = [evaluation.found[name] for evaluation in evaluations.values()]
        users = sorted({averaged.users_counted for averaged in averages})
        rows.append(
            [
                measure.full_name if full else name,
                *("-" if averaged.value != averaged.value else f"{averaged.value:.6f}" for averaged in averages),
                f"{users[0]:,}" if len(users) == 1 else f"{users[0]:,} to {users[-1]:,}",
            ]
        )
    labels = [marked(label, findings) for label in evaluations] if len(evaluations) > 1 else ["value"]
    print_table(["metric", *labels, "users"], rows, right=[*labels, "users"])
    print_footnotes(findings)
    echo(f"\nprotocol {first.protocol.name or 'by default'}, hash {first.protocol.hash[:12]}")
