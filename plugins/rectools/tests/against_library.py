"""Run with the Python of RecTools' environment: scores of the plug-in against those that RecTools recommends by.

Reads the training rows from an .npz file and the cases (name and parameters here) from standard input; writes for each
case the largest difference, relative to the score (or 1, if that is more) and to the spread of all scores, and how many
pairs are scored here and not listed there, or the other way round.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from implicit.nearest_neighbours import BM25Recommender, CosineRecommender, ItemItemRecommender, TFIDFRecommender
from rectools import Columns
from rectools.dataset import Dataset
from rectools.models import (
    EASEModel,
    ImplicitALSWrapperModel,
    ImplicitBPRWrapperModel,
    ImplicitItemKNNWrapperModel,
    PopularModel,
    PureSVDModel,
    RandomModel,
)
from threadpoolctl import threadpool_limits

from repro.data.interactions import Interactions
from repro.plugin import History, Queries, parameters_of
from repro.rng import child_keys, stream
from repro_rectools.plugin import repro_framework

SEED = 11
KNN = {
    "cosine": CosineRecommender,
    "tfidf": TFIDFRecommender,
    "bm25": BM25Recommender,
    "dot": ItemItemRecommender,
}


def library_model(name: str, given: dict[str, Any]) -> Any:
    """RecTools' own model of a case, made as its users would make it."""
    threads = {"num_threads": 1, "random_state": SEED}
    match name:
        case "popularity":
            return PopularModel(popularity=given.get("popularity", "n_users"))
        case "PopularModel":
            return PopularModel(period=pd.Timedelta(days=given["period"]))
        case "ease":
            return EASEModel(regularization=given["regularisation"])
        case "EASEModel":
            return EASEModel(**given)
        case "puresvd":
            return PureSVDModel(factors=given["factors"], random_state=SEED)
        case "PureSVDModel":
            return PureSVDModel(factors=given["factors"], maxiter=given["maxiter"], random_state=SEED)
        case "implicit-als":
            return ImplicitALSWrapperModel(
                AlternatingLeastSquares(factors=given["factors"], iterations=given["epochs"], **threads)
            )
        case "ImplicitALSWrapperModel":
            together = given.pop("fit_features_together", False)
            return ImplicitALSWrapperModel(AlternatingLeastSquares(**given, **threads), together)
        case "bpr":
            return ImplicitBPRWrapperModel(
                BayesianPersonalizedRanking(factors=given["factors"], iterations=given["epochs"], **threads)
            )
        case "ImplicitBPRWrapperModel":
            return ImplicitBPRWrapperModel(BayesianPersonalizedRanking(**given, **threads))
        case "item-knn":
            return ImplicitItemKNNWrapperModel(KNN[given["similarity"]](K=given["k"]))
        case "ImplicitItemKNNWrapperModel":
            return ImplicitItemKNNWrapperModel(BM25Recommender(K=given["K"], K1=given["K1"], B=given["B"]))
    raise ValueError(name)


def library_weights(name: str, given: dict[str, Any], ratings: Any) -> Any:
    values = np.ones_like(ratings) if given.pop("values", "ratings") == "binary" else ratings
    return 1 + given["alpha"] * values if name == "implicit-als" else values


def library_scores(name: str, given: dict[str, Any], train: Interactions) -> Any:
    """All that RecTools recommends, by codes; NaN where it recommends nothing."""
    frame = pd.DataFrame(
        {
            Columns.User: train.users,
            Columns.Item: train.items,
            Columns.Weight: library_weights(name, given, train.ratings),
            Columns.Datetime: pd.to_datetime(train.timestamps, unit="s"),
        }
    ).sort_values([Columns.User, Columns.Item])
    dataset = Dataset.construct(frame)
    expected = np.full((train.n_users, train.n_items), np.nan)
    if name in ("random", "RandomModel"):
        states = child_keys(stream(SEED, "rectools", "random"), train.user_keys)
        lists = [_listed(RandomModel(int(states[user])).fit(dataset), dataset, [user]) for user in range(train.n_users)]
        listed = pd.concat(lists)
    else:
        with threadpool_limits(1, "blas"):
            model = library_model(name, given).fit(dataset)
        anyone = isinstance(model, PopularModel)
        users = np.arange(train.n_users) if anyone else np.unique(train.users)
        listed = _listed(model, dataset, users)
    expected[listed[Columns.User], listed[Columns.Item]] = listed[Columns.Score]
    return expected


def _listed(model: Any, dataset: Any, users: Any) -> Any:
    return model.recommend(users, dataset, k=dataset.item_id_map.size, filter_viewed=False)


def compared(name: str, given: dict[str, Any], train: Interactions) -> dict[str, float]:
    algorithm = next(one for one in repro_framework().algorithms if one.name == name)
    recommender = algorithm.make(**parameters_of(algorithm, given))
    recommender.fit(train, seed=SEED)
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
    found = recommender.score(Queries(users, History(None)), items)
    expected = library_scores(name, dict(given), train)
    state = np.zeros(expected.shape) if found.state is None else found.state
    differences = np.abs(found.values - expected)
    return {
        "relative": float(np.nanmax(differences / np.maximum(np.abs(expected), 1.0))),
        "of_spread": float(np.nanmax(differences) / np.nanstd(expected)),
        "states": int(((state != 0) != np.isnan(expected)).sum()),
        "unscored": int((state == 1).sum()),
    }


def main() -> None:
    stored = np.load(sys.argv[1])
    train = Interactions(**{name: stored[name] for name in stored.files})
    json.dump([compared(name, given, train) for name, given in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
