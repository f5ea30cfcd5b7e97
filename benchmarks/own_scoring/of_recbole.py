"""RecBole: `full_sort_predict` for all users in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from batch import Batch, cases
from recbole.data.interaction import Interaction

from repro.data.interactions import Interactions

torch.set_num_threads(1)


def full_sort(train: Interactions, recommender: Any) -> Batch:
    learnt = recommender.learnt_
    users = Interaction({"user_id": torch.from_numpy(learnt.users)})

    @torch.no_grad()
    def ask() -> Any:
        return learnt.network.full_sort_predict(users).numpy().astype(np.float64)

    return Batch(ask, lambda scores: scores.reshape(len(learnt.users), -1)[:, learnt.items])


CASES = cases(
    "full_sort_predict of all users",
    full_sort,
    {
        "popularity": {},
        "user-knn": {},
        "item-knn": {},
        "ease": {},
        "bpr": {"epochs": 1},
        "LightGCN": {"epochs": 1},
        "multi-vae": {"epochs": 1},
    },
)
