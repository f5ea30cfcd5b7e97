"""Training sets with other codes for the same users and items, which show the scores that depend on their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions

# Orders that are tried: that of the codes, the reverse one, and random ones.
ORDERS = 7
ROUNDING = 1e-9
ANY = np.inf


def relabelled(train: Interactions) -> Iterator[tuple[Interactions, CodeArray, CodeArray]]:
    """The training set with other codes, and the new code of each user and item."""
    for number in range(ORDERS - 1):
        rng = np.random.default_rng([number, train.n_users, train.n_items])
        users, items = (
            (np.arange(size)[::-1] if number == 0 else rng.permutation(size)).astype(np.int32)
            for size in (train.n_users, train.n_items)
        )
        rows = np.lexsort((items[train.items], users[train.users]))
        other = Interactions(
            users[train.users][rows],
            items[train.items][rows],
            train.ratings[rows],
            None if train.timestamps is None else train.timestamps[rows],
            train.user_ids,
            train.item_ids,
            train.explicit,
        )
        yield other, users, items


def without_order(scores: FloatArray, train: Interactions, score: Callable[[Interactions], FloatArray]) -> FloatArray:
    """``scores``, users by items, with ``ANY`` where another order of the codes gives another score."""
    return marked(scores, [score(other)[users][:, items] for other, users, items in relabelled(train)])


def marked(scores: FloatArray, others: list[FloatArray]) -> FloatArray:
    """``scores`` with ``ANY`` where one of the others differs by more than rounding."""
    differ: npt.NDArray[np.bool_] = np.zeros(scores.shape, dtype=bool)
    scale = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    for other in others:
        with np.errstate(invalid="ignore"):
            differ |= (np.isnan(scores) != np.isnan(other)) | (np.abs(scores - other) > ROUNDING * scale)
    return np.where(differ, ANY, scores)
