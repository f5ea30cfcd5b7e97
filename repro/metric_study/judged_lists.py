"""The lists of a finished run, judged by the whole test set or by a part of it.

Every list is matched with the whole test set once. With a part of the test set it is the same list: its items and
ranks stay, and held-out items that are not in that part no longer count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data import Interactions
from repro.data.interactions import CodeArray, IdArray, RowArray
from repro.data.io.parquet import read_parquet
from repro.errors import ProtocolError, StudyError
from repro.evaluation.candidates import Judgements, Offsets, judge
from repro.evaluation.ranking import Ranked
from repro.evaluation.ranking.ties import gives_order
from repro.protocol import Protocol
from repro.runs.journal.events import CellFinished
from repro.runs.run import Run

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """The lists of one system on one fold; ``rows`` is the held-out row that each hit is."""

    ranked: Ranked
    rows: RowArray

    def judged_by(self, kept: Mask) -> Ranked:
        """The lists judged by the held-out rows in ``kept`` only; users without any are no test users."""
        whole, hits = self.ranked, kept[self.rows]
        if hits.all():
            return whole
        offsets = _sums_before(hits)[whole.offsets]
        relevant = whole.relevant[hits]
        ranked = replace(
            whole,
            n_relevant=np.diff(_sums_before(relevant)[offsets]).astype(np.int32),
            offsets=offsets,
            hit_items=whole.hit_items[hits],
            relevant=relevant,
            grades=whole.grades[hits],
            position=whole.position[hits],
            above=whole.above[hits],
            tied=whole.tied[hits],
        )
        present = np.diff(offsets) > 0
        return ranked if present.all() else ranked.only(np.flatnonzero(present))


def _sums_before(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """At each place the sum of all values before it, and last the sum of all."""
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


@dataclass(frozen=True, eq=False)
class JudgedFold:
    """The held-out rows of a fold, by user and item, and the lists of each system."""

    name: str
    test: Interactions
    systems: tuple[JudgedLists, ...]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """The lists of a run, judged. Codes of users and items are the same in every fold.

    short  how many lists end above the deepest cut-off because their candidates do
    """

    question: str
    data: str
    seed: int
    protocol: Protocol
    systems: tuple[str, ...]
    folds: tuple[JudgedFold, ...]
    depth: int
    short: int

    @property
    def n_ratings(self) -> int:
        """Held-out rows of all folds."""
        return sum(len(fold.test) for fold in self.folds)

    @property
    def n_users(self) -> int:
        """Users with a held-out row in any fold."""
        return len(np.unique(np.concatenate([fold.test.users for fold in self.folds])))

    @property
    def n_lists(self) -> int:
        """Lists of all systems and folds."""
        return sum(len(lists.ranked) for fold in self.folds for lists in fold.systems)


def judge_run(run: Run, depth: int) -> JudgedRun:
    """The lists of a finished run down to rank ``depth``, judged by the whole test set."""
    _require_finished(run)
    _require_definite(run.protocol)
    if any("lists" not in cell.artifacts for cell in run.journal.finished_cells.values()):
        raise StudyError(f"{run.folder} has no lists: its metrics compare predictions; add a metric such as ndcg@100")
    systems = tuple(run.cells)
    if len(systems) < 2:
        raise StudyError(f"{run.folder} has one algorithm, '{systems[0]}'; orders of systems need two or more of them")
    folds = tuple(_judged_fold(run, name, test.canonical(), depth) for name, test in run.lists.tests.items())
    short = sum(int((lists.ranked.lengths < depth).sum()) for fold in folds for lists in fold.systems)
    started = run.started
    return JudgedRun(started.question, run.loaded.data, started.seed, run.protocol, systems, folds, depth, short)


def _judged_fold(run: Run, name: str, test: Interactions, depth: int) -> JudgedFold:
    # The rules of relevance that are left look at no training row.
    judgements = judge(test.select(np.arange(0)), test, run.protocol)
    cells = [folds[name] for folds in run.cells.values()]
    tables = ((_table(run, cell, "lists"), _table(run, cell, "values")) for cell in cells)
    return JudgedFold(name, test, tuple(_match(listed, values, test, judgements, depth) for listed, values in tables))


def _table(run: Run, cell: CellFinished, name: str) -> pd.DataFrame:
    frame: pd.DataFrame = read_parquet(run.artifact(cell.artifacts[name])).to_pandas()
    return frame


def _require_finished(run: Run) -> None:
    ends = run.journal.events("run.finished")
    if not ends or ends[-1].failed:
        state = f"{ends[-1].failed} failed cells" if ends else "a run that was cut off"
        raise StudyError(f"{run.folder} holds {state}; finish it with `repro run ... --resume` first")


def _require_definite(protocol: Protocol) -> None:
    """Refuse protocols under which stored lists do not say what a smaller test set would make of them."""
    ties = protocol.text("ties.break")
    again = "run the study again with --set ties.break=item-asc (or random) into another folder"
    if not gives_order(protocol):
        raise ProtocolError(
            f'the run has ties.break = "{ties}": items with equal scores have no order of their own, so its lists '
            f"cannot be judged again; {again}"
        )
    if protocol["candidates.relevant"] == "one":
        raise ProtocolError(
            'the run has candidates.relevant = "one" (1R): each list is about one held-out rating and would vanish '
            'with it; run the study under a protocol with candidates.relevant = "all", such as valcarce-2018-allitems'
        )
    if protocol["candidates.base"] == "user-test-items":
        raise ProtocolError(
            'the run has candidates.base = "user-test-items" (UT): the lists are made of the very items that are '
            'taken away here; run the study with other candidates, such as --set candidates.base="all-items"'
        )
    if protocol["relevance.rule"] == "user-mean":
        raise ProtocolError(
            'the run has relevance.rule = "user-mean", which needs the training rows, and a run folder does not keep '
            'them; run the study with relevance.rule = "threshold"'
        )


def _match(
    listed: pd.DataFrame, values: pd.DataFrame, test: Interactions, judgements: Judgements, depth: int
) -> JudgedLists:
    """Find the held-out items of each user in the user's list."""
    users = _codes(values["user"], test.user_ids)
    lengths = values["length"].to_numpy(np.int32)
    row_of_user = np.full(test.n_users, -1)
    row_of_user[users] = np.arange(len(users))
    rows = row_of_user[_codes(listed["user"], test.user_ids)]
    ranks = listed["rank"].to_numpy(np.int32)
    _require_depth(np.bincount(rows, minlength=len(users)), lengths, depth)
    within = ranks <= depth
    rows, ranks = rows[within], ranks[within]
    codes = _codes(listed["item"], test.item_ids)[within]
    items = np.full((len(users), depth), -1, dtype=np.int32)
    items[rows, ranks - 1] = np.where(codes < 0, test.n_items, codes)  # one code for all items that nobody holds out
    scored = np.zeros((len(users), depth), dtype=np.uint8)
    scored[rows, ranks - 1] = listed["scored"].to_numpy()[within]
    hits = _hits(users, judgements, _ranks_of_pairs(users[rows], codes, ranks, judgements, test.n_items))
    relevant = judgements.relevant[hits.rows]
    ranked = Ranked(
        users=users,
        strata=values["stratum"].to_numpy(np.int32),
        ties="definite",
        depth=depth,
        items=items,
        scored=scored,
        lengths=lengths,
        candidates=lengths,
        missing=np.zeros(len(users), dtype=np.int32),
        n_relevant=np.diff(_sums_before(relevant)[hits.offsets]).astype(np.int32),
        offsets=hits.offsets,
        hit_items=judgements.items[hits.rows],
        relevant=relevant,
        grades=judgements.grades[hits.rows],
        position=hits.position,
        above=hits.position - 1,
        tied=np.ones(len(hits.rows), dtype=np.int32),
    )
    return JudgedLists(ranked, hits.rows)


