"""The lists of a fold in blocks of users: each is measured by itself, here or elsewhere, and they are kept in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from typing import Protocol as Interface

import numpy as np
import numpy.typing as npt

from repro.compiling import threads as all_threads
from repro.data.interactions import CodeArray
from repro.evaluation.candidates import Candidates, ListBlock
from repro.evaluation.metrics import Background, Measure
from repro.evaluation.ranking import RankingRules, Tally
from repro.evaluation.stages import TiedRatios, measure_tied, measure_values, need_scores, rank_block
from repro.plugin import FALLBACK, UNSCORED, Scores

Under = TypeVar("Under")
BLOCK_USERS = 1024


class Block(NamedTuple):
    """Test users, and the scores that they have for all items."""

    users: CodeArray
    scores: Scores


@dataclass(frozen=True, eq=False)
class MeasuredBlock:
    """The results of a block: values by the full name of the measure, effects of decisions, columns to store."""

    lists: ListBlock
    values: dict[str, Any]
    tied: TiedRatios | None
    columns: dict[str, npt.NDArray[Any]]
    tally: Tally
    seconds: float


@dataclass(frozen=True, eq=False)
class BlockMeasurer:
    """Ranks the lists of a block and measures them; the same for all blocks of a fold.

    depth   how far down lists are ranked, None for all the way
    stored  how far down they are kept
    """

    candidates: Candidates
    rules: RankingRules
    measures: Sequence[Measure]
    background: Background
    cutoffs: Sequence[int]
    depth: int | None
    stored: int

    def measure(self, block: Block, threads: int | None) -> MeasuredBlock:
        began = time.perf_counter()
        rows = np.flatnonzero(np.isin(block.users, self.candidates.users))
        lists = self.candidates.block(block.users[rows])
        scores = take_scores(block.scores, rows, lists.items)
        ranked, tally = rank_block(
            scores,
            lists,
            self.rules,
            depth=self.depth,
            with_scores=need_scores(self.measures),
            cutoffs=self.cutoffs,
            threads=threads,
        )
        columns: dict[str, npt.NDArray[Any]] = {
            "user": ranked.users,
            "target": lists.targets,
            "stratum": ranked.strata,
            "length": ranked.lengths,
            "items": np.ascontiguousarray(ranked.items[:, : self.stored]),
            "scored": np.ascontiguousarray(ranked.scored[:, : self.stored]),
        }
        return MeasuredBlock(
            lists,
            measure_values(self.measures, ranked, self.background),
            measure_tied(self.measures, ranked, self.background),
            columns,
            tally,
            time.perf_counter() - began,
        )


class BlockMap(Interface):
    """Measures ``count`` blocks, which are scored one by one on demand, and returns them in their order.

    ``most`` is how many are under way at once.
    """

    @property
    def most(self) -> int: ...

    def __call__(self, measurer: BlockMeasurer, blocks: Iterable[Block], count: int) -> Iterator[MeasuredBlock]: ...


@dataclass(frozen=True)
class InThreads:
    """Several blocks at a time in threads of this process, or the only one on all of them; all cores by default.

    The algorithm computes the next scores meanwhile, in the caller's thread.
    """

    threads: int | None = None

    @property
    def most(self) -> int:
        return self.threads or all_threads()

    def __call__(self, measurer: BlockMeasurer, blocks: Iterable[Block], count: int) -> Iterator[MeasuredBlock]:
        if self.most == 1 or count == 1:
            yield from (measurer.measure(block, self.most) for block in blocks)
            return
        with ThreadPoolExecutor(self.most) as pool:

            def submit(block: Block) -> Future[MeasuredBlock]:
                return pool.submit(measurer.measure, block, 1)

            yield from in_order(blocks, submit, Future.result, self.most)


@dataclass(frozen=True)
class ExecutionOptions:
    """Options that change the time and memory that an evaluation takes, and none of its numbers.

    block_users  users are ranked and measured in blocks of about this size
    limit        seconds that a framework in a process of its own has for an answer
    keep_scores  whether the scores are among the tables that are stored
    blocks       measures the blocks of users
    """

    block_users: int = BLOCK_USERS
    limit: float | None = None
    keep_scores: bool = False
    blocks: BlockMap = field(default_factory=InThreads)


DEFAULT_OPTIONS = ExecutionOptions()


def in_order(
    blocks: Iterable[Block], submit: Callable[[Block], Under], result: Callable[[Under], MeasuredBlock], most: int
) -> Iterator[MeasuredBlock]:
    """Submit block after block and give their results in the same order; at most ``most`` are under way."""
    under_way: deque[Under] = deque()
    for block in blocks:
        under_way.append(submit(block))
        if len(under_way) == most:
            yield result(under_way.popleft())
    while under_way:
        yield result(under_way.popleft())


def take_scores(scores: Scores, rows: npt.NDArray[np.intp], items: CodeArray) -> Scores:
    """The scores of some of the users, for some of the items."""
    if len(rows) < len(scores.values):
        scores = scores[rows]
    if len(items) < scores.values.shape[1]:
        scores = scores[:, items]
    if scores.state is not None and not (scores.state == FALLBACK).any():  # NaN is unscored without being marked
        return Scores(np.where(scores.state == UNSCORED, np.nan, scores.values))
    return scores
