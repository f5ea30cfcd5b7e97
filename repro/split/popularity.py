"""Items by popularity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.protocol import Protocol
from repro.split.share import CountArray, share_of


def by_popularity(counts: CountArray) -> npt.NDArray[np.int64]:
    """The item codes by falling number of rows; ties by code."""
    return np.argsort(-counts, kind="stable")


def head_items(interactions: Interactions, protocol: Protocol) -> CodeArray:
    """The ``split.head`` most popular share of the items (rounded up) by all rows, as ascending codes.

    Cremonesi, Koren & Turrin 2010 leave the head out of the test, as it makes trivial hits.
    """
    size = share_of(interactions.n_items, protocol.number("split.head"), "ceil")
    return np.sort(by_popularity(interactions.item_counts())[:size]).astype(np.int32)
