"""Binary ratings: 1 from a threshold on, and nothing or 0 below it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import Interactions
from repro.errors import DataError
from repro.protocol import Protocol

BINARISE, BELOW, ROWS = "data.binarise", "data.binarise_below", "data.binarise_rows"


def is_binarised(protocol: Protocol, rows: str) -> bool:
    """Whether ratings are made binary, and those of ``rows``: "all" or "training"."""
    return protocol[BINARISE] != "none" and protocol[ROWS] == rows


def binarised(data: Interactions, protocol: Protocol) -> Interactions:
    """The interactions with binary ratings.

    A rating of at least ``data.binarise`` becomes 1. By ``data.binarise_below``, rows with a lower one are left out
    ("drop"), and the others are implicit feedback; or they stay with the rating 0 ("zero").
    """
    if not data.explicit:
        raise DataError(
            f'{BINARISE} = {protocol[BINARISE]} compares ratings, and this data set has none; leave it at "none"'
        )
    positive = data.ratings >= protocol.number(BINARISE)
    if protocol[BELOW] == "zero":
        return replace(data, ratings=positive.astype(np.float64))
    kept = data.select(positive)
    return replace(kept, ratings=np.ones(len(kept)), explicit=False)


def binarise_impacts(data: Interactions, protocol: Protocol) -> list[Impact]:
    """The number of positive rows, and what happens to the others; ``data`` is not binary yet."""
    positive = int((data.ratings >= protocol.number(BINARISE)).sum())
    below = len(data) - positive
    note = "left out" if protocol[BELOW] == "drop" else "kept with the rating 0"
    return [
        Impact.of(protocol, BINARISE, positive, len(data), "rows", "positive, with the rating 1"),
        Impact.of(protocol, BELOW, below, len(data), "rows", note),
    ]
