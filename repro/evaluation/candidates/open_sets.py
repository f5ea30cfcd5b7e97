"""Candidates from a base set of items for all users: all items, training items or test items.

With C the base set (without the head, if it is removed), for user u (Bellogín 2012, table 4.2):

- *known* items are R_train(u), subject to ``candidates.exclude_train``, and the user's validation items if
  ``candidates.exclude_validation`` is "yes";
- *barred* items are in none of the user's lists: the known ones, and the non-relevant test items if
  ``candidates.rated_negatives`` is "exclude";
- *closed* items are never negatives: the barred ones and PR_test(u). N_u = C - closed(u) (AN) or a sample (NN);
- a list of AR is (PR_test(u) & C - barred(u)) | N_u; a list of 1R has a single item of PR_test(u) instead.

A relevant item that is not in C, or that is a known item of the user, is in no list. It stays among the judged items,
and therefore in the denominators of metrics.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, Interactions, RowArray
from repro.errors import DataError, ProtocolError
from repro.evaluation.candidates.candidates import Candidates, FoldRows, column_numbers, plan_lists
from repro.evaluation.candidates.draws import ListDraws, Pools, draw_negatives
from repro.evaluation.candidates.ragged import Ragged, offsets_of
from repro.evaluation.candidates.relevance import Judgements, relevant_in_train
from repro.protocol import Protocol
from repro.rng import KeyArray, child_keys, stream

_COUNTED_USERS = 1024


def base_items(train: Interactions, test: Interactions, protocol: Protocol) -> CodeArray:
    """The base set, ascending, including the head."""
    match protocol["candidates.base"]:
        case "all-items":
            return np.arange(train.n_items, dtype=np.int32)
        case "train-items":
            return np.unique(train.items)
        case _:
            return np.unique(test.items)


class OpenCandidates(Candidates):
    """All negatives of the base set (AN): a list is stored as the few items that are excluded from it."""

    def __init__(self, rows: FoldRows, judgements: Judgements, protocol: Protocol) -> None:
        base = base_items(rows.train, rows.test, protocol)
        items = np.setdiff1d(base, rows.removed_items)
        if not len(items):
            raise DataError(
                f'there are no candidates: candidates.base = "{protocol["candidates.base"]}" has {len(base):,} '
                f"items in this fold, of which split.head takes out {len(base):,}; use another base or split"
            )
        super().__init__(items, judgements, plan_lists(judgements, protocol), protocol)
        self._n_base = len(base)
        self._trained = self._training_columns(rows.train)
        self._validated = self._validation_columns(rows.validation)
        self._known = self._joined(self._trained, self._validated)
        self._barred = self._joined(self._known, self._judged_where(self._is_excluded))
        self._closed = self._joined(self._barred, self._judged_where(self._is_relevant))
        targets = column_numbers(items, self._lists.targets)
        self._target_columns = np.where(self._known.contains(self._lists.users, targets), -1, targets)

    def _columns(self, numbers: RowArray, users: CodeArray, rows: npt.NDArray[np.int32]) -> tuple[bool, Ragged]:
        if not self._one_relevant:
            return False, self._barred.take(users).take(rows)
        left_out = self._closed.take(users).take(rows)
        targets = np.repeat(self._target_columns[numbers], left_out.lengths)
        return False, left_out.keep(left_out.values != targets)

    def impacts(self) -> list[Impact]:
        return [*self._relevant_impacts(), *self._lost_impacts(), *self._excluded_impacts()]

    @property
    def _is_relevant(self) -> npt.NDArray[np.bool_]:
        return self._judgements.relevant == 1

    @property
    def _is_excluded(self) -> npt.NDArray[np.bool_]:
        excluded = self._protocol["candidates.rated_negatives"] == "exclude"
        return ~self._is_relevant & excluded

    def _judged_where(self, mask: npt.NDArray[np.bool_]) -> Ragged:
        """The columns of the masked test items of each user that are in the base set."""
        kept = mask & (self._judged_columns >= 0)
        return Ragged.of_pairs(self._judgements.users[kept], self._judged_columns[kept], self._n_users)

    def _training_columns(self, train: Interactions) -> Ragged:
        """The columns of the training items of each test user that ``candidates.exclude_train`` excludes."""
        excluded = self._protocol["candidates.exclude_train"]
        if excluded == "relevant":
            return self._columns_of(train, relevant_in_train(train, self._protocol))
        return self._columns_of(train, np.full(len(train), excluded == "all"))

    def _validation_columns(self, validation: Interactions | None) -> Ragged:
        """The columns of the validation items of each test user, if they are excluded."""
        if validation is None or self._protocol.get("candidates.exclude_validation") != "yes":
            return Ragged(np.zeros(self._n_users + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
        return self._columns_of(validation, np.ones(len(validation), dtype=np.bool_))

    def _columns_of(self, part: Interactions, mask: npt.NDArray[np.bool_]) -> Ragged:
        """The columns of the masked rows of test users whose items are in the base set."""
        tested = np.zeros(self._n_users, dtype=np.bool_)
        tested[self.users] = True
        rows = mask & tested[part.users]
        columns = column_numbers(self.items, part.items[rows])
        inside = columns >= 0
        return Ragged.of_pairs(part.users[rows][inside], columns[inside], self._n_users)

    @property
    def _n_users(self) -> int:
        return len(self._judgements.offsets) - 1

    def _joined(self, first: Ragged, second: Ragged) -> Ragged:
        if not len(second.values):
            return first
        rows = np.concatenate([first.rows, second.rows])
        return Ragged.of_pairs(rows, np.concatenate([first.values, second.values]), len(first))

    def _lost_impacts(self) -> list[Impact]:
        """Effects: relevant items that are in no list."""
        relevant = self._is_relevant
        columns, users = self._judged_columns[relevant], self._judgements.users[relevant]
        total, unit = len(columns), "relevant test items"
        outside = int((columns < 0).sum())
        trained = int(self._trained.contains(users, columns).sum())
        note = "are {} items of the same user and can never be found"
        impacts = [
            self._impact("candidates.base", outside, total, unit, "are not candidates and can never be found"),
            self._impact("candidates.exclude_train", trained, total, unit, note.format("training")),
        ]
        if len(self._validated.values):
            validated = int(self._validated.contains(users, columns).sum())
            note = note.format("validation")
            impacts.append(self._impact("candidates.exclude_validation", validated, total, unit, note))
        return impacts

    def _excluded_impacts(self) -> list[Impact]:
        """Effects: candidates that are excluded for a user, and the head."""
        pairs, unit = len(self.users) * len(self.items), "pairs of a test user and a candidate"
        columns, users = self._judged_columns, self._judgements.users
        may_be_listed = ~self._is_relevant & (columns >= 0) & ~self._known.contains(users, columns)
        with_list = np.isin(users, self.users)
        rated, total = int((may_be_listed & with_list).sum()), int(with_list.sum())
        left_out = self._protocol["candidates.rated_negatives"] == "exclude"
        note = "are not relevant and " + ("left out" if left_out else "may be in the list")
        trained, validated = len(self._trained.values), len(self._validated.values)
        impacts = [
            self._impact("candidates.exclude_train", trained, pairs, unit, "are left out as training items"),
            self._impact("candidates.rated_negatives", rated, total, "test items", note),
        ]
        if validated:
            note = "are left out as validation items"
            impacts.append(self._impact("candidates.exclude_validation", validated, pairs, unit, note))
        if head := self._n_base - len(self.items):
            impacts.append(self._impact("split.head", head, self._n_base, "candidates", "are taken out"))
        return impacts


class SampledCandidates(OpenCandidates):
    """A sample of the negatives (NN), for each list or for each user.

    The random stream of a list is keyed by its user and, with ``candidates.sample_per`` "list", its target. If a user
    has a single sample, it is the same in AR and in 1R, as the lemma of section 4.3.4 (eq. 4.2) assumes; with strata,
    there is one for each user and stratum. With popularity weights, items without training rows are drawn only after
    all others.
    """

    def __init__(self, rows: FoldRows, judgements: Judgements, protocol: Protocol, seed: int) -> None:
        super().__init__(rows, judgements, protocol)
        self._size = protocol.count("candidates.sample_size")
        self._replacement = protocol["candidates.replacement"] is True
        self._list_strata = np.zeros(self.n_lists, dtype=np.int32)
        self._column_strata = np.zeros(len(self.items), dtype=np.int32)
        if protocol.get("candidates.strata") == "popularity":
            strata = popularity_strata(rows, protocol)
            self._list_strata = strata[self._lists.targets]
            self._column_strata = strata[self.items]
        self._pools = self._make_pools(rows.train)
        self._available = self._count_available()
        self._keys = self._list_keys(rows.whole, seed)
        findable = self._judged_where(self._is_relevant)
        self._findable = findable.keep(~self._known.contains(findable.rows, findable.values))

    def _columns(self, numbers: RowArray, users: CodeArray, rows: npt.NDArray[np.int32]) -> tuple[bool, Ragged]:
        lists = ListDraws(
            self._list_strata[numbers],
            self._keys[numbers],
            self._available[numbers],
            rows,
            self._closed.take(users),
            self._relevant_columns(numbers),
        )
        return True, draw_negatives(self._pools, lists, self._size, self._replacement)

    def _strata(self, numbers: RowArray) -> npt.NDArray[np.int32]:
        return self._list_strata[numbers]

    def impacts(self) -> list[Impact]:
        short = int((self._available < self._size).sum())
        note = "have fewer non-relevant items to draw from"
        impacts = [*super().impacts(), self._impact("candidates.sample_size", short, self.n_lists, "lists", note)]
        if self._replacement:
            draws = self._size * int((self._available > 0).sum())
            note = "fell on an item already drawn for the list"
            repeated = draws - self._n_negatives
            impacts.append(self._impact("candidates.replacement", repeated, draws, "draws", note))
        return impacts

    def _relevant_columns(self, numbers: RowArray) -> Ragged:
        """The relevant items in each list: all that can be in the list (AR), or the target (1R)."""
        if not self._one_relevant:
            return self._findable.take(self._lists.users[numbers])
        targets = self._target_columns[numbers]
        return Ragged(offsets_of((targets >= 0).astype(np.int64)), targets[targets >= 0].astype(np.int32))

    def _make_pools(self, train: Interactions) -> Pools:
        n_strata = int(self._column_strata.max()) + 1
        if self.n_lists:
            n_strata = max(n_strata, int(self._list_strata.max()) + 1)
        columns = Ragged.of_pairs(self._column_strata, np.arange(len(self.items)), n_strata)
        weighted = self._protocol["candidates.sample_weight"] == "popularity"
        weights = train.item_counts()[self.items] if weighted else np.ones(len(self.items), dtype=np.int64)
        return Pools(columns, weights, weighted)

    def _count_available(self) -> RowArray:
        """The number of items that each list can draw: its pool without the closed items of its user."""
        n_strata = len(self._pools.columns)
        strata = self._closed.rows * n_strata + self._column_strata[self._closed.values]
        closed = np.bincount(strata, minlength=self._n_users * n_strata)
        list_strata = self._lists.users.astype(np.int64) * n_strata + self._list_strata
        return self._pools.columns.lengths[self._list_strata] - closed[list_strata]

    def _list_keys(self, whole: Interactions, seed: int) -> KeyArray:
        key, users = stream(seed, "candidates"), whole.user_keys[self._lists.users]
        if self._protocol.get("candidates.sample_per") == "list":
            return child_keys(key, users, whole.item_keys[self._lists.targets])
        if self._protocol.get("candidates.strata") == "popularity":
            return child_keys(key, users, self._list_strata.astype(np.uint64))
        return child_keys(key, users)

    @cached_property
    def _n_negatives(self) -> int:
        """The number of negatives in all lists together, counted by generating them."""
        relevant = len(self._relevant_columns(np.arange(self.n_lists)).values)
        starts = range(0, len(self.users), _COUNTED_USERS)
        blocks = (self.block(self.users[start : start + _COUNTED_USERS]) for start in starts)
        return sum(len(block.columns) for block in blocks) - relevant


def popularity_strata(fold: FoldRows, protocol: Protocol) -> npt.NDArray[np.int32]:
    """The popularity percentile of each item (P1R; Bellogín 2012, section 4.6.1), 0 for the least popular part.

    All items except the removed head are sorted by their number of rows, ties by code, and divided into m parts of
    almost equal size. The division is of all items, not of the candidates: every item has a percentile. The head
    belongs to the most popular part.

    A target set cannot be larger than a percentile, |T_u| <= |I| / m: that is a ProtocolError.
    """
    count = protocol.count("candidates.strata_count")
    rows = fold.train if protocol["candidates.strata_by"] == "train" else fold.whole
    kept = np.setdiff1d(np.arange(rows.n_items), fold.removed_items)
    by_popularity = kept[np.argsort(rows.item_counts()[kept], kind="stable")]
    strata = np.full(rows.n_items, count - 1, dtype=np.int32)
    strata[by_popularity] = np.arange(len(kept)) * count // max(len(kept), 1)
    _require_room(protocol, len(kept) // count)
    return strata


def _require_room(protocol: Protocol, smallest: int) -> None:
    size, count = protocol.count("candidates.sample_size"), protocol.count("candidates.strata_count")
    if size + 1 > smallest:
        raise ProtocolError(
            f"P1R with a target set larger than a percentile: candidates.sample_size = {size} and the relevant "
            f"item make {size + 1:,} items, and the smallest of the {count} percentiles holds {smallest:,}; "
            f"lower candidates.sample_size to at most {max(smallest - 1, 0)}, or lower candidates.strata_count"
        )
