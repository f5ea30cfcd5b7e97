"""Surprise's evaluation from ratings to numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from surprise import SVD, Dataset, Reader
from surprise.model_selection import KFold, cross_validate

from repro.data.interactions import Interactions
from repro.plugin import PipelineFold, plugins
from repro.testing import check_pipeline_fold

SVD_FOLDS, KNN_FOLDS = "surprise/cross_validate", "surprise/cross_validate-KNNBasic"


def run(name: str, rows: Interactions, seed: int = 3) -> Sequence[PipelineFold]:
    return plugins().run_pipeline(plugins().pipelines()[name], rows, seed)


@pytest.mark.parametrize("name", [SVD_FOLDS, KNN_FOLDS])
def test_every_row_is_tested_once_and_estimates_give_the_numbers_reported(name: str, train: Interactions) -> None:
    folds = run(name, train)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(len(train)))
    for fold in folds:
        assert set(fold.reported) == {"rmse", "mae", "mse", "fcp"}
        assert not set(fold.train) & set(fold.test)
        check_pipeline_fold(name, train, fold)


def test_the_numbers_are_those_of_a_direct_call(train: Interactions) -> None:
    frame = pd.DataFrame({"user": train.users, "item": train.items, "rating": train.ratings})
    data = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5)))
    direct = cross_validate(SVD(random_state=3), data, measures=["rmse", "mae"], cv=KFold(5, random_state=3))
    folds = run(SVD_FOLDS, train)
    for measure in ("rmse", "mae"):
        assert [fold.reported[measure] for fold in folds] == direct[f"test_{measure}"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", [SVD_FOLDS, KNN_FOLDS])
def test_estimates_give_the_numbers_reported_on_movielens(name: str, ml100k: Interactions) -> None:
    for fold in run(name, ml100k):
        check_pipeline_fold(name, ml100k, fold)
