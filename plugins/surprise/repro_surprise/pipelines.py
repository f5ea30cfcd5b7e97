"""Surprise's evaluation from ratings to numbers, as its documentation begins: ``cross_validate``."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import Pipeline, PipelineFold
from repro_surprise.classes import CLASSES
from repro_surprise.fitted import Fitted, dataset_of
from repro_surprise.splitters import split

_MEASURES = ("rmse", "mae", "mse", "fcp")
_SEEDS = 1 << 32


def cross_validate(name: str, rows: Interactions, seed: int) -> list[PipelineFold]:
    """Five folds of the rows, and an algorithm with its own defaults."""
    from surprise.model_selection import KFold
    from surprise.model_selection import cross_validate as of_surprise

    of, seed = CLASSES[name], seed % _SEEDS
    algorithm, models = _keeping(of.make({one.name: one.default for one in of.parameters}, seed))
    reported = of_surprise(algorithm, dataset_of(rows), _MEASURES, KFold(5, random_state=seed))
    users, items = np.arange(rows.n_users, dtype=np.int32), np.arange(rows.n_items, dtype=np.int32)
    folds = []
    for fold, (train, test) in enumerate(split("KFold", rows, seed, n_splits=5)):
        fitted = Fitted.of(models[fold], rows.select(train), seed)
        numbers = {measure: float(reported[f"test_{measure}"][fold]) for measure in _MEASURES}
        folds.append(PipelineFold(train, test, of.estimates(fitted).block(users, items), numbers))
    return folds


def _keeping(algorithm: Any) -> tuple[Any, list[Any]]:
    """The algorithm, and a list to which every fit adds what it was after it: Surprise keeps only the last."""
    models: list[Any] = []
    fit = algorithm.fit

    def fit_and_keep(trainset: Any) -> Any:
        fit(trainset)
        models.append(copy.copy(algorithm))
        return algorithm

    algorithm.fit = fit_and_keep
    return algorithm, models


PIPELINES = (
    Pipeline("surprise/cross_validate", "cross_validate of SVD", partial(cross_validate, "SVD"), "surprise/test"),
    Pipeline(
        "surprise/cross_validate-KNNBasic",
        "cross_validate of KNNBasic, which finds some predictions impossible",
        partial(cross_validate, "KNNBasic"),
        "surprise/test",
    ),
)
