"""Measure the lists that an algorithm's scores give on a fold, block by block of users."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from repro.data import Impact, Interactions
from repro.data.interactions import CodeArray
from repro.evaluation.blocks import DEFAULT_OPTIONS, Block, BlockMeasurer, ExecutionOptions, MeasuredBlock
from repro.evaluation.candidates import CandidatesDigest, relevance_impacts, unlisted_users
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import score_tables
from repro.evaluation.measured import Measured
from repro.evaluation.metrics import Background, ListOwners, Measure, Ratio, has_tie_interval
from repro.evaluation.ranking import Tally
from repro.evaluation.ranking.ranked import BY_ALGORITHM
from repro.evaluation.stages import TIE_ORDERS, TiedRatios, average_lists, stored_depth, tie_intervals
from repro.evaluation.suspicion import Facts, list_facts
from repro.plugin import CheckedRecommender, Queries, Scores
from repro.protocol import Protocol

# An algorithm always scores the same test users together and all items, whatever the size of a block and
# whichever items are ranked, because the last bits of a matrix product depend on its shape.
CHUNK_USERS = 64
BLOCK_BYTES = 1 << 28

UserProgress = Callable[[int, int], None]


def measure_lists(
    recommender: CheckedRecommender,
    parts: FoldData,
    measures: Sequence[Measure],
    protocol: Protocol,
    seed: int,
    options: ExecutionOptions = DEFAULT_OPTIONS,
    report_progress: UserProgress | None = None,
) -> Measured:
    """The value of each measure, the effects of the decisions, and the lists and their values as tables.

    ``report_progress`` is called with the number of users done and of all users after each block. If scores are kept,
    the tables include those of all test users and items (:mod:`repro.evaluation.kept_scores`).
    """
    judgements = parts.judge(protocol)
    candidates = parts.candidates(protocol, seed, judgements)
    rules = parts.ranking_rules(protocol, seed)
    cutoffs = sorted({measure.cutoff for measure in measures if measure.cutoff is not None})
    stored = stored_depth(measures)
    depth = None if any(measure.reach is None for measure in measures) else stored
    background = parts.background(candidates.items)
    measurer = BlockMeasurer(candidates, rules, measures, background, cutoffs, depth, stored)
    unlisted = unlisted_users(judgements, protocol)
    tally, merged, digest = Tally.none(cutoffs), _Merged(measures, background, unlisted), CandidatesDigest()
    seconds = {"score": 0.0, "rank": 0.0}
    test_users, kept_scores = judgements.test_users, list[Scores]()

    def scored(blocks: Iterable[CodeArray]) -> Iterator[Block]:
        for users in blocks:
            began = time.perf_counter()
            scores = score_block(recommender, parts.queries(users), parts.whole.n_items)
            seconds["score"] += time.perf_counter() - began
            if options.keep_scores:
                kept_scores.append(scores)
            yield Block(users, scores)

    blocks = list(user_blocks(test_users, parts.whole.n_items, options.block_users, options.blocks.most))
    done = 0
    for users, measured in zip(blocks, options.blocks(measurer, scored(blocks), len(blocks)), strict=True):
        tally += measured.tally
        merged.add(measured)
        digest.add(measured.lists)
        seconds["rank"] += measured.seconds
        done += len(users)
        if report_progress:
            report_progress(done, len(test_users))
    values, impacts = merged.values(protocol)
    impacts = [
        *relevance_impacts(judgements, parts.train, protocol),
        *candidates.impacts(),
        *tally.impacts(protocol),
        *impacts,
    ]
    tables = {"lists": merged.lists_table(parts.whole), "values": merged.values_table(parts.whole)}
    if (tied := merged.tied_table()) is not None:
        tables["tied_values"] = tied
    if len(unlisted):
        tables["unlisted"] = pa.table({"user": pa.array(parts.whole.user_ids[unlisted])})
    if options.keep_scores:
        tables |= score_tables(Scores.joined(kept_scores), test_users, parts.whole)
    return Measured(
        values,
        impacts,
        tables,
        seconds,
        {"candidates": digest.hexdigest()},
        merged.intervals(values, protocol),
        merged.facts(tally),
    )


def user_blocks(users: CodeArray, n_items: int, block_users: int, at_once: int = 1) -> Iterator[CodeArray]:
    """The test users in blocks: whole chunks, and at once no more than the memory set aside for scores."""
    affordable = BLOCK_BYTES // (8 * max(n_items, 1) * at_once)
    size = max(1, min(block_users, affordable) // CHUNK_USERS) * CHUNK_USERS
    for start in range(0, len(users), size):
        yield users[start : start + size]


def score_block(recommender: CheckedRecommender, queries: Queries, n_items: int) -> Scores:
    """The scores of a block of queries for all items, chunk by chunk."""
    items = np.arange(n_items, dtype=np.int32)
    starts = range(0, len(queries), CHUNK_USERS)
    return Scores.joined([recommender.score(queries.part(start, start + CHUNK_USERS), items) for start in starts])


class _Merged:
    """Collects the results of all blocks, in the order of users.

    ``unlisted`` are test users who count without a list.
    """

    def __init__(self, measures: Sequence[Measure], background: Background, unlisted: CodeArray) -> None:
        self._measures = measures
        self._ranking = [measure for measure in measures if measure.metric.kind == "ranking"]
        self._background = background
        self._unlisted = unlisted
        self._blocks: dict[str, list[Any]] = {measure.full_name: [] for measure in measures}
        self._columns: dict[str, list[npt.NDArray[Any]]] = {}
        self._lists = 0
        self._tied: list[TiedRatios] = []

    def add(self, block: MeasuredBlock) -> None:
        for measure in self._measures:
            blocks = self._blocks[measure.full_name]
            blocks.append(block.values[measure.full_name])
            if measure.metric.kind == "collection" and len(blocks) > 1:  # keeps the memory of one block
                blocks[:] = [measure.merged(blocks)]
        for name, column in block.columns.items():
            self._columns.setdefault(name, []).append(column)
        if block.tied is not None:
            self._tied.append(replace(block.tied, rows=block.tied.rows + self._lists))
        self._lists += len(block.columns["user"])

    def values(self, protocol: Protocol) -> tuple[dict[str, tuple[float, int]], list[Impact]]:
        """The value of each measure and the number of users behind it; what averaging touched."""
        numbers: dict[str, tuple[float, int]] = {}
        impacts: dict[Impact, None] = {}
        owners = self._owners
        for measure in self._measures:
            blocks = self._blocks[measure.full_name]
            averaged = average_lists(measure, blocks, owners, self._background, protocol)
            numbers[measure.full_name] = (averaged.value, averaged.users_counted)
            impacts |= dict.fromkeys(averaged.impacts)
        return numbers, list(impacts)

    def intervals(self, numbers: Mapping[str, tuple[float, int]], protocol: Protocol) -> dict[str, tuple[float, float]]:
        """The lowest and highest value of each measure over all orders of tied items, where these are known."""
        values = {measure.full_name: self._ratio(measure) for measure in self._bounded}
        averages = {name: number for name, (number, _) in numbers.items()}
        return tie_intervals(self._bounded, values, averages, TiedRatios.joined(self._tied), self._owners, protocol)

    def facts(self, tally: Tally) -> Facts:
        """The counts of the lists."""
        return list_facts(tally, self._column("length"), self._column("items"), self._column("scored"))

    def tied_table(self) -> pa.Table | None:
        """The lists with tied held-out items, by their row in the table of values, and their numbers with relevant
        items first and last among tied ones; None where there are no such lists."""
        tied = TiedRatios.joined(self._tied)
        if tied is None:
            return None
        columns: dict[str, Any] = {"row": tied.rows.astype(np.int64)}
        for measure in self._bounded:
            for order in TIE_ORDERS:
                ratio = getattr(tied, order)[measure.full_name]
                columns[f"{measure.full_name} {order} numerator"] = ratio.numerator
                columns[f"{measure.full_name} {order} denominator"] = ratio.denominator
        return pa.table(columns)

    def values_table(self, data: Interactions) -> pa.Table:
        """One row for each list: whose it is, and numerator and denominator of each ranking measure."""
        columns = self._list_ids(data, np.arange(len(self._column("user"))))
        columns["stratum"] = self._column("stratum")
        columns["length"] = self._column("length")
        for measure in self._ranking:
            ratio = self._ratio(measure)
            columns[f"{measure.full_name} numerator"] = ratio.numerator
            columns[f"{measure.full_name} denominator"] = ratio.denominator
        return pa.table(columns)

    def lists_table(self, data: Interactions) -> pa.Table:
        """One row for each listed item, down to the deepest cut-off: whose list, rank, item, whether the algorithm
        itself scored it."""
        items = self._column("items")
        rows, places = np.nonzero(items >= 0)
        return pa.table(
            {
                **self._list_ids(data, rows),
                "rank": (places + 1).astype(np.int32),
                "item": pa.array(data.item_ids[items[rows, places]]),
                "scored": self._column("scored")[rows, places] == BY_ALGORITHM,
            }
        )

    def _list_ids(self, data: Interactions, rows: npt.NDArray[Any]) -> dict[str, Any]:
        """The user and, in 1R, the relevant item of lists."""
        columns: dict[str, Any] = {"user": pa.array(data.user_ids[self._column("user")[rows]])}
        targets = self._column("target")[rows]
        if len(targets) and targets[0] >= 0:
            columns["target"] = pa.array(data.item_ids[targets])
        return columns

    @property
    def _bounded(self) -> list[Measure]:
        return [measure for measure in self._ranking if has_tie_interval(measure)]

    @property
    def _owners(self) -> ListOwners:
        users, strata, lengths = (self._column(name) for name in ("user", "stratum", "length"))
        return ListOwners(users, strata, lengths == 0, self._unlisted)

    def _ratio(self, measure: Measure) -> Ratio:
        return Ratio.joined(self._blocks[measure.full_name])

    def _column(self, name: str) -> npt.NDArray[Any]:
        return np.concatenate(self._columns[name])
