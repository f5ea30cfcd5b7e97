"""Cornac: the model's own `score(user)`, which has all items, for one user after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from batch import Batch, cases

from repro.data.interactions import Interactions


def scored(train: Interactions, recommender: Any) -> Batch:
    model = recommender._fitted
    users, items = recommender._users, recommender._items
    return Batch(
        lambda: np.array([np.ravel(model.score(user)) for user in range(train.n_users)], dtype=np.float64),
        lambda scores: scores[users][:, items],
    )


CASES = cases(
    "score(user) for each user",
    scored,
    {
        "popularity": {},
        "bias": {},
        "user-knn": {},
        "biased-mf": {"epochs": 5},
        "nmf": {"epochs": 5},
        "bpr": {"epochs": 5},
        "ease": {},
        "multi-vae": {"epochs": 1},
    },
)
