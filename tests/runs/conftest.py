"""A small run: everything real, only small."""

import pytest

from repro.data import synthetic_interactions


@pytest.fixture(scope="session")
def data():
    return synthetic_interactions(users=120, items=150, ratings=3000, alpha=1.0, seed=3)
