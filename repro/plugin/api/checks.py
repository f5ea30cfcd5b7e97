"""Checks of the values that a plug-in returns, in the host and in isolated workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin.api.evaluator import Observed, PipelineFold
from repro.plugin.api.scores import FALLBACK, Scores


def checked_scores(label: str, method: str, result: object, shape: tuple[int, ...]) -> Scores:
    """The scores that a plug-in returned, with values as float64 and states as uint8; refused unless of ``shape``."""
    if not isinstance(result, Scores):
        raise PluginError(f"{label} returned {type(result).__name__} from {method}; expected repro.plugin.Scores")
    values = _numbers(label, method, result.values)
    if values.shape != shape:
        raise PluginError(
            f"{label} returned scores of shape {values.shape} from {method}; expected {shape}: "
            + ("queries by items" if len(shape) == 2 else "one for each pair")
        )
    if result.state is None:
        return Scores(values)
    state = np.asarray(result.state)
    valid = state.dtype.kind in "bui" and not ((state < 0) | (state > FALLBACK)).any()
    if state.shape != shape or not valid:
        raise PluginError(
            f"{label} returned states of shape {state.shape} from {method}; expected {shape} with "
            "0 (scored), 1 (unscored) or 2 (fallback)"
        )
    return Scores(values, np.ascontiguousarray(state, dtype=np.uint8))


def checked_notes(label: str, notes: object) -> dict[str, str]:
    """The notes of a plug-in, a mapping of text to text; empty where there are none."""
    if notes is None:
        return {}
    if not isinstance(notes, Mapping) or not all(isinstance(text, str) for pair in notes.items() for text in pair):
        raise PluginError(f"{label} has notes that are {notes!r:.80}; expected a mapping of text to text")
    return dict(notes)


def checked_observed(label: str, answer: object) -> Observed:
    """The answer of an evaluator, with plain numbers."""
    match answer:
        case Observed(value=None, per_user=None):
            raise PluginError(f"{label} returned no number; expected one, or one for each user")
        case Observed(value=value, per_user=per_user):
            try:
                by_user = None if per_user is None else {int(user): float(v) for user, v in per_user.items()}
                return Observed(None if value is None else float(value), by_user)
            except (TypeError, ValueError) as error:
                raise PluginError(f"{label} returned a value that is not a number: {error}") from None
    raise PluginError(f"{label} returned {answer!r:.80}; expected repro.plugin.Observed")


def checked_folds(label: str, folds: object, rows: Interactions) -> list[PipelineFold]:
    """The folds of a framework's whole evaluation, with rows of the data set and scores of all users and items."""
    if not isinstance(folds, Sequence) or not folds or not all(isinstance(fold, PipelineFold) for fold in folds):
        raise PluginError(f"{label} returned {folds!r:.80}; expected a sequence of repro.plugin.PipelineFold")
    shape = (rows.n_users, rows.n_items)
    for fold in folds:
        if (len(fold.train) or len(fold.test)) and max(np.max(fold.train), np.max(fold.test)) >= len(rows):
            raise PluginError(f"{label} returned a fold with rows beyond the {len(rows):,} of the data set")
    return [replace(fold, scores=checked_scores(label, "run", fold.scores, shape)) for fold in folds]


def _numbers(label: str, method: str, values: object) -> npt.NDArray[np.float64]:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":  # None in an array of objects becomes NaN, which is unscored
            return np.ascontiguousarray(array, dtype=np.float64)
        reason = str(array.dtype)
    except (TypeError, ValueError) as error:
        reason = str(error)
    raise PluginError(f"{label} returned scores from {method} that are not numbers: {reason}")
