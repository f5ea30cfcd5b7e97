"""An algorithm of RecPack behind the interface of recommenders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import ParameterValue, Queries, Scores, by_code
from repro.plugin.api.adapting import known_block, known_positions
from repro_recpack.models import Model
from repro_recpack.running import quiet, reproducible, whole_networks
from repro_recpack.validation import held_out

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_LARGEST_SEED = 2**32  # of NumPy's global generator and of scikit-learn


class RecPackRecommender:
    """A model of RecPack, which sees only users and items with training rows.

    RecPack is imported when the first recommender is made, so that the import does not count as fitting.
    """

    def __init__(self, model: Model, parameters: dict[str, ParameterValue]) -> None:
        self._model = model
        self._parameters = parameters
        if model.validated:
            _check_validation(parameters)
        if parameters.get("gamma") == 0 == parameters.get("beta"):
            raise PluginError("gamma and beta are both 0; give one of them, the weight of the divergence")
        import recpack.algorithms  # noqa: F401

    def fit(self, train: Interactions, *, seed: int) -> None:
        if not len(train):
            raise PluginError("RecPack cannot learn from a training part without rows")
        self._users = known_positions(train.user_counts())
        self._items = known_positions(train.item_counts())
        rows = _binary(train.compact())
        if self._model.bounded and self._parameters["num_components"] > min(rows.shape):
            raise PluginError(
                f"{self._parameters['num_components']} factors are more than the {rows.shape[0]} users "
                f"or {rows.shape[1]} items of the training part"
            )
        seed %= _LARGEST_SEED
        with quiet(), reproducible(seed):
            algorithm = self._fitted(rows, seed)
        self._scoring = self._model.scoring(algorithm, rows)

    def _fitted(self, rows: csr_matrix, seed: int) -> Any:
        import recpack.algorithms

        own = {name: None if name in self._model.absent and not value else value for name, value in self._own().items()}
        if self._model.seeded:
            own["seed"] = seed
        algorithm = getattr(recpack.algorithms, self._model.name)(**own)
        if not self._model.validated:
            return algorithm.fit(rows)
        learnt, validation = held_out(rows, float(self._parameters["validation"]), seed)
        with whole_networks():
            return algorithm.fit(learnt, validation)

    def _own(self) -> dict[str, ParameterValue]:
        """The parameters of RecPack's constructor."""
        own = dict(self._parameters)
        if own.pop("validation", None) == 0:
            own["keep_last"] = True
        return own

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return known_block(self._users[queries.users], self._items[items], self._stored)

    def state(self) -> dict[str, FloatArray]:
        learnt = self._scoring.learnt
        if learnt is None:
            return {}
        users, items = learnt
        return {"user_factors": by_code(users, self._users), "item_factors": by_code(items, self._items)}

    def _stored(self, users: CodeArray, items: CodeArray) -> FloatArray:
        values = self._scoring.block(users, items)
        return np.where(values != 0, values, np.nan)  # RecPack stores no zeros


def _check_validation(parameters: dict[str, ParameterValue]) -> None:
    share = float(parameters["validation"])
    if not 0 <= share < 1:
        raise PluginError(f"validation = {share:g} is not a share; give a number from 0 to below 1")
    if share == 0 and parameters["stop_early"]:
        raise PluginError("stop_early needs held-out rows to know when to stop; give validation a share above 0")


def _binary(train: Interactions) -> csr_matrix:
    """A 1 for each pair of a user and an item that has rows, of the type that RecPack's own matrix has."""
    from scipy.sparse import csr_matrix

    shape = (train.n_users, train.n_items)
    rows = csr_matrix((np.ones(len(train), dtype=np.int32), (train.users, train.items)), shape=shape)
    rows.sort_indices()
    rows.data[:] = 1
    return rows
