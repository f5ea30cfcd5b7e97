"""LensKit: the scorer called for one user after the other, as its batch runner does, without the runner's overhead."""

from __future__ import annotations

from typing import Any

import numpy as np
from batch import Batch, Case
from lenskit.data import ItemList, RecQuery

from repro.data.interactions import Interactions
from repro_lenskit.training import dataset_of

WAY = "scorer(query, items) for each user"


def scored(train: Interactions, recommender: Any) -> Batch:
    data = dataset_of(train)
    histories = data.interactions().matrix()
    items = ItemList(item_nums=np.arange(data.item_count, dtype=np.int32), vocabulary=data.items)
    queries = [
        RecQuery(user_id=user, history_items=histories.row_items(number=number))
        for number, user in enumerate(data.users.ids())
    ]
    return Batch(
        lambda: np.array([recommender.component(query, items).scores() for query in queries], dtype=np.float64)
    )


CASES = [
    Case(name, parameters, WAY, scored)
    for name, parameters in (
        ("bias", {}),
        ("user-knn", {}),
        ("item-knn", {}),
        ("biased-mf", {"epochs": 3}),
        ("implicit-als", {"epochs": 3}),
        ("ease", {}),
        ("slim", {"l1": 20.0, "max_iters": 10}),
        ("nmf", {"factors": 20, "epochs": 20}),
        ("bpr", {"epochs": 1}),
        ("FunkSVDScorer", {"epochs": 3}),
    )
]
