"""The results of a study of metrics, as a table and as sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from repro.metric_study import MetricStudy
from repro.stats import kendall

# Two orders of systems with at least this tau count as almost the same (Voorhees 2001).
ALMOST_EQUAL = 0.9
# With at least this Kendall correlation, a property grows or shrinks with the depth.
CLEAR = 0.5

Compared = Sequence[tuple[str, int]]


def metric_table(study: MetricStudy, compared: Compared) -> pd.DataFrame:
    """For each metric and cut-off: mean tau over smaller test sets, DP, significant pairs, median p-value.

    ``sparsity`` and ``popularity`` are means over all sizes but the whole test set.
    """
    keys = ["metric", "cutoff"]
    fewer = study.sparsity[study.sparsity["share"] < 1].groupby(keys)["tau"].mean()
    rarer = study.popularity[study.popularity["share"] > 0].groupby(keys)["tau"].mean()
    power = study.dp.set_index(keys)
    table = pd.DataFrame({"sparsity": fewer, "popularity": rarer}).join(power)
    return table.loc[list(compared)].reset_index()


def findings(study: MetricStudy) -> list[str]:
    """The answer in a few sentences."""
    metrics = metric_table(study, study.metrics_compared)
    cutoffs = metric_table(study, study.cutoffs_compared)
    sentences = []
    for what, column, lower in (
        ("keeps its order of systems best when ratings are removed at random", "sparsity", False),
        ("keeps it best when those of popular items are removed", "popularity", False),
        ("distinguishes systems best (lowest DP)", "dp", True),
    ):
        ordered = _ordered(metrics, column, lower)
        if len(ordered) > 1:
            sentences.append(
                f"{_in_words(ordered[:1], column)} {what}; {_in_words(ordered[-1:], column)} does so least."
            )
    if len(cutoffs) > 1:
        depths = [
            f"robustness to fewer ratings {_trend(cutoffs, 'sparsity', 'grows', 'shrinks')}",
            f"robustness to the loss of popular items {_trend(cutoffs, 'popularity', 'grows', 'shrinks')}",
            f"discriminative power {_trend(cutoffs, 'dp', 'shrinks', 'grows')}",
        ]
        sentences.append(f"With the depth of the cut-off of {study.settings.whose_cutoffs}: {'; '.join(depths)}.")
    return sentences


def _ordered(table: pd.DataFrame, column: str, lower: bool) -> pd.DataFrame:
    return table.dropna(subset=[column]).sort_values(column, ascending=lower, kind="stable")


def _in_words(row: pd.DataFrame, column: str) -> str:
    first = row.iloc[0]
    symbol = "DP" if column == "dp" else "mean τ"
    return f"{first['metric']}@{first['cutoff']} ({symbol} {_short(first[column], column)})"


def _short(value: float, column: str) -> str:
    return f"{value:.2f}" if column == "dp" else f"{value:.3f}"


def _trend(cutoffs: pd.DataFrame, column: str, up: str, down: str) -> str:
    """Whether numbers go up or down with the cut-off, in the words ``up`` and ``down``."""
    defined = cutoffs.dropna(subset=[column])
    if len(defined) < 3 or defined[column].nunique() < 2:
        return "cannot be compared"
    tau = kendall(defined["cutoff"], defined[column])
    word = up if tau >= CLEAR else down if tau <= -CLEAR else "neither grows nor shrinks clearly"
    first, last = defined.iloc[0], defined.iloc[-1]
    best = _ordered(defined, column, lower=column == "dp").iloc[0]
    values = [f"{_short(float(row[column]), column)} at {row['cutoff']}" for row in (first, last, best)]
    return f"{word} ({values[0]}, {values[1]}; best: {values[2]})"


def correlation_sentence(correlations: pd.DataFrame, systems: int) -> str:
    """The highest and lowest agreement in a heat map, whose rows have each pair in both orders."""
    pairs = correlations[correlations["place_a"] < correlations["place_b"]].dropna(subset=["tau"])
    if pairs.empty:
        return "There is no pair of orders to compare."
    high, low = pairs.loc[pairs["tau"].idxmax()], pairs.loc[pairs["tau"].idxmin()]
    almost = int((pairs["tau"] >= ALMOST_EQUAL).sum())
    return (
        f"The orders of the {systems} systems agree most between {high['a']} and {high['b']} (τ = {high['tau']:.2f}), "
        f"and least between {low['a']} and {low['b']} (τ = {low['tau']:.2f}); {almost} of {len(pairs)} pairs reach "
        f"{ALMOST_EQUAL}, from which two orders count as almost the same (Voorhees 2001)."
    )


def differing_sentence(correlations: pd.DataFrame) -> str:
    """The metric that agrees least with all others."""
    between = correlations[correlations["a"] != correlations["b"]].dropna(subset=["tau"])
    means = between.groupby("a", sort=False)["tau"].mean()
    if len(means) < 3:
        return ""
    return f" {means.idxmin()} agrees least with the others (mean τ = {means.min():.2f})."


def lowest_between_cutoffs(study: MetricStudy) -> str:
    """The metric whose cut-offs agree least."""
    defined = study.correlations.dropna(subset=["tau"])
    within = defined[(defined["metric_a"] == defined["metric_b"]) & (defined["cutoff_a"] < defined["cutoff_b"])]
    if within.empty or within["metric_a"].nunique() < 2:
        return ""
    low = within.loc[within["tau"].idxmin()]
    return (
        f" Of all metrics, the lowest agreement between cut-offs is that of {low['metric_a']}@{low['cutoff_a']} and "
        f"{low['metric_b']}@{low['cutoff_b']} (τ = {low['tau']:.2f})."
    )


def sparsity_sentence(study: MetricStudy, compared: Compared) -> str:
    """The agreement of orders with half and with the fewest of the ratings."""
    curves = _of(study.sparsity, compared)
    half, fewest = curves[curves["share"] == 0.5], curves[curves["share"] == curves["share"].min()]
    best = _extremes(metric_table(study, compared), "sparsity")
    return (
        f"With half of the ratings τ is {_span(half)}; with {fewest['share'].iloc[0]:.0%} of them, {_span(fewest)}."
        f"{best}"
    )


def popularity_sentence(study: MetricStudy, compared: Compared) -> str:
    """The agreement of orders without the most popular items."""
    curves = _of(study.popularity, compared)
    few, most = curves[curves["share"] == 0.01], curves[curves["share"] == curves["share"].max()]
    best = _extremes(metric_table(study, compared), "popularity")

    def lost(part: pd.DataFrame) -> str:
        return f"{1 - part['ratings'].iloc[0] / study.run.n_ratings:.0%} of the ratings"

    return (
        f"The most popular 1% of the items have {lost(few)}; without them τ is {_span(few)}. The most popular "
        f"{most['share'].iloc[0]:.0%} have {lost(most)}; without them τ is {_span(most)}.{best}"
    )


def power_sentence(study: MetricStudy, compared: Compared) -> str:
    """The number of significant pairs of systems."""
    table = metric_table(study, compared)
    ordered = ", ".join(
        f"{row.metric}@{row.cutoff} {row.dp:.2f}" for row in _ordered(table, "dp", lower=True).itertuples()
    )
    least, most = int(table["significant"].min()), int(table["significant"].max())
    significant = f"{least}" if least == most else f"between {least} and {most}"
    return (
        f"Of {int(table['pairs'].iloc[0])} pairs of systems, {significant} have a p-value below "
        f"{study.settings.level:g}. The closer a curve is to the origin, the more pairs it distinguishes. DP, lowest "
        f"first: {ordered}."
    )


def _of(table: pd.DataFrame, compared: Compared) -> pd.DataFrame:
    return table.set_index(["metric", "cutoff"]).loc[list(compared)].reset_index()


def _span(part: pd.DataFrame) -> str:
    defined = part.dropna(subset=["tau"])
    if defined.empty:
        return "not defined: no order is left"
    low, high = defined.loc[defined["tau"].idxmin()], defined.loc[defined["tau"].idxmax()]
    if low["tau"] == high["tau"]:
        return f"{low['tau']:.2f}"
    return (
        f"{low['tau']:.2f} ({low['metric']}@{low['cutoff']}) to {high['tau']:.2f} ({high['metric']}@{high['cutoff']})"
    )


def _extremes(table: pd.DataFrame, column: str) -> str:
    ordered = _ordered(table, column, lower=False)
    if len(ordered) < 2:
        return ""
    most, least = _in_words(ordered[:1], column), _in_words(ordered[-1:], column)
    return f" Over all sizes, {most} is the most robust, {least} the least."
