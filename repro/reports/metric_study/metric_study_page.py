"""The report of a study of metrics: tables, figures, and one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from repro.data.spreadsheet import frame_csv
from repro.metric_study import MetricStudy
from repro.reports.html import Cell, Figure, Heading, Items, Table, figure, page
from repro.reports.metric_study.metric_study_charts import (
    correlations_between,
    heat_map,
    p_value_curves,
    popularity_curves,
    sparsity_curves,
)
from repro.reports.metric_study.metric_study_summary import (
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
from repro.runs.written_files import keep_files

if TYPE_CHECKING:
    import altair as alt

REPORT = "report.html"


class StudyFigure(NamedTuple):
    """A figure and the name of its file."""

    name: str
    figure: Figure


def write_metric_study(study: MetricStudy, folder: Path, run: Path | None = None) -> Path:
    """Write tables (CSV), figures (SVG) and ``report.html`` into ``folder``; the path of the report.

    The journal written with them is that of the ``run`` whose lists were studied, with their digests.
    """
    figures = draw(study)
    files = {f"{name}.csv": frame_csv(table) for name, table in study.tables.items()}
    files |= {f"{name}.svg": drawn.svg.encode() for name, drawn in figures if drawn.svg}
    keep_files(folder, files | {REPORT: metric_study_page(study, figures).encode()}, run=run)
    return folder / REPORT


def draw(study: MetricStudy) -> list[StudyFigure]:
    """The eight figures, first those that compare cut-offs, then those that compare metrics."""
    return [
        StudyFigure(f"figure-{number}-{name}", figure(f"{number}. {caption}", sentence, chart))
        for number, (name, caption, sentence, chart) in enumerate(_all_figures(study), 1)
    ]


def charts(study: MetricStudy) -> dict[str, alt.TopLevelMixin]:
    """The charts of the eight figures by name, such as "power-of-metrics"."""
    return {name: chart for name, _, _, chart in _all_figures(study)}


def _all_figures(study: MetricStudy) -> list[tuple[str, str, str, alt.TopLevelMixin]]:
    cutoffs, metrics = study.cutoffs_compared, study.metrics_compared
    return [
        *_figures(study, cutoffs, "cutoffs", f"cut-offs of {study.settings.whose_cutoffs}"),
        *_figures(study, metrics, "metrics", f"metrics at cut-off {study.settings.depth}"),
    ]


def _figures(
    study: MetricStudy, compared: Compared, kind: str, title: str
) -> list[tuple[str, str, str, alt.TopLevelMixin]]:
    """The name, caption, sentence and chart of four figures."""
    between = correlations_between(study, compared)
    detail = lowest_between_cutoffs(study) if kind == "cutoffs" else differing_sentence(between)
    return [
        (
            f"correlation-of-{kind}",
            f"Kendall's correlation between {title}",
            correlation_sentence(between, len(study.run.systems)) + detail,
            heat_map(between),
        ),
        (
            f"sparsity-of-{kind}",
            f"Robustness to fewer ratings: {title}",
            sparsity_sentence(study, compared),
            sparsity_curves(study, compared),
        ),
        (
            f"popularity-of-{kind}",
            f"Robustness to the loss of popular items: {title}",
            popularity_sentence(study, compared),
            popularity_curves(study, compared),
        ),
        (
            f"power-of-{kind}",
            f"Discriminative power: {title}",
            power_sentence(study, compared),
            p_value_curves(study, compared),
        ),
    ]


def metric_study_page(study: MetricStudy, figures: Sequence[StudyFigure]) -> str:
    """The report as HTML: the answer, the figures, the systems, the method."""
    run = study.run
    title = run.question or "Which metric and cut-off to trust"
    drawn = [named.figure for named in figures]
    blocks = [
        Heading(title, level=1),
        f"{len(run.systems)} systems, {run.n_users:,} test users, {run.n_ratings:,} held-out ratings of {run.data}. "
        f"Protocol: {run.protocol.name or 'that of the run'}.",
        Items(findings(study)),
        _metric_table(study, study.metrics_compared, f"Metrics at cut-off {study.settings.depth}"),
        _metric_table(study, study.cutoffs_compared, f"Cut-offs of {study.settings.whose_cutoffs}"),
        "Robustness is the mean Kendall correlation (τ-b) with the systems' order under the whole test set, over "
        "all smaller test sets: higher is better. DP is the sum of the p-values of all pairs of systems: lower is "
        "better. The best of each column is bold.",
        Heading("Choosing among cut-offs"),
        *drawn[:4],
        Heading("Choosing among metrics"),
        *drawn[4:],
        Heading("The systems"),
        _system_table(study),
        Heading("How it was done"),
        Items(_method(study)),
    ]
    return page(title, blocks)


def _metric_table(study: MetricStudy, compared: Compared, caption: str) -> Table:
    table = metric_table(study, compared)
    digits = {"sparsity": ".3f", "popularity": ".3f", "dp": ".2f", "significant": "d"}
    best = {column: table[column].min() if column == "dp" else table[column].max() for column in digits}
    header = ["", "fewer ratings: τ", "popular items lost: τ", "DP", f"pairs with p < {study.settings.level:g}"]
    rows = [
        (f"{row['metric']}@{row['cutoff']}", [(_number(row[c], digits[c]), row[c] == best[c]) for c in digits])
        for row in table.to_dict(orient="records")
    ]
    return _table(header, rows, caption)


def _system_table(study: MetricStudy) -> Table:
    depth = study.settings.depth
    values = study.values[study.values["cutoff"] == depth]
    wide = values.pivot(index="system", columns="metric", values="value")
    wide = wide.loc[list(study.run.systems), list(study.settings.metrics)]
    rows = [
        (str(system), [(_number(value, ".4f"), False) for value in of_system])
        for system, of_system in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return _table(["", *wide.columns], rows, f"Values at cut-off {depth}, under the whole test set")


def _table(header: Sequence[str], rows: Iterable[tuple[str, Sequence[tuple[str, bool]]]], caption: str) -> Table:
    """A table of numbers, with the names of rows in the first column; the best numbers are marked."""
    marked = [
        [Cell(name, is_header=True), *(Cell(text, css="best" if best else "") for text, best in cells)]
        for name, cells in rows
    ]
    return Table(header, marked, header[1:], caption)


def _number(value: float, form: str) -> str:
    return "–" if pd.isna(value) else format(int(value) if form == "d" else value, form)


def _method(study: MetricStudy) -> list[str]:
    """The method, in sentences."""
    run, settings = study.run, study.settings
    sentences = [
        "The method is that of Valcarce, Bellogín, Parapar and Castells (On the Robustness and Discriminative Power of "
        "Information Retrieval Metrics for Top-N Recommendation, RecSys 2018).",
        "The stored lists do not change; only the ratings that judge them do. Orders of systems are compared by "
        "Kendall's τ-b, which counts systems with equal values as ties.",
        f"Fewer ratings: {settings.samples} random samples of the held-out ratings for each size; τ is the mean over "
        "samples. Samples are drawn for each size, and are the same for all metrics and systems.",
        "Popular items: those with most held-out ratings, all folds together; equals by id. Training ratings have no "
        "effect.",
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
        sentences.insert(
            2,
            f"{run.short:,} of {run.n_lists:,} lists have fewer than {run.depth} items because they have fewer "
            "candidates; they are judged by the items that they have.",
        )
    return sentences
