"""Small studies on synthetic data: everything real, only small."""

import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.protocol import Protocol


@pytest.fixture(scope="session")
def data():
    return synthetic_interactions(users=120, items=150, ratings=3000, alpha=1.0, seed=3)


@pytest.fixture(scope="session")
def study(data):
    return Study(
        data,
        Protocol.load("random-5fold", split__folds=2),
        [
            "reference/random",
            "reference/popularity",
            "reference/item-mean",
            "reference/item-knn",
            "reference/puresvd",
        ],
        ["ndcg@10", "precision@10", "ap", "hit@5", "user-coverage@10", "catalogue-coverage@10", "rmse"],
        seed=11,
        question="Which is which?",
    )


@pytest.fixture(scope="session")
def protocol():
    """Two random splits with a validation part."""
    changes = {"split__strategy": "user-ratio", "split__validation_ratio": 0.25, "split__repeats": 2}
    return Protocol.load("random-5fold", **changes)
