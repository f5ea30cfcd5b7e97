"""The page of a multiverse, with charts: the specification curve, and the spread of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.explanations import Multiverse
from repro.explanations.design import COUNTED
from repro.explanations.multiverses import Universe
from repro.reports.charts import COLOURS
from repro.reports.html import Heading, Table, figure, number, page
from repro.runs.folder import frame_parquet
from repro.runs.written_files import keep_files

if TYPE_CHECKING:
    import altair as alt

REPORT = "report.html"
WIDTH, HEIGHT, ROW = 760, 260, 13
MAX_VARIANTS = 400  # the curve of more variants shows evenly spaced ones
MAX_DECISIONS = 10  # decisions below the curve


def write_multiverse(
    multiverse: Multiverse, folder: Path, run: Path | None = None, *, used: Iterable[str] = ()
) -> Path:
    """Write ``multiverse.parquet``, tables (CSV) and ``report.html`` into ``folder``; returns the report's path.

    The journal written with them is that of the ``run`` whose scores were used, with their digests and those of the
    files in ``folder`` that were ``used``.
    """
    files = {"multiverse.parquet": frame_parquet(_writable(multiverse.to_frame()))}
    kinds = {"spread": Universe.spread, "decisions": Universe.decisions, "options": Universe.by_option}
    for name, make in kinds.items():
        frames = [make(multiverse.of(metric)).assign(metric=metric) for metric in multiverse.metrics]
        files[f"{name}.csv"] = frame_csv(pd.concat(frames, ignore_index=True))
    title = f"Multiverse: {multiverse.study}"
    blocks: list[object] = [Heading(title, level=1), covered(multiverse), *multiverse.notes]
    for metric in multiverse.metrics:
        blocks += _universe(multiverse.of(metric))
    rows = [[axis.decision, ", ".join(map(str, axis.values))] for axis in multiverse.axes]
    blocks += [Heading("What was varied"), Table(["decision", "options"], rows)]
    if multiverse.refused:
        rows = [[f"{count:,}", name, why] for name, whys in multiverse.refused.items() for why, count in whys.items()]
        blocks += [Heading("Protocols without numbers"), Table(["protocols", "metric", "why"], rows, ["protocols"])]
    blocks.append(Table(["", ""], [("journal of the run", multiverse.journal), ("its protocol", multiverse.protocol)]))
    keep_files(folder, files | {REPORT: page(title, blocks).encode()}, run=run, used=used)
    return folder / REPORT


def _writable(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with choices as text, since a column of them may hold numbers, words and None."""
    written = frame.copy()
    for name in written.columns[written.columns.str.contains(".", regex=False)]:
        written[name] = written[name].map(lambda value: None if value is None else str(value))
    return written


def covered(multiverse: Multiverse) -> str:
    """The share of the combinations that was tried, as a sentence."""
    n, algorithms = len(multiverse.variants), len(multiverse.algorithms)
    if multiverse.complete:
        return f"All {n:,} protocols that differ in {len(multiverse.axes)} decisions, for {algorithms} algorithms."
    total = f"more than {COUNTED:,}" if multiverse.combinations is None else f"{multiverse.combinations:,}"
    return (
        f"{n:,} protocols, a designed sample of {total} that differ in {len(multiverse.axes)} decisions "
        f"(seed {multiverse.seed}), for {algorithms} algorithms."
    )


def flips(universe: Universe) -> str:
    """A sentence about how often the order of the algorithms differs from that of the study."""
    taus = universe.taus()
    defined = taus[np.isfinite(taus)]
    if len(universe.multiverse.algorithms) < 2 or not len(defined):
        return "There is no order of algorithms to compare."
    changed = (universe.orders != universe.orders[0]).any(axis=1)
    winners = (universe.orders == 0) != (universe.orders[0] == 0)
    return (
        f"In {changed.mean():.0%} of the protocols the order of the algorithms is not that of the study's own, and in "
        f"{winners.any(axis=1).mean():.0%} another one is best. Kendall's tau with the study's order is "
        f"{defined.min():.2f} at least and {defined.mean():.2f} on average; between any two protocols it is "
        f"{universe.mean_tau():.2f} on average."
    )


