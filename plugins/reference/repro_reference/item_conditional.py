"""Item-to-item: the highest conditional probability of an item, given one of the user's items."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Algorithm
from repro_reference.known_pairs import KnownPairs
from repro_reference.products import maxima


class ItemConditional(KnownPairs):
    """score(u, i) = max over j in I(u), j not i, of pr(i | j) (Gunawardana & Shani 2009, section 6.2.3)::

        pr(i | j) = |users with both i and j| / |users with j|

    Ratings are not used. Two items without common users have an estimate, 0, and are scored. Unscored: users or items
    without training rows.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        matrix = train.matrix()
        self.rows_ = csr_array((np.ones(len(train)), matrix.indices, matrix.indptr), matrix.shape)
        together = (self.rows_.T @ self.rows_).toarray(order="C")
        self.probabilities_ = together / np.maximum(train.item_counts(), 1)[:, None]
        np.fill_diagonal(self.probabilities_, 0.0)  # an item is no evidence for itself
        self.find_known(train)

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return maxima(self.rows_, users, self.probabilities_, items)


declaration = Algorithm(
    "item-conditional",
    "highest conditional probability of the item given one of the user's items",
    ItemConditional,
    cite="Gunawardana & Shani (2009), JMLR 10, section 6.2.3",
)
