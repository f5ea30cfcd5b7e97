"""Every call into a plug-in passes here: errors get the plug-in's name, results are checked."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError, ReproError
from repro.plugin.api.checks import checked_notes, checked_scores
from repro.plugin.api.interfaces import Algorithm, ParameterValue, RatingPredictor, Recommender
from repro.plugin.api.scores import Scores

Result = TypeVar("Result")
AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


def make_recommender(algorithm: Algorithm, parameters: dict[str, ParameterValue], label: str) -> CheckedRecommender:
    """A new recommender in this process, with these parameters (all of them)."""
    return CheckedRecommender(call(label, "make", algorithm.make, **parameters), label)


class CheckedRecommender:
    """A recommender whose results are checked; ``label`` is its name in messages (``reference/item-knn``).

    ``predicts`` says whether it predicts ratings. The recommender gets read-only arrays, because the same rows and
    codes are used afterwards to rank and to measure.
    """

    def __init__(self, recommender: Recommender, label: str, predicts: bool | None = None) -> None:
        self._recommender = recommender
        self.label = label
        self.predicts = isinstance(recommender, RatingPredictor) if predicts is None else predicts

    def fit(self, train: Interactions, *, seed: int, fold: str | None = None) -> None:
        """Learn from the training rows; ``fold`` is the name of the fold in a study."""
        if fold is not None and hasattr(self._recommender, "on_fold"):
            call(self.label, "on_fold", self._recommender.on_fold, fold)
        call(self.label, "fit", self._recommender.fit, _read_only_rows(train), seed=seed)

    def score(self, users: CodeArray, items: CodeArray) -> Scores:
        result = call(self.label, "score", self._recommender.score, _read_only(users), _read_only(items))
        return checked_scores(self.label, "score", result, (len(users), len(items)))

    def predict(self, users: CodeArray, items: CodeArray) -> Scores:
        assert isinstance(self._recommender, RatingPredictor)
        result = call(self.label, "predict", self._recommender.predict, _read_only(users), _read_only(items))
        return checked_scores(self.label, "predict", result, (len(users),))

    def notes(self) -> dict[str, str]:
        """The recommender's notes about how it computed its scores."""
        return checked_notes(self.label, call(self.label, "notes", getattr, self._recommender, "notes", None))


def call(label: str, method: str, function: Callable[..., Result], /, *args: Any, **keywords: Any) -> Result:
    """Call into a plug-in. What it prints goes to standard error; an attempt to exit the process is an error too."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return function(*args, **keywords)
    except ReproError as error:  # its message is already a full sentence
        raise PluginError(f"{label}: {error}") from error
    except (Exception, SystemExit) as error:
        raise PluginError(f"{label} failed in {method}: {type(error).__name__}: {error}") from error


def _read_only_rows(rows: Interactions) -> Interactions:
    return replace(
        rows,
        users=_read_only(rows.users),
        items=_read_only(rows.items),
        ratings=_read_only(rows.ratings),
        timestamps=None if rows.timestamps is None else _read_only(rows.timestamps),
    )


def _read_only(array: AnyArray) -> AnyArray:
    view = array.view()
    view.flags.writeable = False
    return view
