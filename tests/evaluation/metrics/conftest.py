"""Ranked lists made by hand, without the ranking room, and metrics asked for by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.evaluation.metrics import Background, Measure, Ratio, metrics, parse_measure
from repro.evaluation.ranking.ranked import Ranked
from repro.protocol import Protocol, resolve

REQUIRED = {"relevance.rule": "threshold", "relevance.threshold": 1, "split.strategy": "ratio"}


def make_protocol(**changes: Any) -> Protocol:
    """A protocol in which an item rated 1 or more is relevant; dots of decisions are written as ``__``."""
    stated = {**REQUIRED, "candidates.base": "all-items"}
    stated |= {key.replace("__", "."): value for key, value in changes.items()}
    if stated["relevance.rule"] != "threshold":
        del stated["relevance.threshold"]
    return resolve(stated, dict.fromkeys(stated, "test"))


def make_ranked(
    scores: Sequence[Mapping[int, float]],
    truth: Sequence[Mapping[int, float]],
    ties: str = "definite",
    users: Sequence[int] | None = None,
    strata: Sequence[int] | None = None,
    threshold: float = 1,
    unscored: Sequence[set[int]] = (),
    orders: Sequence[Sequence[int]] | None = None,
) -> Ranked:
    """Lists of items with scores (equal ones in ascending order of item) and held-out items with grades.

    ``orders`` states the order of each list, equal scores in any order.
    """
    depth = max([1, *map(len, scores)])
    items = np.full((len(scores), depth), -1, dtype=np.int32)
    scored = np.zeros((len(scores), depth), dtype=np.uint8)
    of_places = np.full((len(scores), depth), np.nan)
    hits: list[tuple[int, ...]] = []
    grades: list[float] = []
    offsets = [0]
    for n, (by_item, judged) in enumerate(zip(scores, truth, strict=True)):
        order = sorted(by_item, key=lambda item: (-by_item[item], item)) if orders is None else list(orders[n])
        items[n, : len(order)] = order
        of_places[n, : len(order)] = [by_item[item] for item in order]
        scored[n, : len(order)] = [not (unscored and item in unscored[n]) for item in order]
        listed = sorted((item for item in judged if item in by_item), key=order.index)
        for item in [*listed, *(item for item in judged if item not in by_item)]:
            above = sum(score > by_item[item] for score in by_item.values()) if item in by_item else -1
            tied = sum(score == by_item[item] for score in by_item.values()) if item in by_item else 0
            position = order.index(item) + 1 if item in by_item else 0
            hits.append((item, judged[item] >= threshold, position, above, tied))
            grades.append(judged[item])
        offsets.append(len(hits))
    table = np.array(hits, dtype=np.int32).reshape(-1, 5)
    return Ranked(
        users=np.array(range(len(scores)) if users is None else users, dtype=np.int32),
        strata=np.array([0] * len(scores) if strata is None else strata, dtype=np.int32),
        ties=ties,  # type: ignore[arg-type]
        depth=depth,
        items=items,
        scored=scored,
        lengths=np.array([len(by_item) for by_item in scores], dtype=np.int32),
        candidates=np.array([len(by_item) for by_item in scores], dtype=np.int32),
        missing=np.array([len(few) for few in unscored] or [0] * len(scores), dtype=np.int32),
        n_relevant=np.array([sum(g >= threshold for g in judged.values()) for judged in truth], dtype=np.int32),
        offsets=np.array(offsets, dtype=np.int64),
        hit_items=table[:, 0].copy(),
        relevant=table[:, 1].astype(np.uint8),
        grades=np.array(grades, dtype=np.float64),
        position=table[:, 2].copy(),
        above=table[:, 3].copy(),
        tied=table[:, 4].copy(),
        scores=of_places,
    )


def make_rows(
    rows: Sequence[tuple[int, ...]], n_users: int, n_items: int, times: Sequence[int] | None = None
) -> Interactions:
    """Interactions of tuples (user, item) or (user, item, rating)."""
    table = np.array([(*row, 1.0)[:3] for row in rows], dtype=np.float64).reshape(-1, 3)
    return Interactions(
        table[:, 0].astype(np.int32),
        table[:, 1].astype(np.int32),
        table[:, 2],
        None if times is None else np.array(times, dtype=np.int64),
        np.arange(n_users),
        np.arange(n_items),
        explicit=True,
    )


def make_background(
    truth: Sequence[Mapping[int, float]],
    n_items: int,
    train: Sequence[tuple[int, ...]] | None = None,
    users: Sequence[int] | None = None,
    **known: Any,
) -> Background:
    """The background of lists with these held-out items; every item up to ``n_items`` is in the catalogue.

    A user without held-out items has a row of item 0, so that all of them are test users.
    """
    users = range(len(truth)) if users is None else users
    rows = [(u, i, g) for u, judged in zip(users, truth, strict=True) for i, g in (judged or {0: 0.0}).items()]
    n_users = max(users) + 1
    return Background(
        make_rows(rows, n_users, n_items),
        np.arange(n_items, dtype=np.int32),
        None if train is None else make_rows(train, n_users, n_items),
        **known,
    )


def values_of(ratio: Ratio) -> list[float]:
    """The value of each list, NaN where it is undefined."""
    return ratio.values.tolist()


once = pytest.fixture(scope="session")
protocol = once(lambda: make_protocol)
ranked = once(lambda: make_ranked)
background = once(lambda: make_background)
rows = once(lambda: make_rows)


@pytest.fixture(scope="session")
def measure() -> Callable[..., Measure]:
    """``measure("ndcg@10")`` under the protocol with these changes."""

    @cache
    def named(name: str, **changes: Any) -> Measure:
        return parse_measure(name, make_protocol(**changes), metrics())

    return named


@pytest.fixture(scope="session")
def values(measure: Callable[..., Measure]) -> Callable[..., list[float]]:
    """``values("ndcg@10", ranked)``: the value of each list; with a background where the metric needs one."""

    def computed(name: str, ranked: Ranked, background: Background | None = None, **changes: Any) -> list[float]:
        parsed = measure(name, **changes)
        return values_of(parsed.of_lists(ranked, background or make_background([{}], 1)))

    return computed
