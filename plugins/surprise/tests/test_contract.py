"""The contract of plug-ins; and the same bits in an environment of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from repro.data.interactions import Interactions
from repro.plugin import Case
from repro.testing import IsolationContract, PluginContract, case_of, movielens_part
from repro_surprise.classes import CLASSES

PARAMETERS: dict[str, dict[str, Any]] = {"SVDpp": {"n_epochs": 2, "n_factors": 5}, "NMF": {"n_epochs": 5}}
ISOLATED: list[tuple[str, dict[str, Any]]] = [
    ("random", {}),
    ("bias", {}),
    ("biased-mf", {}),
    ("svd++", {"epochs": 1, "cache_ratings": True}),
    ("nmf", {"epochs": 5}),
    ("slope-one", {}),
    ("co-clustering", {"epochs": 5}),
    ("user-knn", {"center": "z-score", "similarity": "pearson"}),
    ("item-knn", {"center": "baseline", "similarity": "pearson_baseline"}),
]


class _Surprise:
    plugin = "repro_surprise.plugin"

    def case(self) -> Case:
        scores = {1: {1: 3.5, 2: 6.0, 3: 1.5}, 2: {1: 2.0, 2: 2.0, 3: 5.0}}
        return case_of(scores, {1: {2: 4.0, 3: 2.0}, 2: {1: 5.0, 3: 4.0}}, fallback=[(2, 1)])


class TestContract(_Surprise, PluginContract):
    """Surprise numbers users and items in the order of the rows, and the last bits of products of factors are those of
    BLAS for the shape of a block."""

    algorithms: ClassVar = [(name, PARAMETERS.get(name, {})) for name in CLASSES]
    exceptions: ClassVar = dict.fromkeys(CLASSES, ("row-order",)) | dict.fromkeys(
        ("SVD", "SVDpp", "NMF"), ("row-order", "blocks")
    )


@pytest.mark.slow
class TestIsolation(_Surprise, IsolationContract):
    algorithms: ClassVar = ISOLATED

    def train(self) -> Interactions:
        return movielens_part(every_user=100, every_item=50)
