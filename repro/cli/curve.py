"""`repro curve`: precision-recall and ROC curves of recommendations in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repro.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

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
@click.option("--run", "runs", multiple=True, required=True, type=_FILE, help="Recommendations; several are compared.")
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
    default="means",
    show_default=True,
    help="With --join lengths: means of users' rates, or hits of all users added up (CROC of Schein et al.).",
)
@click.option("--perfect", is_flag=True, help="With --kind roc --join lengths: the curve of perfect lists too.")
@click.option("--points", type=click.IntRange(2), help="At most so many points [default: all; users: 101 levels].")
@click.option("--protocol", help="A protocol by name or file: relevance, missing scores, ties.")
@click.option("--columns", multiple=True, metavar="ROLE=NAME", help="What a column is called: user=userId.")
@click.option("--seed", type=int, default=0, show_default=True, help='Of ties.break = "random".')
@click.option("--plot", type=_FILE, help="Draw it: a path that ends in .svg, .png, .html or .json.")
@click.option("-o", "--output", type=_FILE, help="Write all points: a path that ends in .csv or .parquet.")
@json_option
def curve(
    runs: tuple[str, ...],
    truth: str,
    train: str | None,
    kind: str,
    join: str,
    rates: str,
    perfect: bool,
    points: int | None,
    protocol: str | None,
    columns: tuple[str, ...],
    seed: int,
    plot: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Precision-recall and ROC curves of recommendations, joined over users in three ways.

    Each run is a file with user, item and score (or rank), the truth one with user, item and, if there are any,
    rating. The area below the curve is printed under the name of the metric that it is.
    """
    _refuse_other_endings(plot, output)
    asked = {"kind": kind, "join": join, "rates": rates, "perfect": perfect, "points": points, "seed": seed}
    labels = _labels(runs)
    found = [_measure(run, truth, train, protocol, _names(columns), asked) for run in runs]
    tables = [table.assign(curve=label) for label, (table, _) in zip(labels, found, strict=True)]
    written = _write(tables, plot, output, f"{_KINDS[kind]}, {_JOINS[join]}")
    if as_json:
        named = [
            {"run": run, "areas": areas, "points": table.to_dict(orient="records")}
            for run, (table, areas) in zip(runs, found, strict=True)
        ]
        print_json({"kind": kind, "join": join, "rates": rates if join == "lengths" else None, "curves": named})
        return
    for label, (table, areas) in zip(labels, found, strict=True):
        _print_curve(label, table, areas)
    for what, path in written.items():
        click.echo(f"{what:<8} {path}")


def _measure(
    run: str, truth: str, train: str | None, protocol: str | None, columns: dict[str, str], asked: dict[str, Any]
) -> tuple[pd.DataFrame, dict[str, float]]:
    """The points of a curve, and the metrics that are the area below it."""
    from repro.evaluate import evaluate_frames, read_frames
    from repro.evaluate.curves import area_metrics, curves_of_frames
    from repro.protocol import Protocol

    frames = read_frames(run, truth, train, columns)
    loaded = Protocol.load(protocol) if protocol else None
    table = curves_of_frames(frames, protocol=loaded, **asked)
    metrics = area_metrics(asked["kind"], asked["join"], asked["rates"], asked["perfect"], loaded)
    if not metrics:
        return table, {}
    areas = evaluate_frames(frames, loaded, metrics, seed=asked["seed"])
    return table, dict(zip(metrics, areas["value"].tolist(), strict=True))


def _write(tables: list[pd.DataFrame], plot: str | None, output: str | None, title: str) -> dict[str, Path]:
    """Write points and chart where asked to; which file is where."""
    import pandas as pd

    written: dict[str, Path] = {}
    if output:
        written["points"] = Path(output)
        table = pd.concat(tables, ignore_index=True)
        written["points"].parent.mkdir(parents=True, exist_ok=True)
        if output.lower().endswith(".csv"):
            table.to_csv(output, index=False, lineterminator="\n")
        else:
            table.to_parquet(output, index=False)
    if plot:
        from repro.report.charts import save_chart
        from repro.report.curve_chart import curve_chart

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
        click.echo(f"({len(shown)} of {len(table):,} points; -o writes all of them)")
    for metric, area in areas.items():
        click.echo(f"area     {metric} = {area:.6f}")
    click.echo("")


def _thinned(table: pd.DataFrame, points: int) -> pd.DataFrame:
    if len(table) <= points:
        return table
    return table.iloc[[round(at * (len(table) - 1) / (points - 1)) for at in range(points)]]


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _labels(runs: tuple[str, ...]) -> list[str]:
    """The names of files, or their paths where two of them have the same name."""
    stems = [Path(run).stem for run in runs]
    return stems if len(set(stems)) == len(stems) else list(runs)


def _names(columns: tuple[str, ...]) -> dict[str, str]:
    names = {}
    for text in columns:
        role, equals, name = text.partition("=")
        if not equals:
            raise click.BadParameter(f"'{text}': write ROLE=NAME, such as user=userId", param_hint="--columns")
        names[role.strip()] = name.strip()
    return names


def _refuse_other_endings(plot: str | None, output: str | None) -> None:
    """Stop before the work is done, not after."""
    if plot:
        from repro.report.charts import refuse_other_formats

        refuse_other_formats(plot)
    if output and Path(output).suffix.lower() not in (".csv", ".parquet"):
        raise click.BadParameter(f"'{output}' must end in .csv or .parquet", param_hint="-o")
