"""`repro curve`: precision-recall and ROC curves of recommendations in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repro.cli.options.list_files import chosen_protocol, complete_run, labelled, print_mismatches, reader
from repro.cli.options.protocol_options import complete_change, complete_protocol
from repro.cli.output import echo, json_option, print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

    from repro.evaluate import Frames
    from repro.protocol import Protocol

_FILE = click.Path(dir_okay=False)
_SHOWN = 11  # points in the table
_DRAWN = 500  # and in the plot
_KINDS = {"precision-recall": "Precision-recall curve", "roc": "ROC curve"}
_JOINS = {
    "pooled": "pairs of all users",
    "lengths": "all users at each list length",
    "users": "mean of users' curves",
}


@click.command(
    epilog=(
        "Examples: repro curve --run run.tsv --truth test.tsv --plot curve.svg; "
        "repro curve --run knn.tsv --run svd.tsv --truth test.tsv --kind roc --join lengths --plot roc.html"
    )
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    required=True,
    metavar="[LABEL=]FILE",
    shell_complete=complete_run,
    help="Recommendations; several are compared. - is standard input.",
)
@click.option("--truth", required=True, type=_FILE, help="What was held out.")
@click.option("--train", type=_FILE, help="Training rows, where decisions of the protocol need them.")
@click.option(
    "--kind",
    type=click.Choice(["precision-recall", "roc"]),
    default="precision-recall",
    show_default=True,
    help="Precision against recall, or true against false positive rate.",
)
@click.option(
    "--join",
    type=click.Choice(["pooled", "lengths", "users"]),
    default="pooled",
    show_default=True,
    help="Pairs of all users by score; means at each list length; or the mean of a curve for each user.",
)
@click.option(
    "--rates",
    type=click.Choice(["means", "totals"]),
    help="With --join lengths: means of users' rates, or hits of all users added up (CROC of Schein et al.) "
    "[default: means].",
)
@click.option("--perfect", is_flag=True, help="With --kind roc --join lengths: the curve of perfect lists too.")
@click.option("--points", type=click.IntRange(2), help="At most so many points [default: all; users: 101 levels].")
@click.option(
    "--protocol",
    metavar="NAME|FILE",
    shell_complete=complete_protocol,
    help="What is relevant, what missing and tied scores mean; see `repro protocol list`.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="DECISION=VALUE",
    shell_complete=complete_change,
    help="Change a decision of the protocol; may be repeated.",
)
@click.option("--columns", multiple=True, metavar="ROLE=NAME", help="What a column is called: user=userId.")
@click.option(
    "--format", "formats", multiple=True, metavar="[FILE=]FORMAT", help="As of `repro evaluate` [default: recognised]."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of ties.break=random.")
@click.option("--plot", type=_FILE, help="Draw it: a path that ends in .svg, .png, .html or .json.")
@click.option("-o", "--output", type=_FILE, help="Write all points: a path that ends in .csv or .parquet.")
@json_option
def curve(
    runs: tuple[str, ...],
    truth: str,
    train: str | None,
    kind: str,
    join: str,
    rates: str | None,
    perfect: bool,
    points: int | None,
    protocol: str | None,
    changes: tuple[str, ...],
    columns: tuple[str, ...],
    formats: tuple[str, ...],
    seed: int,
    plot: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Precision-recall and ROC curves of recommendations, aggregated over users in three ways.

    Each run is a file with user, item and score (or rank), the truth one with user, item and, if there are any,
    rating. The area below the curve is printed under the name of the metric that it is.
    """
    from repro.evaluate import read_frames

    _refuse_other_endings(plot, output)
    if rates and join != "lengths":
        raise click.BadParameter(f"there are rates to choose with --join lengths, not {join}", param_hint="--rates")
    settings = {
        "kind": kind,
        "join": join,
        "rates": rates or "means",
        "perfect": perfect,
        "points": points,
        "seed": seed,
    }
    curves: dict[str, tuple[pd.DataFrame, dict[str, float]]] = {}
    files = labelled(runs, lambda file: file.stem)
    with reader(columns, formats, lambda text: None) as read:
        others = read("truth", truth), read("train", train) if train else None
        for label, file in files.items():
            frames = read_frames(read("recommendations", file), *others)
            chosen = chosen_protocol(protocol, changes, frames)
            curves[label] = _measure(frames, chosen, settings)
            print_mismatches(frames, chosen, label)
    tables = [_with_name(table, label) for label, (table, _) in curves.items()]
    written = _write(tables, plot, output, f"{_KINDS[kind]}, {_JOINS[join]}")
    if as_json:
        named = [
            {"run": label, "file": files[label], "areas": areas, "points": table.to_dict(orient="records")}
            for label, (table, areas) in curves.items()
        ]
        rates_of_area = settings["rates"] if join == "lengths" else None
        print_json({"kind": kind, "join": join, "rates": rates_of_area, "curves": named})
        return
    for label, (table, areas) in curves.items():
        _print_curve(label, table, areas)
    for what, path in written.items():
        echo(f"{what:<8} {path}")


