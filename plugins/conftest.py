"""Fixtures that the tests of several plug-ins share, from the conformance kit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import repro.testing
from repro.data.interactions import Interactions
from repro.plugin import Case, CheckedRecommender
from repro.testing import IsolatedFramework


@pytest.fixture(scope="session")
def case_of() -> Callable[..., Case]:
    """Makes cases: :func:`repro.testing.case_of`."""
    return repro.testing.case_of


once = pytest.fixture(scope="session")
five_users = once(repro.testing.five_users)
# 40 users by 30 items; some of each have no rows.
train = once(repro.testing.small_ratings)
# MovieLens 100K; some users and items have no rows.
movielens = once(repro.testing.movielens_part)
# Four fifths of MovieLens 100K; the first six users and eight items have no rows.
four_fifths = once(repro.testing.movielens_fifths)


# A plug-in with an environment of its own defines ``framework`` with ``isolated_fixture``. What depends on it here is
# made for each module: a fixture of the session would keep the framework of the first plug-in for all others.


@pytest.fixture(scope="module")
def python(framework: IsolatedFramework) -> Path:
    """The interpreter of a framework's environment."""
    return framework.python


@pytest.fixture(scope="module")
def make(framework: IsolatedFramework) -> Callable[..., CheckedRecommender]:
    """Makes a recommender in a framework's environment."""
    return framework.make


@pytest.fixture(scope="module")
def fitted(framework: IsolatedFramework) -> Callable[..., CheckedRecommender]:
    """Fits a recommender in a framework's environment."""
    return framework.fitted


@pytest.fixture(scope="module")
def some(train: Interactions) -> Interactions:
    """A small part of the training rows of MovieLens: about 90 users and 250 items have rows."""
    return train.select((train.users < 96) & (train.items < 258))
