"""The decisions of the core, one file per family; metrics and plug-ins add theirs to them."""

from repro.protocol.decision import Decision
from repro.protocol.decisions import average, candidates, data, missing, predict, relevance, split, ties

CORE: tuple[Decision, ...] = (
    *data.DECISIONS,
    *relevance.DECISIONS,
    *split.DECISIONS,
    *candidates.DECISIONS,
    *missing.DECISIONS,
    *ties.DECISIONS,
    *average.DECISIONS,
    *predict.DECISIONS,
)

__all__ = ["CORE"]
