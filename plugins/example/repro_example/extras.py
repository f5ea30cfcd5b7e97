"""A plug-in with every hook but that of a framework, each as small as it can be.

Every command that asks for plug-ins imports this file: what is slow to import is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from repro.data import Dataset, Interactions, Source
from repro.plugin import (
    Case,
    Evaluator,
    Exporter,
    Observed,
    Parameter,
    Pipeline,
    PipelineFold,
    Scores,
    Splitter,
    impl,
)

if TYPE_CHECKING:
    from repro.evaluation.metrics import Background, Metric, Ratio
    from repro.evaluation.ranking import Ranked

Rows = npt.NDArray[np.int64]


def hits_of_case(case: Case, measure: str, k: int | None) -> Observed:
    """The share of each tested user's k best items that were held out; a missing score is the lowest."""
    scores = np.where(np.isnan(case.scores.values), -np.inf, case.scores.values)
    top = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    held_out = np.zeros(scores.shape, dtype=bool)
    held_out[case.test.users, case.test.items] = True
    shares = np.take_along_axis(held_out, top, axis=1).sum(axis=1) / float(k or 1)
    per_user = {int(user): float(shares[user]) for user in case.tested}
    return Observed(sum(per_user.values()) / len(per_user), per_user)


@impl
def repro_evaluators() -> Sequence[Evaluator]:
    cannot = {
        "partial-lists": "it ranks all items",
        "no-list": "it ranks all items",
        "fallback": "it sees no such mark",
    }
    measures = {"hits": "precision@k"}
    return [Evaluator("example/hits", "counts hits, as a toolkit might", hits_of_case, measures, cannot)]


def most_popular(rows: Interactions, seed: int) -> list[PipelineFold]:
    """The last fifth of the rows is held out, and items are scored by how often the others have them."""
    train, test = np.split(np.arange(len(rows)), [len(rows) * 4 // 5])
    counts = rows.select(train).item_counts().astype(np.float64)
    scores = Scores(np.tile(counts, (rows.n_users, 1)))
    case = Case(scores, rows.select(train), rows.select(test), np.arange(rows.n_items, dtype=np.int32))
    hits = hits_of_case(case, "hits", 2).value
    return [PipelineFold(train, test, scores, {"hits": float(hits or 0)})]


@impl
def repro_pipelines() -> Sequence[Pipeline]:
    return [Pipeline("example/most-popular", "hits of the most popular items", most_popular, "example/hits", k=2)]


@impl
def repro_datasets() -> Sequence[Dataset]:
    file = Path(__file__).with_name("cinema.csv")
    return [
        Dataset(
            name="example-cinema",
            title="A dozen visits to a cinema",
            home="docs/plugins.md",
            terms="public domain",
            citation="",
            sources=(Source(file.as_uri(), reader={"delimiter": ","}),),
            rows=12,
        )
    ]


def filled(ranked: Ranked, k: int | None, variants: Mapping[str, Any], background: Background) -> Ratio:
    """The share of the k places of each list that have an item; ties do not matter, since it ignores the order."""
    from repro.evaluation.metrics import Ratio

    assert k is not None  # the cut-off is required
    return Ratio(np.minimum(ranked.lengths, k).astype(np.float64), np.full(len(ranked), float(k)))


@impl
def repro_metrics() -> Sequence[Metric]:
    from repro.evaluation.metrics import RankingMetric

    title = "Share of the k places that have an item"
    return [RankingMetric("filled", title, filled, cutoff="required", undefined="left-out", better="neither")]


def every_nth(rows: Interactions, seed: int, n: int) -> list[tuple[Rows, Rows]]:
    """A split with one fold, which holds out each nth row of all users together."""
    held_out = np.arange(len(rows)) % n == n - 1
    return [(np.flatnonzero(~held_out), np.flatnonzero(held_out))]


@impl
def repro_splitters() -> Sequence[Splitter]:
    n = Parameter("n", 5, "one row of how many is held out")
    summary = "each nth row of the source is held out"
    return [Splitter("example/every-nth", summary, every_nth, (n,), own_order=False)]


def write_markdown(folder: Path, target: Path) -> None:
    """Writes the table of a run as Markdown."""
    import repro

    table = repro.Run(folder).table()
    lines = ["| algorithm | " + " | ".join(table.columns) + " |", "| --- |" + " ---: |" * len(table.columns)]
    lines += [f"| {name} | " + " | ".join(f"{value:.4f}" for value in row) + " |" for name, *row in table.itertuples()]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


@impl
def repro_exporters() -> Sequence[Exporter]:
    return [Exporter("markdown", "the table of results in Markdown", write_markdown, suffix=".md")]


@impl
def repro_journal_event(folder: Path, line: Mapping[str, Any]) -> None:
    with (folder / "diary.txt").open("a", encoding="utf-8") as diary:
        diary.write(f"{line['number']} {line['event']['event']}\n")
