"""implicit's evaluation from ratings to numbers."""

from __future__ import annotations

import numpy as np
import pytest
from implicit.evaluation import train_test_split
from scipy.sparse import csr_matrix

from repro.data.interactions import Interactions
from repro.plugin import Case, PipelineFold, plugins

NAME = "implicit/train_test_split"


def run(rows: Interactions, seed: int) -> PipelineFold:
    (fold,) = plugins().run_pipeline(plugins().pipelines()[NAME], rows, seed)
    return fold


def assert_the_evaluator_reports_the_same(rows: Interactions, fold: PipelineFold) -> None:
    """On the scores that the model gave, and the rows that it was fitted to."""
    pipeline = plugins().pipelines()[NAME]
    evaluator = plugins().evaluators()[pipeline.evaluator]
    order = np.arange(rows.n_items, dtype=np.int32)
    case = Case(fold.scores, rows.select(fold.train), rows.select(fold.test), order)
    for measure, value in fold.reported.items():
        assert plugins().evaluate(evaluator, case, measure, pipeline.k).value == pytest.approx(value, abs=1e-12)
    assert set(fold.reported) == set(evaluator.measures)


def test_the_rows_held_out_are_those_of_the_framework(train: Interactions) -> None:
    fold = run(train, 5)
    assert sorted([*fold.train, *fold.test]) == list(range(len(train)))
    shape = train.n_users, train.n_items
    whole = csr_matrix((train.ratings, (train.users, train.items)), shape=shape)
    order = np.lexsort((train.items, train.users))
    assert (np.diff(order) > 0).all()  # the rows of this table are in the order of the matrix
    for part, taken in zip(train_test_split(whole, random_state=5), (fold.train, fold.test), strict=True):
        mine = train.select(taken)
        assert (csr_matrix((mine.ratings, (mine.users, mine.items)), shape=shape) != part).nnz == 0


def test_scores_and_rows_give_the_numbers_reported(train: Interactions) -> None:
    assert_the_evaluator_reports_the_same(train, run(train, 5))


def test_the_same_seed_gives_the_same_bits(train: Interactions) -> None:
    one, other = run(train, 5), run(train, 5)
    assert one.reported == other.reported
    assert (one.scores.values == other.scores.values).all()
    assert run(train, 6).reported != one.reported


@pytest.mark.slow
def test_scores_and_rows_give_the_numbers_reported_on_movielens(movielens: Interactions) -> None:
    fold = run(movielens, 1)
    assert 0.2 < fold.reported["ndcg"] < 0.5
    assert_the_evaluator_reports_the_same(movielens, fold)
