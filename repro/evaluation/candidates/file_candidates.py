"""Candidates from a file: the negatives of the file, and the relevant items that the protocol defines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, RowArray
from repro.evaluation.candidates.candidates import Candidates, FoldRows, column_numbers, plan_lists
from repro.evaluation.candidates.lists import UNLISTED, Places
from repro.evaluation.candidates.negatives_file import GivenNegatives
from repro.evaluation.candidates.ragged import Ragged, spread
from repro.evaluation.candidates.relevance import Judgements
from repro.protocol import Protocol


class FileCandidates(Candidates):
    """The negatives of a file, and the user's relevant test items (AR) or the target (1R).

    Lines for users apply to every list of the user; lines for pairs apply to the list of that pair in 1R, and all lines
    of a user together to the user's list in AR. A list without a line is empty. Training items stay in the lists if the
    file has them; only the head (``split.head``) is removed.
    """

    def __init__(self, given: GivenNegatives, rows: FoldRows, judgements: Judgements, protocol: Protocol) -> None:
        lists = plan_lists(judgements, protocol)
        n_users = len(judgements.offsets) - 1
        if given.kind == "pair" and protocol["candidates.relevant"] == "one":
            source_of_line, n_sources = np.arange(len(given)), len(given)
            sources = _find_pairs(given, lists.users, lists.targets)
        else:
            source_of_line, n_sources = given.users.astype(np.int64), n_users
            sources = np.where(np.isin(lists.users, given.users), lists.users, -1)
        source_of_negative = np.repeat(source_of_line, np.diff(given.offsets))
        kept = ~np.isin(given.items, rows.removed_items)
        negatives = Ragged.of_pairs(source_of_negative[kept], given.items[kept], n_sources)

        used = np.zeros(n_sources, dtype=np.bool_)
        used[sources[sources >= 0]] = True
        relevant = judgements.items[(judgements.relevant == 1) & ~np.isin(judgements.items, rows.removed_items)]
        items = np.union1d(negatives.take(np.flatnonzero(used)).values, relevant).astype(np.int32)
        super().__init__(items, judgements, lists, protocol)

        self._given = given
        self._train = rows.train
        self._sources = sources
        negatives_at, columns_at = source_of_negative[kept], column_numbers(items, given.items[kept])
        columns = column_numbers(items, negatives.values)
        inside = columns >= 0  # lines that no list uses may have items that are not scored
        self._negatives = Ragged.of_pairs(negatives.rows[inside], columns[inside], n_sources)
        self._order = _FirstPlaces(negatives_at, columns_at, len(items))
        self._n_unused = int((~used[source_of_line]).sum())
        self._n_head = int((~kept).sum())
        self._n_repeated = int(used[source_of_negative[kept]].sum()) - int(negatives.lengths[used].sum())

    def _columns(self, numbers: RowArray, users: CodeArray, rows: npt.NDArray[np.int32]) -> tuple[bool, Ragged]:
        served = self._sources[numbers] >= 0
        negatives = self._negatives.take(np.where(served, self._sources[numbers], 0))
        negatives = negatives.keep(np.repeat(served, negatives.lengths))
        relevant = self._relevant_columns(numbers)
        lists = np.concatenate([negatives.rows, relevant.rows])
        return True, Ragged.of_pairs(lists, np.concatenate([negatives.values, relevant.values]), len(numbers))

    def _places(self, numbers: RowArray, columns: Ragged) -> Places:
        return self._order.of(self._sources[numbers][columns.rows], columns.values)

    def _relevant_columns(self, numbers: RowArray) -> Ragged:
        """The relevant items in each list; none in a list without a line in the file."""
        positions, offsets = self._judged(numbers)
        judged = Ragged(offsets, self._judged_columns[positions])
        served = np.repeat(self._sources[numbers] >= 0, judged.lengths)
        return judged.keep(served & (self._judgements.relevant[positions] == 1) & (judged.values >= 0))

    def impacts(self) -> list[Impact]:
        relevant = self._relevant_columns(np.arange(self.n_lists))
        among_negatives = int(self._negatives.contains(self._sources[relevant.rows], relevant.values).sum())
        empty, path, n_items = int((self._sources < 0).sum()), self._protocol["candidates.file"], len(self._given.items)
        ranked_once = "are among their own negatives and ranked once, as relevant"
        repeated = "are written more than once for a list and ranked once"
        impacts = [
            *self._relevant_impacts(),
            *(Impact("candidates.file", path, *note) for note in self._given.notes),
            self._impact("candidates.base", among_negatives, len(relevant.values), "relevant test items", ranked_once),
            self._impact("candidates.file", empty, self.n_lists, "lists", "are not in the file and stay empty"),
            self._impact("candidates.file", self._n_unused, len(self._given), "lines", "serve no list"),
            self._impact("candidates.file", self._n_repeated, n_items, "negatives", repeated),
        ]
        listed = int(self._negatives.lengths[self._sources[self._sources >= 0]].sum())
        if trained := self._trained():
            note = "are training items of the same user and stay in the list, as the file has it"
            impacts.append(self._impact("candidates.file", trained, listed, "negatives", note))
        if self._one_relevant:
            note = "are relevant for the user, and count as not relevant beside the target"
            impacts.append(self._impact("candidates.relevant", self._other_relevant(), listed, "negatives", note))
        if self._n_head:
            impacts.append(self._impact("split.head", self._n_head, n_items, "negatives", "are taken out"))
        return impacts

    def _trained(self) -> int:
        """The number of negatives, over all lists, that are training items of their user."""
        numbers = np.flatnonzero(self._sources >= 0)
        listed = self._negatives.take(self._sources[numbers])
        columns = column_numbers(self.items, self._train.items)
        inside = columns >= 0
        trained = Ragged.of_pairs(self._train.users[inside], columns[inside], len(self._judgements.offsets) - 1)
        return int(trained.contains(self._lists.users[numbers][listed.rows], listed.values).sum())

    def _other_relevant(self) -> int:
        """The number of relevant items of users that are negatives in the list of another relevant item."""
        positions, offsets = spread(self._judgements.offsets, self._lists.users)
        lists = np.repeat(np.arange(self.n_lists), np.diff(offsets))
        other = (self._judgements.relevant[positions] == 1) & (self._sources[lists] >= 0)
        other &= self._judgements.items[positions] != self._lists.targets[lists]
        columns = self._judged_columns[positions[other]]
        return int(self._negatives.contains(self._sources[lists[other]], columns).sum())


class _FirstPlaces:
    """The place in the file at which a source (a line, or a user) first has a column."""

    def __init__(self, sources: RowArray, columns: npt.NDArray[np.int32], n_columns: int) -> None:
        self._width = n_columns
        inside = columns >= 0
        self._pairs, first = np.unique(sources[inside] * n_columns + columns[inside], return_index=True)
        self._first = np.flatnonzero(inside)[first]

    def of(self, sources: RowArray, columns: npt.NDArray[np.int32]) -> Places:
        """The places of these pairs; from ``UNLISTED`` on, by column, for those that the file does not have."""
        unlisted = UNLISTED + columns.astype(np.int64)
        if not len(self._pairs):
            return unlisted
        pairs = sources * self._width + columns
        at = np.minimum(np.searchsorted(self._pairs, pairs), len(self._pairs) - 1)
        return np.where((self._pairs[at] == pairs) & (sources >= 0), self._first[at], unlisted)


def _find_pairs(negatives: GivenNegatives, users: CodeArray, targets: CodeArray) -> RowArray:
    """The line of each pair of a user and a target; -1 if there is none."""
    width = int(max(negatives.targets.max(initial=0), targets.max(initial=0))) + 1
    lines = negatives.users.astype(np.int64) * width + negatives.targets
    order = np.argsort(lines)
    pairs = users.astype(np.int64) * width + targets
    positions = np.minimum(np.searchsorted(lines[order], pairs), len(lines) - 1)
    return np.where(lines[order][positions] == pairs, order[positions], -1)
