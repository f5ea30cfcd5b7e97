"""An algorithm of Surprise's own base class with given estimates, which Surprise clips and, if impossible, replaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from surprise import AlgoBase, Dataset, Prediction, PredictionImpossible, Reader

from repro.plugin import FALLBACK, Case


class GivenEstimates(AlgoBase):
    """Estimates are the scores of a case; a prediction whose score is a fallback is impossible."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.values = case.scores.values
        self.impossible = np.zeros(self.values.shape) if case.scores.state is None else case.scores.state == FALLBACK

    def estimate(self, u: Any, i: Any) -> float:
        cell = _code(u, self.trainset.to_raw_uid), _code(i, self.trainset.to_raw_iid)
        if self.impossible[cell]:
            raise PredictionImpossible("the score is marked as a fallback")
        return float(self.values[cell])


def predictions(case: Case) -> list[Prediction]:
    """Surprise's predictions for the held-out rows, after a fit to the training rows; raw ids are codes."""
    rows, test = case.train, case.test
    frame = pd.DataFrame({"user": rows.users, "item": rows.items, "rating": rows.ratings})
    algorithm = GivenEstimates(case)
    algorithm.fit(Dataset.load_from_df(frame, Reader(rating_scale=case.scale)).build_full_trainset())
    return algorithm.test(list(zip(test.users.tolist(), test.items.tolist(), test.ratings.tolist(), strict=True)))


def _code(inner: Any, to_raw: Any) -> int:
    """The code of an inner id; for an unknown id, Surprise has a text with the raw id."""
    return int(inner.removeprefix("UKN__")) if isinstance(inner, str) else int(to_raw(inner))
