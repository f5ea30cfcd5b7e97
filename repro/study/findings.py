"""Findings about suspicious numbers of a run, and the journal entries of values and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from repro.evaluation.metrics import Measure
from repro.evaluation.suspicion import Facts, Subject, Value, find_suspicious
from repro.runs.journal import events
from repro.runs.results_table import ALL_FOLDS

if TYPE_CHECKING:
    from repro.study.entry import Entry
    from repro.study.model import Study


def value_entry(measure: Measure, value: float, users: int, interval: tuple[float, float] | None) -> events.ValueEntry:
    """The journal entry of a number of a cell."""
    lowest, highest = (None, None) if interval is None else map(_or_none, interval)
    return events.ValueEntry(
        metric=measure.full_name, value=_or_none(value), users=users, lowest=lowest, highest=highest
    )


def facts_entry(facts: Facts) -> events.FactsEntry:
    """The journal entry of the facts of a cell."""
    counts = asdict(facts)
    del counts["folds"]
    return events.FactsEntry(**counts | {"tied_users": {str(k): users for k, users in facts.tied_users.items()}})


def findings_made(
    study: Study, folds: Sequence[str], finished: Mapping[str, events.CellFinished], table: pa.Table
) -> events.FindingsMade:
    """The findings about algorithms that have all folds; ``table`` is the table of results."""
    measures = {measure.full_name: measure for measure in study.measures}
    subjects = []
    for entry in study.entries:
        predicts = entry.algorithm.predicts
        rows = [row for row in table.to_pylist() if row["algorithm"] == entry.label]
        values = [_value(row, measures[row["measure"]], rows, predicts) for row in rows if row["fold"] == ALL_FOLDS]
        cells = [finished[cell] for fold in folds if (cell := f"{entry.label}/{fold}") in finished]
        if values:
            subjects.append(replace(_subject(entry, values, cells), leaks=_leaks(study, entry)))
    protocol = study.protocol
    findings = find_suspicious(subjects, protocol.text("ties.break"), protocol.text("missing.rank"))
    return events.FindingsMade(findings=[events.FindingEntry(**asdict(finding)) for finding in findings])


def _subject(entry: Entry, values: Sequence[Value], cells: Sequence[events.CellFinished]) -> Subject:
    algorithm = entry.algorithm
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
        entry.given is not None and not entry.given.is_fitted_here,
    )


def _leaks(study: Study, entry: Entry) -> tuple[str, ...]:
    """The way in which an algorithm uses the rows of the test before it."""
    fitted = ("fitted on all rows, those of the test included",) if study.protocol["split.fitted_on"] == "all" else ()
    by_test = bool(entry.space) and study.protocol["split.tuned_on"] == "test"
    return fitted + (("tuned on the test part",) if by_test else ())


def _identity(cells: Sequence[events.CellFinished], names: Sequence[str]) -> str:
    """The digests of these tables of the cells: the same text where the content is the same."""
    return " ".join(cell.artifacts[name] for cell in cells for name in names if name in cell.artifacts)


def _facts(entry: events.FactsEntry) -> Facts:
    return Facts(
        **entry.model_dump() | {"folds": 1, "tied_users": {int(k): users for k, users in entry.tied_users.items()}}
    )


def _value(row: Mapping[str, Any], measure: Measure, rows: Sequence[Mapping[str, Any]], predicts: bool) -> Value:
    """The value of all folds in ``row``, with those of the folds among ``rows``; metrics of predictions have none
    where the algorithm does not predict ratings."""
    of_folds = {}
    if predicts or measure.metric.kind != "prediction":
        folds = [fold for fold in rows if fold["measure"] == row["measure"] and fold["fold"] != ALL_FOLDS]
        of_folds = {fold["fold"]: (fold["value"] == fold["value"], fold["users"]) for fold in folds}
    return Value(
        str(row["metric"]), row["value"], row["lowest"], row["highest"], measure.cutoff, measure.metric.better, of_folds
    )


def _or_none(number: float) -> float | None:
    return number if number == number else None