def _universe(universe: Universe) -> list[object]:
    spread, wins, decisions = universe.spread(), universe.wins(), universe.decisions()
    names = ("own", "min", "q1", "median", "q3", "max")
    rows = [
        [row["algorithm"], *(number(row[name]) for name in names), f"{wins[row['algorithm']]:.1%}"]
        for row in spread.to_dict(orient="records")
    ]
    header = ["algorithm", "study", "least", "quarter", "median", "three quarters", "most", "wins"]
    blocks: list[object] = [
        Heading(universe.metric),
        flips(universe),
        Table(header, rows, header[1:]),
        figure(
            "How far the numbers spread",
            "Line: all protocols; box: the middle half; tick: the median; diamond: the study's own protocol.",
            spread_chart(universe),
        ),
    ]
    rows = [
        [row["decision"], f"{row['pairs']:,}", number(row["moves"]), f"{row['order']:.0%}", f"{row['winner']:.0%}"]
        for row in decisions[decisions["pairs"] > 0].to_dict(orient="records")
    ]
    header = ["decision", "pairs", "moves a number by", "another order", "another winner"]
    blocks += [
        "Pairs of protocols that differ in one decision alone, and what that changes; the decision that reverses the "
        "order of the algorithms most often comes first.",
        Table(header, rows, header[1:]),
        figure(
            "Specification curve",
            "Each column is a protocol, in the order of the number of the algorithm that is best in the study; below, "
            "what it decides, for the decisions that move numbers most.",
            specification_curve(universe),
        ),
    ]
    return blocks


def specification_curve(universe: Universe) -> alt.VConcatChart:
    """All variants in the order of the best algorithm's number under the study's protocol; below, their choices.

    Only the decisions that move numbers most are below the curve.
    """
    from repro.reports.charts.library import alt

    values = universe.values
    ranks = np.where(np.isfinite(values[0]), universe.orders[0], len(values[0]))
    best = int(np.argmin(ranks))  # the best algorithm under the study's own protocol
    defined = np.flatnonzero(np.isfinite(values[:, best]))
    order = defined[np.argsort(values[defined, best], kind="stable")]
    if len(order) > MAX_VARIANTS:
        order = order[np.unique(np.linspace(0, len(order) - 1, MAX_VARIANTS).round().astype(int))]
    labels = universe.multiverse.algorithms
    curve = pd.DataFrame(
        {
            "place": np.tile(np.arange(len(order)), len(labels)),
            "algorithm": np.repeat(labels, len(order)),
            "value": values[order].T.reshape(-1),
        }
    ).dropna()
    x = alt.X("place:Q", axis=None, scale=alt.Scale(domain=[-1, len(order)], nice=False))
    colour = alt.Color("algorithm:N", sort=list(labels), scale=alt.Scale(range=list(COLOURS)), title=None)
    above = (
        alt.Chart(curve)
        .mark_circle(size=12, opacity=0.8)
        .encode(x=x, y=alt.Y("value:Q", title=universe.metric), color=colour)
        .properties(width=WIDTH, height=HEIGHT)
    )
    choices = _choices(universe, order)
    below = (
        alt.Chart(choices)
        .mark_tick(thickness=1, size=ROW - 3, color="#222222")
        .encode(x=x, y=alt.Y("choice:N", sort=None, title=None, axis=alt.Axis(labelLimit=320, labelFontSize=10)))
        .properties(width=WIDTH, height=ROW * choices["choice"].nunique())
    )
    return alt.vconcat(above, below, spacing=6)


def _choices(universe: Universe, order: np.ndarray) -> pd.DataFrame:
    ranked = universe.decisions()
    moved = ranked[ranked["pairs"] > 0].sort_values("moves", ascending=False)["decision"].head(MAX_DECISIONS)
    options = {axis.decision: axis.values for axis in universe.multiverse.axes}
    variants = [universe.multiverse.variants[number] for number in order.tolist()]
    rows = [
        {"place": place, "choice": f"{decision} = {value}"}
        for decision in moved
        for value in options[decision]
        for place, variant in enumerate(variants)
        if variant.choices[decision] == value
    ]
    return pd.DataFrame(rows, columns=["place", "choice"])


def spread_chart(universe: Universe) -> alt.LayerChart:
    """For each algorithm the range, the quartiles and the median of all variants, and its number in the study."""
    from repro.reports.charts.library import alt

    spread = universe.spread()
    base = alt.Chart(spread).encode(y=alt.Y("algorithm:N", sort=None, title=None))
    whiskers = base.mark_rule(color="#7F7F7F").encode(x=alt.X("min:Q", title=universe.metric), x2="max:Q")
    box = base.mark_bar(height=10, color=COLOURS[4]).encode(x="q1:Q", x2="q3:Q")
    median = base.mark_tick(color="#222222", thickness=2, size=14).encode(x="median:Q")
    own = base.mark_point(color=COLOURS[1], size=70, shape="diamond", filled=True).encode(x="own:Q")
    return (whiskers + box + median + own).properties(width=560, height=26 * len(spread))
