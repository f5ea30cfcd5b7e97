"""LensKit's evaluation from ratings to numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import PipelineFold, plugins
from repro.testing import check_pipeline_fold

LISTS, PREDICTIONS = "lenskit/crossfold_users", "lenskit/crossfold_users-predict"


def run(name: str, rows: Interactions, seed: int) -> Sequence[PipelineFold]:
    return plugins().run_pipeline(plugins().pipelines()[name], rows, seed)


@pytest.mark.parametrize("name", [LISTS, PREDICTIONS])
def test_every_user_is_tested_once_and_scores_give_the_numbers_reported(name: str, train: Interactions) -> None:
    folds = run(name, train, 5)
    assert len(folds) == 5
    tested = np.concatenate([np.unique(train.select(fold.test).users) for fold in folds])
    assert sorted(tested) == sorted(np.unique(train.users))
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(len(train)))
        check_pipeline_fold(name, train, fold)


def test_the_same_seed_gives_the_same_numbers(train: Interactions) -> None:
    first, second = (run(LISTS, train, 5)[0] for _ in range(2))
    assert first.reported == second.reported
    assert (first.test == second.test).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", [LISTS, PREDICTIONS])
def test_scores_give_the_numbers_reported_on_movielens(name: str, movielens: Interactions) -> None:
    folds = run(name, movielens, 1)
    for fold in folds:
        check_pipeline_fold(name, movielens, fold)
