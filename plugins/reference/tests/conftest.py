"""Tables of ratings."""

from __future__ import annotations

from collections.abc import Callable

import numpy.typing as npt
import pytest

from repro.data.interactions import Interactions
from repro.testing import ratings_table


@pytest.fixture(scope="session")
def table() -> Callable[[npt.ArrayLike], Interactions]:
    """Rows from a table of users by items, in which 0 is no rating."""
    return ratings_table
