"""Tables of what the journal of a run records about its cells: values of lists, seconds, and impacts of decisions."""

from __future__ import annotations

import pandas as pd

from repro.data.io.parquet import read_parquet
from repro.runs.folder import RunFolder
from repro.runs.journal import Contents


def values_of_lists(journal: Contents, files: RunFolder) -> pd.DataFrame:
    """Each list's value of each ranking metric: algorithm, fold, user, (target), metric, value."""
    parts = []
    for cell, event in journal.finished_cells.items():
        if "values" not in event.artifacts:
            continue
        label, _, fold = cell.rpartition("/")
        stored = read_parquet(files.artifact(event.artifacts["values"])).to_pandas()
        owners = stored[[name for name in ("user", "target") if name in stored]]
        for column in stored.columns[stored.columns.str.endswith(" numerator")]:
            metric = column.removesuffix(" numerator")
            value = stored[column] / stored[f"{metric} denominator"].where(lambda d: d > 0)
            parts.append(owners.assign(algorithm=label, fold=fold, metric=metric, value=value))
    if not parts:
        return pd.DataFrame(columns=["user", "algorithm", "fold", "metric", "value"])
    return pd.concat(parts, ignore_index=True)


def median_seconds(journal: Contents) -> pd.DataFrame:
    """Algorithms by ``fit`` and ``score``: the medians over folds of the seconds that they took."""
    seconds = {cell: event.seconds for cell, event in journal.finished_cells.items()}
    rows = [(cell.rpartition("/")[0], took.fit, took.score + took.predict) for cell, took in seconds.items()]
    return pd.DataFrame(rows, columns=["algorithm", "fit", "score"]).groupby("algorithm").median()


def impacts_of(journal: Contents) -> pd.DataFrame:
    """The number of rows, users or items that each decision affected, for the data, the split and each cell."""
    rows = []
    for line in journal.lines:
        for impact in getattr(line.event, "impacts", ()):
            where = getattr(line.event, "cell", line.event.event.partition(".")[0])
            rows.append({"where": where, **impact.model_dump()})
    return pd.DataFrame(rows)


def largest_impacts(impacts: pd.DataFrame) -> list[str]:
    """For each decision and unit, the sentence of the cell with the largest effect, if there is any."""
    impacts = impacts[impacts["touched"] > 0].astype({"value": str})
    groups = impacts.groupby(["decision", "value", "unit", "note"], sort=False)["touched"]
    return [str(sentence) for sentence in impacts.loc[groups.idxmax(), "sentence"]]
