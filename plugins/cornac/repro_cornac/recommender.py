"""A model of Cornac behind the interfaces of a recommender.

Scores are those of the model's own ``score(user)``, one row of all known items at a time. The plug-in only reorders
the items and fills in the scores of unknown users and items.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError
from repro.plugin import FALLBACK, SCORED, UNSCORED, ParameterValue, Queries, Scores
from repro_cornac.dataset import UNKNOWN, InnerArray, cornac_dataset
from repro_cornac.models import Model, ModelParameter
from repro_cornac.running import cornac_seed, one_thread, quiet, seeded
from repro_cornac.state import state_of

StateArray = npt.NDArray[np.uint8]


class CornacRecommender:
    """Fits a class of ``cornac.models`` and returns its scores."""

    def __init__(self, model: Model, values: Mapping[str, ParameterValue]) -> None:
        import cornac.models

        self._model = model
        self._class = getattr(cornac.models, model.name)
        chosen = {own.name: _argument(model, own, values[own.name]) for own in model.parameters}
        self._arguments = {**chosen, **model.fixed}
        _check_layers(model, self._arguments)
        self._torch = model.torch and self._arguments.get("backend") != "cpu"

    def fit(self, train: Interactions, *, seed: int) -> None:
        number = cornac_seed(seed)
        accepted = inspect.signature(self._class.__init__).parameters
        # A seed also makes Cornac learn with one thread.
        common = {name: value for name, value in (("seed", number), ("verbose", False)) if name in accepted}
        data, users, items = cornac_dataset(train, number)
        with seeded(number, torch=self._torch), one_thread(torch=self._torch), quiet(progress=self._torch):
            self._fitted: Any = self._class(**self._arguments, **common)
            self._fitted.fit(data)
        self._users, self._items = users.inner, items.inner
        self._n_users, self._n_items = len(users.codes), len(items.codes)
        self._prepare()

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        users = queries.users
        inner_users, inner_items = self._users[users], self._items[items]
        unknown = np.flatnonzero(inner_items == UNKNOWN)
        values = np.empty((len(users), len(items)))
        different = inner_users[:1] if self._model.user == "no part" else inner_users
        with one_thread(torch=self._torch):
            for n, user in enumerate(different.tolist()):
                row = self._row(user).astype(np.float64, copy=False)
                row.take(inner_items, out=values[n], mode="clip")  # faster than with a check of bounds
                if len(unknown):
                    values[n, unknown] = self._of_unknown(row)
        values[len(different) :] = values[:1]
        state = self._states(inner_users[:, None], inner_items[None, :])
        for n, user in enumerate(inner_users.tolist()):
            self._mark(user, inner_items, values[n], state[n])
        return Scores(values, state if state.any() else None)

    def state(self) -> dict[str, FloatArray]:
        """The factors and biases of the class; empty where it has none."""
        return state_of(self._model.name, self._fitted, self._users, self._items)

    def _prepare(self) -> None:
        """Called between fitting and scoring; most models need nothing."""

    def _mark(self, user: int, items: InnerArray, values: FloatArray, state: StateArray) -> None:
        """Mark the items whose score is a fallback of the model; most models have none."""

    def _row(self, user: int) -> FloatArray:
        """The scores of all known items for a user, who may be unknown, in the precision of the model."""
        if user == UNKNOWN and self._model.user == "nothing":
            return np.full(self._n_items, np.nan)
        if user == UNKNOWN and self._model.user == "default":
            return np.full(self._n_items, float(self._fitted.default_score()))
        # Cornac's own index of an unknown user is the one after the last known user.
        row: FloatArray = np.ravel(self._fitted.score(self._n_users if user == UNKNOWN else user))
        return row

    def _of_unknown(self, row: FloatArray) -> float:
        """The score of an unknown item, from those of the known ones."""
        match self._model.item:
            case "lowest":
                return float(row.min())
            case "no part":
                return float(row[0])
            case "nothing":
                return float("nan")

    def _states(self, users: InnerArray, items: InnerArray) -> StateArray:
        """The states of the scores of these users and items, which depend on whether they are known."""
        by_user = np.where(users == UNKNOWN, self._unknown_user_state(), SCORED).astype(np.uint8)
        by_item = np.where(items == UNKNOWN, _ITEM_STATES[self._model.item], SCORED).astype(np.uint8)
        return np.maximum(by_user, by_item)

    def _unknown_user_state(self) -> int:
        """The state of the scores of an unknown user."""
        if self._model.user == "bias":  # without biases, the model has only zeros
            return SCORED if getattr(self._fitted, "use_bias", True) else FALLBACK
        return {"no part": SCORED, "default": FALLBACK, "nothing": UNSCORED}[self._model.user]


_ITEM_STATES = {"no part": SCORED, "lowest": FALLBACK, "nothing": UNSCORED}


class CornacPredictor(CornacRecommender):
    """A model whose scores for pairs are on the rating scale: those of ``rate``, not clipped."""

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        inner_users, inner_items = self._users[queries.users], self._items[items]
        values = np.empty(len(items))
        state = self._states(inner_users, inner_items)
        for pairs in _by_user(inner_users):
            user, of_user = int(inner_users[pairs[0]]), inner_items[pairs]
            ratings, marked = self._ratings(user, of_user), state[pairs]
            self._mark(user, of_user, ratings, marked)
            values[pairs], state[pairs] = ratings, marked
        return Scores(values, state if state.any() else None)

    def _ratings(self, user: int, items: InnerArray) -> FloatArray:
        """The user's ratings of these items; the default score for unknown ones."""
        row = self._row(user).astype(np.float64)
        return np.append(self._on_scale(row) if user != UNKNOWN else row, float(self._fitted.default_score()))[items]

    def _on_scale(self, row: FloatArray) -> FloatArray:
        """A row of scores on the rating scale."""
        return row


