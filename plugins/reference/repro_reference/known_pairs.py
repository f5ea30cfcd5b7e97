"""Scores of users and items with training rows; those of others are unscored."""

from __future__ import annotations

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Queries, Scores
from repro.plugin.api.scores import Mask


class KnownPairs:
    """An algorithm with ``products`` of what it learnt about users and items as scores."""

    known_users_: Mask
    known_items_: Mask

    def find_known(self, train: Interactions) -> None:
        """Set which users and items have training rows."""
        self.known_users_ = train.user_counts() > 0
        self.known_items_ = train.item_counts() > 0

    def products(self, users: CodeArray, items: CodeArray) -> FloatArray:
        """Users by items, whether they are known or not."""
        raise NotImplementedError

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        return Scores.where(self.known_users_[users][:, None] & self.known_items_[items], self.products(users, items))
