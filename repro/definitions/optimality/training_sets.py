"""Training sets on which hypotheses about objectives differ: other ratings, other numbers of rows, other shapes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repro.data.interactions import Interactions
from repro.definitions.confirmation import difficult_sets
from repro.definitions.training_sets import interactions

# Users, items, share of pairs, ratings.
SHAPES = (
    (34, 21, 0.30, (1.0, 2.0, 3.0, 4.0, 5.0)),
    (19, 28, 0.35, (0.5, 1.5, 2.5, 4.0, 5.0)),
    (46, 17, 0.25, (1.0, 2.0, 3.0, 7.0, 9.0)),
)


def training_sets(seed: int) -> Iterator[Interactions]:
    """Training sets for inference, with users and items of very different numbers of rows."""
    for number, (n_users, n_items, density, values) in enumerate(SHAPES):
        rng = np.random.default_rng([seed, 31, number])
        by_user, by_item = rng.uniform(0.3, 1.9, n_users), rng.uniform(0.3, 1.9, n_items)
        present = rng.random((n_users, n_items)) < density * np.outer(by_user, by_item)
        present[np.arange(n_users), rng.integers(n_items, size=n_users)] = True
        present[rng.integers(n_users, size=n_items), np.arange(n_items)] = True
        users, items = np.nonzero(present)
        yield in_order(interactions(users, items, rng.choice(values, size=len(users)), present.shape))


def further_sets(seed: int) -> Iterator[Interactions]:
    """Training sets for confirmation: those of another generator, with popular items and users of one row."""
    for train in difficult_sets(seed):
        if len(train) >= 60:
            yield in_order(train)


def in_order(train: Interactions) -> Interactions:
    """The rows by user, with users and items numbered from 0 in the order in which they occur, which are their ids too.

    Arrays of factors without ids can only be in this order then, however an implementation numbers users and items.
    """
    rows = train.compact().canonical()
    _, first, items = np.unique(rows.items, return_index=True, return_inverse=True)
    places = np.empty(len(first), dtype=np.int32)
    places[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return Interactions(
        rows.users,
        places[items].astype(np.int32),
        rows.ratings,
        None,
        np.arange(rows.n_users),
        np.arange(rows.n_items),
        explicit=rows.explicit,
    )
