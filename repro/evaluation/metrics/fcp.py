"""Fraction of concordant pairs: how often predictions order two items as the user's ratings do.

    FCP = concordant / (concordant + discordant)

Over all pairs of test items of one user that have different ratings: ``concordant`` ones are predicted in the order of
their ratings, ``discordant`` ones are not.

Variant ``ties``, for pairs with the same prediction: ``discordant``, they count as wrong; ``half``, they are half
right, as in the area under the ROC curve; ``left-out``, they do not count. Variant ``join``: ``pooled``, pairs are
added up over users; ``users``, each user's fraction, averaged; ``mean-counts``, the mean number of concordant pairs of
the users with any, over the sum of it and the mean number of discordant pairs of the (other) users with any.

It has no lists, so none is empty or short, and relevance and the tie rules of rankings have no effect;
``predict.missing`` decides about pairs without a prediction. A user without two different ratings has no fraction, and
without any such user it is not a number.

Koren & Sill, Collaborative filtering on ordinal user feedback, IJCAI 2013.
"""

from __future__ import annotations

import math

import numpy as np

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.metric import PredictionMetric, Predictions, Variants
from repro.evaluation.metrics.shared.declarations import UNIT
from repro.evaluation.metrics.shared.exact import exact_mean
from repro.evaluation.metrics.shared.two_orders import TwoOrders, count_pairs
from repro.evaluation.metrics.tie_order import UNAFFECTED
from repro.protocol import Decision, Option


def concordant_fraction(predictions: Predictions, variants: Variants) -> float:
    """The concordant pairs of all users as a fraction."""
    right, wrong = _right_and_wrong(predictions, str(variants["ties"]))
    judged = right + wrong
    if not judged.any():
        return math.nan
    match variants["join"]:
        case "pooled":
            return float(right.sum() / judged.sum())
        case "users":
            return exact_mean(right[judged > 0] / judged[judged > 0])
        case _:
            mean_right, mean_wrong = (exact_mean(some[some > 0]) if some.any() else 0.0 for some in (right, wrong))
            return mean_right / (mean_right + mean_wrong)


def _right_and_wrong(predictions: Predictions, ties: str) -> tuple[FloatArray, FloatArray]:
    """The concordant and the discordant pairs of each user, with tied predictions among them."""
    predicted = predictions.select(~np.isnan(predictions.values))
    order = np.argsort(predicted.users, kind="stable")
    _, starts = np.unique(predicted.users[order], return_index=True)
    offsets = np.append(starts, len(order)).astype(np.int64)
    pairs = count_pairs(TwoOrders(offsets, predicted.values[order], predicted.ratings[order]))
    right, wrong = {"discordant": (0.0, 1.0), "half": (0.5, 0.5), "left-out": (0.0, 0.0)}[ties]
    return pairs.concordant + right * pairs.tied_by_system, pairs.discordant + wrong * pairs.tied_by_system


METRIC = PredictionMetric(
    "fcp",
    "Fraction of concordant pairs",
    concordant_fraction,
    variants=(
        Decision.choice(
            "metric.fcp.join",
            "How are users joined?",
            Option("pooled", "all users' pairs together", cite="Koren & Sill 2013"),
            Option("users", "the fraction of each user, then the mean"),
            Option(
                "mean-counts",
                "mean concordant pairs of users with any, over these plus mean discordant pairs of users with any",
                used_by=("surprise",),
            ),
        ),
        Decision.choice(
            "metric.fcp.ties",
            "What is a pair with the same prediction?",
            Option("discordant", "discordant", used_by=("surprise",)),
            Option("half", "half concordant, half discordant"),
            Option("left-out", "neither"),
        ),
    ),
    range=UNIT,
    tie_order=UNAFFECTED,
    task="predict ratings",
    shows="whether predictions put two rated items of a user in the right order, whatever their size",
    cite="Koren & Sill 2013",
)
