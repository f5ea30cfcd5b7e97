"""A small fold with letters for users and numbers for items, and protocols in a line or two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from repro.data.interactions import Interactions
from repro.evaluation.candidates import Candidates, FoldRows, ListBlock, plan_candidates
from repro.protocol import Protocol, parse_protocol

Row = tuple[Any, Any, float, str]


def _fold_of(rows: list[Row]) -> FoldRows:
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "part"])
    everything = Interactions.from_frame(frame[["user", "item", "rating"]])
    parts = frame["part"].to_numpy()
    return FoldRows(everything, everything.select(parts == "train"), everything.select(parts == "test"))


def _protocol_of(
    candidates: str,
    relevance: str = 'rule = "threshold"\nthreshold = 4',
    split: str = "",
    folder: Path | None = None,
) -> Protocol:
    text = f'[relevance]\n{relevance}\n[split]\nstrategy = "ratio"\n{split}\n[candidates]\n{candidates}\n'
    return parse_protocol(text, "test", folder)


def _lists_of(block: ListBlock, fold: FoldRows) -> dict[Any, set[Any]]:
    users, items = fold.whole.user_ids, fold.whole.item_ids
    lists: dict[Any, set[Any]] = {}
    for n in range(len(block)):
        columns = block.columns[block.offsets[n] : block.offsets[n + 1]]
        assert (np.diff(columns) > 0).all()
        if not block.listed:
            columns = np.setdiff1d(np.arange(len(block.items)), columns)
        user = users[block.users[block.rows[n]]]
        key = user if block.targets[n] < 0 else (user, items[block.targets[n]])
        lists[key] = set(items[block.items[columns]].tolist())
    return lists


@pytest.fixture(scope="session")
def fold_of() -> Callable[[list[Row]], FoldRows]:
    """A fold of rows of user, item, rating and part ("train", "test", or another for neither)."""
    return _fold_of


@pytest.fixture(scope="session")
def protocol_of() -> Callable[..., Protocol]:
    """``protocol_of('base = "all-items"')``: a protocol with these lines in its table of candidates."""
    return _protocol_of


@pytest.fixture(scope="session")
def lists_of() -> Callable[[ListBlock, FoldRows], dict[Any, set[Any]]]:
    """Each list of a block as a set of item ids, by user id (AR) or by user and target id (1R)."""
    return _lists_of


@pytest.fixture(scope="session")
def fold() -> FoldRows:
    """Items 1 to 8. Relevant (4 or more) in the test: a: 3 and 4 (not 5); b: 2 and 6; c: nothing (not 7).

    Item 6 has no training row, 8 is in neither part, and 2 is both a training and a test item of b.
    """
    return _fold_of(
        [
            ("a", 1, 5, "train"),
            ("a", 2, 1, "train"),
            ("a", 3, 4, "test"),
            ("a", 4, 5, "test"),
            ("a", 5, 2, "test"),
            ("b", 2, 4, "train"),
            ("b", 3, 2, "train"),
            ("b", 2, 5, "test"),
            ("b", 6, 5, "test"),
            ("c", 4, 4, "train"),
            ("c", 5, 3, "train"),
            ("c", 7, 1, "test"),
            ("d", 7, 3, "train"),
            ("d", 8, 3, "neither"),
        ]
    )


@pytest.fixture(scope="session")
def plan(fold: FoldRows) -> Callable[..., Candidates]:
    """``plan('base = "all-items"')``: the candidates of the small fold."""

    def planned(candidates: str, seed: int = 7, folder: Path | None = None, **extra: Any) -> Candidates:
        protocol = _protocol_of(candidates, folder=folder)
        return plan_candidates(replace(fold, **extra), protocol, seed)

    return planned
