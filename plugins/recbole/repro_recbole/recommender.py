"""One adapter for all models of RecBole."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import ParameterValue, Queries, Scores
from repro.rng import child_keys, stream
from repro_recbole import scoring
from repro_recbole.learning import InnerIds, Learnt, learn
from repro_recbole.models import Model
from repro_recbole.settings import settings_of


class RecBoleRecommender:
    """A model of RecBole, which learns from all training rows and scores what it is asked for.

    Unscored: items without training rows, and users without them, unless the user plays no part.
    """

    def __init__(self, model: Model, given: Mapping[str, ParameterValue]) -> None:
        self.model = model
        self.settings = settings_of(model, given)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.learnt_: Learnt | None = None  # make room before the next one learns
        self.learnt_ = learn(self.model, self.settings, train, seed)
        self.rows_ = scoring.grouped_rows(self.learnt_.network, 1 if self.model.one_by_one else scoring.USERS)
        if self.model.draws:
            self.draws_ = child_keys(stream(seed, "recbole", self.model.name), train.user_keys)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        assert self.learnt_ is not None
        inner_users, inner_items = self.learnt_.users[users], self.learnt_.items[items]
        if not self.model.personal:
            inner_users = np.maximum(inner_users, 1)  # any user will do
        known_users, known_items = inner_users > 0, inner_items > 0
        known = self._block(users[known_users], inner_users[known_users], inner_items[known_items])
        return Scores.of_known(known, known_users, known_items, complete=True)

    def _block(self, users: CodeArray, inner_users: InnerIds, inner_items: InnerIds) -> FloatArray:
        assert self.learnt_ is not None
        if self.model.draws:
            return scoring.drawn_block(self.learnt_.network, inner_users, inner_items, self.draws_[users])
        return self.rows_.block(inner_users - 1, inner_items - 1)
