"""The result of a ranking: the top items of each list, and the ranks of its test items."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.candidates.ragged import offsets_of, spread

# The origin of the score by which an item is ranked; 0 if it has none.
BY_ALGORITHM, BY_FALLBACK = 1, 2

_OF_LISTS = ("users", "strata", "items", "scored", "lengths", "candidates", "missing", "n_relevant")
_OF_HITS = ("hit_items", "relevant", "grades", "position", "above", "tied")

Ties = Literal["definite", "expected", "best", "worst", "shared-best", "shared-mean", "shared-worst"]


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranked lists, in the order of the list block they come from.

    Metrics need only the test items of a list (its *hits*, relevant or not) and their ranks. For hit ``h``,
    ``above[h]`` candidates have a strictly higher score, ``tied[h]`` candidates (itself included) have the same score,
    and ``position[h]`` is its rank, from 1, after ties are broken. With a tie rule that gives an order, metrics use
    ``position``; with "expected", "best", "worst" and shared ranks, they use ``above`` and ``tied``, and ``position``
    is only the order in which the list is shown.

    users      the user of each list
    strata     the stratum of each list
    depth      the number of ranks; hits beyond it are *unranked* (``position`` 0, ``above`` -1)
    items      lists x depth: item codes in order of rank, -1 beyond the end of the list
    scored     lists x depth: BY_ALGORITHM if the algorithm scored the item, BY_FALLBACK if it has a fallback score of
               the framework that the protocol accepts, 0 if a rule for missing scores placed it
    lengths    the number of ranked candidates of each list, also beyond ``depth``
    candidates the number of candidates of each list, including those that a rule for missing scores dropped
    missing    the number of candidates of each list whose score is missing
    n_relevant the number of relevant test items of each list, ranked or not
    scores     lists x depth: the score by which each item is ranked, -inf (or inf) if it is last (first) because it has
               none; only if a metric needs it
    offsets    the hits of list ``n`` are ``[offsets[n], offsets[n + 1])``: by ``position``, unranked ones last
    ideals     cached values of ideal lists of the same test items, by kind of gain; other rankings of these lists may
               share the cache
    """

    users: CodeArray
    strata: npt.NDArray[np.int32]
    ties: Ties
    depth: int
    items: npt.NDArray[np.int32]
    scored: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.int32]
    candidates: npt.NDArray[np.int32]
    missing: npt.NDArray[np.int32]
    n_relevant: npt.NDArray[np.int32]
    offsets: Offsets
    hit_items: CodeArray
    relevant: npt.NDArray[np.uint8]
    grades: FloatArray
    position: npt.NDArray[np.int32]
    above: npt.NDArray[np.int32]
    tied: npt.NDArray[np.int32]
    scores: FloatArray | None = None
    ideals: dict[Hashable, FloatArray] | None = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.users)

    def only(self, rows: npt.NDArray[np.intp]) -> Ranked:
        """The lists at ``rows``, in that order."""
        hits, offsets = spread(self.offsets, rows)
        of_lists: dict[str, Any] = {name: getattr(self, name)[rows] for name in _OF_LISTS}
        scores = None if self.scores is None else self.scores[rows]
        return replace(self, **of_lists, **self._hits(hits), offsets=offsets, scores=scores, ideals=None)

    def only_hits(self, hits: npt.NDArray[np.bool_]) -> Ranked:
        """The same lists with some of their test items, as if the others had not been held out."""
        offsets, relevant = offsets_of(hits)[self.offsets], offsets_of(self.relevant * hits)
        n_relevant = np.diff(relevant[self.offsets]).astype(np.int32)
        return replace(self, **self._hits(hits), n_relevant=n_relevant, offsets=offsets, ideals=None)

    def _hits(self, hits: npt.NDArray[Any]) -> dict[str, Any]:
        return {name: getattr(self, name)[hits] for name in _OF_HITS}

    @cached_property
    def doubled_ranks(self) -> npt.NDArray[np.int64]:
        """Twice the rank of each hit under the tie rule, as a whole number; 0 if the hit is unranked.

        Doubled because mean ranks may be halves: that of two tied items at ranks 2 and 3 is 2.5.
        """
        above, tied = self.above.astype(np.int64), self.tied
        match self.ties:
            case "definite":
                return 2 * self.position.astype(np.int64)
            case "shared-best":
                ranks = 2 * above + 2
            case "shared-mean":
                ranks = 2 * above + tied + 1
            case "shared-worst":
                ranks = 2 * (above + tied)
            case _:
                raise AssertionError(f"hits have no single rank when ties are {self.ties}")
        return np.where(above >= 0, ranks, 0)

    @cached_property
    def relevant_gains(self) -> FloatArray:
        """The gain of each hit by relevance: 1 or 0."""
        return self.relevant.astype(np.float64)

    @cached_property
    def linear_gains(self) -> FloatArray:
        """The gain of each hit by its grade, at least 0."""
        return np.maximum(self.grades, 0.0)

    @cached_property
    def exponential_gains(self) -> FloatArray:
        """The gain of each hit by 2^grade - 1, at least 0."""
        return np.maximum(np.exp2(self.grades) - 1.0, 0.0)


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
