"""The lists of a finished run, judged by the whole test set or by a part of it.

Every list is matched with the whole test set once. A part of the test set does not change items and ranks: held-out
items outside that part no longer count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repro.data import Interactions
from repro.data.interactions import RowArray
from repro.data.io.parquet import read_parquet
from repro.errors import ProtocolError, StudyError
from repro.evaluation.metrics import simple_measures
from repro.evaluation.ranking import Ranked, gives_order
from repro.evaluation.stages import stored_depth
from repro.evaluation.stored_lists import ListTables, StoredFold
from repro.protocol import Protocol
from repro.runs.run import Run

Mask = npt.NDArray[np.bool_]
TABLES = ("lists", "values")


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """The lists of one system on one fold; ``rows`` is the held-out row that each hit is."""

    ranked: Ranked
    rows: RowArray

    def judged_by(self, kept: Mask) -> Ranked:
        """The lists judged by the held-out rows in ``kept`` only, without the lists of users who have none of them."""
        hits = kept[self.rows]
        if hits.all():
            return self.ranked
        ranked = self.ranked.only_hits(hits)
        judged = np.diff(ranked.offsets) > 0
        return ranked if judged.all() else ranked.only(np.flatnonzero(judged))


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
    fold = StoredFold(test, run.protocol, run.started.seed)
    stored = stored_depth(simple_measures(run.measures, "ranking", "collection"))
    systems = []
    for cell in (folds[name] for folds in run.cells.values()):
        tables = ListTables(*(read_parquet(run.artifact(cell.artifacts[table])).to_pandas() for table in TABLES))
        _require_depth(tables, stored, depth)
        ranked = fold.rank(tables, stored, depth)
        systems.append(JudgedLists(ranked, fold.background.rows_of_hits(ranked)))
    return JudgedFold(name, test, tuple(systems))


def _require_depth(tables: ListTables, stored: int, depth: int) -> None:
    """Refuse lists that were cut, when they were stored, above the deepest cut-off."""
    if stored < depth and (tables.values["length"] > stored).any():
        raise StudyError(
            f"the run stored its lists down to rank {stored}, the deepest cut-off of its metrics, and the deepest "
            f"requested cut-off is {depth}; run the study with a metric at that depth, such as ndcg@{depth}, or "
            f"request cut-offs down to {stored} with --cutoffs"
        )


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
