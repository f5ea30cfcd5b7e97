"""Distributions over users of values and of differences to the best algorithm, and distributions of scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import FloatArray
from repro.data.io.parquet import read_parquet
from repro.plugin import FALLBACK, SCORED, UNSCORED
from repro.reports.charts import SCREEN_COLOURS, short_names
from repro.reports.charts.dot_chart import ROW_HEIGHT
from repro.reports.html import Details, Table
from repro.reports.run.run_view import RunView, Tested, written_p
from repro.reports.run.sections import Section, figure
from repro.runs.folder import RunFolder

if TYPE_CHECKING:
    import altair as alt

QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}
_BINS = 40


def distributions_section(view: RunView) -> Section:
    """The values of users, then scores."""
    blocks: list[object] = []
    if tested := view.tested.get(view.main_metric):
        spread = quantiles(tested.values)
        sentence = (
            "Half of the users lie within the bar, 90% within the line; the tick is the median, the dot the mean. "
            "Each user counts once."
        )
        blocks.append(figure(f"{view.main_metric} of users", sentence, quantile_chart(view, spread, view.main_metric)))
        blocks.append(_details(spread, f"{view.main_metric} of users"))
    else:
        blocks.append(f"{view.main_metric} is about all users together: it has no distribution over users.")
    return Section("distributions", "Distributions of values and scores", [*blocks, *_scores(view)])


def quantiles(values: pd.DataFrame) -> pd.DataFrame:
    """The quantiles and the mean of each column: a row for each system."""
    spread = values.quantile(list(QUANTILES.values())).T.set_axis(list(QUANTILES), axis=1)
    return spread.assign(mean=values.mean())


def quantile_chart(view: RunView, spread: pd.DataFrame, title: str) -> alt.TopLevelMixin:
    """A line, a bar, a tick and a dot for each system, in the colour of its framework."""
    from repro.reports.charts.library import alt

    data, order = _in_rows(view, spread.rename_axis("system").reset_index())
    formats = [alt.Tooltip(f"{name}:Q", format=".4f") for name in spread.columns]
    encodings = view.frameworks.encodings(data["framework"])
    mark = {channel: encodings.pop(channel) for channel in ["shape"] if channel in encodings}
    base = alt.Chart(data, height=ROW_HEIGHT * len(data)).encode(
        y=alt.Y("row:N", title=None, scale=alt.Scale(domain=order)),
        tooltip=[alt.Tooltip("system:N", title="algorithm"), *formats],
        **encodings,
    )
    line = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("p5:Q", title=title), x2="p95:Q")
    bar = base.mark_bar(size=11, opacity=0.45).encode(x="p25:Q", x2="p75:Q")
    middle = base.mark_tick(size=15, thickness=3).encode(x="median:Q")
    mean = base.mark_point(filled=True, size=50, opacity=1, stroke="#222222", strokeWidth=0.8).encode(
        x="mean:Q", **mark
    )
    return alt.layer(line, bar, middle, mean)


def _in_rows(view: RunView, data: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The data with a framework and a short name for each system, and the order of the names."""
    names, frameworks = short_names(data["system"]), view.run.frameworks()
    return data.assign(row=data["system"].map(names), framework=data["system"].map(frameworks)), list(names.values())


def differences_section(view: RunView) -> Section:
    """The differences of each algorithm to the best one, user by user, by the main metric."""
    title = "User by user against the best"
    tested = view.tested.get(view.main_metric)
    if tested is None or tested.against.empty:
        reason = view.untested and f"Nothing is tested: {view.untested}."
        return Section("differences", title, [reason or "There are no two algorithms with values of each user."])
    others = [label for label in view.leaders(view.main_metric) if label in tested.against.index]
    spread = quantiles(tested.values[others].sub(tested.values[tested.best], axis=0))
    side = {"higher": "left of", "lower": "right of"}.get(tested.better, "next to")
    sentence = (
        f"{tested.metric} of each user minus that of {tested.best}: {side} zero, {tested.best} is the better one. Half "
        "of the users lie within the bar, 90% within the line; the tick is the median, the dot the mean."
    )
    drawn = figure(
        f"Differences to {tested.best}", sentence, quantile_chart(view, spread, f"difference in {tested.metric}")
    )
    return Section("differences", title, [drawn, _difference_table(tested, others, title)])


def _difference_table(tested: Tested, others: list[str], label: str) -> Table:
    header = ["algorithm", "difference", "95% interval", "d_z", "users better off", "same", "worse off", "p", "verdict"]
    rows = []
    for other in others:
        row = tested.against.loc[other]
        differences = (tested.values[other] - tested.values[tested.best]).dropna()
        better = differences < 0 if tested.better == "lower" else differences > 0
        same = differences == 0
        shares = (f"{share.mean():.1%}" for share in (better, same, ~better & ~same))
        interval = f"{row['low']:+.4f} to {row['high']:+.4f}"
        p = written_p(float(row["p_corrected"]))
        rows.append(
            [other, f"{row['difference']:+.4f}", interval, f"{row['cohen_dz']:+.2f}", *shares, p, row["verdict"]]
        )
    caption = (
        f"Each algorithm against {tested.best}: {tested.description}. Users are better or worse off with the algorithm "
        "of the row."
    )
    return Table(header, rows, header[1:-1], caption, label)


