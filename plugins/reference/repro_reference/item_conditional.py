"""Item-to-item: the highest conditional probability of an item, given one of the user's items."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from repro.data.interactions import Interactions
from repro.plugin import Algorithm
from repro_reference.product_model import ProductModel
from repro_reference.products import maxima


class ItemConditional(ProductModel):
    """score(u, i) = max over j in I(u), j not i, of pr(i | j) (Gunawardana & Shani 2009, section 6.2.3)::

        pr(i | j) = |users with both i and j| / |users with j|

    Ratings are not used. Two items without common users have an estimate, 0, and are scored. Unscored: users or items
    without training rows.
    """

    product = staticmethod(maxima)

    def fit(self, train: Interactions, *, seed: int) -> None:
        matrix = train.matrix()
        rows = csr_array((np.ones(len(train)), matrix.indices, matrix.indptr), matrix.shape)
        together = (rows.T @ rows).toarray(order="C")
        probabilities = together / np.maximum(train.item_counts(), 1)[:, None]
        np.fill_diagonal(probabilities, 0.0)  # an item is no evidence for itself
        self.keep(train, rows, probabilities)


declaration = Algorithm(
    "item-conditional",
    "highest conditional probability of the item given one of the user's items",
    ItemConditional,
    cite="Gunawardana & Shani (2009), JMLR 10, section 6.2.3",
)
