"""Surprise's evaluation from ratings to numbers, as in its introduction: ``cross_validate``."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import Pipeline, PipelineFold
from repro_surprise.fitted import Fitted, dataset_of
from repro_surprise.splitters import split

_MEASURES = ("rmse", "mae", "mse", "fcp")
_SEEDS = 1 << 32


def cross_validate(name: str, rows: Interactions, seed: int) -> list[PipelineFold]:
    """Five folds of the rows, and an algorithm with its own defaults."""
    from surprise.model_selection import KFold
    from surprise.model_selection import cross_validate as surprise_cross_validate

    from repro_surprise.classes import CLASSES

    of, seed = CLASSES[name], seed % _SEEDS
    algorithm, models = _recorded(of.make({parameter.name: parameter.default for parameter in of.parameters}, seed))
    reported = surprise_cross_validate(algorithm, dataset_of(rows), _MEASURES, KFold(5, random_state=seed))
    users, items = np.arange(rows.n_users, dtype=np.int32), np.arange(rows.n_items, dtype=np.int32)
    folds = []
    for fold, (train, test) in enumerate(split("KFold", rows, seed, n_splits=5)):
        fitted = Fitted.of(models[fold], rows.select(train), seed)
        numbers = {measure: float(reported[f"test_{measure}"][fold]) for measure in _MEASURES}
        folds.append(PipelineFold(train, test, of.estimates(fitted).block(users, items), numbers))
    return folds


def _recorded(algorithm: Any) -> tuple[Any, list[Any]]:
    """The algorithm, and a list to which every fit adds a copy of it: Surprise keeps only the last."""
    models: list[Any] = []
    fit = algorithm.fit

    def fit_and_record(trainset: Any) -> Any:
        fit(trainset)
        models.append(copy.copy(algorithm))
        return algorithm

    algorithm.fit = fit_and_record
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
