"""What algorithms were tuned by, and what they have to say about how they came by their scores."""

from __future__ import annotations

from html import escape

from repro.report.pages import table
from repro.report.run.figures import section, wide
from repro.report.run.material import Material
from repro.runs.tuning_history import uneven_tuning
from repro.study.tuning.settings import REFIT


def tuning_section(run: Material) -> str:
    """Which algorithms were tuned, with how many trials, and what was chosen; nothing where none was."""
    algorithms = run.run.tuned()
    first = next((tuning for one in algorithms for tuning in one.tunings), None)
    if first is None:
        return ""
    uneven = uneven_tuning(algorithms)
    limit = f" or {first.budget.seconds:g} seconds" if first.budget.seconds is not None else ""
    told = (
        f"Parameters were chosen by {first.metric.name} on the validation part of each fold, before its test part was "
        f"opened, with up to {first.budget.trials} trials{limit} for each algorithm. For the test all algorithms were "
        f"fitted on {REFIT[first.refit]}."
    )
    rows = []
    for one in algorithms:
        chosen = one.chosen or {"": []}
        rows += [[one.label, one.said, one.trials, text, ", ".join(folds)] for text, folds in chosen.items()]
    chosen_by = table(
        ["algorithm", "tuned", "trials", "chosen", "folds"], rows, caption="What was chosen on which folds"
    )
    return section(
        "tuning",
        "Tuning",
        [
            *([f"<p><strong>{escape(uneven)}</strong></p>"] if uneven else []),
            f"<p>{escape(told)}</p>",
            wide(chosen_by, "Tuning"),
        ],
    )


def notes_section(run: Material) -> str:
    """What algorithms say, once where it is the same on several folds; nothing where they say nothing."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for cell in run.journal.events("cell.finished"):
        label, _, fold = cell.cell.rpartition("/")
        for name, text in cell.notes.items():
            folds.setdefault((label, name, text), []).append(fold)
    if not folds:
        return ""
    rows = ([label, name, text, ", ".join(where)] for (label, name, text), where in folds.items())
    notes = table(["algorithm", "note", "text", "folds"], rows, caption="Notes of the systems, by algorithm")
    return section("notes", "What the systems say", [wide(notes, "Notes of the systems")])