class _Hits(NamedTuple):
    """The held-out items of each list, by rank, those below the stored depth last; see :class:`Ranked`."""

    offsets: Offsets
    rows: RowArray
    position: npt.NDArray[np.int32]


def _ranks_of_pairs(
    users: CodeArray, items: CodeArray, ranks: npt.NDArray[np.int32], judgements: Judgements, n_items: int
) -> npt.NDArray[np.int32]:
    """The rank of each held-out item in its user's list; 0 where it is not there."""
    judged = judgements.users.astype(np.int64) * n_items + judgements.items
    known = items >= 0
    pairs = users[known].astype(np.int64) * n_items + items[known]
    at = np.minimum(np.searchsorted(judged, pairs), len(judged) - 1)
    found = judged[at] == pairs
    of_rows = np.zeros(len(judged), dtype=np.int32)
    of_rows[at[found]] = ranks[known][found]
    return of_rows


def _hits(users: CodeArray, judgements: Judgements, ranks: npt.NDArray[np.int32]) -> _Hits:
    """Every held-out row of the users, list by list, in the order of ``ranks`` (those of all held-out rows)."""
    starts, ends = judgements.offsets[users], judgements.offsets[users + 1]
    offsets = _sums_before(ends - starts)
    rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], ends - starts)
    lists = np.repeat(np.arange(len(users)), ends - starts)
    last = np.where(ranks[rows] == 0, np.iinfo(np.int32).max, ranks[rows])
    rows = rows[np.lexsort((last, lists))]
    return _Hits(offsets, rows, ranks[rows])


def _codes(ids: pd.Series, vocabulary: IdArray) -> CodeArray:
    """The codes of external ids; -1 where the vocabulary lacks one. 7 and "7" are the same id."""
    distinct, values = pd.factorize(ids.to_numpy())
    known = {str(value): code for code, value in enumerate(vocabulary)}
    return np.array([known.get(str(value), -1) for value in values], dtype=np.int32)[distinct]


def _require_depth(stored: npt.NDArray[np.int64], lengths: npt.NDArray[np.int32], depth: int) -> None:
    """Refuse lists that were cut, when they were stored, above the deepest cut-off."""
    cut = stored < np.minimum(lengths, depth)
    if cut.any():
        deepest = int(stored[cut].max())
        raise StudyError(
            f"the run stored its lists down to rank {deepest}, the deepest cut-off of its metrics, and the deepest "
            f"cut-off asked for is {depth}; run the study with a metric at that depth, such as ndcg@{depth}, or ask "
            f"for cut-offs down to {deepest} with --cutoffs"
        )
