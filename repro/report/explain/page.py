"""Pages that need nothing else: a gap explained, and a multiverse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.explain import Explanation, Multiverse
from repro.explain.design import COUNTED
from repro.explain.multiverse import Universe
from repro.report.charts import placed_svg, specification
from repro.report.explain.curve import specification_curve, spread_chart
from repro.report.explain.waterfall import waterfall
from repro.report.pages import READING, document, figure, number, table
from repro.runs.folder import frame_parquet
from repro.runs.written_files import keep_files

if TYPE_CHECKING:
    import altair as alt

REPORT = "report.html"


def write_explanation(found: Sequence[Explanation], folder: Path, title: str, run: Path | None = None) -> Path:
    """Write ``explanation.csv``, ``explanation.json`` and ``report.html`` into ``folder``; the path of the report.

    The journal beside them is that of the ``run`` that was explained, with their digests.
    """
    plain = json.dumps([one.to_dict() for one in found], indent=1, ensure_ascii=False)
    frames = [one.to_frame().assign(first=one.first, second=one.second, metric=one.metric) for one in found]
    body = [f"<h1>{escape(title)}</h1>"]
    for one in found:
        body += _explanation(one)
    files = {
        "explanation.json": (plain + "\n").encode(),
        "explanation.csv": frame_csv(pd.concat(frames, ignore_index=True)),
        REPORT: _page(title, body),
    }
    keep_files(folder, files, run=run)
    return folder / REPORT


def _explanation(found: Explanation) -> list[str]:
    how = "all orders of switching" if found.orders is None else f"{found.orders:,} sampled orders of switching"
    labels = list(found.algorithms)
    rows = [[found.first, *(f"{value:.4f}" for value in found.before)]]
    for part in sorted(found.parts, key=lambda part: -float(np.abs(part.values).sum())):
        told = [_part(value, error) for value, error in zip(part.values, part.errors, strict=True)]
        rows.append([part.sentence, *told])
    rows.append([found.second, *(f"{value:.4f}" for value in found.after)])
    made = [
        f"<h2>From {escape(found.first)} to {escape(found.second)}, by {escape(found.metric)}</h2>",
        _table(["", *labels], rows, labels),
        _figure(
            "Where the gap comes from", f"Averages over {how}; grey are the numbers at both ends.", waterfall(found)
        ),
    ]
    if notable := found.notable():
        rows = [[label, one, two, f"{value:+.4f}"] for label, one, two, value in notable]
        made.append("<p>Decisions that change what another one is worth:</p>")
        made.append(_table(["algorithm", "decision", "and", "more than their sum"], rows, ["more than their sum"]))
    if found.needs_refit:
        names = ", ".join(change.decision for change in found.needs_refit)
        made.append(f"<p>Not accounted for, as they need another fit (<code>--refit</code>): {escape(names)}.</p>")
    made += [f"<p>{escape(note)}</p>" for note in found.notes]
    made.append(_table(["", ""], found.evidence.items()))
    return made


def write_multiverse(found: Multiverse, folder: Path, run: Path | None = None, *, used: Iterable[str] = ()) -> Path:
    """Write ``multiverse.parquet``, tables (CSV) and ``report.html`` into ``folder``; the path of the report.

    The journal beside them is that of the ``run`` whose scores were used, with their digests and those of files in
    ``folder`` that were ``used``.
    """
    files = {"multiverse.parquet": frame_parquet(_writable(found.to_frame()))}
    kinds = {"spread": Universe.spread, "decisions": Universe.decisions, "options": Universe.by_option}
    for name, make in kinds.items():
        frames = [make(found.of(metric)).assign(metric=metric) for metric in found.metrics]
        files[f"{name}.csv"] = frame_csv(pd.concat(frames, ignore_index=True))
    title = f"Multiverse: {found.study}"
    body = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(text)}</p>" for text in (covered(found), *found.notes))]
    for metric in found.metrics:
        body += _universe(found.of(metric))
    rows = [[axis.decision, ", ".join(map(str, axis.values))] for axis in found.axes]
    body += ["<h2>What was varied</h2>", _table(["decision", "options"], rows)]
    if found.refused:
        rows = [[f"{count:,}", name, why] for name, whys in found.refused.items() for why, count in whys.items()]
        body += ["<h2>Protocols without numbers</h2>", _table(["protocols", "metric", "why"], rows, ["protocols"])]
    body.append(_table(["", ""], [("journal of the run", found.journal), ("its protocol", found.protocol)]))
    keep_files(folder, files | {REPORT: _page(title, body)}, run=run, used=used)
    return folder / REPORT


def _writable(frame: pd.DataFrame) -> pd.DataFrame:
    """Choices as text: a column of them has numbers, words and nothing."""
    written = frame.copy()
    for name in written.columns[written.columns.str.contains(".", regex=False)]:
        written[name] = written[name].map(lambda value: None if value is None else str(value))
    return written


def covered(found: Multiverse) -> str:
    """How much of the space was tried, as a sentence."""
    n, algorithms = len(found.variants), len(found.algorithms)
    if found.complete:
        return f"All {n:,} protocols that differ in {len(found.axes)} decisions, for {algorithms} algorithms."
    of = f"more than {COUNTED:,}" if found.combinations is None else f"{found.combinations:,}"
    return (
        f"{n:,} protocols, a designed sample of {of} that differ in {len(found.axes)} decisions (seed {found.seed}), "
        f"for {algorithms} algorithms."
    )


def flips(universe: Universe) -> str:
    """How often the order of the algorithms is another one, as a sentence."""
    taus = universe.taus()
    known = taus[np.isfinite(taus)]
    if len(universe.multiverse.algorithms) < 2 or not len(known):
        return "There is no order of algorithms to compare."
    changed = (universe.orders != universe.orders[0]).any(axis=1)
    winners = (universe.orders == 0) != (universe.orders[0] == 0)
    return (
        f"In {changed.mean():.0%} of the protocols the order of the algorithms is not that of the study's own, and in "
        f"{winners.any(axis=1).mean():.0%} another one is best. Kendall's tau with the study's order is "
        f"{known.min():.2f} at least and {known.mean():.2f} on average; between any two protocols it is "
        f"{universe.mean_tau():.2f} on average."
    )


def _universe(universe: Universe) -> list[str]:
    spread, wins, decisions = universe.spread(), universe.wins(), universe.decisions()
    names = ("own", "min", "q1", "median", "q3", "max")
    rows = [
        [one["algorithm"], *(number(one[name]) for name in names), f"{wins[one['algorithm']]:.1%}"]
        for one in spread.to_dict(orient="records")
    ]
    header = ["algorithm", "study", "least", "quarter", "median", "three quarters", "most", "wins"]
    made = [
        f"<h2>{escape(universe.metric)}</h2>",
        f"<p>{escape(flips(universe))}</p>",
        _table(header, rows, header[1:]),
        _figure(
            "How far the numbers spread",
            "Line: all protocols; box: the middle half; tick: the median; diamond: the study's own protocol.",
            spread_chart(universe),
        ),
    ]
    seen = decisions[decisions["pairs"] > 0]
    rows = [
        [one["decision"], f"{one['pairs']:,}", number(one["moves"]), f"{one['order']:.0%}", f"{one['winner']:.0%}"]
        for one in seen.to_dict(orient="records")
    ]
    header = ["decision", "pairs", "moves a number by", "another order", "another winner"]
    made += [
        "<p>Pairs of protocols that differ in one decision alone, and what that changes; the decision that turns the "
        "order of the algorithms round most often comes first.</p>",
        _table(header, rows, header[1:]),
        _figure(
            "Specification curve",
            "Each column is a protocol, in the order of the number of the algorithm that is best in the study; below, "
            "what it decides, for the decisions that move numbers most.",
            specification_curve(universe),
        ),
    ]
    return made


def _page(title: str, body: Iterable[str]) -> bytes:
    return document(title, READING, body).encode()


def _figure(caption: str, sentence: str, chart: alt.TopLevelMixin) -> str:
    return figure(caption, sentence, placed_svg(specification(chart)))


def _table(header: Sequence[str], rows: Iterable[Iterable[object]], numeric: Iterable[str] = ()) -> str:
    return f'<div class="wide">{table(header, rows, numeric)}</div>'


def _part(value: float, error: float) -> str:
    return f"{value:+.4f}" + (f" ± {error:.4f}" if error else "")
