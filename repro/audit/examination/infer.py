"""Infer the policy of a black box or of a Python function: the two functions that start an examination."""

from __future__ import annotations

from collections.abc import Sequence

from repro.audit.black_boxes.black_box import BlackBox
from repro.audit.black_boxes.python_function import Function, box_of_function, load
from repro.audit.examination.examination import Tell, _Examination
from repro.audit.examination.inference import Inference


def infer_policy(box: BlackBox, *, seed: int = 0, evidence: bool = True, tell: Tell | None = None) -> Inference:
    """What a black box really computes. ``tell`` is called with what is being found out.

    Without ``evidence``, options are not gone through one by one: neither is it shown what rejects each, nor which of
    them cannot be told apart.
    """
    return _Examination(box, seed, evidence, tell or (lambda text: None)).inference()


def infer(
    function: Function | str,
    metric: str,
    k: int | Sequence[int] | None = None,
    *,
    name: str = "",
    seed: int = 0,
    evidence: bool = True,
    tell: Tell | None = None,
    **takes: bool,
) -> Inference:
    """What a function that is called ``metric`` really computes.

    ``function(scores, truth, train, k)`` gets three pandas frames, with the columns user, item and score, and user,
    item and rating; it returns one number, or a mapping (or series) of users to numbers. It may also be the name of
    one, ``package.module:function``.

    ``k`` is the cut-off that the function is called with, always the same, so a function may have it built in. With
    several, ``k=(1, 5, 20)``, each question has one of them, and what depends on the cut-off shows.

    Keywords say what it cannot take, so that it is not asked: ``graded_ratings=False``, ``ties=False``,
    ``missing_scores=False``, ``empty_lists=False`` and so on (:data:`KEYWORDS`).

    >>> def rmse(scores, truth, train, k):
    ...     pairs = truth.merge(scores, on=["user", "item"]).dropna()
    ...     return ((pairs.score - pairs.rating) ** 2).mean() ** 0.5
    >>> found = repro.audit.infer(rmse, "rmse", duplicates=False)
    >>> found.policy["predict.missing"], found.policy["predict.average"]
    ('skip', 'ratings')
    """
    called = function if isinstance(function, str) else getattr(function, "__name__", "the function")
    box = box_of_function(load(function) if isinstance(function, str) else function, metric, k, name or called, takes)
    return infer_policy(box, seed=seed, evidence=evidence, tell=tell)
