"""Inter-list diversity, or personalisation: how different the lists of different users are.

    inter-list-diversity@k = mean over pairs of lists of different users of 1 - (items in both down to k) / k

The mean Hamming distance: 0 if all users get the same items, 1 if no two users have an item in common. It is exact,
from how often each item is listed: c lists that hold an item make c(c-1)/2 pairs that share it. If a user has several
lists (1R, strata), pairs of the same user are left out.

An empty list is left out; the places beyond the end of a list of fewer than k items count as different from all
others. Relevance has no effect. With fewer than two users it is not a number. If tied items share a rank, lists count
as they are shown. The expectation over all orders of tied items is refused: it would need all tied candidates of every
list.

Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, PNAS 2010.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import Background, Ranked, Variants
from repro.evaluation.metrics.shared.lists import item_counts_metric, recommended_items, shown


def counts_of_lists(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """The numbers of lists with each item, of lists, places and pairs of lists of one user, and of shared items."""
    assert k is not None
    items = shown(ranked, k)
    listed = ranked.lengths > 0
    owners = ranked.users[listed].astype(np.int64)
    _, lists = np.unique(owners, return_counts=True)
    pairs = shared = 0
    if (lists > 1).any():  # all lists of a user are in one block
        keys = owners[:, np.newaxis] * background.n_items + items[listed]
        pairs = _pairs(lists)
        shared = _pairs(np.unique(keys[items[listed] >= 0], return_counts=True)[1])
    extras = [len(owners), len(owners) * k, pairs, shared]
    return np.concatenate([recommended_items(ranked, k, variants, background), extras])


def mean_distance(sums: FloatArray, variants: Variants, background: Background) -> float:
    """The mean over all pairs of lists of different users."""
    counts, extras = np.split(sums.astype(np.int64), [-4])
    lists, places, own_pairs, own_shared = (int(extra) for extra in extras)
    pairs = lists * (lists - 1) // 2 - own_pairs
    if not pairs:
        return math.nan
    k = places // lists
    return 1.0 - (_pairs(counts) - own_shared) / (k * pairs)


def _pairs(counts: npt.NDArray[Any]) -> int:
    """The number of pairs within groups of these sizes."""
    return int((counts * (counts - 1) // 2).sum())


METRIC = item_counts_metric(
    "inter-list-diversity",
    "Inter-list diversity (Hamming distance)",
    mean_distance,
    compute=counts_of_lists,
    aliases={"hamming": {}, "personalisation": {}, "personalization": {}},
    task="beyond accuracy",
    shows="how much lists differ between users; not whether they are good",
    cite="Zhou et al. 2010",
)
