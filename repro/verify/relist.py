"""Stored lists, ranked once more as they stand, so that metrics can be computed from them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data import Interactions
from repro.data.interactions import CodeArray
from repro.errors import JournalError
from repro.evaluation.candidates import Judgements
from repro.evaluation.candidates.ragged import spread
from repro.evaluation.measure_lists import STORED_DEPTH
from repro.evaluation.metrics import Measure
from repro.evaluation.ranking import GivenLists, Ranked, RankingRules, rank_lists
from repro.evaluation.ranking.missing import MissingRule
from repro.evaluation.ranking.ties import TieRule, gives_order
from repro.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Tables:
    """What a cell stored of its lists: ``listed`` has a row for each item, ``values`` one for each list."""

    listed: pd.DataFrame
    values: pd.DataFrame


def why_not_from_lists(measure: Measure, protocol: Protocol) -> str:
    """Why stored lists do not say what a measure is; nothing where they do."""
    if not gives_order(protocol):
        return f'ties.break = "{protocol["ties.break"]}" goes by equal scores, which lists do not have'
    if "scores" in measure.needs:
        return "it goes by scores"
    if measure.reach is None:
        return "it goes by the whole list, and lists are stored down to the deepest cut-off"
    return ""


def stored_depth(measures: Sequence[Measure]) -> int:
    """How far down a run stores its lists."""
    return max((one.cutoff for one in measures if one.cutoff is not None), default=STORED_DEPTH)


def ranked_again(tables: Tables, test: Interactions, judgements: Judgements, depth: int) -> Ranked:
    """The lists in their stored order, with the held-out items of their users.

    A list of one relevant item (1R) has a ``target``, and none of the user's other relevant items.
    """
    values, listed = tables.values, tables.listed
    one_relevant = "target" in values
    users, targets = _whose(values, test, one_relevant)
    keys = _keys(users, targets, test.n_items)
    order = np.argsort(keys, kind="stable")
    wanted = _keys(*_whose(listed, test, one_relevant), test.n_items)
    at = order[np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))] if len(keys) else wanted
    if len(wanted) and (not len(keys) or (keys[at] != wanted).any()):
        raise JournalError("there are lists without a row among the values, or values without their lists")
    rows = np.lexsort((listed["rank"].to_numpy(), at))
    counts = np.bincount(at, minlength=len(users))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    places = np.arange(len(rows)) - np.repeat(offsets[:-1], counts)
    lengths = values["length"].to_numpy(np.int32)
    _require_whole(listed["rank"].to_numpy()[rows], places, counts, lengths, depth)
    judged, judged_offsets = _judged(judgements, users, targets, one_relevant)
    given = GivenLists(
        users=users,
        strata=values["stratum"].to_numpy(np.int32),
        offsets=offsets,
        items=_codes(listed["item"], test.item_codes)[rows],
        scores=(depth - places).astype(np.float64),  # higher is better, and above 0
        judged_offsets=judged_offsets,
        judged_items=judgements.items[judged],
        judged_relevant=judgements.relevant[judged],
        judged_grades=judgements.grades[judged],
    )
    ranked, _ = rank_lists(given, _as_they_stand(test), depth=depth)
    scored = np.zeros_like(ranked.scored)
    scored[at[rows], places] = listed["scored"].to_numpy()[rows]
    return replace(ranked, lengths=lengths, scored=scored)


def _as_they_stand(test: Interactions) -> RankingRules:
    """Nothing is missing, and nothing tied."""
    none = np.empty(0, dtype=np.uint64)
    missing = MissingRule("last", 0.0, "accept", "scored", "scored", None)
    ties = TieRule("item-asc", "double", 0, None, False, np.uint64(0), none, none)
    return RankingRules(missing, ties, test.user_ids, test.item_ids)


def _judged(
    judgements: Judgements, users: CodeArray, targets: CodeArray, one_relevant: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    positions, offsets = spread(judgements.offsets, users)
    if not one_relevant:
        return positions, offsets
    own = np.repeat(targets, np.diff(offsets))
    kept = (judgements.relevant[positions] == 0) | (judgements.items[positions] == own)
    return positions[kept], np.concatenate([[0], np.cumsum(kept)])[offsets]


def _require_whole(
    ranks: npt.NDArray[Any],
    places: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int32],
    depth: int,
) -> None:
    """Ranks run from 1 without a gap, down to the end of the list or the depth to which lists are stored."""
    if (ranks != places + 1).any() or (counts != np.minimum(lengths, depth)).any():
        raise JournalError("lists have gaps, or are shorter or longer than their lengths among the values say")


def _whose(frame: pd.DataFrame, test: Interactions, one_relevant: bool) -> tuple[CodeArray, CodeArray]:
    users = _codes(frame["user"], test.user_codes)
    if not one_relevant:
        return users, np.full(len(users), -1, dtype=np.int32)
    return users, _codes(frame["target"], test.item_codes)


def _keys(users: CodeArray, targets: CodeArray, n_items: int) -> npt.NDArray[np.int64]:
    return users.astype(np.int64) * (n_items + 1) + targets + 1


def _codes(ids: pd.Series, codes: Callable[[Any], CodeArray]) -> CodeArray:
    """The codes of external ids, each of which is looked up once."""
    places, distinct = pd.factorize(ids.to_numpy())
    return codes(distinct)[places].astype(np.int32) if len(distinct) else np.empty(0, dtype=np.int32)
