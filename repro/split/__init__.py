"""What is held out: from a data set to its folds."""

from repro.split.exclusions import without_unseen
from repro.split.fold import Fold, Split
from repro.split.make import STRATEGIES, make_folds

__all__ = ["STRATEGIES", "Fold", "Split", "make_folds", "without_unseen"]
