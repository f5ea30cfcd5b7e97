"""Small data with text and number ids, and an algorithm of this plug-in behind the border."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from repro.data import Interactions
from repro.plugin import CheckedRecommender, make_recommender, parameters_of, plugins


@pytest.fixture(scope="session")
def data() -> Interactions:
    """Ann, bob and cem and four films; bob has rated half stars."""
    return Interactions.from_frame(
        pd.DataFrame(
            {
                "user": ["ann", "ann", "bob", "bob", "cem"],
                "item": ["10", "20", "10", "30", "40"],
                "rating": [5, 4, 2.5, 3, 1],
                "timestamp": [3, 1, 4, 1, 5],
            }
        )
    )


@pytest.fixture(scope="session")
def make() -> Callable[..., CheckedRecommender]:
    """An algorithm of ``external`` with these parameters."""

    def of(name: str, **parameters: str | float) -> CheckedRecommender:
        _, algorithm = plugins().algorithm(f"external/{name}")
        return make_recommender(algorithm, parameters_of(algorithm, dict(parameters)), f"external/{name}")

    return of
