"""Findings about suspicious numbers of a run, from the counts of its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from repro.evaluation.metrics import Measure
from repro.evaluation.suspicion import Facts, Subject, Value, find_suspicious
from repro.plugin import plugins
from repro.runs.journal import events
from repro.runs.results_table import ALL_FOLDS

if TYPE_CHECKING:
    from repro.study.entry import Entry
    from repro.study.model import Study


def value_entry(measure: Measure, value: float, users: int, interval: tuple[float, float] | None) -> events.ValueEntry:
    """A number of a cell as the journal has it."""
    lowest, highest = (None, None) if interval is None else map(_or_none, interval)
    return events.ValueEntry(
        metric=measure.full_name, value=_or_none(value), users=users, lowest=lowest, highest=highest
    )


def facts_entry(facts: Facts) -> events.FactsEntry:
    """What was counted of a cell as the journal has it."""
    counted = asdict(facts)
    del counted["folds"]
    return events.FactsEntry(**counted | {"tied_users": {str(k): users for k, users in facts.tied_users.items()}})


def findings_made(
    study: Study, folds: Sequence[str], finished: Mapping[str, events.CellFinished], table: pa.Table
) -> events.FindingsMade:
    """The findings about algorithms that have all folds; ``table`` is the table of results."""
    every = table.to_pylist()
    rows = [row for row in every if row["fold"] == ALL_FOLDS]
    subjects = []
    for entry in study.entries:
        predicts = plugins().algorithm(entry.use)[1].predicts
        own = [row for row in every if row["algorithm"] == entry.label and row["fold"] != ALL_FOLDS]
        values = [_value(row, study.measures, own, predicts) for row in rows if row["algorithm"] == entry.label]
        cells = [finished[cell] for fold in folds if (cell := f"{entry.label}/{fold}") in finished]
        if values:
            subjects.append(_subject(entry, values, cells))
    protocol = study.protocol
    findings = find_suspicious(subjects, protocol.text("ties.break"), protocol.text("missing.rank"))
    return events.FindingsMade(findings=[events.FindingEntry(**asdict(finding)) for finding in findings])


def _subject(entry: Entry, values: Sequence[Value], cells: Sequence[events.CellFinished]) -> Subject:
    algorithm = plugins().algorithm(entry.use)[1]
    facts = sum((_facts(cell.facts) for cell in cells if cell.facts is not None), Facts())
    tuned = any(name in entry.space for name in (*algorithm.ratings_with, *algorithm.adapts_with))
    adapts = tuned or algorithm.adapts(entry.parameters)
    notes = {name: text for cell in cells for name, text in cell.notes.items() if name in algorithm.adapts_with}
    return Subject(
        entry.label,
        values,
        facts,
        entry.use,
        "unknown" if tuned else algorithm.kind_of_scores(entry.parameters),
        adapts,
        notes if adapts else {},
        _identity(cells, ("lists",)),
        _identity(cells, ("values", "predictions")),
    )


def _identity(cells: Sequence[events.CellFinished], names: Sequence[str]) -> str:
    """The digests of what the cells stored: the same text where the content is the same."""
    return " ".join(cell.artifacts[name] for cell in cells for name in names if name in cell.artifacts)


def _facts(entry: events.FactsEntry) -> Facts:
    counted = entry.model_dump()
    return Facts(**counted | {"folds": 1, "tied_users": {int(k): users for k, users in entry.tied_users.items()}})


def _value(
    row: Mapping[str, Any], measures: Sequence[Measure], folds: Sequence[Mapping[str, Any]], predicts: bool
) -> Value:
    """A value with those of its folds; an algorithm that does not predict ratings has none of predictions."""
    measure = next(candidate for candidate in measures if candidate.full_name == row["measure"])
    of_folds = {}
    if predicts or measure.metric.kind != "prediction":
        of_measure = [fold for fold in folds if fold["measure"] == row["measure"]]
        of_folds = {fold["fold"]: (fold["value"] == fold["value"], fold["users"]) for fold in of_measure}
    return Value(
        str(row["metric"]), row["value"], row["lowest"], row["highest"], measure.cutoff, measure.metric.better, of_folds
    )


def _or_none(number: float) -> float | None:
    return number if number == number else None
