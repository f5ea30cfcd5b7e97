"""Black boxes: a framework's own evaluation code, what it is asked about, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions, RowArray
from repro.plugin.api.scores import Scores

# What a case may have in it, in words. An evaluator names those that it cannot be given.
FEATURES: Mapping[str, str] = {
    "graded": "held-out ratings of several values",
    "fractional": "held-out ratings that are not whole numbers",
    "zero-ratings": "held-out ratings of zero",
    "training": "training rows of the users who are tested",
    "unknown-items": "items without training rows",
    "short-lists": "lists of fewer than k items",
    "partial-lists": "lists that lack some of the items",
    "ties": "equal scores",
    "missing": "scores that are not a number",
    "non-positive": "scores of zero and below",
    "infinite": "infinite scores",
    "fallback": "scores marked as made up by the framework",
    "no-relevant": "users without relevant items",
    "no-list": "users without a list",
    "neither": "users with neither a list nor relevant items",
    "no-negatives": "users all of whose items are relevant",
    "nobody": "no user with both a list and relevant items",
    "duplicates": "a held-out pair that is there twice",
}


@dataclass(frozen=True, eq=False)
class Case:
    """The input of an evaluator: known scores, and training and held-out rows. For an evaluator of predicted ratings,
    the scores are the predictions.

    scores  of users (rows) for items (columns); ``train`` and ``test`` have the codes of rows and columns. A score
            that is not a number is missing
    train   the training rows; users who only have such rows are not tested
    test    the held-out rows
    order   the items in the order of presentation: the order of rows in a frame, of keys in a mapping, or of columns
            where the framework numbers items itself
    scale   the lowest and the highest possible rating
    listed  the items in each user's list, as a mask; None if all items are in all lists. The evaluator gets no other
            items; a user without any has no list
    """

    scores: Scores
    train: Interactions
    test: Interactions
    order: CodeArray
    scale: tuple[float, float] = (1.0, 5.0)
    listed: npt.NDArray[np.bool_] | None = None

    def list_of(self, user: int) -> CodeArray:
        """The items of a user's list, in the order of presentation."""
        return self.order if self.listed is None else self.order[self.listed[user, self.order]]

    def presented(self, rows: Interactions) -> Interactions:
        """``rows``, the training or the held-out ones, ordered by item in the order of presentation."""
        rank = np.empty(len(self.order), dtype=np.int64)
        rank[self.order] = np.arange(len(self.order))
        return rows.select(np.argsort(rank[rows.items], kind="stable"))

    @property
    def tested(self) -> CodeArray:
        """The users with held-out rows, ascending."""
        return np.unique(self.test.users)


@dataclass(frozen=True)
class Observed:
    """The answer of an evaluator: its number for all users, and its numbers for single users, by user code.

    ``value`` is None where it gives no number for all users together, ``per_user`` where it gives none for each.
    """

    value: float | None
    per_user: Mapping[int, float] | None = None


@dataclass(frozen=True)
class Evaluator:
    """A framework's own evaluation code: ``evaluate(case, measure, k)`` decides everything that it can.

    name      framework/name, such as ``implicit/ranking_metrics_at_k``
    measures  the framework's own names of what it measures, each with the metric of the core that it is taken for:
              ``ndcg@k`` where it has a cut-off, ``auc`` where it has none (``k`` is then None)
    cannot    what of :data:`FEATURES` a case for it cannot have, and why, in words
    least_k   the smallest cut-off that it takes
    """

    name: str
    summary: str
    evaluate: Callable[[Case, str, int | None], Observed]
    measures: Mapping[str, str]
    cannot: Mapping[str, str] = field(default_factory=dict)
    least_k: int = 1


@dataclass(frozen=True, eq=False)
class PipelineFold:
    """One fold of a framework's own evaluation: its training and test rows, as positions in the data set, the scores of
    its fitted model for users (rows) and items (columns) by code, and the numbers that it reported, by measure."""

    train: RowArray
    test: RowArray
    scores: Scores
    reported: Mapping[str, float]


@dataclass(frozen=True)
class Pipeline:
    """A framework's whole evaluation, run as its documentation shows: split, fit, and measure.

    name       framework/name, such as ``surprise/cross_validate``
    run        ``run(rows, seed)`` gives the folds
    evaluator  which of the framework's evaluators does the measuring in it; its measures are those reported
    k          the cut-off, where measures have one
    quirks     by measure, what the framework does in a whole evaluation that scores cannot tell, in a sentence
    """

    name: str
    summary: str
    run: Callable[[Interactions, int], Sequence[PipelineFold]]
    evaluator: str
    k: int | None = None
    quirks: Mapping[str, str] = field(default_factory=dict)
