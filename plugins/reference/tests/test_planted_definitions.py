"""Definitions that are planted in plain Python are inferred, and faults outside of the space are not explained.

The planted implementations are those of ``test_knn_definitions`` and of this file: loops over rows, which share no code
with the algorithms of the plug-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from plugins.reference.tests.test_knn_definitions import DEFAULTS, Noise, expected_scores, table_of, values_of
from repro.data.interactions import Interactions
from repro.definitions import Definition, Unexplained
from repro.definitions.audit import defining_spaces
from repro.definitions.comparison import Level
from repro.definitions.confirmation import difficult_sets
from repro.definitions.implementation import Implementation
from repro.definitions.inference import Inference
from repro.definitions.training_sets import training_set
from repro.plugin import CheckedRecommender, Scores

Table = list[list[float]]
Compute = Callable[[Table], Table]
NUMBERS = {
    "k": 3,
    "shrinkage": 2.5,
    "min_overlap": 2,
    "min_neighbours": 2,
    "min_similarity": 0.2,
    "pool": 4,
    "user_damping": 1.5,
    "item_damping": 2.5,
    "epochs": 2,
    "alpha": 0.3,
    "beta": 0.8,
    "k1": 1.2,
    "b": 0.75,
    "amplify": 2.5,
}


class Planted:
    """Scores that a function of the table of ratings gives (0: no rating)."""

    def __init__(self, compute: Compute) -> None:
        self.compute = compute

    def fit(self, train: Interactions, *, seed: int) -> None:
        table = np.zeros((train.n_users, train.n_items))
        table[train.users, train.items] = train.ratings
        self.scores_ = np.array(self.compute(table.tolist()), dtype=float).reshape(table.shape)
        if np.isinf(self.scores_).any():
            raise Noise("a quotient is noise")

    def score(self, queries: Any, items: Any) -> Scores:
        return Scores.from_nan(self.scores_[queries.users][:, items])


def implementation(compute: Compute, parameters: dict[str, Any]) -> Implementation:
    return Implementation("planted", lambda: CheckedRecommender(Planted(compute), "planted", False), parameters)


def infer(name: str, compute: Compute, parameters: dict[str, Any]) -> Definition | Unexplained:
    return Inference(implementation(compute, parameters), defining_spaces()[name], evidence=False).run()


@pytest.fixture(autouse=True)
def no_large_training_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops in plain Python take long on the largest training set of a confirmation."""
    monkeypatch.setattr("repro.definitions.confirmation.LARGE", ())


def drawn_settings(by_items: bool, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Settings in which up to six parameters differ from the defaults."""
    rng = np.random.default_rng([seed, by_items])
    for _ in range(count):
        names = rng.choice(sorted(set(DEFAULTS) - {"k"}), int(rng.integers(0, 7)), replace=False)
        given = DEFAULTS | {"normalise": bool(rng.integers(2)), "k": 3}
        for name in names:
            values = [NUMBERS[name]] if name in NUMBERS else values_of(name)
            given[name] = values[int(rng.integers(len(values)))]
        yield given


def neighbours(given: dict[str, Any], by_items: bool) -> Compute:
    def compute(table: Table) -> Table:
        rows, width = table_of(table, by_items)
        scores = expected_scores(rows, width, given, by_items)
        return np.array(scores).T.tolist() if by_items else scores

    return compute


def numbers_in(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in NUMBERS and value != DEFAULTS[name]} | {"k": 3}


def require_explained(name: str, given: dict[str, Any], compute: Compute) -> None:
    """The definition that is inferred is the planted one, or has the same scores on all training sets tried here."""
    finding = infer(name, compute, numbers_in(given))
    if isinstance(finding, Unexplained):
        assert finding.case is None, finding.lines()  # scores that are too few, or all rejected
        return
    space = defining_spaces()[name]
    stated = {**given}
    for train in [*(training_set(99, n) for n in range(12)), *difficult_sets(99)]:
        try:
            answer = implementation(compute, {}).answer(train)
        except Exception:
            continue
        defined = space.fitted_scores(finding.setting, train)
        both = np.isfinite(defined) & answer.scored
        outside = ~answer.trained
        if finding.confirmation.level == Level.EQUAL:
            np.testing.assert_allclose(answer.values[both], defined[both], rtol=1e-7, atol=1e-9, err_msg=str(stated))
        assert not (np.isfinite(defined) & ~answer.scored & outside).any()


@pytest.mark.slow
@pytest.mark.parametrize("by_items", [True, False], ids=["items", "users"])
def test_some_planted_neighbours_are_inferred(by_items: bool) -> None:
    for given in drawn_settings(by_items, 3, 1):
        require_explained("item-knn" if by_items else "user-knn", given, neighbours(given, by_items))


@pytest.mark.slow
@pytest.mark.parametrize("by_items", [True, False], ids=["items", "users"])
@pytest.mark.parametrize("seed", range(2, 18))
def test_planted_neighbours_are_inferred(by_items: bool, seed: int) -> None:
    """320 definitions."""
    for given in drawn_settings(by_items, 10, seed):
        require_explained("item-knn" if by_items else "user-knn", given, neighbours(given, by_items))
