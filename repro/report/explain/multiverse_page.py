"""The page of a multiverse."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.explain import Multiverse
from repro.explain.design import COUNTED
from repro.explain.multiverse import Universe
from repro.report.explain.multiverse_charts import specification_curve, spread_chart
from repro.report.html import Heading, Table, figure, number, page
from repro.runs.folder import frame_parquet
from repro.runs.written_files import keep_files

REPORT = "report.html"


def write_multiverse(
    multiverse: Multiverse, folder: Path, run: Path | None = None, *, used: Iterable[str] = ()
) -> Path:
    """Write ``multiverse.parquet``, tables (CSV) and ``report.html`` into ``folder``; the path of the report.

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
    """Choices as text: a column of them has numbers, words and nothing."""
    written = frame.copy()
    for name in written.columns[written.columns.str.contains(".", regex=False)]:
        written[name] = written[name].map(lambda value: None if value is None else str(value))
    return written


def covered(multiverse: Multiverse) -> str:
    """How much of the space was tried, as a sentence."""
    n, algorithms = len(multiverse.variants), len(multiverse.algorithms)
    if multiverse.complete:
        return f"All {n:,} protocols that differ in {len(multiverse.axes)} decisions, for {algorithms} algorithms."
    of = f"more than {COUNTED:,}" if multiverse.combinations is None else f"{multiverse.combinations:,}"
    return (
        f"{n:,} protocols, a designed sample of {of} that differ in {len(multiverse.axes)} decisions "
        f"(seed {multiverse.seed}), for {algorithms} algorithms."
    )


def flips(universe: Universe) -> str:
    """How often the order of the algorithms differs from that of the study, as a sentence."""
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
    seen = decisions[decisions["pairs"] > 0]
    rows = [
        [row["decision"], f"{row['pairs']:,}", number(row["moves"]), f"{row['order']:.0%}", f"{row['winner']:.0%}"]
        for row in seen.to_dict(orient="records")
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
