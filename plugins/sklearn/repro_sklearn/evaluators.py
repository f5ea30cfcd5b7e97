"""scikit-learn's metrics of known scores: users are its samples, items its labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import Case, Evaluator, Observed

_VECTOR = {
    "training": "there are only labels and scores",
    "unknown-items": "there are only labels and scores",
    "fallback": "scores have no marks",
}
_COMPLETE = {
    "partial-lists": "a matrix has a score of every item",
    "no-list": "a matrix has a score of every item",
}
_ONCE = {"duplicates": "a pair has one label"}
_BINARY = {"graded": "labels are 0 or 1", "fractional": "labels are 0 or 1"}


def ndcg(case: Case, measure: str, k: int | None) -> Observed:
    return _ndcg(case, k, ignore_ties=False)


def ndcg_ignoring_ties(case: Case, measure: str, k: int | None) -> Observed:
    return _ndcg(case, k, ignore_ties=True)


def multilabel(case: Case, measure: str, k: int | None) -> Observed:
    """All users at once, averaged over these by scikit-learn."""
    from sklearn import metrics

    settings = {} if measure.startswith("label_ranking") else {"average": "samples"}
    with _undefined():
        return Observed(getattr(metrics, measure)(*_matrices(case), **settings))


def one_user_at_a_time(case: Case, measure: str, k: int | None) -> Observed:
    """A call for each user, with the labels and scores of the items in the list."""
    from sklearn import metrics

    values = {}
    with _undefined():
        for user in case.tested.tolist():
            listed = case.list_of(user)
            if len(listed):
                labels = _labels(case, [user])[0, listed]
                values[user] = getattr(metrics, measure)(labels, case.scores.values[user, listed])
    return Observed(None, values)


def regression(case: Case, measure: str, k: int | None) -> Observed:
    """The held-out ratings against the scores of these pairs."""
    from sklearn import metrics

    predicted = case.scores.values[case.test.users, case.test.items]
    return Observed(getattr(metrics, measure)(case.test.ratings, predicted))


_NDCG = {"ndcg_at_k": "ndcg@k", "ndcg": "ndcg"}
_CURVES = {"roc_auc_score": "auc", "average_precision_score": "ap"}
EVALUATORS = (
    Evaluator(
        "sklearn/ndcg_score",
        "ndcg_score of a matrix of ratings, as it is by default: tied items share their gains",
        ndcg,
        _NDCG,
        {**_VECTOR, **_COMPLETE, **_ONCE},
    ),
    Evaluator(
        "sklearn/ndcg_score_ignore_ties",
        "ndcg_score(ignore_ties=True) of a matrix of ratings",
        ndcg_ignoring_ties,
        _NDCG,
        {**_VECTOR, **_COMPLETE, **_ONCE},
    ),
    Evaluator(
        "sklearn/multilabel",
        'the metrics of a matrix of labels, averaged over users (average="samples")',
        multilabel,
        {**_CURVES, "label_ranking_average_precision_score": "ap"},
        {**_VECTOR, **_COMPLETE, **_ONCE, **_BINARY},
    ),
    Evaluator(
        "sklearn/binary",
        "the metrics of a vector of labels, called for each user",
        one_user_at_a_time,
        _CURVES,
        {**_VECTOR, **_ONCE, **_BINARY},
    ),
    Evaluator(
        "sklearn/regression",
        "the metrics of predictions, over all held-out ratings",
        regression,
        {"root_mean_squared_error": "rmse", "mean_absolute_error": "mae", "mean_squared_error": "mse"},
        {
            **_VECTOR,
            "partial-lists": "every rating has a prediction",
            "no-list": "every rating has a prediction",
        },
    ),
)


def _ndcg(case: Case, k: int | None, *, ignore_ties: bool) -> Observed:
    from sklearn.metrics import ndcg_score

    return Observed(ndcg_score(*_matrices(case), k=k, ignore_ties=ignore_ties))


def _matrices(case: Case) -> tuple[FloatArray, FloatArray]:
    """Labels and scores of the tested users, with items in the order of presentation."""
    tested = case.tested
    return _labels(case, tested)[:, case.order], case.scores.values[np.ix_(tested, case.order)]


def _labels(case: Case, users: CodeArray | list[int]) -> FloatArray:
    """The held-out ratings of users, and 0 for all other items."""
    labels = np.zeros(case.scores.values.shape)
    labels[case.test.users, case.test.items] = case.test.ratings
    return labels[users]


@contextmanager
def _undefined() -> Iterator[None]:
    """scikit-learn warns about undefined metrics, and still returns a number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
