"""The two functions that start an examination: of a black box, and of a Python function."""

from __future__ import annotations

from collections.abc import Sequence

from repro.audit.black_boxes.black_box import BlackBox
from repro.audit.black_boxes.python_function import Function, box_of_function, load
from repro.audit.examination.examination import examine
from repro.audit.examination.inference import Inference
from repro.audit.examination.state import Progress


def infer_policy(box: BlackBox, *, seed: int = 0, evidence: bool = True, progress: Progress | None = None) -> Inference:
    """Infer what a black box computes.

    Without ``evidence``, the cases that reject other options are not looked for. ``progress`` is called with the name
    of each step.
    """
    return examine(box, seed, progress or (lambda step: None), evidence=evidence)


def infer(
    function: Function | str,
    metric: str,
    k: int | Sequence[int] | None = None,
    *,
    name: str = "",
    seed: int = 0,
    evidence: bool = True,
    progress: Progress | None = None,
    **takes: bool,
) -> Inference:
    """Infer what a function that is said to compute ``metric`` really computes.

    ``function(scores, truth, train, k)`` gets three pandas frames, with the columns user, item and score, and user,
    item and rating; it returns one number, or a mapping (or series) of users to numbers. It may also be given by its
    name, ``package.module:function``.

    ``k`` is the cut-off that the function is called with, always the same, so a function may have it built in. With
    several, ``k=(1, 5, 20)``, each question has one of them, and effects of the cut-off show.

    Keywords say which input the function does not accept, so that it is not asked: ``graded_ratings=False``,
    ``ties=False``, ``missing_scores=False``, ``empty_lists=False`` and so on (:data:`KEYWORDS`).

    >>> def rmse(scores, truth, train, k):
    ...     pairs = truth.merge(scores, on=["user", "item"]).dropna()
    ...     return ((pairs.score - pairs.rating) ** 2).mean() ** 0.5
    >>> inference = repro.audit.infer(rmse, "rmse", duplicates=False)
    >>> inference.policy["predict.missing"], inference.policy["predict.average"]
    ('skip', 'ratings')
    """
    if isinstance(function, str):
        default_name, function = function, load(function)
    else:
        default_name = getattr(function, "__name__", "the function")
    box = box_of_function(function, metric, k, name or default_name, takes)
    return infer_policy(box, seed=seed, evidence=evidence, progress=progress)
