"""Models that score an item by a weighted sum over the user's items."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro_reference.item_products import weighted_rows
from repro_reference.known_pairs import KnownPairs


class ItemWeights(KnownPairs):
    """score(u, .) = x(u) W; users and items without training rows are unscored."""

    rows_: csr_array
    weights_: csr_array | FloatArray

    def begin(self, train: Interactions, values: str) -> csr_array:
        """X, users by items, with the ratings, or with 1 for each training row (``binary``)."""
        self.rows_ = train.matrix()
        if values == "binary":
            self.rows_ = csr_array((np.ones(len(train)), self.rows_.indices, self.rows_.indptr), self.rows_.shape)
        self.find_known(train)
        return self.rows_

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        return weighted_rows(self.rows_, users, self.weights_, items)
