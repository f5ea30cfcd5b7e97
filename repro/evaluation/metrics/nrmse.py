"""Normalised root of the mean squared error: the RMSE in a unit that does not depend on the rating scale.

    NRMSE = RMSE / (highest - lowest rating)        or        NRMSE = RMSE / sqrt(E(X - Y)^2)

``by`` says in which unit. ``range``: the width of the scale. ``uniform``: the expected error of chance, where rating X
and prediction Y are independent and each of the n ratings of the scale, ``step`` apart, is equally likely: sqrt(E(X -
Y)^2) = step sqrt((n^2 - 1) / 6), which is 2 for the ratings 1 to 5; 1 is then the error of chance. ``continuous``: the
same with all numbers within the scale equally likely, range / sqrt(6). The scale is that of ``data.scale``.

``average`` (``predict.average``) says over what the RMSE is: all test pairs, or each user or item, averaged. It has no
lists, so none is empty or short, and relevance and ties have no effect; ``predict.missing`` decides about pairs
without a prediction. Without any pair, or with a scale of one rating, it is not a number.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011; the unit of chance follows
Marlin's for the MAE (Collaborative filtering: a machine learning perspective, 2004).
"""

from __future__ import annotations

import math

from repro.evaluation.metrics.rmse import root_mean_squared_error
from repro.evaluation.metrics.shared.errors import NormalisedError, normalised_metric


def _of_chance(n: int, step: float) -> float:
    return step * math.sqrt((n * n - 1) / 6)


METRIC = normalised_metric(
    "nrmse",
    "Normalised root mean squared error",
    NormalisedError(root_mean_squared_error, _of_chance, math.sqrt(6)),
    task="predict ratings",
    shows="RMSE in a unit that allows comparison between rating scales",
    cite="Shani & Gunawardana 2011",
)
