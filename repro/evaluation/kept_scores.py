"""Scores that a run keeps, so that other evaluations need no second fit: of all test users, for all items.

Evaluation decisions say which of them are ranked and how; no score of a fit hangs on them. (Where parameters are tuned,
they say which fit it is.)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from repro.data import Interactions
from repro.data.interactions import CodeArray
from repro.data.io.parquet import read_parquet
from repro.errors import JournalError
from repro.plugin import Scores


def score_tables(scores: Scores, users: CodeArray, whole: Interactions) -> dict[str, pa.Table]:
    """A row for each test user with the scores of all items, and the items in their order."""
    columns = {"user": pa.array(whole.user_ids[users]), "scores": _rows(scores.values)}
    if scores.state is not None:
        columns["states"] = _rows(scores.state)
    return {"scores": pa.table(columns), "scored_items": pa.table({"item": pa.array(whole.item_ids)})}


def read_scores(scores: Path, scored_items: Path, users: CodeArray, whole: Interactions) -> Scores:
    """What :func:`score_tables` wrote, for the same data set and test users."""
    table = read_parquet(scores)
    items = read_parquet(scored_items)["item"].to_numpy()
    if not np.array_equal(items, whole.item_ids) or not np.array_equal(table["user"].to_numpy(), whole.user_ids[users]):
        raise JournalError(f"{scores} has the scores of other users or items than this data set and split have")
    states = _block(table, "states", len(items)) if "states" in table.column_names else None
    return Scores(_block(table, "scores", len(items)), states)


def _rows(block: npt.NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(block).reshape(-1)), block.shape[1])


def _block(table: pa.Table, name: str, width: int) -> npt.NDArray[Any]:
    flat: npt.NDArray[Any] = table[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(table.num_rows, width)
