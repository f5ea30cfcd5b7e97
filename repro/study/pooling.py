"""All folds of an algorithm averaged together, from what their cells stored (``average.folds = "pooled"``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from repro.metrics import Measure, Predictions, Ratio, average, average_errors
from repro.protocol import Protocol


def pooled_value(measure: Measure, cells: Sequence[Mapping[str, Path]], protocol: Protocol) -> float | None:
    """The value of ``measure`` over the users (lists, pairs) of all cells; ``cells`` are their tables' paths.

    None where there is nothing to be pooled: a number about all lists together belongs to one fold, and an
    algorithm that does not predict ratings has none to pool.
    """
    if measure.parts:
        parts = [pooled_value(part, cells, protocol) for part in measure.parts]
        known = [value for value in parts if value is not None]
        assert measure.metric.join is not None
        return measure.metric.join(known) if len(known) == len(parts) else None
    kind = measure.metric.kind
    name = {"ranking": "values", "prediction": "errors"}.get(kind)
    if name is None or not all(name in cell for cell in cells):
        return None
    table = pa.concat_tables([pq.read_table(cell[name]) for cell in cells])
    users = pd.factorize(table["user"].to_numpy(), sort=True)[0].astype(np.int32)
    if kind == "ranking":
        ratio = Ratio(
            table[f"{measure.full_name} numerator"].to_numpy(),
            table[f"{measure.full_name} denominator"].to_numpy(),
        )
        empty = table["length"].to_numpy() == 0
        return average(measure, ratio, users, table["stratum"].to_numpy(), empty, protocol).value
    items = pd.factorize(table["item"].to_numpy(), sort=True)[0].astype(np.int32)
    return average_errors(measure, Predictions(users, items, table["error"].to_numpy()), protocol).value
