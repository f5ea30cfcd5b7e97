"""The recommender for all models of RecBole."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import ParameterValue, Queries, Scores
from repro.plugin.api.adapting import known_block
from repro.rng import child_keys, stream
from repro_recbole import scoring
from repro_recbole.learning import InnerIds, Learnt, learn
from repro_recbole.models import Model
from repro_recbole.settings import settings_of


class RecBoleRecommender:
    """A model of RecBole, trained on all training rows.

    Unscored: items without training rows, and users without them, unless the model is not personalised.
    """

    def __init__(self, model: Model, parameters: Mapping[str, ParameterValue]) -> None:
        self.model = model
        self.settings = settings_of(model, parameters)

    def fit(self, train: Interactions, *, seed: int) -> None:
        self.learnt_: Learnt | None = None  # free memory before the next training
        self.learnt_ = learn(self.model, self.settings, train, seed)
        self.rows_ = scoring.grouped_rows(self.learnt_.network, 1 if self.model.one_by_one else scoring.USERS)
        if self.model.draws:
            self.draws_ = child_keys(stream(seed, "recbole", self.model.name), train.user_keys)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        assert self.learnt_ is not None
        users, inner_items = self.learnt_.users[queries.users], self.learnt_.items[items]
        if not self.model.personal:
            users = np.maximum(users, 1)  # all users have the same scores
        if not self.model.draws:
            return known_block(users - 1, inner_items - 1, self.rows_.block, complete=True)
        keys = self.draws_[queries.users[users > 0]]

        def drawn(users: InnerIds, items: InnerIds) -> FloatArray:
            assert self.learnt_ is not None
            return scoring.drawn_block(self.learnt_.network, users + 1, items + 1, keys)

        return known_block(users - 1, inner_items - 1, drawn, complete=True)
