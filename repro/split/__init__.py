"""What is held out: from a data set to its folds."""

from repro.split.exclusions import without_unseen
from repro.split.fold import Fold, Split
from repro.split.make import STRATEGIES, make_folds
from repro.split.splitters import decisions, orders, strategies

__all__ = ["STRATEGIES", "Fold", "Split", "decisions", "make_folds", "orders", "strategies", "without_unseen"]
