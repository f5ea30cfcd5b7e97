"""The tuning of each algorithm in a finished run, from its journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from repro.runs.journal import Contents, events

COLUMNS = (
    "algorithm",
    "fold",
    "trial",
    "parameters",
    "metric",
    "value",
    "users",
    "state",
    "seconds",
    "chosen",
    "error",
)


@dataclass(frozen=True)
class TunedAlgorithm:
    """An algorithm of a run: its tuning on each fold, none where it was not tuned.

    ``tunable`` says whether it has any parameters.
    """

    label: str
    tunings: tuple[events.TuningFinished, ...]
    tunable: bool

    @property
    def said(self) -> str:
        """Whether it was tuned, in words."""
        if self.tunings:
            return "yes"
        return "no" if self.tunable else "no: it has no parameters"

    @property
    def trials(self) -> str:
        """How many trials were made on a fold, and how many of all gave no value."""
        if not self.tunings:
            return ""
        made = [len(tuning.trials) for tuning in self.tunings]
        span = f"{min(made)}" if min(made) == max(made) else f"{min(made)} to {max(made)}"
        lost = sum(trial.state != "complete" for tuning in self.tunings for trial in tuning.trials)
        return span + (f" ({lost} of {sum(made)} gave no value)" if lost else "")

    @property
    def chosen(self) -> dict[str, list[str]]:
        """The folds on which each set of parameters was chosen."""
        folds: dict[str, list[str]] = {}
        for tuning in self.tunings:
            text = "nothing" if tuning.chosen is None else ", ".join(f"{k} = {v}" for k, v in tuning.chosen.items())
            folds.setdefault(text, []).append(tuning.fold)
        return folds


def tuned_algorithms(journal: Contents, labels: Sequence[str]) -> list[TunedAlgorithm]:
    """The algorithms of a run, in the order of ``labels`` (those that failed altogether after them)."""
    last = {event.cell: event for event in journal.events("tuning.finished")}
    parameters = {event.cell.rpartition("/")[0]: event.parameters for event in journal.events("cell.started")}
    folds = [event.fold for event in journal.events("fold.made")]
    failed = sorted({cell.rpartition("/")[0] for cell in last} - set(labels))
    return [
        TunedAlgorithm(
            label,
            tuple(last[cell] for fold in folds if (cell := f"{label}/{fold}") in last),
            bool(parameters.get(label)),
        )
        for label in (*labels, *failed)
    ]


def trials_table(algorithms: Sequence[TunedAlgorithm]) -> pd.DataFrame:
    """One row for each trial; ``parameters`` are those that were tuned, and ``chosen`` marks the best ones."""
    rows = []
    for algorithm in algorithms:
        for tuning in algorithm.tunings:
            chosen = next((t.number for t in tuning.trials if _is_chosen(t, tuning)), None)
            for trial in tuning.trials:
                rows.append(
                    {
                        **trial.model_dump(exclude={"number"}),
                        "algorithm": algorithm.label,
                        "fold": tuning.fold,
                        "trial": trial.number,
                        "metric": tuning.metric.name,
                        "chosen": trial.number == chosen,
                    }
                )
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"value": float})


def _is_chosen(trial: events.TrialEntry, tuning: events.TuningFinished) -> bool:
    return trial.state == "complete" and trial.parameters == tuning.chosen


def uneven_tuning(algorithms: Sequence[TunedAlgorithm]) -> str:
    """A sentence where the run compares tuned algorithms with others that could have been tuned; else empty."""
    tuned = [algorithm for algorithm in algorithms if algorithm.tunings]
    others = [algorithm.label for algorithm in algorithms if algorithm.tunable and not algorithm.tunings]
    if not tuned or not others:
        return ""
    first = tuned[0].tunings[0]
    names = ", ".join(algorithm.label for algorithm in tuned)
    return (
        f"This table compares tuned with untuned algorithms. Tuned, with up to {first.budget.trials} trials each on "
        f"the validation part by {first.metric.name}: {names}. Not tuned, with parameters as the study or the "
        f"framework has them: {', '.join(others)}. A difference between the two may be one of tuning alone."
    )
