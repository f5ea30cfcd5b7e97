"""The scores by which listed items are ranked, for metrics that compare items of different lists."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.evaluation.candidates.lists import ListBlock
from repro.evaluation.ranking.missing import MissingRule
from repro.evaluation.ranking.ranked import Ranked
from repro.evaluation.ranking.ranker import GivenLists, RankingRules
from repro.evaluation.ranking.ties import TieRule
from repro.plugin import Scores

_LARGEST = float(np.finfo(np.float64).max)


def listed_scores(ranked: Ranked, scores: Scores, block: ListBlock, rules: RankingRules) -> FloatArray:
    """For lists that ``rank`` returned: lists x depth, NaN beyond the end of a list."""
    if not len(block.items):
        return np.full(ranked.items.shape, np.nan)
    columns = np.searchsorted(block.items, ranked.items)  # 0 beyond the end, where the item is -1
    return _as_ranked(ranked, scores.values[block.rows[:, np.newaxis], columns], rules)


def given_scores(ranked: Ranked, given: GivenLists, rules: RankingRules) -> FloatArray:
    """As :func:`listed_scores`, for lists that ``rank_lists`` returned."""
    if not len(given.items):
        return np.full(ranked.items.shape, np.nan)
    n_items = len(rules.item_ids)
    keys = np.repeat(np.arange(len(given)), np.diff(given.offsets)) * n_items + given.items
    order = np.argsort(keys, kind="stable")
    ranked_keys = np.arange(len(given))[:, np.newaxis] * n_items + ranked.items
    positions = np.searchsorted(keys[order], np.where(ranked.items >= 0, ranked_keys, -1))
    return _as_ranked(ranked, given.scores[order[positions]], rules)


def _as_ranked(ranked: Ranked, values: FloatArray, rules: RankingRules) -> FloatArray:
    """Scores as they are compared: with missing ones replaced, at the precision of ties."""
    resolved = np.where(ranked.scored > 0, np.clip(values, -_LARGEST, _LARGEST), _fills(ranked, rules.missing))
    rounded = _rounded(resolved, rules.ties) + 0.0  # -0.0 is 0.0
    return np.where(ranked.items >= 0, rounded, np.nan)


def _fills(ranked: Ranked, missing: MissingRule) -> FloatArray:
    """The replacement score of each listed item."""
    if missing.by_item:
        return missing.fills_of_items()[ranked.items]
    return np.broadcast_to(missing.fills_of_users(ranked.users)[:, np.newaxis], ranked.items.shape)


def _rounded(values: FloatArray, ties: TieRule) -> FloatArray:
    """Scores at the precision of ties; infinite scores, and those that would become infinite, stay."""
    with np.errstate(over="ignore"):
        if ties.precision == "single":
            single: npt.NDArray[np.float64] = values.astype(np.float32).astype(np.float64)
            return np.where(np.isinf(values), values, np.clip(single, -_LARGEST, _LARGEST))
        if ties.precision == "decimals":
            scale = 10.0**ties.decimals
            decimal = np.rint(values * scale) / scale
            return np.where(np.isinf(decimal), values, decimal)
    return values
