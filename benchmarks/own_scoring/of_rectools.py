"""RecTools: `recommend` with lists of all items for all users, and the product of the vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from batch import SEED, Batch, Case, placed
from implicit.cpu.als import AlternatingLeastSquares
from implicit.nearest_neighbours import CosineRecommender
from rectools.models import (
    EASEModel,
    ImplicitALSWrapperModel,
    ImplicitItemKNNWrapperModel,
    PopularModel,
    PureSVDModel,
)

from repro.data.interactions import FloatArray, Interactions
from repro_rectools.training import Training

EPOCHS = 3


def fitted(make: Callable[[], Any], train: Interactions, weigh: Callable[[FloatArray], FloatArray]) -> tuple[Any, Any]:
    dataset = Training.of(train, weigh).dataset
    return make().fit(dataset), dataset


def listed(
    make: Callable[[], Any], weigh: Callable[[FloatArray], FloatArray] = np.asarray
) -> Callable[[Interactions, Any], Batch]:
    def own(train: Interactions, recommender: Any) -> Batch:
        model, dataset = fitted(make, train, weigh)
        users, shape = np.arange(train.n_users), (train.n_users, train.n_items)
        return Batch(
            lambda: model.recommend(users, dataset, k=train.n_items, filter_viewed=False),
            lambda lists: placed(shape, lists["user_id"], lists["item_id"], lists["score"]),
        )

    return own


def als() -> Any:
    return ImplicitALSWrapperModel(AlternatingLeastSquares(iterations=EPOCHS, num_threads=1, random_state=SEED))


def als_product(train: Interactions, recommender: Any) -> Batch:
    model, dataset = fitted(als, train, lambda ratings: 1 + ratings)
    users, items = model.get_vectors()
    places = [ids.convert_to_internal(np.arange(ids.size)) for ids in (dataset.user_id_map, dataset.item_id_map)]
    return Batch(lambda: (users @ items.T).astype(np.float64), lambda scores: scores[np.ix_(*places)])


LISTED = "recommend(users, k=all items)"
CASES = [
    Case("popularity", {}, LISTED, listed(PopularModel)),
    Case("implicit-als", {"epochs": EPOCHS}, LISTED, listed(als, lambda ratings: 1 + ratings)),
    Case("implicit-als", {"epochs": EPOCHS}, "product of get_vectors(), in float64", als_product),
    Case("puresvd", {}, LISTED, listed(lambda: PureSVDModel(random_state=SEED))),
    Case("ease", {}, LISTED, listed(EASEModel), tolerance=1e-4),  # its own sums are of single precision
    Case("item-knn", {}, LISTED, listed(lambda: ImplicitItemKNNWrapperModel(CosineRecommender(num_threads=1)))),
]
