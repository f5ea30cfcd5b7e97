"""All folds of an algorithm averaged together, from what their cells stored (``average.folds = "pooled"``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from repro.data.interactions import IdArray
from repro.data.parquet import read_parquet
from repro.metrics import Averaged, Measure, Predictions, Ratio, average, average_predictions, spoils
from repro.protocol import Protocol

if TYPE_CHECKING:
    from repro.journal import events
    from repro.study.folder import RunFolder


def pooled_values(
    folder: RunFolder,
    finished: Mapping[str, events.CellFinished],
    labels: Iterable[str],
    folds: Sequence[str],
    measures: Sequence[Measure],
    protocol: Protocol,
    scale: tuple[float, float],
) -> dict[str, tuple[float, int]]:
    """The value of each algorithm and measure and the users in it, by ``label/full name``; none where folds are not
    pooled."""
    if protocol["average.folds"] != "pooled":
        return {}
    found: dict[str, tuple[float, int]] = {}
    for label in labels:
        cells = [finished[cell] for fold in folds if (cell := f"{label}/{fold}") in finished]
        paths = [{name: folder.artifact(digest) for name, digest in cell.artifacts.items()} for cell in cells]
        for measure in measures:
            pooled = pooled_value(measure, paths, protocol, scale)
            if pooled is not None:
                found[f"{label}/{measure.full_name}"] = pooled
    return found


def pooled_value(
    measure: Measure, cells: Sequence[Mapping[str, Path]], protocol: Protocol, scale: tuple[float, float]
) -> tuple[float, int] | None:
    """The value of ``measure`` over the users (lists, pairs) of all cells, and how many users are in it, each once;
    ``cells`` are their tables' paths, ``scale`` is the rating scale.

    None where there is nothing to be pooled: a number about all lists together belongs to one fold, and an
    algorithm that does not predict ratings has none to pool.
    """
    if measure.parts:
        parts = [pooled_value(part, cells, protocol, scale) for part in measure.parts]
        known = [part for part in parts if part is not None]
        assert measure.metric.join is not None
        if len(known) < len(parts):
            return None
        return measure.metric.join([value for value, _ in known]), min(users for _, users in known)
    stored = stored_average(measure, cells, protocol, scale)
    return None if stored is None else (stored[0].value, stored[0].users_counted)


def stored_average(
    measure: Measure, cells: Sequence[Mapping[str, Path]], protocol: Protocol, scale: tuple[float, float]
) -> tuple[Averaged, IdArray] | None:
    """The average over the users (lists, pairs) of all cells, and the ids of the users by their codes in it.

    None where the cells stored nothing to average; ``measure`` has no parts.
    """
    kind = measure.metric.kind
    name = {"ranking": "values", "prediction": "predictions"}.get(kind)
    if name is None or not all(name in cell for cell in cells):
        return None
    # A fold without lists or pairs has columns without a type.
    table = pa.concat_tables([read_parquet(cell[name]) for cell in cells], promote_options="default")
    codes, ids = pd.factorize(table["user"].to_numpy(), sort=True)
    users = codes.astype(np.int32)
    if kind == "ranking":
        ratio = Ratio(
            table[f"{measure.full_name} numerator"].to_numpy(),
            table[f"{measure.full_name} denominator"].to_numpy(),
        )
        empty = table["length"].to_numpy() == 0
        return average(measure, ratio, users, table["stratum"].to_numpy(), empty, protocol), ids
    items = pd.factorize(table["item"].to_numpy(), sort=True)[0].astype(np.int32)
    predictions = Predictions(
        users,
        items,
        table["rating"].to_numpy(),
        table["resolved"].to_numpy(),
        table["own"].to_numpy(),
        scale,
        spoils=spoils(protocol),
    )
    return average_predictions(measure, predictions), ids
