"""`repro curve`: precision-recall and ROC curves of recommendations in files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from repro.cli.options.list_files import ListFileOptions, print_mismatches, require_table_suffix, write_table
from repro.cli.options.option_classes import command, flag, option
from repro.cli.options.shared_options import FILE, into_option
from repro.cli.output import echo, print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

    from repro.lists import Frames
    from repro.lists.curves import Join, Kind, Rates
    from repro.protocol import Protocol

_POINTS_IN_TABLE = 11
_POINTS_IN_PLOT = 500
_KINDS = {"precision-recall": "Precision-recall curve", "roc": "ROC curve"}
_JOINS = {
    "pooled": "pairs of all users",
    "lengths": "all users at each list length",
    "users": "mean of users' curves",
}


@dataclass(frozen=True, kw_only=True)
class CurveOptions(ListFileOptions):
    truth: str = option("The held-out rows.", required=True, type=FILE)
    kind: Kind = option(
        "Precision against recall, or true against false positive rate.",
        type=click.Choice(list(_KINDS)),
        default="precision-recall",
    )
    join: Join = option(
        "Pairs of all users by score; means at each list length; or the mean of a curve for each user.",
        type=click.Choice(list(_JOINS)),
        default="pooled",
    )
    rates: Rates | None = option(
        "With --join lengths: means of users' rates, or hits of all users added up (CROC of Schein et al.) "
        "[default: means].",
        type=click.Choice(["means", "totals"]),
    )
    perfect: bool = flag("With --kind roc --join lengths: the curve of perfect lists too.")
    points: int | None = option("Maximum number of points [default: all; users: 101 levels].", type=click.IntRange(2))
    plot: str | None = option("Draw the curves: a .svg, .png, .html or .json file.", type=FILE)
    into: str | None = into_option("Write all points: a .csv, .tsv or .parquet file.", FILE)


@command(
    "repro curve --run run.tsv --truth test.tsv --plot curve.svg",
    "repro curve --run knn.tsv --run svd.tsv --truth test.tsv --kind roc --join lengths --plot roc.html",
)
def curve(options: CurveOptions) -> None:
    """Precision-recall and ROC curves of recommendations, aggregated over users in three ways.

    Each run is a file with user, item and score (or rank), the truth one with user, item and, if there are any,
    rating. The area below the curve is printed under the name of the metric that it is.
    """
    from repro.lists import read_frames

    _require_writable(options)
    if options.rates and options.join != "lengths":
        raise click.BadParameter(
            f"there are rates to choose with --join lengths, not {options.join}", param_hint="--rates"
        )
    curves: dict[str, tuple[pd.DataFrame, dict[str, float]]] = {}
    files = options.files(lambda file: file.stem)
    with options.reader() as read:
        truth, train = read("truth", options.truth), read("train", options.train) if options.train else None
        for label, file in files.items():
            frames = read_frames(read("recommendations", file), truth, train)
            protocol = options.protocol_for(frames)
            curves[label] = _measure(frames, protocol, options)
            print_mismatches(frames, protocol, label)
    _write(options, {label: table for label, (table, _) in curves.items()})
    if options.as_json:
        print_json(
            {
                "kind": options.kind,
                "join": options.join,
                "rates": (options.rates or "means") if options.join == "lengths" else None,
                "curves": [
                    {"run": label, "file": files[label], "areas": areas, "points": table.to_dict(orient="records")}
                    for label, (table, areas) in curves.items()
                ],
            }
        )
        return
    for label, (table, areas) in curves.items():
        _print_curve(label, table, areas)
    for name, path in (("points", options.into), ("plot", options.plot)):
        if path:
            echo(f"{name:<8} {path}")


def _measure(frames: Frames, protocol: Protocol, options: CurveOptions) -> tuple[pd.DataFrame, dict[str, float]]:
    """The points of a curve, and the metrics that are the area below it."""
    from repro.lists import evaluate_frames
    from repro.lists.curves import Curve, area_metrics, curves_of_frames

    kind, join, rates, perfect = options.kind, options.join, options.rates or "means", options.perfect
    table = curves_of_frames(frames, Curve(kind, join, options.points, rates, perfect), protocol, options.seed)
    metrics = area_metrics(kind, join, rates, perfect, protocol)
    if not metrics:
        return table, {}
    areas = evaluate_frames(frames, protocol, metrics, seed=options.seed)
    return table, dict(zip(metrics, areas["value"].tolist(), strict=True))


def _write(options: CurveOptions, tables: dict[str, pd.DataFrame]) -> None:
    """Write points and chart to the files of the options."""
    import pandas as pd

    def together(most: int | None) -> pd.DataFrame:
        thinned = {label: _thinned(table, most) for label, table in tables.items()}
        return pd.concat(thinned, names=["curve", None]).reset_index("curve").reset_index(drop=True)

    if options.into:
        write_table(together(None), options.into)
    if options.plot:
        from repro.reports.charts import save_chart
        from repro.reports.charts.curve_chart import curve_chart

        title = f"{_KINDS[options.kind]}, {_JOINS[options.join]}"
        save_chart(curve_chart(together(_POINTS_IN_PLOT), title), options.plot)


def _print_curve(label: str, table: pd.DataFrame, areas: dict[str, float]) -> None:
    shown = _thinned(table, _POINTS_IN_TABLE)
    rows = [
        [f"{value:.4f}" if isinstance(value, float) else str(value) for value in row]
        for row in shown.itertuples(index=False)
    ]
    print_table(list(shown.columns), rows, title=label, right=shown.columns)
    if len(shown) < len(table):
        echo(f"({len(shown)} of {len(table):,} points; --into writes all of them)")
    for metric, area in areas.items():
        echo(f"area     {metric} = {area:.6f}")
    echo("")


def _thinned(table: pd.DataFrame, most: int | None) -> pd.DataFrame:
    if most is None or len(table) <= most:
        return table
    return table.iloc[[round(point * (len(table) - 1) / (most - 1)) for point in range(most)]]


def _require_writable(options: CurveOptions) -> None:
    """Check the names of output files before the work is done."""
    if options.plot:
        from repro.reports.charts import refuse_other_formats

        refuse_other_formats(options.plot)
    if options.into:
        require_table_suffix(options.into, "--into")
