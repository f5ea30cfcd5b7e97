"""implicit's own evaluation, fed with known scores."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from repro.plugin import Case, Evaluator, Observed

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from repro.data.interactions import CodeArray, Interactions
    from repro_implicit.given_scores import GivenScores

_CANNOT = {
    "partial-lists": "a model scores every item",
    "no-list": "a model scores every item",
    "fallback": "a model's scores have no marks",
}


def ranking_metrics(case: Case, measure: str, k: int | None) -> Observed:
    """All four measures come from one call, and only as means."""
    return Observed(_all_at_once(case, k)[measure])


def one_function(case: Case, measure: str, k: int | None) -> Observed:
    """A function for each measure."""
    from implicit import evaluation

    return Observed(getattr(evaluation, measure)(*_inputs(case), K=k, show_progress=False))


EVALUATORS = (
    Evaluator(
        "implicit/ranking_metrics_at_k",
        "implicit.evaluation.ranking_metrics_at_k of a model whose scores are given",
        ranking_metrics,
        {"precision": "precision@k", "map": "ap@k", "ndcg": "ndcg@k", "auc": "auc@k"},
        _CANNOT,
    ),
    Evaluator(
        "implicit/functions_at_k",
        "the functions of implicit.evaluation with one measure each, of a model whose scores are given",
        one_function,
        {
            "precision_at_k": "precision@k",
            "mean_average_precision_at_k": "ap@k",
            "ndcg_at_k": "ndcg@k",
            "AUC_at_k": "auc@k",
        },
        _CANNOT,
    ),
)


@lru_cache(maxsize=1)
def _all_at_once(case: Case, k: int | None) -> dict[str, float]:
    from implicit.evaluation import ranking_metrics_at_k

    metrics: dict[str, float] = ranking_metrics_at_k(*_inputs(case), K=k, show_progress=False)
    return metrics


def _inputs(case: Case) -> tuple[GivenScores, csr_matrix, csr_matrix]:
    """Model, training and test matrix: rows are users, columns items in the order of presentation."""
    from repro_implicit.given_scores import GivenScores

    columns = np.argsort(case.order).astype(np.int32)
    model = GivenScores(case.scores.values[:, case.order])
    return model, _matrix(case.train, columns), _matrix(case.test, columns)


def _matrix(rows: Interactions, columns: CodeArray) -> csr_matrix:
    """Ratings of 0 stay in it, as entries that are stored."""
    from scipy.sparse import csr_matrix

    return csr_matrix((rows.ratings, (rows.users, columns[rows.items])), shape=(rows.n_users, rows.n_items))
