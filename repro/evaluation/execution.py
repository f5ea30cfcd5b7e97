"""How an evaluation is executed."""

from __future__ import annotations

from dataclasses import dataclass, field

from repro.evaluation.blocks import BlockMap, InThreads

BLOCK_USERS = 1024


@dataclass(frozen=True)
class ExecutionOptions:
    """Options that change the time and memory that an evaluation takes, and none of its numbers.

    block_users  users are ranked and measured in blocks of about this size
    limit        seconds that a framework in a process of its own has for an answer
    keep_scores  whether the scores are among the tables that are stored
    blocks       measures the blocks of users
    """

    block_users: int = BLOCK_USERS
    limit: float | None = None
    keep_scores: bool = False
    blocks: BlockMap = field(default_factory=InThreads)


DEFAULT_OPTIONS = ExecutionOptions()
