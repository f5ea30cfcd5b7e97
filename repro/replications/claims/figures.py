"""Figures of a data set that papers print: numbers of users and ratings, density, inequality."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from repro.data import Interactions, describe
from repro.protocol import Protocol
from repro.split.share import exact
from repro.split.uniform_items import target_items

Compute = Callable[[Interactions, Protocol | None], float]


@dataclass(frozen=True)
class Figure:
    """A figure: its meaning in words, the function that computes it, and whether it depends on a protocol."""

    meaning: str
    compute: Compute
    of_protocol: bool = False


def _targets(rows: Interactions, protocol: Protocol | None) -> float:
    assert protocol is not None
    return float(len(target_items(rows.item_counts(), protocol)))


def _per_target(rows: Interactions, protocol: Protocol | None) -> float:
    """sigma r / |T|, computed exactly."""
    assert protocol is not None
    share = exact(protocol.number("split.test_ratio")) * len(rows) / len(target_items(rows.item_counts(), protocol))
    return float(share)


FIGURES: Mapping[str, Figure] = {
    "users": Figure("users with a rating", lambda rows, _: float(describe(rows).users)),
    "items": Figure("items with a rating", lambda rows, _: float(describe(rows).items)),
    "ratings": Figure("ratings", lambda rows, _: float(len(rows))),
    "density": Figure("the share of all user-item pairs that have a rating", lambda rows, _: describe(rows).density),
    "gini": Figure("the Gini coefficient of the ratings per item", lambda rows, _: describe(rows).gini),
    "mean rating": Figure("the mean of all ratings", lambda rows, _: describe(rows).mean_rating),
    "target items": Figure(
        "|T| of a split with the same number of test ratings for each item", _targets, of_protocol=True
    ),
    "eta": Figure("test ratings of each target item, sigma r / |T|", _per_target, of_protocol=True),
}
