"""Any Python function as a black box."""

from __future__ import annotations

import contextlib
import math
import numbers
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from repro.audits.black_boxes.black_box import BlackBox
from repro.audits.questions.question import Question
from repro.errors import PluginError, ProtocolError, nearest
from repro.evaluation.metrics import metric_named
from repro.plugin import Observed

Function = Callable[[pd.DataFrame, pd.DataFrame, pd.DataFrame, int | None], Any]

_DECLARED = "as its author says"
# Words for input that a function does not accept, and the features that questions to it then never have.
CANNOT: Mapping[str, tuple[str, ...]] = {
    "graded_ratings": ("graded", "fractional", "zero-ratings", "no-relevant"),
    "fractional_ratings": ("fractional",),
    "zero_ratings": ("zero-ratings",),
    "training_rows": ("training", "unknown-items"),
    "unknown_items": ("unknown-items",),
    "ties": ("ties",),
    "missing_scores": ("missing",),
    "zero_scores": ("non-positive",),
    "infinite_scores": ("infinite",),
    "short_lists": ("short-lists",),
    "partial_lists": ("partial-lists",),
    "empty_lists": ("no-list",),
    "users_without_relevant": ("no-relevant",),
    "duplicates": ("duplicates",),
}


def box_of_function(
    function: Function, metric: str, k: int | Sequence[int] | None, name: str, refused: Collection[str] = ()
) -> BlackBox:
    """A function as a black box; ``refused`` are the words for input that it does not accept."""
    if unknown := [word for word in refused if word not in CANNOT]:
        raise ProtocolError(
            f"cannot has no word '{unknown[0]}'{nearest(unknown[0], CANNOT)} The words for input that a function does "
            f"not accept are {', '.join(CANNOT)}"
        )
    declared = metric_named(metric)
    cutoffs = () if k is None else (k,) if isinstance(k, int) else tuple(k)
    if any(cutoff < 1 for cutoff in cutoffs):
        raise ProtocolError(f"k is {min(cutoffs)}; a cut-off is a whole number of at least 1")
    if not cutoffs and declared.cutoff == "required":
        raise ProtocolError(f"{declared.name} needs a cut-off; give k")
    if cutoffs and declared.cutoff == "none":
        raise ProtocolError(f"{declared.name} takes no cut-off; leave k out")
    cannot = {"fallback": "a frame of scores has no such mark"}
    cannot |= {feature: _DECLARED for word in refused for feature in CANNOT[word]}

    def respond(question: Question) -> Observed:
        return call_function(function, question, name)

    return BlackBox(name, declared, respond, cutoffs, cannot)


def call_function(function: Function, question: Question, name: str) -> Observed:
    """The answer of a function to a question; an exception is raised as a PluginError, which is a refusal."""
    case = question.case
    rows = [
        [
            (question.label(user.id), question.label(item), user.scores[item])
            for item in question.items
            if item in user.scores
        ]
        for user in question.tested
    ]
    ids = object if question.text_ids else np.int64
    scores = pd.DataFrame(question.in_rows(rows), columns=["user", "item", "score"]).astype(
        {"user": ids, "item": ids, "score": np.float64}
    )
    truth, train = case.test.to_frame(), case.train.to_frame()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            result = function(scores, truth, train, question.k)
    except Exception as error:
        raise PluginError(f"{type(error).__name__}: {error}") from error
    return _observed(result, question, name)


def _observed(result: object, question: Question, name: str) -> Observed:
    """The value that a function returned, as the answer of an evaluator."""
    if isinstance(result, pd.Series):
        result = result.to_dict()
    if isinstance(result, Mapping):
        codes = {user: code for code, user in enumerate(question.case.test.user_ids.tolist())}
        try:
            return Observed(None, {codes[_user_id(user)]: float(value) for user, value in result.items()})
        except (KeyError, TypeError, ValueError) as error:
            raise PluginError(f"{name} returned a mapping, but not of users to numbers: {error}") from None
    if isinstance(result, numbers.Real) or (isinstance(result, np.ndarray) and result.ndim == 0):
        return Observed(float(result))
    if result is None:
        return Observed(math.nan)
    raise PluginError(f"{name} returned {type(result).__name__}; expected a number, or a mapping of users to numbers")


def _user_id(user: object) -> int | str:
    """The id of a user in a mapping that a function returned: text, or a number of any type."""
    return user if isinstance(user, str) else int(user)  # type: ignore[call-overload]
