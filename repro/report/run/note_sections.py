"""How algorithms were tuned, and the notes that they left about their scores."""

from __future__ import annotations

from repro.report.html import Paragraph, Table
from repro.report.run.material import Material
from repro.report.run.sections import Section
from repro.runs.tuning_history import uneven_tuning
from repro.study.tuning.settings import REFIT


def tuning_section(run: Material) -> Section | None:
    """Which algorithms were tuned, with how many trials, and what was chosen; nothing where none was."""
    algorithms = run.run.tuned()
    first = next((tuning for algorithm in algorithms for tuning in algorithm.tunings), None)
    if first is None:
        return None
    uneven = uneven_tuning(algorithms)
    limit = f" or {first.budget.seconds:g} seconds" if first.budget.seconds is not None else ""
    sentence = (
        f"Parameters were chosen by {first.metric.name} on the validation part of each fold, before its test part was "
        f"opened, with up to {first.budget.trials} trials{limit} for each algorithm. For the test all algorithms were "
        f"fitted on {REFIT[first.refit]}."
    )
    rows = []
    for algorithm in algorithms:
        chosen = algorithm.chosen or {"": []}
        rows += [
            [algorithm.label, algorithm.said, algorithm.trials, text, ", ".join(folds)]
            for text, folds in chosen.items()
        ]
    header = ["algorithm", "tuned", "trials", "chosen", "folds"]
    choices = Table(header, rows, caption="What was chosen on which folds", label="Tuning")
    warning = [Paragraph(uneven, strong=True)] if uneven else []
    return Section("tuning", "Tuning", [*warning, sentence, choices])


def notes_section(run: Material) -> Section | None:
    """What algorithms say, once where it is the same on several folds; nothing where they say nothing."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for cell in run.journal.events("cell.finished"):
        label, _, fold = cell.cell.rpartition("/")
        for name, text in cell.notes.items():
            folds.setdefault((label, name, text), []).append(fold)
    if not folds:
        return None
    rows = ([label, name, text, ", ".join(where)] for (label, name, text), where in folds.items())
    header = ["algorithm", "note", "text", "folds"]
    notes = Table(header, rows, caption="Notes of the systems, by algorithm", label="Notes of the systems")
    return Section("notes", "What the systems say", [notes])
