"""Time-split novelty: items that the user took up later count, those that the user knew already count against it.

    time-novelty@k = (held-out items down to k rated after the moment - those rated before it) / k

It needs a split that holds out ratings from before and after the moment: those after it are items that the user did
not know then, those before it stand for items that the user knew without having rated them. The moment is that of the
user's last training row, or one stated for all users (``time``, in the unit of the timestamps). A rating at the very
moment counts neither way. From -1 to 1.

An empty list counts 0. Relevance has no effect: a rated item is a known item. A list of fewer than k items is divided
by k. A user without training rows has no such moment, and is left out. All tie rules apply.

Shani & Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.metrics.background import NEVER, Background
from repro.evaluation.metrics.metric import Ranked, RankingMetric, Ratio, Variants
from repro.evaluation.metrics.shared.declarations import AtSingleRanks
from repro.evaluation.metrics.shared.hits import discounted_gains, limit, slots
from repro.evaluation.metrics.tie_order import ByHits
from repro.protocol import Decision, Option, When


def time_novelty(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> Ratio:
    """The later items of each list minus the earlier ones, down to ``k``, over ``k``."""
    _, known = _moments(ranked, variants, background)
    total = discounted_gains(ranked, limit(k), _sides(ranked, k, variants, background), "none")
    return Ratio(total * known, slots(ranked, k) * known)


def _moments(
    ranked: Ranked, variants: Variants, background: Background
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The moment of each list, and whether it has one."""
    if variants["moment"] == "stated":
        return np.full(len(ranked), float(variants["time"])), np.ones(len(ranked), dtype=np.bool_)
    last = background.last_train_times[ranked.users]
    return last, last != NEVER


def _sides(ranked: Ranked, k: int | None, variants: Variants, background: Background) -> FloatArray:
    """1 for each hit that was rated after the moment of its list, -1 for each that was rated before it."""
    assert background.test.timestamps is not None
    moments = np.repeat(_moments(ranked, variants, background)[0], np.diff(ranked.offsets))
    rated = background.test.timestamps[background.rows_of_hits(ranked)]
    return (rated > moments).astype(np.float64) - (rated < moments)


METRIC = RankingMetric(
    "time-novelty",
    "Time-split novelty",
    time_novelty,
    cutoff="required",
    variants=(
        Decision.choice(
            "metric.time-novelty.moment",
            "At which moment does what is new begin?",
            Option("last-training", "at the time of the user's last training row"),
            Option("stated", "at the time stated in metric.time-novelty.time"),
        ),
        Decision(
            "metric.time-novelty.time",
            "That moment, as a timestamp?",
            "number",
            when=(When("metric.time-novelty.moment", ("stated",)),),
        ),
    ),
    needs=("train", "timestamps"),
    undefined="left-out",
    range=AtSingleRanks(-1.0, 1.0),
    tie_order=ByHits(_sides),
    task="beyond accuracy",
    shows="whether lists have items that users took up later, and not those that they knew already",
    cite="Shani & Gunawardana 2011",
)
