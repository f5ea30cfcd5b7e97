"""Models of similarities between items."""

from __future__ import annotations

import warnings
from pkgutil import resolve_name

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import Queries, Scores
from repro.plugin.api.adapting import known_block, neighbour_sums
from repro_implicit.training import ImplicitRecommender, Training


class NeighbourModel(ImplicitRecommender):
    """score(u, i) is the sum over the items j of u of value(u, j) similarity(j, i).

    Only the K highest similarities of each item j are kept, including that with itself; so K limits how many items
    an item of the user contributes to, not how many items contribute to i. The sum is not normalised.

    Unscored: users or items without training rows, and items that have no similarity with any of the user's items;
    implicit's ``recommend`` leaves these out of its lists too.
    """

    def fit(self, train: Interactions, *, seed: int) -> None:
        from implicit.utils import ParameterWarning

        training = Training.of(train, self.weigh)
        model = resolve_name(self.own)(**self.parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ParameterWarning)  # about a conversion that implicit itself requires
            model.fit(training.matrix, show_progress=False)
        self.training_ = training
        self.similarity_ = model.similarity

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return known_block(self.training_.rows[queries.users], self.training_.columns[items], self._sums)

    def _sums(self, rows: CodeArray, columns: CodeArray) -> FloatArray:
        return neighbour_sums(self.training_.matrix[rows], self.similarity_[:, columns])
