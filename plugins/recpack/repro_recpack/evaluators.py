"""RecPack's own evaluation: its metric classes on matrices, and its ``Pipeline`` around an algorithm.

Columns are items in the order of presentation. A score is a stored entry, also if it is 0; an item that is not in a
user's list has none. RecPack's own matrix of interactions has no ratings: every held-out item is relevant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import Case, Evaluator, Observed
from repro_recpack.running import quiet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_MEASURES = {
    "NDCGK": "ndcg@k",
    "PrecisionK": "precision@k",
    "RecallK": "recall@k",
    "CalibratedRecallK": "recall@k",
    "ReciprocalRankK": "rr@k",
    "HitK": "hit@k",
    "CoverageK": "catalogue-coverage@k",
    "PercentileRanking": "mpr",
}
_FITTED = {"IntraListDiversityK": "intra-list-diversity@k"}
_MARKS = {"fallback": "an entry of a matrix has no such mark"}
_NO_TRAINING = _MARKS | {
    "training": "a metric sees no training rows",
    "unknown-items": "a metric sees no training rows",
}


def of_interactions(case: Case, measure: str, k: int | None) -> Observed:
    """A metric of the held-out interactions and the scores."""
    metric = metric_of(measure, k)
    metric.calculate(interaction_matrix(case.test, case).binary_values, predicted(case))
    return observed(metric)


def of_ratings(case: Case, measure: str, k: int | None) -> Observed:
    """A metric of a matrix with the held-out ratings as entries; RecPack accepts any matrix."""
    metric = metric_of(measure, k)
    test = case.test
    metric.calculate(_matrix(case, test.ratings, test.users, test.items), predicted(case))
    return observed(metric)


def of_fitted(case: Case, measure: str, k: int | None) -> Observed:
    """A metric that is first fitted to features of items: the users who have an item in training."""
    metric = metric_of(measure, k)
    metric.fit(interaction_matrix(case.train, case).binary_values.T.tocsr())
    metric.calculate(interaction_matrix(case.test, case).binary_values, predicted(case))
    return observed(metric)


def of_pipeline(case: Case, measure: str, k: int | None) -> Observed:
    """A ``Pipeline`` around an algorithm with given scores. It subtracts the training items of users from its
    predictions, which leaves no entries of 0."""
    from recpack.pipelines import PipelineBuilder

    from repro_recpack.given_scores import GivenScores

    trained = interaction_matrix(case.train, case)
    builder = PipelineBuilder()
    builder.set_full_training_data(trained)
    builder.set_test_data((trained, interaction_matrix(case.test, case)))
    builder.add_algorithm(GivenScores.__name__, params={"scores": predicted(case)})
    builder.add_metric(measure, k)
    pipeline = builder.build()
    with quiet("recpack.pipelines.pipeline"):
        pipeline.run()
    ((metric,),) = (metrics.values() for metrics in pipeline._metric_acc.acc.values())
    return observed(metric)


def metric_of(measure: str, k: int | None) -> Any:
    """The metric of that class, with the cut-off where it takes one."""
    import recpack.metrics

    return getattr(recpack.metrics, measure)(*(() if k is None else (k,)))


def observed(metric: Any) -> Observed:
    """The value of a metric, and those of users where it has one for each."""
    from recpack.metrics.base import ListwiseMetricK

    if not isinstance(metric, ListwiseMetricK):
        return Observed(metric.value)
    rows = metric.results
    return Observed(metric.value, dict(zip(rows["user_id"].tolist(), rows["score"].tolist(), strict=True)))


def predicted(case: Case) -> csr_matrix:
    """The scores of all lists."""
    lists = [case.list_of(user) for user in range(case.test.n_users)]
    users = np.repeat(np.arange(len(lists)), [len(items) for items in lists])
    items = np.concatenate(lists)
    return _matrix(case, case.scores.values[users, items], users, items)


def interaction_matrix(rows: Interactions, case: Case) -> Any:
    """The rows as RecPack's own matrix."""
    import pandas as pd
    from recpack.matrix import InteractionMatrix

    frame = pd.DataFrame({"user": rows.users, "item": np.argsort(case.order)[rows.items]})
    return InteractionMatrix(frame, item_ix="item", user_ix="user", shape=(rows.n_users, rows.n_items))


def _matrix(case: Case, values: Any, users: Any, items: Any) -> csr_matrix:
    from scipy.sparse import csr_matrix

    shape = (case.test.n_users, case.test.n_items)
    return csr_matrix((values, (users, np.argsort(case.order)[items])), shape=shape)


EVALUATORS = tuple(
    Evaluator(f"recpack/{name}", summary, evaluate, measures, cannot)
    for name, summary, evaluate, measures, cannot in (
        ("metrics", "metrics of what is held out, as interactions", of_interactions, _MEASURES, _NO_TRAINING),
        ("metrics-ratings", "metrics of what is held out, as ratings", of_ratings, _MEASURES, _NO_TRAINING),
        ("metrics-fitted", "metrics that are fitted to items, by who has them", of_fitted, _FITTED, _MARKS),
        ("Pipeline", "a Pipeline around an algorithm with given scores", of_pipeline, _MEASURES, _MARKS),
    )
)
