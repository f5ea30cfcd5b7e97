"""Any Python function as a black box."""

from __future__ import annotations

import contextlib
import importlib
import math
import numbers
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from repro.audit.black_boxes.black_box import BlackBox
from repro.audit.questions.question import Question
from repro.errors import PluginError, ProtocolError
from repro.evaluation.metrics import metric_named
from repro.plugin import Observed

Function = Callable[[pd.DataFrame, pd.DataFrame, pd.DataFrame, int | None], Any]

_TOLD = "as its author says"
# What a function may be said not to take, by keyword, and the features that questions to it then never have.
KEYWORDS: Mapping[str, tuple[str, ...]] = {
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
    function: Function, metric: str, k: int | Sequence[int] | None, name: str, takes: Mapping[str, bool]
) -> BlackBox:
    """A function as a black box."""
    if unknown := [one for one in takes if one not in KEYWORDS]:
        raise ProtocolError(
            f"infer has no keyword '{unknown[0]}'; what a function cannot take is said with {', '.join(KEYWORDS)}"
        )
    meant = metric_named(metric)
    cutoffs = () if k is None else (k,) if isinstance(k, int) else tuple(k)
    if any(one < 1 for one in cutoffs):
        raise ProtocolError(f"k is {min(cutoffs)}; a cut-off is a whole number of at least 1")
    if not cutoffs and meant.cutoff == "required":
        raise ProtocolError(f"{meant.name} needs a cut-off; give k")
    if cutoffs and meant.cutoff == "none":
        raise ProtocolError(f"{meant.name} takes no cut-off; leave k out")
    cannot = {"fallback": "a frame of scores has no such mark"}
    cannot |= {feature: _TOLD for word, taken in takes.items() if not taken for feature in KEYWORDS[word]}

    def respond(question: Question) -> Observed:
        return observed(function, question, name)

    return BlackBox(name, meant, respond, cutoffs, cannot)


def observed(function: Function, question: Question, name: str) -> Observed:
    """What a function says to a question; whatever it raises is a refusal."""
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
            answer = function(scores, truth, train, question.k)
    except Exception as error:
        raise PluginError(f"{type(error).__name__}: {error}") from error
    return _answer(answer, question, name)


def _answer(answer: object, question: Question, name: str) -> Observed:
    if isinstance(answer, pd.Series):
        answer = answer.to_dict()
    if isinstance(answer, Mapping):
        codes = {user: code for code, user in enumerate(question.case.test.user_ids.tolist())}
        try:
            return Observed(None, {codes[_id(user)]: float(value) for user, value in answer.items()})
        except (KeyError, TypeError, ValueError) as error:
            raise PluginError(f"{name} gave what is no mapping of users to numbers: {error}") from None
    if isinstance(answer, numbers.Real) or (isinstance(answer, np.ndarray) and answer.ndim == 0):
        return Observed(float(answer))
    if answer is None:
        return Observed(math.nan)
    raise PluginError(f"{name} gave {type(answer).__name__}; expected a number, or a mapping of users to numbers")


def _id(user: object) -> int | str:
    """A user as an answer names it: text, or a number of any kind."""
    return user if isinstance(user, str) else int(user)  # type: ignore[call-overload]


def load(name: str) -> Function:
    """The function called ``package.module:function``; modules in the current folder are found too."""
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise PluginError(f"'{name}' is no function; write package.module:function")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise PluginError(f"cannot import {module}: {error}; is it installed, or in this folder?") from None
    for part in function.split("."):
        if not hasattr(found, part):
            raise PluginError(f"{module} has no {function}")
        found = getattr(found, part)
    if not callable(found):
        raise PluginError(f"{name} is {type(found).__name__}, and not a function")
    called: Function = found
    return called
