"""Smaller test sets: random parts of the held-out ratings, and all but those of the most popular items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from repro.data.interactions import CodeArray
from repro.metric_study.judged_lists import JudgedFold, JudgedRun, Mask
from repro.rng import child_keys, stream

# Valcarce et al. 2018, section 5.
SPARSITY_SHARES = tuple(percent / 100 for percent in range(95, 0, -5))
POPULARITY_SHARES = tuple(percent / 100 for percent in range(1, 21))


class ReducedTest(NamedTuple):
    """Which part of the test set counts.

    A random ``share`` of the held-out ratings, drawn for the ``sample``-th time; or, where ``sample`` is 0, all of
    them but those of the ``share`` of items that have most.
    """

    share: float
    sample: int

    def kept(self, run: JudgedRun, seed: int) -> list[Mask]:
        """For each fold, which of its held-out rows are in the set."""
        if self.sample:
            return [_drawn(fold, self.share, self.sample, seed) for fold in run.folds]
        removed = np.zeros(run.folds[0].test.n_items, dtype=np.bool_)
        removed[most_popular(run, self.share)] = True
        return [~removed[fold.test.items] for fold in run.folds]


def _drawn(fold: JudgedFold, share: float, sample: int, seed: int) -> Mask:
    """The rows with the lowest random numbers, each a hash of the user and the item; at least one row."""
    test = fold.test
    name = stream(seed, "metric-study", "sparsity", fold.name, f"{share:g}", sample)
    keys = child_keys(name, test.user_keys[test.users], test.item_keys[test.items])
    kept = np.zeros(len(test), dtype=np.bool_)
    kept[np.argsort(keys, kind="stable")[: sample_size(len(test), share)]] = True
    return kept


def sample_size(rows: int, share: float) -> int:
    return max(1, round(share * rows))


def most_popular(run: JudgedRun, share: float) -> CodeArray:
    """The ``share`` of the held-out items with most held-out ratings, all folds together; equals by item id."""
    counts = sum(fold.test.item_counts() for fold in run.folds)
    ordered = np.argsort(-counts, kind="stable")
    return ordered[: round(share * np.count_nonzero(counts))].astype(np.int32)
