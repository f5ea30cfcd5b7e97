"""Faults outside of the space of definitions are never explained, and the case shows them.

Faults are changes of the ratings that an algorithm gets, or of the scores that it gives, of several algorithms in plain
Python.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from plugins.reference.tests.test_knn_definitions import DEFAULTS
from plugins.reference.tests.test_planted_definitions import Compute, Table, implementation, infer, neighbours
from repro.definitions import Unexplained
from repro.definitions.audit import defining_spaces
from repro.definitions.comparison import Comparison

Change = Callable[[np.ndarray], np.ndarray]


def popularity(table: Table) -> Table:
    counts = [sum(row[item] > 0 for row in table) for item in range(len(table[0]))]
    return [[float(count) for count in counts] for _ in table]


def bias(table: Table) -> Table:
    cells = [(u, i, r) for u, row in enumerate(table) for i, r in enumerate(row) if r]
    overall = sum(r for _, _, r in cells) / len(cells)

    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    items = [mean([r - overall for _, j, r in cells if j == i]) for i in range(len(table[0]))]
    users = [mean([r - overall - items[i] for v, i, r in cells if v == u]) for u in range(len(table))]
    return [[overall + b_i + b_u for b_i in items] for b_u in users]


def ease(table: Table) -> Table:
    ones = (np.array(table) > 0).astype(float)
    inverse = np.linalg.inv(ones.T @ ones + 3.0 * np.eye(ones.shape[1]))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0.0)
    return (ones @ weights).tolist()


KNN = {"k": 3, "similarity": "cosine", "normalise": False}


def item_knn(table: Table) -> Table:
    return neighbours(DEFAULTS | KNN, True)(table)


ALGORITHMS: dict[str, tuple[Compute, dict[str, float]]] = {
    "popularity": (popularity, {}),
    "bias": (bias, {}),
    "ease": (ease, {"regularisation": 3.0}),
    "item-knn": (item_knn, {"k": 3}),
}


def of_ratings(change: Change) -> Callable[[Compute], Compute]:
    return lambda compute: lambda table: compute(change(np.array(table)).tolist())


def of_scores(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Compute], Compute]:
    return lambda compute: lambda table: change(np.array(compute(table)), np.array(table)).tolist()


def without(table: np.ndarray, user: int | slice, item: int | slice) -> np.ndarray:
    table[user, item] = 0.0
    return table


FAULTS = {
    "the last user is left out": of_ratings(lambda t: without(t, -1, slice(None))),
    "the first user is left out": of_ratings(lambda t: without(t, 0, slice(None))),
    "the first item has no rows": of_ratings(lambda t: without(t, slice(None), 0)),
    "the last item has no rows": of_ratings(lambda t: without(t, slice(None), -1)),
    "low ratings are left out": of_ratings(lambda t: np.where(t >= 3, t, 0.0)),
    "high ratings are left out": of_ratings(lambda t: np.where(t <= 3, t, 0.0)),
    "ratings of 3 are left out": of_ratings(lambda t: np.where(t == 3, 0.0, t)),
    "users with one row are left out": of_ratings(lambda t: t * ((t > 0).sum(axis=1, keepdims=True) > 1)),
    "items with one row are left out": of_ratings(lambda t: t * ((t > 0).sum(axis=0, keepdims=True) > 1)),
    "two items are exchanged": of_scores(lambda s, t: s[:, [1, 0, *range(2, s.shape[1])]]),
    "scores are those of the next item": of_scores(lambda s, t: np.roll(s, 1, axis=1)),
    "items are in reverse order": of_scores(lambda s, t: s[:, ::-1]),
    "scores are rounded": of_scores(lambda s, t: np.floor(s / 2.0) * 2.0),
    "scores are clipped": of_scores(lambda s, t: np.minimum(s, np.nanmean(s))),
    "the sign of the first item is lost": of_scores(lambda s, t: np.concatenate([-s[:, :1] - 1.0, s[:, 1:]], axis=1)),
    "popular items get more": of_scores(lambda s, t: s + 0.3 * (t > 0).sum(axis=0) ** 2 % 5),
    "an item of three rows gets more": of_scores(lambda s, t: s + ((t > 0).sum(axis=0) == 3)),
    "ids are added": of_scores(lambda s, t: s + 0.37 * np.arange(s.shape[1])),
    "scores are absolute deviations": of_scores(lambda s, t: np.abs(s - np.nanmean(s))),
    "the best item is twice as good as the second": of_scores(lambda s, t: np.where(s == np.nanmax(s), s * -1.0, s)),
    "odd items have half of their score": of_scores(lambda s, t: s * np.where(np.arange(s.shape[1]) % 2, 0.5, 1.0)),
    "every third score is lost": of_scores(lambda s, t: np.where(np.arange(s.size).reshape(s.shape) % 3 == 0, -7.0, s)),
}


def require_unexplained(name: str, fault: str) -> None:
    compute, numbers = ALGORITHMS[name]
    changed = FAULTS[fault](compute)
    finding = infer(name, changed, dict(numbers))
    assert isinstance(finding, Unexplained), (name, fault, finding.lines())
    assert finding.case is not None
    assert finding.nearest is not None
    answer = implementation(changed, {}).answer(finding.case)
    defined = defining_spaces()[name].fitted_scores(finding.nearest, finding.case)
    assert Comparison.start(1).after(defined[None], answer).levels[0] < 3


QUICK = [("popularity", "the last user is left out"), ("bias", "low ratings are left out"), ("ease", "ids are added")]


@pytest.mark.parametrize(("name", "fault"), QUICK)
def test_some_faults_are_unexplained(name: str, fault: str) -> None:
    require_unexplained(name, fault)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_unexplained(name: str, fault: str) -> None:
    require_unexplained(name, fault)
