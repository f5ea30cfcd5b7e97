"""The lists whose values can depend on the order of tied items."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from repro.evaluation.ranking.ranked import Ranked


@dataclass(frozen=True, eq=False)
class TiedLists:
    """The lists in which a test item is tied; ``rows`` are their positions."""

    rows: npt.NDArray[np.intp]
    lists: Ranked


def tied_lists(ranked: Ranked) -> TiedLists | None:
    """The lists in which a test item is tied, whatever the tie rule; None if there is no such list."""
    tied = ranked.tied > 1
    if not tied.any():
        return None
    list_of = np.repeat(np.arange(len(ranked)), np.diff(ranked.offsets))
    rows = np.unique(list_of[tied])
    return TiedLists(rows, replace(ranked.only(rows), ideals={}))
