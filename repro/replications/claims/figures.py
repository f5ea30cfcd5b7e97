"""Figures of a data set that papers print: numbers of users and ratings, density, inequality."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from repro.data import Interactions, describe
from repro.protocol import Protocol
from repro.split.share import exact
from repro.split.uniform_items import target_items

Part = Literal["train", "validation", "test"]
Compute = Callable[[Interactions, Protocol | None], float]


@dataclass(frozen=True)
class Figure:
    """A figure: its meaning in words, the function that computes it, and whether it depends on a protocol.

    A figure of a split is computed from the rows of a part of each fold.
    """

    meaning: str
    compute: Compute
    of_protocol: bool = False
    part: Part | None = None


def _targets(rows: Interactions, protocol: Protocol | None) -> float:
    assert protocol is not None
    return float(len(target_items(rows.item_counts(), protocol)))


def _per_target(rows: Interactions, protocol: Protocol | None) -> float:
    """sigma r / |T|, computed exactly."""
    assert protocol is not None
    share = exact(protocol.number("split.test_ratio")) * len(rows) / len(target_items(rows.item_counts(), protocol))
    return float(share)


def _of_part(part: Part) -> dict[str, Figure]:
    """The figures of a part of a split."""
    return {
        f"{part} ratings": Figure(f"ratings in the {part} part", lambda rows, _: float(len(rows)), part=part),
        f"{part} users": Figure(f"users in the {part} part", lambda rows, _: float(describe(rows).users), part=part),
        f"{part} items": Figure(f"items in the {part} part", lambda rows, _: float(describe(rows).items), part=part),
        f"{part} density": Figure(
            f"the share of all pairs of the users and items of the {part} part that it has",
            lambda rows, _: describe(rows).density,
            part=part,
        ),
    }


# Times, which depend on the machine: the median over folds.
TIMES: Mapping[str, str] = {
    "fit seconds": "how long an algorithm is fitted on a fold",
    "score seconds": "how long an algorithm scores the candidates and the held-out pairs of a fold",
}
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
    "eta": Figure(
        "test ratings of each target item, sigma r / |T| or (1 - epsilon) r(i_zeta)", _per_target, of_protocol=True
    ),
    **{name: figure for part in get_args(Part) for name, figure in _of_part(part).items()},
}
