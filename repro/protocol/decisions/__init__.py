"""The decisions of the core, one file per family; splits, metrics and plug-ins add theirs to them."""

from repro.protocol.decision import Decision
from repro.protocol.decisions import average, candidates, data, missing, predict, relevance, scores, ties

# In the order of the flow; the decisions of the split come between the two.
BEFORE_SPLIT: tuple[Decision, ...] = (*data.DECISIONS, *relevance.DECISIONS)
AFTER_SPLIT: tuple[Decision, ...] = (
    *candidates.DECISIONS,
    *missing.DECISIONS,
    *scores.DECISIONS,
    *ties.DECISIONS,
    *average.DECISIONS,
    *predict.DECISIONS,
)

__all__ = ["AFTER_SPLIT", "BEFORE_SPLIT"]
