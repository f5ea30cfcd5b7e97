"""The report of a study of metrics: tables, figures, and one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.metric_study import MetricStudy
from repro.report.charts import placed_svg, specification
from repro.report.metric_study.figures import (
    correlations_between,
    heat_map,
    p_value_curves,
    popularity_curves,
    sparsity_curves,
)
from repro.report.metric_study.summary import (
    Compared,
    correlation_sentence,
    differing_sentence,
    findings,
    lowest_between_cutoffs,
    metric_table,
    popularity_sentence,
    power_sentence,
    sparsity_sentence,
)
from repro.report.pages import READING, document, figure
from repro.runs.written_files import keep_files

if TYPE_CHECKING:
    import altair as alt

REPORT = "report.html"


class Figure(NamedTuple):
    """A figure: the name of its file, what it shows, what to see in it."""

    name: str
    caption: str
    sentence: str
    svg: str


def write_metric_study(study: MetricStudy, folder: Path, run: Path | None = None) -> Path:
    """Write tables (CSV), figures (SVG) and ``report.html`` into ``folder``; the path of the report.

    The journal beside them is that of the ``run`` whose lists were studied, with their digests.
    """
    figures = draw(study)
    files = {f"{name}.csv": frame_csv(table) for name, table in study.tables.items()}
    files |= {f"{one.name}.svg": one.svg.encode() for one in figures if one.svg.startswith("<svg")}
    keep_files(folder, files | {REPORT: render(study, figures).encode()}, run=run)
    return folder / REPORT


def draw(study: MetricStudy) -> list[Figure]:
    """The eight figures, first those that compare cut-offs, then those that compare metrics."""
    metric, depth = study.settings.whose_cutoffs, study.settings.depth
    cutoffs, metrics = study.cutoffs_compared, study.metrics_compared
    of_cutoffs, of_metrics = f"cut-offs of {metric}", f"metrics at cut-off {depth}"
    between = correlations_between(study, cutoffs)
    drawn = [
        _figure(
            "figure-1-correlation-of-cutoffs",
            f"1. Kendall's correlation between {of_cutoffs}",
            correlation_sentence(between, len(study.run.systems)) + lowest_between_cutoffs(study),
            heat_map(between),
        ),
        *_curves(study, cutoffs, of_cutoffs, 2, "cutoffs"),
    ]
    between = correlations_between(study, metrics)
    drawn += [
        _figure(
            "figure-5-correlation-of-metrics",
            f"5. Kendall's correlation between {of_metrics}",
            correlation_sentence(between, len(study.run.systems)) + differing_sentence(between),
            heat_map(between),
        ),
        *_curves(study, metrics, of_metrics, 6, "metrics"),
    ]
    return drawn


def _curves(study: MetricStudy, compared: Compared, title: str, number: int, kind: str) -> list[Figure]:
    return [
        _figure(
            f"figure-{number}-sparsity-of-{kind}",
            f"{number}. Robustness to fewer ratings: {title}",
            sparsity_sentence(study, compared),
            sparsity_curves(study, compared),
        ),
        _figure(
            f"figure-{number + 1}-popularity-of-{kind}",
            f"{number + 1}. Robustness to the loss of popular items: {title}",
            popularity_sentence(study, compared),
            popularity_curves(study, compared),
        ),
        _figure(
            f"figure-{number + 2}-power-of-{kind}",
            f"{number + 2}. Discriminative power: {title}",
            power_sentence(study, compared),
            p_value_curves(study, compared),
        ),
    ]


def _figure(name: str, caption: str, sentence: str, chart: alt.TopLevelMixin) -> Figure:
    return Figure(name, caption, sentence, placed_svg(specification(chart)))


def render(study: MetricStudy, figures: Sequence[Figure]) -> str:
    """The report as HTML: the answer, the figures, the systems, how it was done."""
    run = study.run
    title = run.question or "Which metric and cut-off to trust"
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{len(run.systems)} systems, {run.n_users:,} test users, {run.n_ratings:,} held-out ratings of "
        f"{escape(run.data)}. Protocol: {escape(run.protocol.name or 'that of the run')}.</p>",
        "<ul>",
        *(f"<li>{escape(sentence)}</li>" for sentence in findings(study)),
        "</ul>",
        _metric_table(study, study.metrics_compared, f"Metrics at cut-off {study.settings.depth}"),
        _metric_table(study, study.cutoffs_compared, f"Cut-offs of {study.settings.whose_cutoffs}"),
        "<p>Robustness is the mean Kendall correlation (τ-b) with the systems' order under the whole test set, over "
        "all smaller test sets: higher is better. DP is the sum of the p-values of all pairs of systems: lower is "
        "better. The best of each column is bold.</p>",
        "<h2>Choosing among cut-offs</h2>",
        *map(_placed, figures[:4]),
        "<h2>Choosing among metrics</h2>",
        *map(_placed, figures[4:]),
        "<h2>The systems</h2>",
        _system_table(study),
        "<h2>How it was done</h2>",
        "<ul>",
        *(f"<li>{escape(sentence)}</li>" for sentence in _method(study)),
        "</ul>",
    ]
    return document(title, READING, body)


def _placed(one: Figure) -> str:
    return figure(one.caption, one.sentence, one.svg)


def _metric_table(study: MetricStudy, compared: Compared, caption: str) -> str:
    table = metric_table(study, compared)
    best = {
        "sparsity": table["sparsity"].max(),
        "popularity": table["popularity"].max(),
        "dp": table["dp"].min(),
        "significant": table["significant"].max(),
    }
    header = ["", "fewer ratings: τ", "popular items lost: τ", "DP", f"pairs with p < {study.settings.level:g}"]
    digits = {"sparsity": ".3f", "popularity": ".3f", "dp": ".2f", "significant": "d"}
    rows = [
        (f"{row['metric']}@{row['cutoff']}", [(_number(row[c], digits[c]), row[c] == best[c]) for c in digits])
        for row in table.to_dict(orient="records")
    ]
    return _table(header, rows, caption)


def _system_table(study: MetricStudy) -> str:
    depth = study.settings.depth
    values = study.values[study.values["cutoff"] == depth]
    wide = values.pivot(index="system", columns="metric", values="value")
    wide = wide.loc[list(study.run.systems), list(study.settings.metrics)]
    rows = [
        (str(system), [(_number(value, ".4f"), False) for value in of_system])
        for system, of_system in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return _table(["", *wide.columns], rows, f"Values at cut-off {depth}, under the whole test set")


def _table(header: Sequence[str], rows: Iterable[tuple[str, Sequence[tuple[str, bool]]]], caption: str) -> str:
    """The first column names the row; the others are numbers, marked where they are the best."""
    head = "".join(
        f'<th scope="col"{" class=number" if place else ""}>{escape(name)}</th>' for place, name in enumerate(header)
    )
    lines = [
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f'<td class="number{" best" if best else ""}">{text}</td>' for text, best in cells)
        + "</tr>"
        for name, cells in rows
    ]
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _number(value: float, form: str) -> str:
    return "–" if pd.isna(value) else format(int(value) if form == "d" else value, form)


def _method(study: MetricStudy) -> list[str]:
    """What was computed, in sentences."""
    run, settings = study.run, study.settings
    told = [
        "The method is that of Valcarce, Bellogín, Parapar and Castells (On the Robustness and Discriminative Power of "
        "Information Retrieval Metrics for Top-N Recommendation, RecSys 2018).",
        "The stored lists stay as they are; only what is known of them changes. Orders of systems are compared by "
        "Kendall's τ-b, which counts systems with equal values as ties.",
        f"Fewer ratings: {settings.samples} random samples of the held-out ratings for each size; τ is the mean over "
        "samples. Samples are drawn anew for each size, and are the same for all metrics and systems.",
        "Popular items: those with most held-out ratings, all folds together; equals by id. The training ratings play "
        "no part in it.",
        f"A user without any rating left is no test user. For a user without relevant items, average.no_relevant is "
        f'"{run.protocol["average.no_relevant"]}"; with an empty list, average.no_list is '
        f'"{run.protocol["average.no_list"]}".',
        f"Discriminative power: two-sided paired randomisation tests of the difference in means over users, "
        f"{settings.randomisations:,} samples each; p = (count + 1) / (samples + 1), so that DP is never quite 0.",
        f"Seed {study.seed}; protocol {run.protocol.hash[:12]}; measures "
        + ", ".join(column.measure.full_name for column in study.deepest)
        + ".",
    ]
    if run.short:
        told.insert(
            2,
            f"{run.short:,} of {run.n_lists:,} lists have fewer than {run.depth} items because their candidates are "
            "no more; they are judged by the items that they have.",
        )
    return told