def _by_user(users: InnerArray) -> list[InnerArray]:
    """The positions of each user's pairs."""
    order = np.argsort(users, kind="stable")
    starts = np.flatnonzero(np.diff(users[order])) + 1
    return np.split(order, starts) if len(order) else []


class LogisticPredictor(CornacPredictor):
    """PMF: ranks by the product of factors; as ratings, its logistic function spread over the training range."""

    def _on_scale(self, row: FloatArray) -> FloatArray:
        from cornac.utils.common import scale, sigmoid

        if self._fitted.variant == "linear":
            return row
        rated: FloatArray = scale(sigmoid(row), self._fitted.min_rating, self._fitted.max_rating, 0.0, 1.0)
        return rated


class NonNegativePredictor(CornacPredictor):
    """NMF: its mean is a double of NumPy. With biases, its own ``score`` of all items then fails: the sum becomes
    double too, and the compiled product accepts only single precision. A Python float does not widen the sum.
    """

    def _prepare(self) -> None:
        self._fitted.global_mean = float(self._fitted.global_mean)


class NeighbourPredictor(CornacPredictor):
    """UserKNN and ItemKNN: where no neighbour has a rating, the score is the user's mean, which is a fallback."""

    def _prepare(self) -> None:
        self._by_users = hasattr(self._fitted, "iu_mat")
        self._links = self._table().copy()
        self._links.data = (self._links.data != 0).astype(np.float64)

    def _ratings(self, user: int, items: InnerArray) -> FloatArray:
        """Each item as in ``score`` of one item: a row of all items is slow in Cornac."""
        from cornac.models.knn.similarity import compute_score_single

        ratings = np.full(len(items), float(self._fitted.default_score()))
        if user == UNKNOWN:
            return ratings
        table, weights = self._table(), self._weights(user)
        mean = float(self._fitted.mean_arr[user])
        for n in np.flatnonzero(items != UNKNOWN):
            start, end = table.indptr[items[n]], table.indptr[items[n] + 1]
            ratings[n] = mean + compute_score_single(
                self._by_users, weights, start, end, table.indices, table.data, k=self._fitted.k
            )
        return ratings

    def _mark(self, user: int, items: InnerArray, values: FloatArray, state: StateArray) -> None:
        if user == UNKNOWN:
            return
        # Only a score that is exactly the mean can be one without neighbours.
        suspects = np.flatnonzero((values == self._fitted.mean_arr[user]) & (items != UNKNOWN))
        if len(suspects):
            neighbours = self._links[items[suspects]] @ (self._weights(user) != 0).astype(np.float64)
            state[suspects[neighbours == 0]] = FALLBACK

    def _table(self) -> Any:
        """Rows are items: the ratings of its users, or the similarities of other items."""
        return self._fitted.iu_mat if self._by_users else self._fitted.sim_mat

    def _weights(self, user: int) -> FloatArray:
        """The similarities of other users to this one, or this one's ratings of the items; 0 where not at all."""
        of_all: FloatArray = (self._fitted.sim_mat if self._by_users else self._fitted.ui_mat)[user].toarray().ravel()
        return of_all


_PREDICTORS = {
    "plain": CornacPredictor,
    "logistic": LogisticPredictor,
    "neighbours": NeighbourPredictor,
    "non-negative": NonNegativePredictor,
}


def recommender_of(model: Model, values: Mapping[str, ParameterValue]) -> CornacRecommender:
    """A new recommender with these values of the class's own parameters, all of them."""
    return (_PREDICTORS[model.kind] if model.predicts else CornacRecommender)(model, values)


def _argument(model: Model, own: ModelParameter, value: ParameterValue) -> object:
    """A value in Cornac's form; values that would crash its compiled code are refused."""
    if own.layers:
        return [_at_least(model, own, size) for size in _sizes(model, own, str(value))]
    if value == "none" and "none" in own.options:
        return None
    return value if own.least is None else _at_least(model, own, value)


def _check_layers(model: Model, arguments: Mapping[str, object]) -> None:
    """NeuMF requires as many factors as the last layer has units, and would not say so."""
    layers, factors = arguments.get("layers"), arguments.get("num_factors")
    if isinstance(layers, list) and factors is not None and layers[-1] != factors:
        raise PluginError(f"{model.name}: the last of layers must be num_factors = {factors}, and is {layers[-1]}")


def _at_least(model: Model, own: ModelParameter, value: ParameterValue) -> ParameterValue:
    assert own.least is not None and not isinstance(value, str)
    if value < own.least:
        raise PluginError(f"{model.name}: {own.name} = {value} must be at least {own.least:g}")
    return value


def _sizes(model: Model, own: ModelParameter, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise PluginError(
            f'{model.name}: {own.name} = "{text}" must be whole numbers separated by commas, such as "64,32"'
        ) from None
