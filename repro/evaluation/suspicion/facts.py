"""What is counted while an algorithm is measured, to find out later what is suspicious about it."""

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
    """What was counted while an algorithm was measured; ``+`` adds what was counted on another fold.

    candidates       the scores that the algorithm was asked for, of which it gave none for ``unscored`` and the
                     framework made up ``fallback``
    constant_lists   lists of several items that all have the same score; ``empty_lists`` have no item
    listed           places of all lists down to the deepest cut-off, of which ``listed_unscored`` are taken by items
                     without a score of their own
    tied_users       by cut-off, how many users have a tie across it
    predictions      held-out pairs that the algorithm was asked to predict, of which ``predictions_missing`` have no
                     prediction and the framework made up ``predictions_fallback``
    prediction_range the lowest and the highest prediction, where there are any
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
            one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self) if one.default == 0
        }
        cutoffs = sorted({*self.tied_users, *other.tied_users})
        ranges = [one for one in (self.prediction_range, other.prediction_range) if one is not None]
        return Facts(
            **counts,
            tied_users={k: self.tied_users.get(k, 0) + other.tied_users.get(k, 0) for k in cutoffs},
            prediction_range=(min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None,
            ratings_vary=self.ratings_vary and other.ratings_vary,
        )

    @property
    def scored_nothing(self) -> bool:
        """Whether the algorithm was asked for scores and gave none."""
        return bool(self.candidates) and self.unscored == self.candidates


def list_facts(tally: Tally, lengths: IntArray, items: IntArray, scored: IntArray) -> Facts:
    """What was counted of lists: their lengths, the items in their first places, and whether these have a score."""
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
    """What was counted of predictions, one for each held-out pair."""
    state = np.zeros(len(predicted.values), dtype=np.uint8) if predicted.state is None else predicted.state
    missing = np.isnan(predicted.values) | (state == UNSCORED)
    given = predicted.values[~missing]
    return Facts(
        predictions=len(predicted.values),
        predictions_missing=int(missing.sum()),
        predictions_fallback=int((state == FALLBACK).sum()),
        prediction_range=(float(given.min()), float(given.max())) if len(given) else None,
    )
