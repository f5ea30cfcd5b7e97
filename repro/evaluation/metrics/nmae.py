"""Normalised mean absolute error: the MAE in a unit that does not depend on the rating scale.

    NMAE = MAE / (highest - lowest rating)        or        NMAE = MAE / E|X - Y|

``by`` says in which unit. ``range``: the width of the scale. ``uniform``: the expected error of chance, where rating X
and prediction Y are independent and each of the n ratings of the scale, ``step`` apart, is equally likely: E|X - Y| =
step (n^2 - 1) / 3n, which is 1.6 for the ratings 1 to 5; 1 is then the error of chance. ``continuous``: the same with
all numbers within the scale equally likely, E|X - Y| = range / 3. The scale is that of ``data.scale``.

``average`` (``predict.average``) says over what the MAE is: all test pairs, or each user or item, averaged. It has no
lists, so none is empty or short, and relevance and ties have no effect; ``predict.missing`` decides about pairs
without a prediction. Without any pair, or with a scale of one rating, it is not a number.

Goldberg et al., Eigentaste: a constant time collaborative filtering algorithm, Information Retrieval 2001; Marlin,
Collaborative filtering: a machine learning perspective, University of Toronto 2004 (uniform).
"""

from __future__ import annotations

from repro.evaluation.metrics.mae import mean_absolute_error
from repro.evaluation.metrics.shared.errors import NormalisedError, normalised_metric


def _of_chance(n: int, step: float) -> float:
    return step * (n * n - 1) / (3 * n)


METRIC = normalised_metric(
    "nmae",
    "Normalised mean absolute error",
    NormalisedError(mean_absolute_error, _of_chance, 3.0),
    task="predict ratings",
    shows="the mean size of an error in a unit that allows comparison between rating scales",
    cite="Goldberg et al. 2001",
)
