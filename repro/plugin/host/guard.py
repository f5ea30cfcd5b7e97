"""Calls into plug-ins: errors get the plug-in's name, and results are checked."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy.typing as npt

from repro.data.interactions import CodeArray, FloatArray, Interactions
from repro.errors import PluginError, ReproError
from repro.plugin.api.checks import checked_notes, checked_scores
from repro.plugin.api.interfaces import Algorithm, ParameterValue, RatingPredictor, Recommender
from repro.plugin.api.queries import History, Queries
from repro.plugin.api.scores import Scores
from repro.plugin.api.state import checked_state
from repro.plugin.api.training import TrainingData

Result = TypeVar("Result")
AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


def make_recommender(algorithm: Algorithm, parameters: dict[str, ParameterValue], label: str) -> CheckedRecommender:
    """A new recommender in this process, with these parameters (all of them)."""
    made = call(label, "make", algorithm.make, **parameters)
    return CheckedRecommender(made, label, uses_history=algorithm.uses_history)


class CheckedRecommender:
    """A recommender whose results are checked; ``label`` is its name in messages (``reference/item-knn``).

    ``predicts`` is whether it predicts ratings, ``uses_history`` whether it gets the history of queries. It gets
    read-only arrays, because the core ranks and measures with the same rows and codes.
    """

    def __init__(
        self, recommender: Recommender, label: str, predicts: bool | None = None, uses_history: bool = False
    ) -> None:
        self._recommender = recommender
        self.label = label
        self.predicts = isinstance(recommender, RatingPredictor) if predicts is None else predicts
        self._train: Interactions | None = None
        self._sizes = (0, 0)
        self._withheld = None if uses_history else History.withheld(label)
        self._history = self._withheld or History(None)

    def fit(self, train: Interactions, *, seed: int, fold: str | None = None) -> None:
        """Learn from the training rows; ``fold`` is the name of the fold in a study."""
        if fold is not None and hasattr(self._recommender, "on_fold"):
            call(self.label, "on_fold", self._recommender.on_fold, fold)
        rows = _read_only_rows(train)
        self._sizes = (train.n_users, train.n_items)
        if self._withheld is None:
            self._train, self._history = train, History(rows)
        call(self.label, "fit", self._recommender.fit, rows, seed=seed)

    def score(self, queries: Queries, items: CodeArray) -> Scores:
        result = call(self.label, "score", self._recommender.score, self._read_only(queries), _read_only(items))
        return checked_scores(self.label, "score", result, (len(queries), len(items)))

    def predict(self, queries: Queries, items: CodeArray) -> Scores:
        assert isinstance(self._recommender, RatingPredictor)
        result = call(self.label, "predict", self._recommender.predict, self._read_only(queries), _read_only(items))
        return checked_scores(self.label, "predict", result, (len(queries),))

    def score_users(self, users: CodeArray, items: CodeArray) -> Scores:
        """The scores of users whose known history is the training rows."""
        return self.score(Queries(users, self._history), items)

    def predict_pairs(self, users: CodeArray, items: CodeArray) -> Scores:
        """The predictions for pairs of users, whose known history is the training rows, and items."""
        return self.predict(Queries(users, self._history), items)

    def notes(self) -> dict[str, str]:
        """The recommender's notes about how it computed its scores."""
        return checked_notes(self.label, call(self.label, "notes", getattr, self._recommender, "notes", None))

    def state(self) -> dict[str, FloatArray]:
        """The recommender's factors and biases by the codes of the training data; empty where it offers none."""
        offered = getattr(self._recommender, "state", None)
        state = None if offered is None else call(self.label, "state", offered)
        return checked_state(self.label, state, *self._sizes)

    def _read_only(self, queries: Queries) -> Queries:
        """Read-only queries, with a history if the recommender uses one."""
        if self._withheld is None and queries.history is not self._history and not queries.history.is_of(self._train):
            self._train = queries.history.rows
            self._history = History(_read_only_rows(self._train))
        return Queries(
            _read_only(queries.users),
            self._history,
            None if queries.sessions is None else _read_only(queries.sessions),
            None if queries.moments is None else _read_only(queries.moments),
        )


def call(label: str, method: str, function: Callable[..., Result], /, *args: Any, **keywords: Any) -> Result:
    """Call into a plug-in. What it prints goes to standard error; an attempt to exit the process is an error too."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return function(*args, **keywords)
    except ReproError as error:  # its message is already a full sentence
        raise PluginError(f"{label}: {error}") from error
    except (Exception, SystemExit) as error:
        raise PluginError(f"{label} failed in {method}: {type(error).__name__}: {error}") from error


def _read_only_rows(rows: Interactions) -> TrainingData:
    data = TrainingData.of(rows)
    return replace(
        data,
        users=_read_only(data.users),
        items=_read_only(data.items),
        ratings=_read_only(data.ratings),
        timestamps=None if data.timestamps is None else _read_only(data.timestamps),
        sessions=None if data.sessions is None else _read_only(data.sessions),
        user_columns={name: _read_only(values) for name, values in data.user_columns.items()},
        item_columns={name: _read_only(values) for name, values in data.item_columns.items()},
    )


def _read_only(array: AnyArray) -> AnyArray:
    view = array.view()
    view.flags.writeable = False
    return view