def _details(spread: pd.DataFrame, title: str) -> Details:
    rows = (
        [name, *(f"{value:.4f}" for value in row)] for name, row in zip(spread.index, spread.to_numpy(), strict=True)
    )
    header = ["algorithm", *spread.columns]
    caption = f"Quantiles of {title}"
    return Details("The same as a table", [Table(header, rows, header[1:], caption, caption)])


def _scores(view: RunView) -> list[object]:
    """The scores of the first fold; a sentence if they were not stored."""
    folder = RunFolder(view.run.folder)
    rows, bins = [], []
    fold = ""
    for label, cells in view.run.cells.items():
        fold, cell = next(iter(cells.items()))
        digest = cell.artifacts.get("scores")
        if digest is None or not folder.artifact(digest).is_file():
            continue
        row, counts = score_row(*_read(folder.artifact(digest)))
        rows.append([label, *row])
        bins += [(label, index, share) for index, share in enumerate(counts)]
    if not rows:
        return ["Scores were not stored (repro run --keep-scores stores them), so their distribution is not shown."]
    header = ["algorithm", "lowest", "median", "highest", "different scores", "unscored", "fallback"]
    caption = f"Scores of all test users for all items, fold {fold}"
    sentence = (
        f"All test users and items of fold {fold}, each row from the algorithm's own lowest score to its highest: "
        "darker means more scores."
    )
    data = pd.DataFrame(bins, columns=["system", "bin", "share"])
    return [
        *([figure("Scores", sentence, _strips(view, data))] if len(data) else []),
        Table(header, rows, header[1:], caption, caption),
    ]


def _read(path: Path) -> tuple[FloatArray, npt.NDArray[np.uint8]]:
    """All scores of a cell, and their states."""
    stored = read_parquet(path)
    values = stored["scores"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    if "states" not in stored.column_names:
        return values, np.full(len(values), SCORED, dtype=np.uint8)
    return values, stored["states"].combine_chunks().flatten().to_numpy(zero_copy_only=False)


def score_row(values: FloatArray, states: npt.NDArray[np.uint8], bins: int = _BINS) -> tuple[list[str], list[float]]:
    """A row of the table of scores, and the shares of scores in even steps from the lowest to the highest.

    The row has the lowest, median and highest score of the algorithm, the number of distinct ones, and the shares of
    pairs without a score and with a fallback score.
    """
    total = max(len(values), 1)
    own = np.sort(values[np.isfinite(values) & (states == SCORED)])
    counts = (np.isnan(values) | (states == UNSCORED)).sum(), ((states == FALLBACK) & ~np.isnan(values)).sum()
    shares = [f"{count / total:.1%}" for count in counts]
    if not len(own):
        return ["–", "–", "–", "0", *shares], []
    ends = np.searchsorted(own, np.linspace(own[0], own[-1], bins + 1))
    ends[-1] = len(own)
    middle = (own[(len(own) - 1) // 2] + own[len(own) // 2]) / 2
    different = 1 + np.count_nonzero(np.diff(own))
    numbers = [f"{value:.4g}" for value in (own[0], middle, own[-1])]
    return [*numbers, f"{different:,}", *shares], (np.diff(ends) / len(own)).tolist()


def _strips(view: RunView, data: pd.DataFrame) -> alt.TopLevelMixin:
    """A strip for each algorithm; the opacity is the root of the share, so that rare scores are visible."""
    from repro.reports.charts.library import alt

    data = data[data["share"] > 0].assign(
        start=data["bin"] / _BINS, end=(data["bin"] + 1) / _BINS, share=data["share"].round(5)
    )
    data, order = _in_rows(view, data.drop(columns="bin"))
    return (
        alt.Chart(data, height=ROW_HEIGHT * len(order))
        .mark_bar(size=15, color=SCREEN_COLOURS[0])
        .encode(
            x=alt.X(
                "start:Q",
                title="from the lowest score to the highest",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", grid=False),
            ),
            x2="end:Q",
            y=alt.Y("row:N", title=None, scale=alt.Scale(domain=order)),
            opacity=alt.Opacity("share:Q", scale=alt.Scale(type="sqrt", range=[0.06, 1]), legend=None),
            tooltip=[alt.Tooltip("system:N", title="algorithm"), alt.Tooltip("share:Q", format=".2%")],
            **view.frameworks.encodings(data["framework"], marks=False),
        )
    )
