"""Small data sets and protocols that state only what a test is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from repro.data.interactions import Interactions
from repro.protocol import Protocol, Value, resolve
from repro.split import Split

Pairs = set[tuple[object, object]]


@pytest.fixture(scope="session")
def protocol() -> Callable[..., Protocol]:
    """``protocol("ratio", test_ratio=0.5)``: the defaults but for the decisions of the split stated here."""

    def make(strategy: str, folder: Path | None = None, **stated: Value) -> Protocol:
        decisions: dict[str, Value] = {
            "relevance.rule": "any",
            "candidates.base": "all-items",
            "split.strategy": strategy,
            **{f"split.{key}": value for key, value in stated.items()},
        }
        resolved = resolve(decisions, dict.fromkeys(decisions, "test"))
        return replace(resolved, folder=folder) if folder else resolved

    return make


@pytest.fixture(scope="session")
def rows() -> Callable[..., Interactions]:
    """``rows("a1 a2 b1")``: user a and items 1 and 2, user b and item 1; times as given or none."""

    def make(text: str, times: list[int] | None = None) -> Interactions:
        pairs = text.split()
        columns: dict[str, object] = {"user": [p[0] for p in pairs], "item": [int(p[1:]) for p in pairs]}
        if times is not None:
            columns["timestamp"] = times
        return Interactions.from_frame(pd.DataFrame(columns))

    return make


@pytest.fixture(scope="session")
def pairs() -> Callable[..., Pairs]:
    """The (user id, item id) of some rows of a split."""

    def of(split: Split, numbers: np.ndarray) -> Pairs:
        part = split.interactions.select(numbers)
        return set(zip(part.user_ids[part.users], part.item_ids[part.items], strict=True))

    return of


@pytest.fixture(scope="session")
def written() -> Callable[..., str]:
    """The rows in the form ``rows`` reads: ``"a1 b2"``, sorted."""

    def of(split: Split, numbers: np.ndarray | None) -> str:
        assert numbers is not None
        part = split.interactions.select(numbers)
        pairs = zip(part.user_ids[part.users], part.item_ids[part.items], strict=True)
        return " ".join(f"{user}{item}" for user, item in sorted(pairs))

    return of


@pytest.fixture(scope="session")
def random_rows() -> Callable[..., Interactions]:
    """Distinct pairs of ``users`` and ``items``, each with a given probability, at few distinct times."""

    def make(users: int = 30, items: int = 40, density: float = 0.3, seed: int = 0) -> Interactions:
        generator = np.random.default_rng(seed)
        met = generator.random((users, items)) < density
        met[0, 0] = True
        pairs = generator.permutation(np.argwhere(met))
        return Interactions.from_frame(
            pd.DataFrame(
                {
                    "user": pairs[:, 0] * 7 + 1,
                    "item": pairs[:, 1] * 3 + 2,
                    "rating": generator.integers(1, 6, len(pairs)),
                    "timestamp": generator.integers(0, max(2, len(pairs) // 3), len(pairs)),
                }
            )
        )

    return make
