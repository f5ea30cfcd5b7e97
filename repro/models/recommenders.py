"""A user's own models as recommenders: what ``fit`` receives, how scores are asked for, and what answers mean."""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.interactions import CodeArray, FloatArray, IdArray, Interactions
from repro.errors import PluginError
from repro.models.factors import factors_of_model, named_factors
from repro.models.returned import block, dense, is_sparse, taken, vector
from repro.models.signatures import COLUMNS, Signature, signature_of
from repro.plugin import ParameterValue, Queries, Scores

# The pairs of a request to a model that scores frames of pairs.
_PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Ids:
    """The roles (user, item) whose ids are text in the data that was given, although all are whole numbers."""

    text: frozenset[str] = frozenset()

    def of(self, role: str, ids: IdArray) -> IdArray:
        """Ids as the user's own data has them."""
        return np.array([str(id_) for id_ in ids.tolist()], dtype=object) if role in self.text else ids

    def frame(self, rows: Interactions) -> pd.DataFrame:
        """Rows with the columns user, item and, where the data has them, rating and timestamp."""
        frame = rows.to_frame()
        for role in self.text:
            frame[role] = frame[role].astype(str)
        return frame


class Asked:
    """A function that scores users and items, whichever way it wants to be asked."""

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        self._function, self._label = function, label
        self._way = signature_of(function, label).way

    def block(self, users: IdArray, items: IdArray) -> FloatArray:
        """The scores of all users for all items."""
        if self._way == "arrays":
            return block(self._function(users, items), users, items, f"{self._label}(users, items)")
        if self._way == "user":
            return np.array([self._of_user(user, items) for user in users.tolist()]).reshape(len(users), len(items))
        return self._block_of_pairs(users, items)

    def _block_of_pairs(self, users: IdArray, items: IdArray) -> FloatArray:
        step = max(1, _PAIRS_AT_ONCE // max(len(items), 1))
        parts = [
            self.pairs(np.repeat(part, len(items)), np.tile(items, len(part))).reshape(len(part), len(items))
            for part in (users[start : start + step] for start in range(0, len(users), step))
        ]
        return np.concatenate(parts) if parts else np.empty((0, len(items)))

    def pairs(self, users: IdArray, items: IdArray) -> FloatArray:
        """The score of each pair."""
        if self._way == "pair":
            pairs = zip(users.tolist(), items.tolist(), strict=True)
            return vector([self._function(*pair) for pair in pairs], items, f"{self._label}(user, item)")
        if self._way == "pairs":
            frame = pd.DataFrame({"user": users, "item": items})
            returned = self._function(frame)
            if isinstance(returned, pd.Series):
                returned = returned.to_numpy()
            return vector(returned, np.arange(len(frame)), f"{self._label}(X)")
        values = np.empty(len(users))
        codes, known = pd.factorize(users)
        for code, user in enumerate(known):
            rows = np.flatnonzero(codes == code)
            requested_items, within = np.unique(items[rows], return_inverse=True)
            values[rows] = self.block(np.array([user], dtype=users.dtype), requested_items)[0][within]
        return values

    def _of_user(self, user: Any, items: IdArray) -> FloatArray:
        return vector(self._function(user, items), items, f"{self._label}(user, items)")


class ArrayPairs(Asked):
    """A ``predict`` with arrays of the same length: one prediction for each pair of users and items."""

    def pairs(self, users: IdArray, items: IdArray) -> FloatArray:
        if self._way != "arrays":
            return super().pairs(users, items)
        returned = self._function(users, items)
        if isinstance(returned, pd.Series):
            returned = returned.to_numpy()
        return vector(returned, np.arange(len(items)), f"{self._label}(users, items)")

    def block(self, users: IdArray, items: IdArray) -> FloatArray:
        return self._block_of_pairs(users, items) if self._way == "arrays" else super().block(users, items)


class OwnCode:
    """A model with methods, or a function: a copy of what was given, made for one fit."""

    def __init__(self, given: Any, name: str, ids: Ids, changed: Mapping[str, ParameterValue]) -> None:
        self._model = copy.deepcopy(given)
        if changed:
            self._model.set_params(**changed)
        self._name, self._ids = name, ids
        self._users = self._items = np.empty(0, dtype=np.int64)
        self.notes: dict[str, str] = {}

    def fit(self, train: Interactions, *, seed: int) -> None:
        self._users, self._items = self._ids.of("user", train.user_ids), self._ids.of("item", train.item_ids)
        if not hasattr(self._model, "fit"):
            return
        signature = signature_of(self._model.fit, f"{self._name}.fit", most=4)
        with seeded(seed):
            _set_random_state(self._model, seed)
            self._model.fit(
                *_training(signature, self._ids.frame(train), train.ratings, self._name),
                **({signature.seed: seed} if signature.seed else {}),
            )

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        return Scores.from_nan(self._ranking.block(self._users[queries.users], self._items[items]))

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        return Scores.from_nan(self._rating.pairs(self._users[queries.users], self._items[items]))

    def state(self) -> dict[str, FloatArray]:
        """The state by a method of this name, or else the attributes with usual names of factors."""
        state = factors_of_model(self._model, len(self._users), len(self._items))
        if state and not callable(getattr(self._model, "state", None)):
            names = named_factors(self._model, len(self._users), len(self._items)).values()
            self.notes = {"factors": f"are read from the attributes {' and '.join(names)}"}
        return state

    @property
    def _ranking(self) -> Asked:
        if scores_by(self._model) == "score":
            return Asked(self._model.score, f"{self._name}.score")
        return self._rating

    @property
    def _rating(self) -> Asked:
        if hasattr(self._model, "predict"):
            return ArrayPairs(self._model.predict, f"{self._name}.predict")
        if hasattr(self._model, "score"):
            return Asked(self._model.score, f"{self._name}.score")
        return Asked(self._model, self._name)


class Matrix:
    """Scores that were computed before: the same in every fold.

    ``rows`` and ``columns`` are the places of the ids of the data; -1 where the matrix lacks them.
    """

    def __init__(self, values: Any, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> None:
        self._values = values.tocsr() if is_sparse(values) else values
        self._rows, self._columns = rows, columns

    def fit(self, train: Interactions, *, seed: int) -> None:
        """Nothing is learnt."""

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        rows = self._rows[queries.users]
        if not self._values.shape[0]:
            return Scores.from_nan(np.full((len(rows), len(items)), np.nan))
        selected = self._values[np.maximum(rows, 0)]
        values = dense(selected) if is_sparse(selected) else selected
        values = taken(values, self._columns[items], axis=1)
        values[rows < 0] = np.nan
        return Scores.from_nan(values)

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        values = np.empty(len(items))
        for start in range(0, len(items), 1024):
            part = slice(start, start + 1024)
            users, places = np.unique(queries.users[part], return_inverse=True)
            columns, within = np.unique(items[part], return_inverse=True)
            user_queries = Queries(users, queries.history)
            values[part] = self.score(user_queries, columns).values[places, within]
        return Scores.from_nan(values)


def scores_by(model: object) -> str:
    """The method that a model ranks with: score, predict, or the call of a function; empty where it has none.

    The ``score(X, y)`` of scikit-learn is the quality of an estimator, and no score of items.
    """
    score, predict = getattr(model, "score", None), getattr(model, "predict", None)
    if callable(score) and not (callable(predict) and _takes(score, ("X", "y"))):
        return "score"
    if callable(predict):
        return "predict"
    return "call" if callable(model) else ""


def is_recommender(model: object) -> bool:
    """Whether a model has the interface of plug-ins: ``fit(train, *, seed)`` and ``score(queries, items)``."""
    score = getattr(model, "score", None)
    return callable(getattr(model, "fit", None)) and callable(score) and _takes(score, ("queries",))


def _takes(function: Callable[..., Any], names: tuple[str, ...]) -> bool:
    return signature_of(function, "", most=9).names[: len(names)] == names


def _training(signature: Signature, frame: pd.DataFrame, ratings: FloatArray, name: str) -> list[Any]:
    """The arguments of ``fit``: the frame of rows, columns by their names, or X and y of scikit-learn."""
    names = signature.required or signature.names[:1]
    if (len(names) > 1 and names[1].lower() == "y") or signature.names[:2] == ("X", "y"):
        return [frame[["user", "item"]], ratings.copy()]
    if len(names) > 1 and all(parameter.lower() in COLUMNS for parameter in names):
        columns = [COLUMNS[parameter.lower()] for parameter in names]
        if lacking := [column for column in columns if column not in frame and column != "rating"]:
            raise PluginError(f"{name}.fit takes {lacking[0]}s, and the data has none")
        return [ratings.copy() if column == "rating" else frame[column].to_numpy() for column in columns]
    if len(names) > 1:
        raise PluginError(
            f"{name}.fit requires {', '.join(names)}; it may require a frame of the training rows (user, item, rating, "
            "timestamp), X and y, or columns by name such as users, items, ratings"
        )
    return [frame]


def _set_random_state(model: Any, seed: int) -> None:
    """Give an estimator without a random state that of the cell."""
    parameters: Any = getattr(model, "get_params", dict)()
    if isinstance(parameters, Mapping) and parameters.get("random_state", seed) is None:
        model.set_params(random_state=seed)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within, the global generators of NumPy and Python start from ``seed``; afterwards they go on as before."""
    # The models of users draw from the global generator of NumPy, which is why it is used here.
    before = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(before[0])  # noqa: NPY002
        random.setstate(before[1])
