"""A base class for algorithms whose scores are products of a row of each user and a matrix."""

from __future__ import annotations

from collections.abc import Callable

from scipy.sparse import csr_array

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Queries, Scores
from repro_reference.products import sums

Product = Callable[[csr_array, CodeArray, FloatArray | csr_array, CodeArray], FloatArray]


class ProductModel:
    """Scores users and items with training rows, by the ``product`` of a matrix by users and one by items."""

    product: Product = staticmethod(sums)
    left_: csr_array
    right_: FloatArray | csr_array

    def keep(self, train: Interactions, left: csr_array, right: FloatArray | csr_array) -> None:
        """Keep the matrices that are multiplied, and which users and items have training rows."""
        self.left_, self.right_ = left, right
        self.known_users_ = train.user_counts() > 0
        self.known_items_ = train.item_counts() > 0

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        values = self.product(self.left_, users, self.right_, items)
        return Scores.where(self.known_users_[users][:, None] & self.known_items_[items], values)
