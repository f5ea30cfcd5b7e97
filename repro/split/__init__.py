"""Splits a data set into folds with training, validation and test parts."""

from repro.split.decisions import split_decisions
from repro.split.exclusions import without_unseen
from repro.split.make import OWN, STRATEGIES, make_folds, strategy_named
from repro.split.plan import Fold, Split

__all__ = ["OWN", "STRATEGIES", "Fold", "Split", "make_folds", "split_decisions", "strategy_named", "without_unseen"]
