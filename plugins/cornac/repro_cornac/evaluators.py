"""Cornac's own evaluation: ``ranking_eval`` and ``rating_eval``, and what ``Experiment`` makes of both.

Cornac numbers items in the order of the training rows, which is therefore the order of presentation.
``exclude_unknowns`` leaves out test rows of users and items without training rows: ``RatioSplit`` and ``ranking_eval``
do so, ``BaseMethod.from_splits`` does not. If they stay, an item without training rows has the lowest score of the
others in a ranking, and the mean of the training ratings as its prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from repro.data.interactions import Interactions
from repro.plugin import Case, Evaluator, Observed

Triple = tuple[str, str, float]
DEFAULT_THRESHOLD = 1.0
# As in the experiment of Cornac's README.
README_THRESHOLD = 4.0

_AT_K = {
    "NDCG": "ndcg@k",
    "Precision": "precision@k",
    "Recall": "recall@k",
    "F1": "f1@k",
    "HitRatio": "hit@k",
}
# Cornac's names of its metrics without a cut-off.
_WHOLE = {
    "NDCG@-1": "ndcg",
    "Precision@-1": "precision",
    "Recall@-1": "recall",
    "F1@-1": "f1",
    "MAP": "ap",
    "MRR": "rr",
    "AUC": "auc",
}
_RATINGS = {"MAE": "mae", "RMSE": "rmse", "MSE": "mse"}
_EXPERIMENT = {
    "MAE": "mae",
    "RMSE": "rmse",
    "AUC": "auc",
    "MAP": "ap",
    "MRR": "rr",
    "NDCG": "ndcg@k",
    "Precision": "precision@k",
    "Recall": "recall@k",
}
_CANNOT = {
    "partial-lists": "a model scores all items",
    "no-list": "a model scores all items",
    "fallback": "a score has no such mark",
}


def metric_of(measure: str, k: int | None) -> Any:
    """Cornac's metric of that name, with the cut-off where it has one."""
    from cornac import metrics

    classes = {"F1": metrics.FMeasure}
    name = measure.removesuffix("@-1")
    metric = classes.get(name) or getattr(metrics, name)
    return metric() if k is None else metric(k=k)


def method_of(case: Case, threshold: float, exclude_unknowns: bool) -> Any:
    """Cornac's evaluation method for the rows of a case."""
    from cornac.eval_methods import BaseMethod

    return BaseMethod.from_splits(
        train_data=triples_of(case.presented(case.train)),
        test_data=triples_of(case.presented(case.test)),
        rating_threshold=threshold,
        exclude_unknowns=exclude_unknowns,
    )


def triples_of(rows: Interactions) -> list[Triple]:
    """User, item and rating of each row, ids as text."""
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
    """The result of the evaluation method in an ``Experiment`` with all metrics, with the settings of the README.

    Metrics with and without a cut-off are computed separately: with a cut-off, no list may be shorter, and Cornac
    does not sort the items after the largest cut-off, which MRR needs.
    """
    from repro_cornac.given_scores import GivenScores

    method = method_of(case, README_THRESHOLD, exclude_unknowns=True)
    metrics = [metric_of(name, k) for name, metric in _EXPERIMENT.items() if metric.endswith("@k") == (k is not None)]
    result, _ = method.evaluate(GivenScores(case), metrics, user_based=True)
    name = metric_of(measure, k).name
    return observed(case, method, result.metric_avg_results[name], result.metric_user_results[name])


def observed(case: Case, method: Any, average: float, per_user: Mapping[int, float]) -> Observed:
    """Cornac's average, and its values by user code, where it has any."""
    codes = case.test.user_codes(list(method.global_uid_map))
    return Observed(average, {codes[user]: value for user, value in per_user.items()} or None)


_ranked, _rated = partial(ranking, exclude_unknowns=True), partial(rating, exclude_unknowns=True)
_EVALUATORS: Sequence[tuple[str, str, Callable[..., Observed], Mapping[str, str]]] = (
    ("ranking_eval", "ranking_eval, test rows of unknown items left out", _ranked, _AT_K | _WHOLE),
    (
        "ranking_eval-unknowns",
        "ranking_eval with exclude_unknowns=False",
        partial(ranking, exclude_unknowns=False),
        _AT_K | _WHOLE,
    ),
    ("rating_eval", "rating_eval, unknown items left out", partial(_rated, user_based=False), _RATINGS),
    ("rating_eval-user_based", "rating_eval with user_based=True", partial(_rated, user_based=True), _RATINGS),
    (
        "rating_eval-unknowns",
        "rating_eval of a test set built with exclude_unknowns=False",
        partial(rating, exclude_unknowns=False, user_based=False),
        _RATINGS,
    ),
    ("Experiment", "all metrics of an Experiment at once, relevant from a rating of 4", experiment, _EXPERIMENT),
)
EVALUATORS = tuple(
    Evaluator(f"cornac/{name}", summary, evaluate, measures, _CANNOT)
    for name, summary, evaluate, measures in _EVALUATORS
)
