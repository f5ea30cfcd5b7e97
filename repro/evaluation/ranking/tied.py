"""The lists whose values can depend on the order of tied items."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from repro.evaluation.ranking.ranked import Ranked


@dataclass(frozen=True, eq=False)
class TiedLists:
    """The lists in which a held-out item is tied; ``rows`` says which lists they are."""

    rows: npt.NDArray[np.intp]
    lists: Ranked


def tied_lists(ranked: Ranked) -> TiedLists | None:
    """The lists in which a held-out item is tied, whatever the tie rule; None where there is no such list."""
    tied = ranked.tied > 1
    if not tied.any():
        return None
    list_of = np.repeat(np.arange(len(ranked)), np.diff(ranked.offsets))
    rows = np.unique(list_of[tied])
    return TiedLists(rows, _only(ranked, rows))


def _only(ranked: Ranked, rows: npt.NDArray[np.intp]) -> Ranked:
    """Some of the lists."""
    sizes = np.diff(ranked.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    hits = np.arange(offsets[-1]) + np.repeat(ranked.offsets[rows] - offsets[:-1], sizes)
    return replace(
        ranked,
        users=ranked.users[rows],
        strata=ranked.strata[rows],
        items=ranked.items[rows],
        scored=ranked.scored[rows],
        lengths=ranked.lengths[rows],
        candidates=ranked.candidates[rows],
        missing=ranked.missing[rows],
        n_relevant=ranked.n_relevant[rows],
        offsets=offsets,
        hit_items=ranked.hit_items[hits],
        relevant=ranked.relevant[hits],
        grades=ranked.grades[hits],
        position=ranked.position[hits],
        above=ranked.above[hits],
        tied=ranked.tied[hits],
        scores=None if ranked.scores is None else ranked.scores[rows],
        ideals={},
    )
