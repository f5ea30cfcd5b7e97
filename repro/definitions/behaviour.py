"""Influences on the scores of an implementation besides the training rows: chance, the order of rows, that of ids."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.definitions.implementation import Implementation
from repro.definitions.training_sets import training_set
from repro.errors import PluginError
from repro.plugin.api.relabelling import relabelled

TRIED = 4
ROUNDING = 1e-6
CHANCE = "two fits of the same rows with the same seed give different scores"
SEED = "the scores depend on the seed"
ROWS = "the scores depend on the order of the rows"
IDS = "the scores depend on the order of the ids, as where ties between neighbours are broken by it"


def remarks_on(implementation: Implementation, seed: int) -> list[str]:
    """Sentences on what the scores depend on beside the training rows; none where they depend on nothing else."""
    remarks: dict[str, None] = {}
    for number in range(TRIED):
        train = training_set(seed, number)
        try:
            first = _scores(implementation, train)
            if _differ(first, _scores(implementation, train)):
                return [CHANCE]
            if _differ(first, _scores(implementation, train, seed=1)):
                return [SEED]
            shuffled = train.select(np.random.default_rng([seed, number]).permutation(len(train)))
            if _differ(first, _scores(implementation, shuffled)):
                remarks[ROWS] = None
            other, users, items = next(iter(relabelled(train)))
            if _differ(first, _scores(implementation, other)[users][:, items]):
                remarks[IDS] = None
        except PluginError:
            continue
    return list(remarks)


def _scores(implementation: Implementation, train: Interactions, seed: int = 0) -> FloatArray:
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
    return implementation.fitted(train, seed).score_users(users, items).values


def _differ(first: FloatArray, second: FloatArray) -> bool:
    scale = float(np.abs(first[np.isfinite(first)]).max(initial=0.0))
    return not np.allclose(first, second, rtol=0.0, atol=ROUNDING * max(scale, 1e-300), equal_nan=True)
