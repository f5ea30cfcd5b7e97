"""The contract of plug-ins, for all but algorithms; and the same bits in an environment of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from repro.data.interactions import Interactions
from repro.plugin import Case, plugins
from repro.testing import DeclarationContract, EvaluatorContract, IsolationContract, case_of, movielens_part
from repro.testing.checks import check_isolated_split

ISOLATED: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("popularity", {}),
    ("bias", {}),
    ("user-knn", {"k": 10}),
    ("item-knn", {"k": 10}),
    ("biased-mf", {"factors": 20, "epochs": 3}),
    ("implicit-als", {"factors": 20, "epochs": 3}),
    ("ease", {}),
    ("slim", {"l1": 20.0, "max_iters": 10}),
    ("nmf", {"factors": 5, "epochs": 10}),
    ("bpr", {"factors": 16, "epochs": 2}),
    ("FunkSVDScorer", {"embedding_size": 10, "epochs": 5}),
    ("BiasedSVDScorer", {"embedding_size": 10}),
    ("FlexMFExplicitScorer", {"embedding_size": 16, "epochs": 2}),
]


class _LensKit:
    plugin = "repro_lenskit.plugin"

    def case(self) -> Case:
        scores = {1: {1: 3.5, 2: 4.0, 3: 1.5}, 2: {1: 2.0, 2: 2.0, 3: 5.0}}
        return case_of(scores, {1: {3: 2.0}, 2: {1: 5.0, 3: 4.0}}, {1: {1: 3.0}, 9: {1: 2.0, 2: 1.0, 3: 5.0}})


class TestContract(_LensKit, DeclarationContract, EvaluatorContract):
    def train(self) -> Interactions:
        """Rows of more users than the samples of LensKit's splitters have."""
        return movielens_part()


@pytest.mark.slow
class TestIsolation(_LensKit, IsolationContract):
    algorithms: ClassVar = ISOLATED

    def train(self) -> Interactions:
        return movielens_part()

    def test_splits_hold_out_the_same_rows(self, movielens: Interactions) -> None:
        rows = movielens.select(movielens.users < 100)
        settings = {"size": 20, "holdout": "SampleFrac", "n": 5, "frac": 0.3, "repeats": 2, "disjoint": True}
        check_isolated_split(plugins(), "lenskit/sample_users", rows, settings)
