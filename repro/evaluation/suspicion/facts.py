"""Facts about scores and lists that are counted during measurement, from which findings are derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.evaluation.ranking import Tally
from repro.plugin import FALLBACK, UNSCORED, Scores

IntArray = npt.NDArray[Any]


@dataclass(frozen=True)
class Facts:
    """Counts of the measurement of an algorithm; ``+`` adds those of another fold.

    candidates       the number of requested scores, of which ``unscored`` are missing and ``fallback`` are fallback
                     scores of the framework
    constant_lists   the number of lists of several items with the same score; ``empty_lists`` have no item
    listed           the number of ranks of all lists down to the deepest cut-off, of which ``listed_unscored`` have
                     items without a score
    tied_users       for each cut-off, the number of users with a tie across it
    predictions      the number of requested predictions, of which ``predictions_missing`` are missing and
                     ``predictions_fallback`` are fallback predictions of the framework
    prediction_range the lowest and the highest prediction, if there are any
    ratings_vary     whether the training rows have more than one rating
    """

    folds: int = 0
    users: int = 0
    lists: int = 0
    candidates: int = 0
    unscored: int = 0
    fallback: int = 0
    constant_lists: int = 0
    empty_lists: int = 0
    listed: int = 0
    listed_unscored: int = 0
    tied_users: Mapping[int, int] = field(default_factory=dict)
    predictions: int = 0
    predictions_missing: int = 0
    predictions_fallback: int = 0
    prediction_range: tuple[float, float] | None = None
    ratings_vary: bool = True

    def __add__(self, other: Facts) -> Facts:
        counts = {
            item.name: getattr(self, item.name) + getattr(other, item.name)
            for item in fields(self)
            if item.default == 0
        }
        cutoffs = sorted({*self.tied_users, *other.tied_users})
        ranges = [item for item in (self.prediction_range, other.prediction_range) if item is not None]
        return Facts(
            **counts,
            tied_users={k: self.tied_users.get(k, 0) + other.tied_users.get(k, 0) for k in cutoffs},
            prediction_range=(min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None,
            ratings_vary=self.ratings_vary and other.ratings_vary,
        )

    @property
    def scored_nothing(self) -> bool:
        """Whether the algorithm returned no score at all."""
        return bool(self.candidates) and self.unscored == self.candidates


def list_facts(tally: Tally, lengths: IntArray, items: IntArray, scored: IntArray) -> Facts:
    """The facts about lists, from their lengths, their first items, and whether these have a score."""
    listed = items >= 0
    return Facts(
        users=tally.users,
        lists=tally.lists,
        candidates=tally.candidates,
        unscored=tally.unscored,
        fallback=tally.fallback,
        constant_lists=tally.constant_lists,
        empty_lists=int((lengths == 0).sum()),
        listed=int(listed.sum()),
        listed_unscored=int((listed & (scored == 0)).sum()),
        tied_users=dict(zip(tally.cutoffs, tally.users_tied.tolist(), strict=True)),
    )


def prediction_facts(predicted: Scores) -> Facts:
    """The facts about predictions, one for each test pair."""
    missing = np.isnan(predicted.values) | (predicted.states == UNSCORED)
    predictions = predicted.values[~missing]
    return Facts(
        predictions=len(predicted.values),
        predictions_missing=int(missing.sum()),
        predictions_fallback=int((predicted.states == FALLBACK).sum()),
        prediction_range=(float(predictions.min()), float(predictions.max())) if len(predictions) else None,
    )
