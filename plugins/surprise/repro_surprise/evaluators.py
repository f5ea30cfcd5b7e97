"""Surprise's own measures, fed with known predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from repro.plugin import FALLBACK, Case, Evaluator, Observed

if TYPE_CHECKING:
    from surprise import Prediction


def accuracy(predictions: Callable[[Case], Sequence[Prediction]], case: Case, measure: str, k: int | None) -> Observed:
    """One number for all predictions together."""
    from surprise import accuracy

    return Observed(getattr(accuracy, measure)(predictions(case), verbose=False))


@lru_cache(maxsize=1)
def as_predictions(case: Case) -> Sequence[Prediction]:
    """The held-out rows whose items are in the list, with their scores as estimates."""
    from surprise import Prediction

    test, state = case.test, case.scores.state
    made = []
    for user, item, rating in zip(test.users.tolist(), test.items.tolist(), test.ratings.tolist(), strict=True):
        if case.listed is None or case.listed[user, item]:
            impossible = state is not None and bool(state[user, item] == FALLBACK)
            estimate = float(case.scores.values[user, item])
            made.append(Prediction(user, item, rating, estimate, {"was_impossible": impossible}))
    return made


@lru_cache(maxsize=1)
def tested(case: Case) -> Sequence[Prediction]:
    """The predictions of ``AlgoBase.test`` with these estimates."""
    from repro_surprise.given_estimates import predictions

    return predictions(case)


_MEASURES = {"rmse": "rmse", "mae": "mae", "mse": "mse", "fcp": "fcp"}
EVALUATORS = (
    Evaluator(
        "surprise/accuracy",
        "the functions of surprise.accuracy on a list of predictions",
        partial(accuracy, as_predictions),
        _MEASURES,
        {
            "training": "predictions have no training rows",
            "unknown-items": "predictions have no training rows",
        },
    ),
    Evaluator(
        "surprise/test",
        "the functions of surprise.accuracy on what AlgoBase.test makes of the estimates of a fitted algorithm",
        partial(accuracy, tested),
        _MEASURES,
        {
            "partial-lists": "an algorithm is asked for every held-out rating",
            "no-list": "an algorithm is asked for every held-out rating",
        },
    ),
)
