"""The data besides the lists: held-out and training rows, the catalogue, item features, earlier lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.evaluation.metrics.shared.distances import Sets, Vectors, set_vectors, sets, weight_vectors
from repro.evaluation.ranking.ranked import Ranked

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]
EarlierLists = Mapping[int, CodeArray]

# The time of the last training row of a user who has none: before every time.
NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Background:
    """The data that metrics may need besides the lists; codes are those of ``test``.

    test       the held-out rows
    catalogue  the items that may be recommended, ascending
    train      the training rows, if there are any
    features   items by features: a row of weights for each item code, 0 if the item lacks the feature
    previous   earlier lists, latest first: for each time, item codes in order by user code
    """

    test: Interactions
    catalogue: CodeArray
    train: Interactions | None = None
    features: csr_array | None = None
    previous: tuple[EarlierLists, ...] = ()

    @property
    def n_items(self) -> int:
        """The number of item codes, including items that may not be recommended."""
        return self.test.n_items

    @cached_property
    def test_users(self) -> CodeArray:
        """Users with a held-out row, ascending."""
        return np.unique(self.test.users)

    @cached_property
    def profiles(self) -> Sets:
        """The items in each user's training rows."""
        assert self.train is not None
        pairs = np.unique(self.train.users.astype(np.int64) * self.n_items + self.train.items)
        return sets(pairs // self.n_items, pairs % self.n_items, self.test.n_users)

    @cached_property
    def popularity(self) -> Counts:
        """The number of users that have each item in training."""
        return np.bincount(self.profiles.members, minlength=self.n_items)

    @cached_property
    def n_train_users(self) -> int:
        """The number of users with training rows."""
        return int(np.count_nonzero(np.diff(self.profiles.offsets)))

    @cached_property
    def last_train_times(self) -> Counts:
        """The time of each user's last training row; ``NEVER`` if there is none."""
        assert self.train is not None and self.train.timestamps is not None
        last = np.full(self.test.n_users, NEVER, dtype=np.int64)
        np.maximum.at(last, self.train.users, self.train.timestamps)
        return last

    def vectors(self, over: str) -> Vectors:
        """Items as vectors: of the users who have them in training ("co-ratings"), or of their "features"."""
        return self._feature_vectors if over == "features" else self._co_ratings

    @cached_property
    def _co_ratings(self) -> Vectors:
        users = np.repeat(np.arange(self.test.n_users), np.diff(self.profiles.offsets))
        by_item = np.argsort(self.profiles.members, kind="stable")
        holders = sets(self.profiles.members[by_item], users[by_item], self.n_items)
        return set_vectors(holders, self.test.n_users)

    @cached_property
    def _feature_vectors(self) -> Vectors:
        assert self.features is not None
        return weight_vectors(self.features)

    def rows_of_hits(self, ranked: Ranked) -> Rows:
        """The row of each hit in ``test``."""
        users = np.repeat(ranked.users, np.diff(ranked.offsets)).astype(np.int64)
        keys, order = self._keys
        return order[np.searchsorted(keys, users * self.n_items + ranked.hit_items)]

    def ratings_of_hits(self, ranked: Ranked) -> FloatArray:
        """The held-out rating of each hit, relevant or not."""
        return self.test.ratings[self.rows_of_hits(ranked)]

    @cached_property
    def _keys(self) -> tuple[Counts, Rows]:
        """Held-out pairs as numbers, ascending, and the row of each."""
        keys = self.test.users.astype(np.int64) * self.n_items + self.test.items
        order = np.argsort(keys, kind="stable")
        return keys[order], order


HOW_TO_GIVE = {
    "ratings": "ratings of the held-out rows, in a column 'rating'",
    "train": "the training rows; give them as train= (on the command line, --train)",
    "timestamps": "a column 'timestamp' in the held-out and in the training rows",
    "features": (
        "features of the items; name a file of them in data.item_features, or give them as features= (on the "
        "command line, --features)"
    ),
    "previous": "the lists of an earlier time; give them as previous= (on the command line, --previous)",
}


def lacking(needs: tuple[str, ...], background: Background) -> str:
    """A sentence about those of ``needs`` that are missing and how to provide them; an empty text if none is."""
    rows = (background.test, background.train)
    missing = {
        "ratings": not background.test.explicit,
        "train": background.train is None,
        "timestamps": any(part is None or part.timestamps is None for part in rows),
        "features": background.features is None,
        "previous": not background.previous,
    }
    return " and ".join(HOW_TO_GIVE[need] for need in needs if missing.get(need))
