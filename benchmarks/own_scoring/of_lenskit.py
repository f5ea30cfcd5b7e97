"""LensKit: its batch runner, `lenskit.batch.score`, for all users and all items."""

from __future__ import annotations

from typing import Any

import numpy as np
from batch import Batch, cases
from lenskit.batch import score
from lenskit.data import ItemList
from lenskit.pipeline import topn_pipeline
from lenskit.training import TrainingOptions

from repro.data.interactions import Interactions
from repro_lenskit.training import dataset_of


def scored(train: Interactions, recommender: Any) -> Batch:
    data = dataset_of(train)
    pipeline = topn_pipeline(recommender.component)
    pipeline.train(data, TrainingOptions(retrain=False))
    items = ItemList(item_nums=np.arange(data.item_count, dtype=np.int32), vocabulary=data.items)
    requested = dict.fromkeys(data.users.ids().tolist(), items)

    def ask() -> np.ndarray:
        lists = score(pipeline, requested, n_jobs=1)
        return np.array([scores.scores() for _, scores in lists.items()], dtype=np.float64)

    return Batch(ask)


CASES = cases(
    "lenskit.batch.score of all users",
    scored,
    {
        "bias": {},
        "user-knn": {},
        "item-knn": {},
        "biased-mf": {"epochs": 3},
        "implicit-als": {"epochs": 3},
        "ease": {},
        "slim": {"l1": 20.0, "max_iters": 10},
        "nmf": {"factors": 20, "epochs": 20},
        "bpr": {"epochs": 1},
        "FunkSVDScorer": {"epochs": 3},
    },
)
