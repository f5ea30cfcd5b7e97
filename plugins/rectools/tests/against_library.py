"""Run with the Python of RecTools' environment: scores of the plug-in against those of RecTools' recommendations.

Reads the training rows from an .npz file and the cases (name and parameters) from standard input. Writes for each case
the largest difference, relative to the score (or to 1, if that is more) and to the spread of all scores, and the number
of pairs that only one of both scores.
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


def library_model(name: str, parameters: dict[str, Any]) -> Any:
    """RecTools' own model of a case."""
    threads = {"num_threads": 1, "random_state": SEED}
    match name:
        case "popularity":
            return PopularModel(popularity=parameters.get("popularity", "n_users"))
        case "PopularModel":
            return PopularModel(period=pd.Timedelta(days=parameters["period"]))
        case "ease":
            return EASEModel(regularization=parameters["regularisation"])
        case "EASEModel":
            return EASEModel(**parameters)
        case "puresvd":
            return PureSVDModel(factors=parameters["factors"], random_state=SEED)
        case "PureSVDModel":
            return PureSVDModel(factors=parameters["factors"], maxiter=parameters["maxiter"], random_state=SEED)
        case "implicit-als":
            return ImplicitALSWrapperModel(
                AlternatingLeastSquares(factors=parameters["factors"], iterations=parameters["epochs"], **threads)
            )
        case "ImplicitALSWrapperModel":
            together = parameters.pop("fit_features_together", False)
            return ImplicitALSWrapperModel(AlternatingLeastSquares(**parameters, **threads), together)
        case "bpr":
            return ImplicitBPRWrapperModel(
                BayesianPersonalizedRanking(factors=parameters["factors"], iterations=parameters["epochs"], **threads)
            )
        case "ImplicitBPRWrapperModel":
            return ImplicitBPRWrapperModel(BayesianPersonalizedRanking(**parameters, **threads))
        case "item-knn":
            return ImplicitItemKNNWrapperModel(KNN[parameters["similarity"]](K=parameters["k"]))
        case "ImplicitItemKNNWrapperModel":
            return ImplicitItemKNNWrapperModel(
                BM25Recommender(K=parameters["K"], K1=parameters["K1"], B=parameters["B"])
            )
    raise ValueError(name)


def library_weights(name: str, parameters: dict[str, Any], ratings: Any) -> Any:
    values = np.ones_like(ratings) if parameters.pop("values", "ratings") == "binary" else ratings
    return 1 + parameters["alpha"] * values if name == "implicit-als" else values


def library_scores(name: str, parameters: dict[str, Any], train: Interactions) -> Any:
    """The scores of RecTools' recommendations, by codes; NaN for items that it does not recommend."""
    frame = pd.DataFrame(
        {
            Columns.User: train.users,
            Columns.Item: train.items,
            Columns.Weight: library_weights(name, parameters, train.ratings),
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
            model = library_model(name, parameters).fit(dataset)
        users = np.arange(train.n_users) if isinstance(model, PopularModel) else np.unique(train.users)
        listed = _listed(model, dataset, users)
    expected[listed[Columns.User], listed[Columns.Item]] = listed[Columns.Score]
    return expected


def _listed(model: Any, dataset: Any, users: Any) -> Any:
    return model.recommend(users, dataset, k=dataset.item_id_map.size, filter_viewed=False)


def compared(name: str, parameters: dict[str, Any], train: Interactions) -> dict[str, float]:
    algorithm = next(algorithm for algorithm in repro_framework().algorithms if algorithm.name == name)
    recommender = algorithm.make(**parameters_of(algorithm, parameters))
    recommender.fit(train, seed=SEED)
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
    scores = recommender.score(Queries(users, History(None)), items)
    expected = library_scores(name, dict(parameters), train)
    state = np.zeros(expected.shape) if scores.state is None else scores.state
    differences = np.abs(scores.values - expected)
    return {
        "relative": float(np.nanmax(differences / np.maximum(np.abs(expected), 1.0))),
        "of_spread": float(np.nanmax(differences) / np.nanstd(expected)),
        "states": int(((state != 0) != np.isnan(expected)).sum()),
        "unscored": int((state == 1).sum()),
    }


def main() -> None:
    stored = np.load(sys.argv[1])
    train = Interactions(**{name: stored[name] for name in stored.files})
    json.dump([compared(name, parameters, train) for name, parameters in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
