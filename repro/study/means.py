"""With what a cell is carried out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from repro.plugin import Guarded, ParameterValue, plugins
from repro.study.blocks import BlockMap, InThreads

BLOCK_USERS = 1024

MakeRecommender = Callable[[str, dict[str, ParameterValue], float | None], Guarded]


def make_recommender(reference: str, parameters: dict[str, ParameterValue], limit: float | None) -> Guarded:
    """A new recommender, where its framework is on this machine."""
    return plugins().recommender(reference, parameters, limit)


@dataclass(frozen=True)
class Means:
    """How a cell is carried out; none of this changes a number.

    block_users  users are ranked and measured in blocks of about this many
    limit        how many seconds a framework in a process of its own may take to answer
    keep_scores  whether the scores are among the tables
    blocks       measures the blocks of users
    recommender  makes what is fitted
    """

    block_users: int = BLOCK_USERS
    limit: float | None = None
    keep_scores: bool = False
    blocks: BlockMap = field(default_factory=InThreads)
    recommender: MakeRecommender = make_recommender


MEANS = Means()
