"""Models of similarities between items."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pkgutil import resolve_name

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.plugin import ParameterValue, Queries, Scores
from repro.plugin.api.adapting import neighbour_sums
from repro_implicit.training import Training


class NeighbourModel:
    """score(u, i) is the sum over the items j of u of value(u, j) similarity(j, i).

    Of the similarities of each item j, only the K highest are kept, among them that with itself; so K bounds how
    many items an item of the user speaks for, not how many speak for i. The sum is not divided by anything.

    Unscored: users or items without training rows, and items that none of the user's items has a similarity with:
    ``recommend`` of implicit leaves these out of its lists too.
    """

    def __init__(
        self, own: str, parameters: Mapping[str, ParameterValue], weigh: Callable[[FloatArray], FloatArray]
    ) -> None:
        self.own = own
        self.parameters = dict(parameters)
        self.weigh = weigh

    def fit(self, train: Interactions, *, seed: int) -> None:
        from implicit.utils import ParameterWarning

        training = Training.of(train, self.weigh)
        model = resolve_name(self.own)(**self.parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ParameterWarning)  # of a conversion that implicit itself makes needed
            model.fit(training.matrix, show_progress=False)
        self.training_ = training
        self.similarity_ = model.similarity

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return self.training_.block(queries.users, items, self._sums)

    def _sums(self, rows: CodeArray, columns: CodeArray) -> FloatArray:
        return neighbour_sums(self.training_.matrix[rows], self.similarity_[:, columns])
