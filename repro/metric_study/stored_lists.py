"""The lists that a finished run stored, ready to be judged again with fewer held-out ratings.

Every list is matched with the whole test set once. With part of the test set it is the same list: its items and
ranks stay, and held-out items that are not in that part are only forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data import Interactions
from repro.data.interactions import CodeArray, IdArray, RowArray
from repro.data.io.parquet import read_parquet
from repro.errors import JournalError, ProtocolError, StudyError
from repro.evaluation.candidates import Judgements, Offsets, judge
from repro.evaluation.ranking import Ranked
from repro.evaluation.ranking.ties import gives_order
from repro.protocol import Protocol
from repro.runs.folder import RunFolder
from repro.runs.journal import Contents, read_journal

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StoredLists:
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
class StoredFold:
    """The held-out rows of a fold, by user and item, and the lists of each system."""

    name: str
    test: Interactions
    systems: tuple[StoredLists, ...]


@dataclass(frozen=True, eq=False)
class StoredRun:
    """All that a study of metrics needs of a run. Codes of users and items are the same in every fold.

    short  how many lists end above the deepest cut-off because their candidates do
    """

    question: str
    data: str
    seed: int
    protocol: Protocol
    systems: tuple[str, ...]
    folds: tuple[StoredFold, ...]
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


def read_run(path: Path, depth: int) -> StoredRun:
    """The lists of the finished run in the folder ``path``, down to rank ``depth``."""
    folder = RunFolder(path)
    if not folder.journal.is_file():
        raise StudyError(f"{path} is not a run folder: it has no {folder.journal.name}; give the folder of `repro run`")
    journal = read_journal(folder.journal)
    _require_finished(journal, path)
    began = journal.events("run.started")[0]
    protocol = _protocol(path, journal)
    _require_definite(protocol)
    folds = {event.fold: event.artifacts["test"] for event in journal.events("fold.made")}
    cells = _cells(journal, path)
    systems = tuple(dict.fromkeys(label for label, _ in cells))
    if len(systems) < 2:
        raise StudyError(f"{path} has one algorithm, '{systems[0]}'; orders of systems need two or more of them")
    tests = _code_together({name: _table(folder, digest) for name, digest in folds.items()})
    stored = tuple(
        _stored_fold(folder, name, test, [cells[label, name] for label in systems], protocol, depth)
        for name, test in tests.items()
    )
    short = sum(int((lists.ranked.lengths < depth).sum()) for fold in stored for lists in fold.systems)
    loaded = journal.events("data.loaded")[0]
    return StoredRun(began.question, loaded.data, began.seed, protocol, systems, stored, depth, short)


def _stored_fold(
    folder: RunFolder,
    name: str,
    test: Interactions,
    cells: Sequence[Mapping[str, str]],
    protocol: Protocol,
    depth: int,
) -> StoredFold:
    """The lists of one fold; ``cells`` are the artefacts of each system."""
    # The rules of relevance that are left look at no training row.
    judgements = judge(test.select(np.arange(0)), test, protocol)
    systems = tuple(
        _match(_table(folder, cell["lists"]), _table(folder, cell["values"]), test, judgements, depth) for cell in cells
    )
    return StoredFold(name, test, systems)


def _require_finished(journal: Contents, path: Path) -> None:
    ends = journal.events("run.finished")
    if not ends or ends[-1].failed:
        state = f"{ends[-1].failed} failed cells" if ends else "a run that was cut off"
        raise StudyError(f"{path} holds {state}; finish it with `repro run ... --resume` first")


def _protocol(path: Path, journal: Contents) -> Protocol:
    """The protocol of the run. Decisions of metrics that came later are not in its journal: they have no say in it."""
    protocol = Protocol.load(path / "protocol.toml")
    for entry in journal.events("decisions.resolved")[0].decisions:
        if protocol.get(entry.decision) != entry.value:
            raise JournalError(
                f"{path / 'protocol.toml'} is not the protocol of this run: {entry.decision} was {entry.value!r} "
                f"then and is {protocol.get(entry.decision)!r} now; run the study again with --fresh"
            )
    return protocol


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


def _cells(journal: Contents, path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The artefacts of each system and fold, in the order of the run's table."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for event in journal.events("cell.finished"):
        label, _, fold = event.cell.rpartition("/")
        if "lists" not in event.artifacts:
            raise StudyError(f"{path} has no lists: its metrics compare predictions; add a metric such as ndcg@100")
        found[label, fold] = event.artifacts
    table = read_parquet(RunFolder(path).place("results.parquet"), columns=["algorithm"])
    order = table["algorithm"].unique().to_pylist()
    return dict(sorted(found.items(), key=lambda cell: order.index(cell[0][0])))


def _table(folder: RunFolder, digest: str) -> pd.DataFrame:
    if not folder.has(digest):
        raise JournalError(f"{folder.artifact(digest)} is missing or damaged; `repro run ... --resume` makes it again")
    frame: pd.DataFrame = read_parquet(folder.artifact(digest)).to_pandas()
    return frame


def _code_together(tests: dict[str, pd.DataFrame]) -> dict[str, Interactions]:
    """The held-out rows of all folds under one coding, by user and item."""
    whole = Interactions.from_frame(pd.concat(tests.values(), ignore_index=True))
    starts = np.cumsum([0, *(len(test) for test in tests.values())])
    return {
        name: whole.select(np.arange(first, last)).canonical()
        for name, first, last in zip(tests, starts[:-1], starts[1:], strict=True)
    }


def _match(
    listed: pd.DataFrame, values: pd.DataFrame, test: Interactions, judgements: Judgements, depth: int
) -> StoredLists:
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
    items[rows, ranks - 1] = np.where(codes < 0, test.n_items, codes)  # all that nobody holds out are one to us
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
    return StoredLists(ranked, hits.rows)


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
