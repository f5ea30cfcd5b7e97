"""The time to turn scores into metrics, next to that of reading the scores once and of plain NumPy.

    python benchmarks/scores_to_metrics.py            the size of MovieLens 1M: 6,040 users by 3,706 items
    python benchmarks/scores_to_metrics.py --stream   138,000 users by 27,000 items in blocks, with peak memory

Both print a Markdown table. Scores are random numbers with some ties (a tenth is rounded to one decimal) and some
gaps (a twentieth is NaN); training items, with a long-tailed number for each user, are left out of the lists. The
metrics are nDCG@10, nDCG@100, P@10, R@10, AP@100 and RR@100. The sum is timed twice: as a plain compiled loop, and
with additions reordered so that only memory is the limit.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from repro.data.interactions import Interactions
from repro.evaluation.candidates.lists import ListBlock
from repro.evaluation.metrics import Background, metrics, parse_measure
from repro.evaluation.ranking import RankingRules, Tally, rank
from repro.lists import measure_given
from repro.plugin import Scores
from repro.protocol import Protocol, resolve

FloatArray = npt.NDArray[np.float64]


METRICS = ("ndcg@10", "ndcg@100", "precision@10", "recall@10", "ap@100", "rr@100")


def _sum(values: FloatArray) -> float:
    """The sum of all scores: what it costs to read them."""
    total = 0.0
    for row in prange(values.shape[0]):
        part = 0.0
        for column in range(values.shape[1]):
            part += values[row, column]
        total += part
    return total


plain_sum = njit(parallel=True)(_sum)
fast_sum = njit(parallel=True, fastmath=True)(_sum)


def plain_numpy(values: FloatArray, block: ListBlock, depth: int) -> list[float]:
    """The straightforward way: mask, partition, sort the top, look for the held-out items; in blocks of users."""
    hits = []
    for first in range(0, len(values), 512):
        part = np.where(np.isnan(values[first : first + 512]), -np.inf, values[first : first + 512])
        last = first + len(part)
        rows = np.repeat(np.arange(len(part)), np.diff(block.offsets[first : last + 1]))
        part[rows, block.columns[block.offsets[first] : block.offsets[last]]] = -np.inf
        top = np.argpartition(-part, depth, axis=1)[:, :depth]
        order = np.argsort(-np.take_along_axis(part, top, axis=1), axis=1, kind="stable")
        top = np.take_along_axis(top, order, axis=1)
        judged = np.zeros(part.shape, dtype=bool)
        rows = np.repeat(np.arange(len(part)), np.diff(block.judged_offsets[first : last + 1]))
        judged[rows, block.judged_columns[block.judged_offsets[first] : block.judged_offsets[last]]] = True
        hits.append(np.take_along_axis(judged, top, axis=1))
    return numpy_metrics(np.concatenate(hits), np.diff(block.judged_offsets))


def numpy_metrics(hits: npt.NDArray[np.bool_], relevant: npt.NDArray[np.int64]) -> list[float]:
    """The six metrics of the top of each list."""
    ranks = np.arange(1, hits.shape[1] + 1)
    worth = 1 / np.log2(ranks + 1)
    ideal = np.concatenate([[0], np.cumsum(worth)])
    gains, cumulated = hits * worth, np.cumsum(hits, axis=1)
    first = np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1), 0)
    per_user = [
        gains[:, :10].sum(axis=1) / ideal[np.minimum(relevant, 10)],
        gains[:, :100].sum(axis=1) / ideal[np.minimum(relevant, 100)],
        hits[:, :10].sum(axis=1) / 10,
        hits[:, :10].sum(axis=1) / relevant,
        (hits * cumulated / ranks).sum(axis=1) / relevant,
        first,
    ]
    return [float(values.mean()) for values in per_user]


def make_scores(n_users: int, n_items: int, rng: np.random.Generator) -> FloatArray:
    values = rng.standard_normal((n_users, n_items))
    tied, gaps = rng.random((2, n_items)) < [[0.1], [0.05]]
    for row in values:
        turn = rng.integers(n_items)
        rounded = np.roll(tied, turn)
        row[rounded] = np.round(row[rounded], 1)
        row[np.roll(gaps, turn)] = np.nan
    return values


def make_block(n_users: int, n_items: int, rng: np.random.Generator) -> ListBlock:
    """All items but those of training, 166 for each user on average; a fifth as many are held out."""
    counts = np.minimum(10 + rng.geometric(1 / 156, n_users), n_items // 2)
    drawn = [rng.choice(n_items, count + count // 5 + 1, replace=False) for count in counts]
    left_out = [np.sort(items[:count]) for items, count in zip(drawn, counts, strict=True)]
    judged = [np.sort(items[count:]) for items, count in zip(drawn, counts, strict=True)]
    held_out = np.concatenate(judged).astype(np.int32)
    return ListBlock(
        users=np.arange(n_users, dtype=np.int32),
        items=np.arange(n_items, dtype=np.int32),
        rows=np.arange(n_users, dtype=np.int32),
        targets=np.full(n_users, -1, dtype=np.int32),
        strata=np.zeros(n_users, dtype=np.int32),
        listed=False,
        offsets=np.cumsum([0, *map(len, left_out)]),
        columns=np.concatenate(left_out).astype(np.int32),
        judged_offsets=np.cumsum([0, *map(len, judged)]),
        judged_items=held_out,
        judged_columns=held_out,
        judged_relevant=np.ones(len(held_out), dtype=np.uint8),
        judged_grades=np.ones(len(held_out)),
    )


def make_protocol(ties: str) -> Protocol:
    return resolve(
        {
            "split.strategy": "ratio",
            "relevance.rule": "any",
            "candidates.base": "all-items",
            "ties.break": ties,
        },
        {},
    )


def make_rules(n_users: int, n_items: int, protocol: Protocol) -> RankingRules:
    first_user = np.zeros(1, dtype=np.int32)
    data = Interactions(first_user, first_user, np.ones(1), None, np.arange(n_users), np.arange(n_items))
    return RankingRules.from_protocol(protocol, data, train=data, data_items=data.items, seed=0)


def measured(values: FloatArray, block: ListBlock, rules: RankingRules, protocol: Protocol, depth: int) -> list[float]:
    """Ours: rank, then measure and average."""
    ranked, _ = rank(Scores(values), block, rules, depth=depth, cutoffs=[10, depth])
    measures = [parse_measure(name, protocol, metrics()) for name in METRICS]
    nothing = np.empty(0, dtype=np.int32)
    users, items = np.arange(len(block.users)), np.arange(len(block.items))
    background = Background(Interactions(nothing, nothing, np.empty(0), None, users, items), block.items)
    return [averaged.value for averaged in measure_given(ranked, measures, background, protocol).values()]


def timed(runs: dict[str, Callable[[], object]], repetitions: int) -> dict[str, list[float]]:
    """The times of each, in turns, so that whatever else the machine does meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repetitions + 1):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            if turn:  # the first turn compiles
                times[name].append(time.perf_counter() - begin)
    return times


