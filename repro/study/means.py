"""With what a cell is carried out."""

from __future__ import annotations

from dataclasses import dataclass, field

from repro.study.blocks import BlockMap, InThreads

BLOCK_USERS = 1024


@dataclass(frozen=True)
class Means:
    """How a cell is carried out; none of this changes a number.

    block_users  users are ranked and measured in blocks of about this many
    limit        how many seconds a framework in a process of its own may take to answer
    keep_scores  whether the scores are among the tables
    blocks       measures the blocks of users
    """

    block_users: int = BLOCK_USERS
    limit: float | None = None
    keep_scores: bool = False
    blocks: BlockMap = field(default_factory=InThreads)


MEANS = Means()
