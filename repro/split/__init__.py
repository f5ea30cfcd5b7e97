"""What is held out: from a data set to its folds."""

from repro.split.decisions import split_decisions
from repro.split.exclusions import without_unseen
from repro.split.make import OWN, STRATEGIES, make_folds, strategy_named
from repro.split.plan import Fold, Split

__all__ = ["OWN", "STRATEGIES", "Fold", "Split", "make_folds", "split_decisions", "strategy_named", "without_unseen"]
