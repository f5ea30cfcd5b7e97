"""The values of each user in a finished run, from the tables that its cells stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from repro.evaluation.metrics import Measure
from repro.protocol import Protocol
from repro.runs.fold_pooling import stored_average


def cell_values(
    measure: Measure, tables: Mapping[str, Path], protocol: Protocol, scale: tuple[float, float]
) -> pd.DataFrame | None:
    """The users of one cell with their values, as the protocol averages; None where the measure is not defined.

    ``tables`` are the paths of the tables that the cell stored, ``scale`` is the rating scale.
    """
    stored = stored_average(measure, [tables], protocol, scale)
    if stored is None:
        return None
    averaged, ids = stored
    return pd.DataFrame({"user": ids[averaged.users], "value": averaged.values})


def mean_of_folds(folds: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Each user once, in ascending order, with the mean of the user's values on all folds."""
    if len(folds) == 1:
        return folds[0]
    rows = pd.concat(folds, ignore_index=True)
    codes, ids = pd.factorize(rows["user"].to_numpy(), sort=True)
    counts = np.bincount(codes, minlength=len(ids))
    # The sums are in the order of the folds, whatever the order in which these were computed; NaN spoils the mean.
    sums = np.bincount(codes, weights=rows["value"].to_numpy(), minlength=len(ids))
    return pd.DataFrame({"user": ids, "value": sums / counts})