def compare(n_users: int, n_items: int, depth: int, repetitions: int) -> None:
    rng = np.random.default_rng(0)
    values, block = make_scores(n_users, n_items, rng), make_block(n_users, n_items, rng)
    runs: dict[str, Callable[[], object]] = {
        "sum of the scores, in parallel": lambda: plain_sum(values),
        "the same, additions reordered": lambda: fast_sum(values),
        "NumPy: mask, argpartition, argsort": lambda: plain_numpy(values, block, depth),
    }
    for ties in ("item-asc", "random", "expected"):
        protocol = make_protocol(ties)
        rules = make_rules(n_users, n_items, protocol)
        runs[f"repro, ties {ties}"] = lambda rules=rules, protocol=protocol: measured(
            values, block, rules, protocol, depth
        )
    np.testing.assert_allclose(runs["repro, ties item-asc"](), plain_numpy(values, block, depth), rtol=0.01)
    times = timed(runs, repetitions)
    plain, fast, numpy_way = (min(times[name]) for name in list(times)[:3])
    print(f"{n_users:,} users by {n_items:,} items, {repetitions} repetitions\n")
    print("| | median ms | least ms | times the sum | times the reordered sum | faster than NumPy |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, taken in times.items():
        least = min(taken)
        print(
            f"| {name} | {statistics.median(taken) * 1e3:.1f} | {least * 1e3:.1f} "
            f"| {least / plain:.1f} | {least / fast:.1f} | {numpy_way / least:.1f} |"
        )


def stream(n_users: int, n_items: int, depth: int, block_users: int) -> None:
    rng = np.random.default_rng(0)
    rules = make_rules(n_users, n_items, make_protocol("item-asc"))
    tally, ranking = Tally.none([10]), 0.0
    for first in range(0, n_users, block_users):
        size = min(block_users, n_users - first)
        values, block = make_scores(size, n_items, rng), make_block(size, n_items, rng)
        begin = time.perf_counter()
        _, ranked = rank(Scores(values), block, rules, depth=depth, cutoffs=[10])
        ranking += time.perf_counter() - begin
        tally += ranked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print("| users | items | block | candidates | ranking s | peak GiB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    print(f"| {tally.users:,} | {n_items:,} | {block_users:,} | {tally.candidates:,} | {ranking:.2f} | {peak:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stream", action="store_true", help="blocks of generated scores, and peak memory")
    parser.add_argument("--users", type=int, help="default 6,040, or 138,000 with --stream")
    parser.add_argument("--items", type=int, help="default 3,706, or 27,000 with --stream")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--block", type=int, default=1024, help="users in a block of --stream")
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()
    if options.stream:
        stream(options.users or 138_000, options.items or 27_000, options.depth, options.block)
    else:
        compare(options.users or 6_040, options.items or 3_706, options.depth, options.repetitions)


if __name__ == "__main__":
    main()
