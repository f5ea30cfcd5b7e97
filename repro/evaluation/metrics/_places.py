"""Where hits stand and what a place is worth: the inputs that all kernels share.

Ranks are kept twice as large as they are, as whole numbers: the mean rank of two tied items at places 2 and 3
is 2.5, kept as 5. A table of discounts is read at these doubled ranks.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.ranking.ranked import Ranked


def deepest(ranked: Ranked, k: int) -> int:
    """The deepest place down to ``k`` that any hit may take."""
    if not len(ranked.position):
        return 1
    if ranked.ties == "definite":
        return max(1, min(k, int(ranked.position.max())))
    return max(1, min(k, int((ranked.above + ranked.tied).max())))


def discounts(kind: str, base: float, depth: int) -> FloatArray:
    """What a gain is worth at each doubled rank, at least down to place ``depth``.

    ``log2``: 1 / log2(rank + 1); ``log-base``: 1 / max(1, log_b rank);
    ``half-life``: 1 / 2^((rank - 1) / (b - 1)); ``geometric``: b^(rank - 1);
    ``reciprocal``: 1 / rank; ``rank``: the rank itself; ``none``: 1.
    """
    return _discount_table(kind, base, 1 << max(6, depth.bit_length()))


@cache
def _discount_table(kind: str, base: float, depth: int) -> FloatArray:
    # math.log2, one by one: the last bit of NumPy's vectorised logarithms may differ between processors.
    table = np.zeros(2 * depth + 1)
    for doubled in range(1, 2 * depth + 1):
        table[doubled] = _discount(kind, base, max(1.0, doubled / 2))
    table.setflags(write=False)
    return table


def _discount(kind: str, base: float, rank: float) -> float:
    match kind:
        case "none":
            return 1.0
        case "log2":
            return 1.0 / math.log2(rank + 1.0)
        case "log-base":
            logarithm = math.log2(rank) if base == 2 else math.log(rank) / math.log(base)
            return 1.0 / max(1.0, logarithm)
        case "half-life":
            return math.exp2((1.0 - rank) / (base - 1.0))
        case "geometric":
            return math.pow(base, rank - 1.0)
        case "reciprocal":
            return 1.0 / rank
        case "rank":
            return rank
        case _:
            raise AssertionError(f"no discount is called {kind}")
