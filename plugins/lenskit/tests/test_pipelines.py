"""LensKit's evaluation from ratings to numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.plugin import Case, PipelineFold, plugins

LISTS, PREDICTIONS = "lenskit/crossfold_users", "lenskit/crossfold_users-predict"


def run(name: str, rows: Interactions, seed: int) -> Sequence[PipelineFold]:
    return plugins().run_pipeline(plugins().pipelines()[name], rows, seed)


def assert_the_evaluator_reports_the_same(name: str, rows: Interactions, fold: PipelineFold) -> None:
    """On the scores that the model gave, and the rows that it was fitted to."""
    pipeline = plugins().pipelines()[name]
    evaluator = plugins().evaluators()[pipeline.evaluator]
    order = np.arange(rows.n_items, dtype=np.int32)
    case = Case(fold.scores, rows.select(fold.train), rows.select(fold.test), order)
    for measure, value in fold.reported.items():
        assert plugins().evaluate(evaluator, case, measure, pipeline.k).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", [LISTS, PREDICTIONS])
def test_every_user_is_tested_once_and_scores_give_the_numbers_reported(name: str, train: Interactions) -> None:
    folds = run(name, train, 5)
    assert len(folds) == 5
    tested = np.concatenate([np.unique(train.select(fold.test).users) for fold in folds])
    assert sorted(tested) == sorted(np.unique(train.users))
    for fold in folds:
        assert sorted([*fold.train, *fold.test]) == list(range(len(train)))
        assert_the_evaluator_reports_the_same(name, train, fold)


def test_the_same_seed_gives_the_same_numbers(train: Interactions) -> None:
    one, other = (run(LISTS, train, 5)[0] for _ in range(2))
    assert one.reported == other.reported
    assert (one.test == other.test).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", [LISTS, PREDICTIONS])
def test_scores_give_the_numbers_reported_on_movielens(name: str, movielens: Interactions) -> None:
    folds = run(name, movielens, 1)
    for fold in folds:
        assert_the_evaluator_reports_the_same(name, movielens, fold)
