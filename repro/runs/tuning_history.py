"""The tuning of each algorithm in a finished run, from its journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from repro.runs.journal import Contents, events

COLUMNS = [
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
]


@dataclass(frozen=True)
class TunedAlgorithm:
    """An algorithm of a run, its tuning on each fold (none where it was not tuned), and whether it has parameters."""

    label: str
    tunings: tuple[events.TuningFinished, ...]
    tunable: bool

    @property
    def status(self) -> str:
        """Whether it was tuned, in words."""
        if self.tunings:
            return "yes"
        return "no" if self.tunable else "no: it has no parameters"

    @property
    def trials(self) -> str:
        """The number of trials on a fold, and of those without a value on all folds."""
        if not self.tunings:
            return ""
        counts = [len(tuning.trials) for tuning in self.tunings]
        span = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        without = sum(trial.state != "complete" for tuning in self.tunings for trial in tuning.trials)
        return span + (f" ({without} of {sum(counts)} gave no value)" if without else "")

    @property
    def chosen(self) -> dict[str, list[str]]:
        """The folds on which each set of parameters was chosen."""
        folds: dict[str, list[str]] = {}
        for tuning in self.tunings:
            text = "nothing" if tuning.chosen is None else ", ".join(f"{k} = {v}" for k, v in tuning.chosen.items())
            folds.setdefault(text, []).append(tuning.fold)
        return folds


def tuned_algorithms(journal: Contents, labels: Sequence[str]) -> list[TunedAlgorithm]:
    """The algorithms of a run, in the order of ``labels``; those that failed on all folds come last."""
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
            complete = [trial for trial in tuning.trials if trial.state == "complete"]
            chosen = next((trial.number for trial in complete if trial.parameters == tuning.chosen), None)
            common = {"algorithm": algorithm.label, "fold": tuning.fold, "metric": tuning.metric.name}
            rows += [
                {**trial.model_dump(), **common, "trial": trial.number, "chosen": trial.number == chosen}
                for trial in tuning.trials
            ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"value": float})


def uneven_tuning(algorithms: Sequence[TunedAlgorithm]) -> str:
    """A sentence where the run compares tuned algorithms with others that could have been tuned; else empty."""
    tuned = [algorithm for algorithm in algorithms if algorithm.tunings]
    untuned = [algorithm.label for algorithm in algorithms if algorithm.tunable and not algorithm.tunings]
    if not tuned or not untuned:
        return ""
    first = tuned[0].tunings[0]
    names = ", ".join(algorithm.label for algorithm in tuned)
    return (
        f"This table compares tuned with untuned algorithms. Tuned, with up to {first.budget.trials} trials each on "
        f"the validation part by {first.metric.name}: {names}. Not tuned, with parameters as the study or the "
        f"framework has them: {', '.join(untuned)}. A difference between the two may be one of tuning alone."
    )
