"""Evaluators that call Cornac's ``ranking_eval``, ``rating_eval`` and ``Experiment``.

Cornac numbers items in the order of the training rows, which is therefore the order of presentation.
``exclude_unknowns=True`` leaves out test rows of users and items without training rows: it is the default of
``RatioSplit`` and ``ranking_eval``, but not of ``BaseMethod.from_splits``. With ``False``, an item without training
rows gets the lowest score of the other items in a ranking, and the mean of the training ratings as its prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from repro.data.interactions import Interactions
from repro.plugin import Case, Evaluator, Observed

Triple = tuple[str, str, float]
DEFAULT_THRESHOLD = 1.0
# The rating threshold in the example of Cornac's README.
README_THRESHOLD = 4.0

_AT_K = {
    "NDCG": "ndcg@k",
    "Precision": "precision@k",
    "Recall": "recall@k",
    "F1": "f1@k",
    "HitRatio": "hit@k",
}
# Cornac's names of its metrics without a cut-off.
_WITHOUT_CUTOFF = {
    "NDCG@-1": "ndcg",
    "Precision@-1": "precision",
    "Recall@-1": "recall",
    "F1@-1": "f1",
    "MAP": "ap",
    "MRR": "rr",
    "AUC": "auc",
}
_OF_RATINGS = {"MAE": "mae", "RMSE": "rmse", "MSE": "mse"}
_IN_EXPERIMENT = {
    "MAE": "mae",
    "RMSE": "rmse",
    "AUC": "auc",
    "MAP": "ap",
    "MRR": "rr",
    "NDCG": "ndcg@k",
    "Precision": "precision@k",
    "Recall": "recall@k",
}
_UNSUPPORTED = {
    "partial-lists": "a model scores all items",
    "no-list": "a model scores all items",
    "fallback": "a score has no such mark",
}


def metric_of(measure: str, k: int | None) -> Any:
    """Cornac's metric for a name such as ``NDCG`` or ``F1@-1``, with the cut-off ``k`` if it has one."""
    from cornac import metrics

    classes = {"F1": metrics.FMeasure}
    name = measure.removesuffix("@-1")
    metric = classes.get(name) or getattr(metrics, name)
    return metric() if k is None else metric(k=k)


def method_of(case: Case, threshold: float, exclude_unknowns: bool) -> Any:
    """Cornac's evaluation method with the training and test rows of a case."""
    from cornac.eval_methods import BaseMethod

    return BaseMethod.from_splits(
        train_data=triples_of(case.presented(case.train)),
        test_data=triples_of(case.presented(case.test)),
        rating_threshold=threshold,
        exclude_unknowns=exclude_unknowns,
    )


def triples_of(rows: Interactions) -> list[Triple]:
    """The user, item and rating of each row, with ids as text."""
    users, items = rows.user_ids[rows.users], rows.item_ids[rows.items]
    return [(str(u), str(i), float(r)) for u, i, r in zip(users, items, rows.ratings, strict=True)]


def ranking(case: Case, measure: str, k: int | None, *, exclude_unknowns: bool) -> Observed:
    """The result of ``ranking_eval`` for one metric."""
    from cornac.eval_methods import ranking_eval

    from repro_cornac.given_scores import GivenScores

    method = method_of(case, DEFAULT_THRESHOLD, exclude_unknowns)
    averages, per_user = ranking_eval(
        model=GivenScores(case).fit(method.train_set),
        metrics=[metric_of(measure, k)],
        train_set=method.train_set,
        test_set=method.test_set,
        exclude_unknowns=exclude_unknowns,
    )
    return observed(case, method, averages[0], per_user[0])


def rating(case: Case, measure: str, k: int | None, *, exclude_unknowns: bool, user_based: bool) -> Observed:
    """The result of ``rating_eval`` for one metric."""
    from cornac.eval_methods import rating_eval

    from repro_cornac.given_scores import GivenScores

    method = method_of(case, DEFAULT_THRESHOLD, exclude_unknowns)
    model = GivenScores(case).fit(method.train_set)
    averages, per_user = rating_eval(model, [metric_of(measure, k)], method.test_set, user_based=user_based)
    return observed(case, method, averages[0], per_user[0])


def experiment(case: Case, measure: str, k: int | None) -> Observed:
    """The result for one metric when an ``Experiment`` computes all metrics with the settings of Cornac's README.

    Metrics with and without a cut-off are computed separately: with a cut-off, Cornac accepts no shorter list and does
    not sort the items below the largest cut-off, but MRR needs all items in order.
    """
    from repro_cornac.given_scores import GivenScores

    method = method_of(case, README_THRESHOLD, exclude_unknowns=True)
    metrics = [
        metric_of(name, k) for name, metric in _IN_EXPERIMENT.items() if metric.endswith("@k") == (k is not None)
    ]
    result, _ = method.evaluate(GivenScores(case), metrics, user_based=True)
    name = metric_of(measure, k).name
    return observed(case, method, result.metric_avg_results[name], result.metric_user_results[name])


def observed(case: Case, method: Any, average: float, per_user: Mapping[int, float]) -> Observed:
    """Cornac's average and its values by user code (None if it has none), as a result of an evaluator."""
    codes = case.test.user_codes(list(method.global_uid_map))
    return Observed(average, {codes[user]: value for user, value in per_user.items()} or None)


_ranking, _rating = partial(ranking, exclude_unknowns=True), partial(rating, exclude_unknowns=True)
_EVALUATORS: Sequence[tuple[str, str, Callable[..., Observed], Mapping[str, str]]] = (
    ("ranking_eval", "ranking_eval, test rows of unknown items left out", _ranking, _AT_K | _WITHOUT_CUTOFF),
    (
        "ranking_eval-unknowns",
        "ranking_eval with exclude_unknowns=False",
        partial(ranking, exclude_unknowns=False),
        _AT_K | _WITHOUT_CUTOFF,
    ),
    ("rating_eval", "rating_eval, unknown items left out", partial(_rating, user_based=False), _OF_RATINGS),
    ("rating_eval-user_based", "rating_eval with user_based=True", partial(_rating, user_based=True), _OF_RATINGS),
    (
        "rating_eval-unknowns",
        "rating_eval of a test set built with exclude_unknowns=False",
        partial(rating, exclude_unknowns=False, user_based=False),
        _OF_RATINGS,
    ),
    ("Experiment", "all metrics of an Experiment at once, relevant from a rating of 4", experiment, _IN_EXPERIMENT),
)
EVALUATORS = tuple(
    Evaluator(f"cornac/{name}", summary, evaluate, measures, _UNSUPPORTED)
    for name, summary, evaluate, measures in _EVALUATORS
)
