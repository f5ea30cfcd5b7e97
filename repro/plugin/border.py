"""Every call into a plug-in goes through here: errors get the plug-in's name, results are checked."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import PluginError, ReproError
from repro.plugin.evaluator import Observed, PipelineFold
from repro.plugin.interfaces import FALLBACK, Algorithm, ParameterValue, RatingPredictor, Recommender, Scores

Result = TypeVar("Result")
AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


def guarded_recommender(algorithm: Algorithm, parameters: dict[str, ParameterValue], label: str) -> Guarded:
    """A new recommender behind the border, with these parameters (all of them)."""
    return Guarded(call(label, "make", algorithm.make, **parameters), label)


class Guarded:
    """A recommender behind the border; ``label`` is how messages call it (``reference/item-knn``).

    ``predicts`` says whether it predicts ratings. What it is given can only be read: the same rows and codes are
    used after it to rank and to measure.
    """

    def __init__(self, recommender: Recommender, label: str, predicts: bool | None = None) -> None:
        self._recommender = recommender
        self.label = label
        self.predicts = isinstance(recommender, RatingPredictor) if predicts is None else predicts

    def fit(self, train: Interactions, *, seed: int, fold: str | None = None) -> None:
        """Learn from the training rows, of the ``fold`` of that name if it is one of a study."""
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
        """What it has to say about how it came by its scores."""
        return checked_notes(self.label, call(self.label, "notes", getattr, self._recommender, "notes", None))


def checked_scores(label: str, method: str, result: object, shape: tuple[int, ...]) -> Scores:
    """What a plug-in gave, if it is scores of that shape, with values and states in their one form."""
    if not isinstance(result, Scores):
        raise PluginError(f"{label} returned {type(result).__name__} from {method}; expected repro.plugin.Scores")
    values = _numbers(label, method, result.values)
    if values.shape != shape:
        raise PluginError(
            f"{label} returned scores of shape {values.shape} from {method}; expected {shape}: "
            + ("users by items" if len(shape) == 2 else "one for each pair")
        )
    if result.state is None:
        return Scores(values)
    state = np.asarray(result.state)
    known = state.dtype.kind in "bui" and not ((state < 0) | (state > FALLBACK)).any()
    if state.shape != shape or not known:
        raise PluginError(
            f"{label} returned states of shape {state.shape} from {method}; expected {shape} with "
            "0 (scored), 1 (unscored) or 2 (fallback)"
        )
    return Scores(values, np.ascontiguousarray(state, dtype=np.uint8))


def checked_notes(label: str, given: object) -> dict[str, str]:
    """What a plug-in gave as its notes, if it is text by text; nothing where it gave None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise PluginError(f"{label} has notes that are {given!r:.80}; expected a mapping of text to text")
    return dict(given)


def checked_observed(label: str, given: object) -> Observed:
    """What an evaluator answered, if it is numbers."""
    match given:
        case Observed(value=None, per_user=None):
            raise PluginError(f"{label} answered nothing; expected a number, or one for each user")
        case Observed(value=value, per_user=per_user):
            try:
                told = None if per_user is None else {int(user): float(one) for user, one in per_user.items()}
                return Observed(None if value is None else float(value), told)
            except (TypeError, ValueError) as error:
                raise PluginError(f"{label} answered with what is no number: {error}") from None
    raise PluginError(f"{label} answered {given!r:.80}; expected repro.plugin.Observed")


def checked_folds(label: str, given: object, rows: Interactions) -> list[PipelineFold]:
    """What a framework's whole evaluation gave, if it is folds of these rows with scores of all users and items."""
    if not isinstance(given, Sequence) or not given or not all(isinstance(one, PipelineFold) for one in given):
        raise PluginError(f"{label} gave {given!r:.80}; expected a sequence of repro.plugin.PipelineFold")
    shape = (rows.n_users, rows.n_items)
    for fold in given:
        if (len(fold.train) or len(fold.test)) and max(np.max(fold.train), np.max(fold.test)) >= len(rows):
            raise PluginError(f"{label} gave a fold with rows beyond the {len(rows):,} of the data set")
    return [replace(fold, scores=checked_scores(label, "run", fold.scores, shape)) for fold in given]


def _numbers(label: str, method: str, given: object) -> npt.NDArray[np.float64]:
    try:
        values = np.asarray(given)
        if values.dtype.kind in "biufO":  # None among objects is not a number, and so unscored
            return np.ascontiguousarray(values, dtype=np.float64)
        kind = str(values.dtype)
    except (TypeError, ValueError) as error:
        kind = str(error)
    raise PluginError(f"{label} returned scores from {method} that are not numbers: {kind}")


def call(label: str, method: str, function: Callable[..., Result], /, *args: Any, **keywords: Any) -> Result:
    """Call into a plug-in. What it prints goes to standard error, and leaving the process is an error too."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return function(*args, **keywords)
    except ReproError as error:  # said in full by a plug-in that knows these errors
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
