"""Small synthetic data for studies with models that are given in Python."""

import pytest

from repro.data import synthetic_interactions
from repro.protocol import Protocol


@pytest.fixture(scope="session")
def data():
    return synthetic_interactions(users=120, items=150, ratings=3000, alpha=1.0, seed=3)


@pytest.fixture(scope="session")
def protocol():
    """Two random splits with a validation part."""
    changes = {"split__strategy": "user-ratio", "split__validation_ratio": 0.25, "split__repeats": 2}
    return Protocol.load("random-5fold", **changes)
