"""Selection of the nearest rows, compiled."""

from __future__ import annotations

import numpy as np

from repro.compiling import compiled


@compiled(stored=False)
def nearest_first(similarities, most, absolute, higher_code):  # type: ignore[no-untyped-def]
    """The places of the ``most`` nearest (0: all), nearest first; of equal ones the first, or the last."""
    keys = -np.abs(similarities) if absolute else -similarities
    size = len(keys)
    if higher_code:
        keys = keys[::-1].copy()
    if 0 < most < size:
        last = np.partition(keys, most - 1)[most - 1]
        chosen = np.empty(most, dtype=np.int64)
        below = 0
        for place in range(size):
            below += keys[place] < last
        equal = most - below
        filled = 0
        for place in range(size):
            if keys[place] < last or (keys[place] == last and equal > 0):
                equal -= keys[place] == last
                chosen[filled] = place
                filled += 1
        order = chosen[np.argsort(keys[chosen], kind="mergesort")]
    else:
        order = np.argsort(keys, kind="mergesort")
    return size - 1 - order if higher_code else order
