"""Cornac's own evaluation: ``ranking_eval`` and ``rating_eval``, and what ``Experiment`` makes of both.

Cornac numbers items as they appear in the training rows, which are therefore given in the order of presentation.
``exclude_unknowns`` says whether test rows of users and items without training rows are left out: they are in
``RatioSplit`` and ``ranking_eval``, and are not in ``BaseMethod.from_splits``. Where they stay, an item without
training rows has the lowest score of the others in a ranking, and the mean of the training ratings as its prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.plugin import Case, Evaluator, Observed

Triple = tuple[str, str, float]
DEFAULT_THRESHOLD = 1.0
# That of the experiment in Cornac's README.
README_THRESHOLD = 4.0

_AT_K = {
    "NDCG": "ndcg@k",
    "Precision": "precision@k",
    "Recall": "recall@k",
    "F1": "f1@k",
    "HitRatio": "hit@k",
}
# As Cornac calls its metrics without a cut-off.
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
    """The metric of Cornac's that is called so, with the cut-off where it takes one."""
    from cornac import metrics

    classes = {"F1": metrics.FMeasure}
    name = measure.removesuffix("@-1")
    made = classes.get(name) or getattr(metrics, name)
    return made() if k is None else made(k=k)


def method_of(case: Case, threshold: float, exclude_unknowns: bool) -> Any:
    """An evaluation method of Cornac's on the rows of a case."""
    from cornac.eval_methods import BaseMethod

    return BaseMethod.from_splits(
        train_data=triples_of(presented(case.train, case.order)),
        test_data=triples_of(presented(case.test, case.order)),
        rating_threshold=threshold,
        exclude_unknowns=exclude_unknowns,
    )


def presented(rows: Interactions, order: CodeArray) -> Interactions:
    """The rows by item, in the order of presentation."""
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return rows.select(np.argsort(place[rows.items], kind="stable"))


def triples_of(rows: Interactions) -> list[Triple]:
    """User, item and rating of each row, ids as text."""
    users, items = rows.user_ids[rows.users], rows.item_ids[rows.items]
    return [(str(u), str(i), float(r)) for u, i, r in zip(users, items, rows.ratings, strict=True)]


def ranking(case: Case, measure: str, k: int | None, *, exclude_unknowns: bool) -> Observed:
    """What ``ranking_eval`` says, asked for one metric."""
    from cornac.eval_methods import ranking_eval

    from repro_cornac.given import Given

    method = method_of(case, DEFAULT_THRESHOLD, exclude_unknowns)
    averages, per_user = ranking_eval(
        model=Given(case).fit(method.train_set),
        metrics=[metric_of(measure, k)],
        train_set=method.train_set,
        test_set=method.test_set,
        exclude_unknowns=exclude_unknowns,
    )
    return observed(case, method, averages[0], per_user[0])


def rating(case: Case, measure: str, k: int | None, *, exclude_unknowns: bool, user_based: bool) -> Observed:
    """What ``rating_eval`` says, asked for one metric."""
    from cornac.eval_methods import rating_eval

    from repro_cornac.given import Given

    method = method_of(case, DEFAULT_THRESHOLD, exclude_unknowns)
    model = Given(case).fit(method.train_set)
    averages, per_user = rating_eval(model, [metric_of(measure, k)], method.test_set, user_based=user_based)
    return observed(case, method, averages[0], per_user[0])


def experiment(case: Case, measure: str, k: int | None) -> Observed:
    """What the evaluation method tells an ``Experiment`` that asks for all metrics, with the settings of the README.

    Metrics with and without a cut-off are asked for apart: with one, no list may have fewer items, and of what comes
    after the longest of them Cornac leaves the order open, which MRR is told from.
    """
    from repro_cornac.given import Given

    method = method_of(case, README_THRESHOLD, exclude_unknowns=True)
    asked = [metric_of(name, k) for name, metric in _EXPERIMENT.items() if metric.endswith("@k") == (k is not None)]
    result, _ = method.evaluate(Given(case), asked, user_based=True)
    name = metric_of(measure, k).name
    return observed(case, method, result.metric_avg_results[name], result.metric_user_results[name])


def observed(case: Case, method: Any, average: float, per_user: Mapping[int, float]) -> Observed:
    """Cornac's average, and its values by the codes of users, where it has any."""
    from repro_cornac.given import codes_of

    codes = codes_of(method.global_uid_map, case.test.user_ids)
    return Observed(average, {codes[user]: value for user, value in per_user.items()} or None)


def evaluators() -> Sequence[Evaluator]:
    """All of Cornac's evaluators."""

    def one(name: str, summary: str, evaluate: Callable[..., Observed], measures: Mapping[str, str]) -> Evaluator:
        return Evaluator(f"cornac/{name}", summary, evaluate, measures, _CANNOT)

    ranked, whole = partial(ranking, exclude_unknowns=True), partial(ranking, exclude_unknowns=False)
    rated = partial(rating, exclude_unknowns=True)
    return (
        one("ranking_eval", "ranking_eval, test rows of unknown items left out", ranked, _AT_K | _WHOLE),
        one("ranking_eval-unknowns", "ranking_eval with exclude_unknowns=False", whole, _AT_K | _WHOLE),
        one("rating_eval", "rating_eval, unknown items left out", partial(rated, user_based=False), _RATINGS),
        one("rating_eval-user_based", "rating_eval with user_based=True", partial(rated, user_based=True), _RATINGS),
        one(
            "rating_eval-unknowns",
            "rating_eval of a test set built with exclude_unknowns=False",
            partial(rating, exclude_unknowns=False, user_based=False),
            _RATINGS,
        ),
        one("Experiment", "all metrics of an Experiment at once, relevant from a rating of 4", experiment, _EXPERIMENT),
    )
