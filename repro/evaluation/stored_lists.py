"""The lists that a run stored, as a source of ranked lists: they can be judged and measured again without scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data import Interactions
from repro.data.interactions import CodeArray, IdArray
from repro.errors import JournalError
from repro.evaluation.candidates import Judgements, judge
from repro.evaluation.candidates.ragged import offsets_of
from repro.evaluation.fold import FoldData
from repro.evaluation.metrics import Background, Measure
from repro.evaluation.ranking import GivenLists, MissingRule, Ranked, RankingRules, TieRule, gives_order, rank_lists
from repro.protocol import Protocol

_WITHOUT_TRAINING = {"test", "ratings"}


class ListTables(NamedTuple):
    """The tables that a run stores of the lists of an algorithm on a fold.

    ``listed`` has a row for each item of a list, ``values`` a row for each list.
    """

    listed: pd.DataFrame
    values: pd.DataFrame


@dataclass(frozen=True, eq=False)
class StoredFold:
    """A fold of a finished run: its test rows and, where the data of the run is available, all rows.

    Without ``data``, listed items need not be among the items of ``test``.
    """

    test: Interactions
    protocol: Protocol
    seed: int
    data: FoldData | None = None

    @cached_property
    def judgements(self) -> Judgements:
        """The test items that are relevant."""
        train = self.test.select(np.arange(0)) if self.data is None else self.data.train
        return judge(train, self.test, self.protocol)

    @cached_property
    def background(self) -> Background:
        """The inputs of metrics besides the lists."""
        if self.data is None:
            return Background(self.test, np.empty(0, dtype=np.int32))
        return self.data.background(self.data.candidates(self.protocol, self.seed, self.judgements).items)

    def obstacle(self, measure: Measure) -> str:
        """The reason why a measure cannot be computed from stored lists; an empty text where it can."""
        if not gives_order(self.protocol):
            return f'ties.break = "{self.protocol["ties.break"]}" depends on equal scores, which lists do not have'
        if "scores" in measure.needs:
            return "it depends on scores"
        if measure.reach is None:
            return "it depends on the whole list, and lists are stored down to the deepest cut-off"
        more = measure.metric.kind == "collection" or not set(measure.needs) <= _WITHOUT_TRAINING
        if self.data is None and (more or self.protocol["relevance.rule"] == "user-mean"):
            return "it depends on more than lists and test rows, and the data of the run is not available"
        return ""

    def rank(self, tables: ListTables, stored: int, depth: int) -> Ranked:
        """The lists in their stored order down to rank ``depth``, with the test items of their users.

        ``stored`` is the rank down to which the run stored its lists. A list of one relevant item (1R) has a
        ``target``, and none of the user's other relevant items.
        """
        listed, values = tables
        lists = self._list_numbers(tables)
        order = np.lexsort((listed["rank"].to_numpy(), lists))
        counts = np.bincount(lists, minlength=len(values))
        offsets, lengths = offsets_of(counts), values["length"].to_numpy(np.int32)
        places = np.arange(len(order)) - np.repeat(offsets[:-1], counts)
        ranks = listed["rank"].to_numpy()[order]
        if (ranks != places + 1).any() or (counts != np.minimum(lengths, stored)).any():
            raise JournalError("lists have gaps, or are shorter or longer than their lengths among the values say")
        users = _codes(values["user"], self.test.user_codes)
        targets = _codes(values["target"], self.test.item_codes) if "target" in values else None
        judged, judged_offsets = self.judgements.of_lists(users, targets)
        items, item_ids = self._item_codes(listed["item"].to_numpy()[order])
        given = GivenLists(
            users=users,
            strata=values["stratum"].to_numpy(np.int32),
            offsets=offsets,
            items=items,
            scores=-ranks.astype(np.float64),
            judged_offsets=judged_offsets,
            judged_items=self.judgements.items[judged],
            judged_relevant=self.judgements.relevant[judged],
            judged_grades=self.judgements.grades[judged],
        )
        ranked, _ = rank_lists(given, _order_of_scores(self.test.user_ids, item_ids), depth=depth)
        scored, within = np.zeros_like(ranked.scored), places < depth
        scored[lists[order][within], places[within]] = listed["scored"].to_numpy()[order][within]
        return replace(ranked, lengths=lengths, candidates=lengths, scored=scored)

    def _list_numbers(self, tables: ListTables) -> npt.NDArray[np.intp]:
        """The row of ``values`` that each row of ``listed`` belongs to, by user or, in 1R, user and relevant item."""
        rows, lists = (self._list_keys(table) for table in tables)
        numbers = lists.get_indexer(rows) if lists.is_unique else np.full(len(rows), -1)
        if (numbers < 0).any() or not lists.is_unique:
            raise JournalError("the lists do not match the values of lists: each list has one row among the values")
        return numbers

    def _list_keys(self, frame: pd.DataFrame) -> pd.Index[Any]:
        keys = _codes(frame["user"], self.test.user_codes).astype(np.int64)
        if "target" in frame:
            keys = keys * self.test.n_items + _codes(frame["target"], self.test.item_codes)
        return pd.Index(keys)

    def _item_codes(self, ids: IdArray) -> tuple[CodeArray, IdArray]:
        """The codes of listed items, and the ids of all codes; without data, unknown items follow the known ones."""
        positions, distinct = pd.factorize(ids)
        if self.data is not None:
            return self.test.item_codes(distinct.tolist())[positions], self.test.item_ids
        known, listed = (pd.Index([str(id_) for id_ in ids]) for ids in (self.test.item_ids, distinct))
        codes = known.get_indexer(listed)
        unknown = codes < 0
        codes[unknown] = self.test.n_items + np.arange(unknown.sum())
        return codes[positions].astype(np.int32), np.concatenate([self.test.item_ids, distinct[unknown]])


def _codes(ids: pd.Series, code: Callable[[Any], CodeArray]) -> CodeArray:
    """The codes of external ids, each of which is looked up once."""
    positions, distinct = pd.factorize(ids.to_numpy())
    return code(distinct)[positions]


def _order_of_scores(user_ids: IdArray, item_ids: IdArray) -> RankingRules:
    """Rules for scores that are all there and all different."""
    none = np.empty(0, dtype=np.uint64)
    missing = MissingRule("last", 0.0, "accept", "scored", "scored", None)
    ties = TieRule("item-asc", "double", 0, None, False, np.uint64(0), none, none)
    return RankingRules(missing, ties, user_ids, item_ids)
