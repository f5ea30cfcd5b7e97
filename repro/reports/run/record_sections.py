"""Sections with tables from the journal: decisions and their impacts, tuning, notes, and what identifies the run."""

from __future__ import annotations

from typing import Any

import pandas as pd

from repro.protocol import registry
from repro.reports.html import Details, Paragraph, Table, render
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import Section
from repro.runs.tuning_history import uneven_tuning


def touched_section(view: RunView) -> Section:
    """The number of rows, lists or users that each decision changed, over all cells."""
    impacts = view.run.impacts()
    title = "What the decisions changed"
    return Section("touched", title, ["No decision changed anything." if impacts.empty else _impacts(impacts, title)])


def _impacts(impacts: pd.DataFrame, label: str) -> Table:
    rows = []
    keys = ["decision", "value", "unit", "note"]
    for (decision, value, unit, _), group in impacts.astype({"value": str}).groupby(keys, sort=False):
        least, most = group["touched"].min(), group["touched"].max()
        span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        rows.append([decision, value, span, f"{group['total'].max():,}", unit, group["note"].iloc[0], len(group)])
    header = ["decision", "value", "changed", "of", "unit", "note", "cells"]
    caption = "How much each decision changed, from the cell with least to the cell with most"
    return Table(header, rows, ["changed", "of", "cells"], caption, label)


def protocol_section(view: RunView) -> Section:
    """Every decision with its value, the meaning of the value, and its origin."""
    resolved = view.run.resolved
    left_open = set(resolved.left_open_by_source)
    rows = (
        [d.decision, d.value, d.meaning, d.origin + (" (left open by the source)" if d.decision in left_open else "")]
        for d in resolved.decisions
    )
    caption = f"All {len(resolved.decisions)} decisions of the protocol {resolved.protocol}".rstrip()
    decisions = Table(["decision", "value", "meaning", "origin"], rows, caption=caption, label="Protocol")
    return Section("protocol", "Protocol", [Details(f"{len(resolved.decisions)} decisions", [decisions])])


def tuning_section(view: RunView) -> Section | None:
    """The tuned algorithms, with their numbers of trials and the chosen parameters; None if no algorithm was tuned."""
    algorithms = view.run.tuned()
    first = next((tuning for algorithm in algorithms for tuning in algorithm.tunings), None)
    if first is None:
        return None
    uneven = uneven_tuning(algorithms)
    limit = f" or {first.budget.seconds:g} seconds" if first.budget.seconds is not None else ""
    protocol, decisions = view.run.protocol, registry()
    part = "the validation part of each fold, before its test part was opened"
    if protocol.get("split.tuned_on") == "test":
        part = decisions["split.tuned_on"].meaning("test")
    fitted_on = decisions["split.fitted_on"].meaning(protocol.get("split.fitted_on", "train"))
    sentence = (
        f"Parameters were chosen by {first.metric.name} on {part}, with up to {first.budget.trials} trials{limit} for "
        f"each algorithm. For the test all algorithms were fitted on {fitted_on}."
    )
    rows = []
    for algorithm in algorithms:
        chosen = algorithm.chosen or {"": []}
        rows += [
            [algorithm.label, algorithm.status, algorithm.trials, text, ", ".join(folds)]
            for text, folds in chosen.items()
        ]
    header = ["algorithm", "tuned", "trials", "chosen", "folds"]
    choices = Table(header, rows, caption="What was chosen on which folds", label="Tuning")
    warning = [Paragraph(uneven, strong=True)] if uneven else []
    return Section("tuning", "Tuning", [*warning, sentence, choices])


def notes_section(view: RunView) -> Section | None:
    """The notes of algorithms about their scores, once for equal notes of several folds; None if there are none."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for cell in view.journal.events("cell.finished"):
        label, _, fold = cell.cell.rpartition("/")
        for name, text in cell.notes.items():
            folds.setdefault((label, name, text), []).append(fold)
    if not folds:
        return None
    rows = ([label, name, text, ", ".join(names)] for (label, name, text), names in folds.items())
    header = ["algorithm", "note", "text", "folds"]
    notes = Table(header, rows, caption="Notes of the systems, by algorithm", label="Notes of the systems")
    return Section("notes", "Notes of the systems", [notes])


def identity_section(view: RunView) -> Section:
    """Digests of the data and its parts, versions, the machine, and all packages of each framework."""
    title = "The run and its data"
    facts = Table(["fact", "value"], _facts(view), caption=title, label=title)
    folds = Details("Parts of the data", [_folds(view)])
    return Section("identity", "Data, software, machine", [facts, folds, *_environments(view)])


def _facts(view: RunView) -> list[tuple[str, Any]]:
    started, loaded, prepared = view.started, view.run.loaded, view.run.prepared
    sizes = (f"{event.rows:,} rows, {event.users:,} users, {event.items:,} items" for event in (loaded, prepared))
    return [
        ("data", f"{loaded.data}: {next(sizes)}"),
        ("data digest", loaded.digest),
        ("data as used", next(sizes)),
        ("digest of the data as used", prepared.digest),
        *((f"file of {decision}", digest) for decision, digest in loaded.files.items()),
        ("study digest", started.study_digest),
        ("protocol hash", started.protocol_hash),
        ("seed", started.seed),
        *(("metric", measure.full_name) for measure in view.run.resolved.measures),
        *started.versions.items(),
        *started.machine.items(),
        ("the run finished in the journal", view.journal.end.cited()),
    ]


def _folds(view: RunView) -> Table:
    rows = (
        [f.fold, f"{f.train_rows:,}", f"{f.validation_rows:,}", f"{f.test_rows:,}", f.train_digest, f.test_digest]
        for f in view.run.folds
    )
    header = ["fold", "train", "validation", "test", "digest of train", "digest of test"]
    return Table(header, rows, header[1:4], "Rows of each part, and their digests", "Parts of the data")


def _environments(view: RunView) -> list[Details]:
    """The packages of each framework, as the run folder has them."""
    blocks = []
    for path in sorted((view.run.folder / "environments").glob("*.txt")):
        name = f"Packages of {path.stem}"
        text = render("run_text_box.html.j2", label=name, text=path.read_text(encoding="utf-8"))
        blocks.append(Details(name, [text]))
    return blocks