def _measure(frames: Frames, protocol: Protocol, settings: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, float]]:
    """The points of a curve, and the metrics that are the area below it."""
    from repro.evaluate import evaluate_frames
    from repro.evaluate.curves import area_metrics, curves_of_frames

    table = curves_of_frames(frames, protocol=protocol, **settings)
    metrics = area_metrics(settings["kind"], settings["join"], settings["rates"], settings["perfect"], protocol)
    if not metrics:
        return table, {}
    areas = evaluate_frames(frames, protocol, metrics, seed=settings["seed"])
    return table, dict(zip(metrics, areas["value"].tolist(), strict=True))


def _with_name(table: pd.DataFrame, label: str) -> pd.DataFrame:
    named = table.copy()
    named.insert(0, "curve", label)
    return named


def _write(tables: list[pd.DataFrame], plot: str | None, output: str | None, title: str) -> dict[str, Path]:
    """Write points and chart where asked to; which file is where."""
    import pandas as pd

    from repro.data.spreadsheet import frame_csv

    written: dict[str, Path] = {}
    if output:
        written["points"] = Path(output)
        table = pd.concat(tables, ignore_index=True)
        written["points"].parent.mkdir(parents=True, exist_ok=True)
        if output.lower().endswith(".csv"):
            written["points"].write_bytes(frame_csv(table))
        else:
            table.to_parquet(output, index=False)
    if plot:
        from repro.report.charts import save_chart
        from repro.report.charts.curve_chart import curve_chart

        drawn = pd.concat([_thinned(table, _DRAWN) for table in tables], ignore_index=True)
        written["plot"] = save_chart(curve_chart(drawn, title), plot)
    return written


def _print_curve(label: str, table: pd.DataFrame, areas: dict[str, float]) -> None:
    shown = _thinned(table, _SHOWN)
    print_table(
        list(shown.columns),
        [[_cell(value) for value in row] for row in shown.itertuples(index=False)],
        title=label,
        right=shown.columns,
    )
    if len(shown) < len(table):
        echo(f"({len(shown)} of {len(table):,} points; -o writes all of them)")
    for metric, area in areas.items():
        echo(f"area     {metric} = {area:.6f}")
    echo("")


def _thinned(table: pd.DataFrame, points: int) -> pd.DataFrame:
    if len(table) <= points:
        return table
    return table.iloc[[round(at * (len(table) - 1) / (points - 1)) for at in range(points)]]


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _refuse_other_endings(plot: str | None, output: str | None) -> None:
    """Stop before the work is done, not after."""
    if plot:
        from repro.report.charts import refuse_other_formats

        refuse_other_formats(plot)
    if output and Path(output).suffix.lower() not in (".csv", ".parquet"):
        raise click.BadParameter(f"'{output}' must end in .csv or .parquet", param_hint="-o")
