"""RecPack: `predict` of the matrix of all users."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from batch import Batch, cases

from repro.data.interactions import Interactions

torch.set_num_threads(1)


def predicted(train: Interactions, recommender: Any) -> Batch:
    algorithm, history = recommender._scoring.algorithm, recommender._scoring.history

    def dense(prediction: Any) -> np.ndarray:
        scores = prediction.toarray()
        return np.where(scores == 0, np.nan, scores)

    return Batch(lambda: algorithm.predict(history), dense)


CASES = cases(
    "predict(matrix of all users)",
    predicted,
    {
        "popularity": {},
        "item-knn": {},
        "ease": {},
        "puresvd": {},
        "nmf": {},
        "bpr": {"epochs": 1, "validation": 0.0},
        "multi-vae": {"epochs": 1, "validation": 0.0},
    },
)
