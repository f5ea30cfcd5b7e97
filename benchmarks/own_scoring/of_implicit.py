"""implicit: `recommend` for all users with lists of all items, and the product of the factors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from batch import SEED, Batch, Case, placed
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from implicit.nearest_neighbours import CosineRecommender

from repro.data.interactions import Interactions

EPOCHS = 3


def fitted(model: Any, train: Interactions, values: np.ndarray) -> Any:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((values, (train.users, train.items)), shape=(train.n_users, train.n_items))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(matrix, show_progress=False)
    return matrix


def listed(model: Any, matrix: Any) -> Batch:
    users, n_items = np.arange(matrix.shape[0]), matrix.shape[1]

    def dense(answer: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        ids, scores = answer
        filled = (ids >= 0) & (scores > -np.finfo(np.float32).max)  # what fills lists up
        rows = np.broadcast_to(users[:, None], ids.shape)
        return placed(matrix.shape, rows[filled], ids[filled], scores[filled])

    return Batch(lambda: model.recommend(users, matrix, N=n_items, filter_already_liked_items=False), dense)


def als(train: Interactions) -> tuple[Any, Any]:
    model = AlternatingLeastSquares(iterations=EPOCHS, num_threads=1, random_state=SEED)
    return model, fitted(model, train, (1 + train.ratings).astype(np.float32))


def als_product(train: Interactions, recommender: Any) -> Batch:
    model, _ = als(train)
    return Batch(lambda: (model.user_factors @ model.item_factors.T).astype(np.float64))


def bpr(train: Interactions, recommender: Any) -> Batch:
    model = BayesianPersonalizedRanking(iterations=EPOCHS, num_threads=1, random_state=SEED)
    return listed(model, fitted(model, train, train.ratings.astype(np.float32)))


def cosine(train: Interactions, recommender: Any) -> Batch:
    model = CosineRecommender(num_threads=1)
    return listed(model, fitted(model, train, train.ratings))


LISTED = "recommend(users, N=all items)"
CASES = [
    Case("implicit-als", {"epochs": EPOCHS}, LISTED, lambda train, _: listed(*als(train))),
    Case("implicit-als", {"epochs": EPOCHS}, "user_factors @ item_factors.T, in float64", als_product),
    Case("bpr", {"epochs": EPOCHS}, LISTED, bpr),
    Case("item-knn", {}, LISTED, cosine),
]
