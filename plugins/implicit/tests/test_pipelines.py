"""implicit's evaluation from ratings to numbers."""

from __future__ import annotations

import numpy as np
import pytest
from implicit.evaluation import train_test_split
from scipy.sparse import csr_matrix

from repro.data.interactions import Interactions
from repro.plugin import PipelineFold, plugins
from repro.testing import check_pipeline_fold

NAME = "implicit/train_test_split"


def run(rows: Interactions, seed: int) -> PipelineFold:
    (fold,) = plugins().run_pipeline(plugins().pipelines()[NAME], rows, seed)
    return fold


def test_the_rows_held_out_are_those_of_the_framework(train: Interactions) -> None:
    fold = run(train, 5)
    assert sorted([*fold.train, *fold.test]) == list(range(len(train)))
    shape = train.n_users, train.n_items
    complete = csr_matrix((train.ratings, (train.users, train.items)), shape=shape)
    order = np.lexsort((train.items, train.users))
    assert (np.diff(order) > 0).all()  # the rows of this table are in the order of the matrix
    for part, positions in zip(train_test_split(complete, random_state=5), (fold.train, fold.test), strict=True):
        rows = train.select(positions)
        assert (csr_matrix((rows.ratings, (rows.users, rows.items)), shape=shape) != part).nnz == 0


def test_scores_and_rows_give_the_numbers_reported(train: Interactions) -> None:
    fold = run(train, 5)
    assert set(fold.reported) == set(plugins().evaluators()["implicit/ranking_metrics_at_k"].measures)
    check_pipeline_fold(NAME, train, fold)


def test_the_same_seed_gives_the_same_bits(train: Interactions) -> None:
    first, second = run(train, 5), run(train, 5)
    assert first.reported == second.reported
    assert (first.scores.values == second.scores.values).all()
    assert run(train, 6).reported != first.reported


@pytest.mark.slow
def test_scores_and_rows_give_the_numbers_reported_on_movielens(movielens: Interactions) -> None:
    fold = run(movielens, 1)
    assert 0.2 < fold.reported["ndcg"] < 0.5
    check_pipeline_fold(NAME, movielens, fold)
