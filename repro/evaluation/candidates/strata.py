"""Popularity percentiles of items (P1R; Bellogín 2012, section 4.6.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import ProtocolError
from repro.protocol import Protocol


def popularity_strata(
    train: Interactions, everything: Interactions, protocol: Protocol, removed_items: CodeArray
) -> npt.NDArray[np.int32]:
    """The percentile of each item: 0 for the least popular part of the items, m - 1 for the most popular.

    All items except the removed head are sorted by their number of rows, ties by code, and divided into m parts of
    almost equal size. The division is of all items, not of the candidates: every item has a percentile. The head
    belongs to the most popular part.

    A target set cannot be larger than a percentile, |T_u| <= |I| / m: that is a ProtocolError.
    """
    count = protocol.count("candidates.strata_count")
    rows = train if protocol["candidates.strata_by"] == "train" else everything
    kept = np.setdiff1d(np.arange(rows.n_items), removed_items)
    by_popularity = kept[np.argsort(rows.item_counts()[kept], kind="stable")]
    strata = np.full(rows.n_items, count - 1, dtype=np.int32)
    strata[by_popularity] = np.arange(len(kept)) * count // max(len(kept), 1)
    _require_room(protocol, len(kept) // count)
    return strata


def _require_room(protocol: Protocol, smallest: int) -> None:
    size, count = protocol.count("candidates.sample_size"), protocol.count("candidates.strata_count")
    if size + 1 > smallest:
        raise ProtocolError(
            f"P1R with a target set larger than a percentile: candidates.sample_size = {size} and the relevant "
            f"item make {size + 1:,} items, and the smallest of the {count} percentiles holds {smallest:,}; "
            f"lower candidates.sample_size to at most {max(smallest - 1, 0)}, or lower candidates.strata_count"
        )
