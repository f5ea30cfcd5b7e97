"""A small table of ratings with timestamps."""

from __future__ import annotations

import pytest

from repro.data.interactions import Interactions
from repro.testing import small_ratings


@pytest.fixture(scope="session")
def train() -> Interactions:
    return small_ratings(timestamps=True)
