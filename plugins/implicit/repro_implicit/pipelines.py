"""implicit's evaluation from ratings to numbers: its own split, a model, and its measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from repro.data.interactions import FloatArray, Interactions, RowArray
from repro.plugin import Pipeline, PipelineFold, Scores

if TYPE_CHECKING:
    from scipy.sparse import coo_matrix, csr_matrix

_K = 10


def als(rows: Interactions, seed: int) -> list[PipelineFold]:
    """Four fifths of the rows for training, alternating least squares, and the four measures of the others."""
    from implicit.als import AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k, train_test_split
    from threadpoolctl import threadpool_limits

    train, test = train_test_split(_matrix(rows, rows.ratings), train_percentage=0.8, random_state=seed)
    with threadpool_limits(1, "blas"):  # implicit wants a BLAS with one thread beside its own
        model = AlternatingLeastSquares(factors=50, random_state=seed)
        model.fit(train, show_progress=False)
        reported = ranking_metrics_at_k(model, train, test, K=_K, show_progress=False)
        scores = _scores(model, test)
    # The same draws for the same seed: of a matrix whose values are the positions of rows, from 1.
    positions = train_test_split(_matrix(rows, np.arange(1.0, len(rows) + 1)), train_percentage=0.8, random_state=seed)
    return [PipelineFold(_positions(positions[0]), _positions(positions[1]), Scores(scores), reported)]


PIPELINES = (
    Pipeline(
        "implicit/train_test_split",
        "train_test_split, AlternatingLeastSquares and ranking_metrics_at_k",
        als,
        "implicit/ranking_metrics_at_k",
        _K,
    ),
)


def _matrix(rows: Interactions, values: FloatArray) -> coo_matrix:
    from scipy.sparse import coo_matrix

    return coo_matrix((values, (rows.users, rows.items)), shape=(rows.n_users, rows.n_items))


def _scores(model: Any, test: csr_matrix) -> FloatArray:
    """The scores of the model's own ``recommend`` for all items, of the tested users together, as in the evaluation,
    where products are added up for as many users at a time; and of the others."""
    scores = np.zeros(test.shape)
    tested = np.diff(test.indptr) > 0
    for users in (np.flatnonzero(tested), np.flatnonzero(~tested)):
        for start in range(0, len(users), 1000):
            some = users[start : start + 1000]
            items, values = model.recommend(some, None, N=test.shape[1], filter_already_liked_items=False)
            scores[some[:, None], items] = values
    return scores


def _positions(part: csr_matrix) -> RowArray:
    return np.sort(part.data).astype(np.int64) - 1
