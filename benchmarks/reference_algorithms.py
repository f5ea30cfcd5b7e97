"""The time of the reference's algorithms, next to that of toolkits that have them.

    python benchmarks/reference_algorithms.py --data ml-1m.parquet
    python benchmarks/reference_algorithms.py --only EASE --rounds 3

Each contestant fits all rows and scores all users by all items, 64 users at a time, as studies ask for them: the same
protocol for all, toolkits through their plug-ins, in this process or in an environment of their own (`repro plugins
install NAME`); those that are missing are named and left out. A ratio above 1 says that the toolkit takes longer than
the reference. The processor time is that of all threads, and of the toolkit's own process; it is the better measure
where other programs keep the machine busy. For random walks, which no toolkit here has, the other contestant is the
same product with SciPy, block by block.

Without --data, or where its file is absent, the data set is ml-100k.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from scipy.sparse import csr_array, diags_array
from threadpoolctl import threadpool_limits

import repro
from repro.data.interactions import Interactions
from repro.errors import ReproError
from repro.evaluation.measure_lists import CHUNK_USERS
from repro.plugin import plugins

K = 20


@dataclass(frozen=True)
class Contestant:
    """An algorithm of a plug-in, or a function that gives a function of users."""

    label: str
    parameters: dict[str, Any] = field(default_factory=dict)
    fit: Callable[[Interactions], Callable[[Any], Any]] | None = None


@dataclass(frozen=True)
class Taken:
    """Seconds of a contestant in one round."""

    fit: float
    score: float
    processor: float


def walks_of_scipy(rows: Interactions) -> Callable[[Any], Any]:
    """P3alpha with alpha 1 and the K largest weights of each item, by products of sparse matrices."""
    matrix = rows.matrix()
    ones = csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape)
    to_items = csr_array(diags_array(1.0 / np.maximum(np.asarray(ones.sum(axis=1)).ravel(), 1.0)) @ ones)
    holders = csr_array(ones.T)
    to_users = csr_array(diags_array(1.0 / np.maximum(np.asarray(holders.sum(axis=1)).ravel(), 1.0)) @ holders)
    blocks = []
    for start in range(0, matrix.shape[1], 512):
        weights = (to_users[start : start + 512] @ to_items).toarray()
        weights[np.arange(len(weights)), start + np.arange(len(weights))] = 0.0
        kept = np.argpartition(-weights, K, axis=1)[:, :K]
        pruned = np.zeros_like(weights)
        np.put_along_axis(pruned, kept, np.take_along_axis(weights, kept, axis=1), axis=1)
        blocks.append(csr_array(pruned))
    starts = np.cumsum([0, *(block.nnz for block in blocks)])
    indptr = np.concatenate([[0], *(block.indptr[1:] + start for block, start in zip(blocks, starts, strict=False))])
    codes, values = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("indices", "data"))
    weights = csr_array((values, codes, indptr), (matrix.shape[1], matrix.shape[1]))
    return lambda users: (ones[users] @ weights).toarray()


SUM = {"k": K, "normalise": False, "neighbourhood": "neighbour"}
CONTESTS: dict[str, tuple[Contestant, ...]] = {
    "item-knn, sum of cosines": (
        Contestant("reference/item-knn", SUM),
        Contestant("implicit/item-knn", {"k": K, "similarity": "cosine", "values": "ratings"}),
        Contestant("rectools/item-knn", {"k": K, "similarity": "cosine"}),
        Contestant("recpack/item-knn", {"k": K}),
        Contestant("recbole/item-knn", {"k": K}),
    ),
    "item-knn, weighted mean": (
        Contestant("reference/item-knn", {"k": K, "normalise": True, "center": "mean", "input": "item-centred"}),
        Contestant("lenskit/item-knn", {"k": K}),
        Contestant("surprise/item-knn", {"k": K, "center": "mean"}),
        Contestant("cornac/item-knn", {"k": K, "mean_centered": True}),
    ),
    "EASE": (
        Contestant("reference/ease", {"regularisation": 500.0}),
        Contestant("lenskit/ease", {"regularisation": 500.0}),
        Contestant("rectools/ease", {"regularisation": 500.0, "values": "binary"}),
        Contestant("recpack/ease", {"regularisation": 500.0}),
        Contestant("recbole/ease", {"regularisation": 500.0}),
        Contestant("cornac/ease", {"regularisation": 500.0}),
    ),
    "P3alpha": (
        Contestant("reference/p3alpha", {"k": K}),
        Contestant("SciPy", fit=walks_of_scipy),
    ),
}


def processor_seconds() -> float:
    """Of this process, of those that it started, and of those that have ended."""
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    running = 0.0
    for process in psutil.Process().children(recursive=True):
        times = process.cpu_times()
        running += times.user + times.system
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime + running


def measured(contestant: Contestant, rows: Interactions) -> Taken:
    """Fit, then score all users, chunk by chunk."""
    items = np.arange(rows.n_items, dtype=np.int32)
    starts = range(0, rows.n_users, CHUNK_USERS)
    chunks = [np.arange(start, min(start + CHUNK_USERS, rows.n_users), dtype=np.int32) for start in starts]
    recommender = None if contestant.fit else plugins().recommender(contestant.label, contestant.parameters)
    with threadpool_limits(1):  # as in a study
        used, began = processor_seconds(), time.perf_counter()
        if contestant.fit:
            score = contestant.fit(rows)
        else:
            recommender.fit(rows, seed=1)

            def score(users: Any) -> Any:
                return recommender.score_users(users, items)

        fitted = time.perf_counter()
        for users in chunks:
            score(users)
        ended = time.perf_counter()
        return Taken(fitted - began, ended - fitted, processor_seconds() - used)


def contest(name: str, rows: Interactions, against: list[str] | None, rounds: int) -> None:
    contestants = []
    for contestant in CONTESTS[name]:
        if against is not None and contestant.label.partition("/")[0] not in ("reference", *against):
            continue
        try:
            measured(contestant, rows.select(np.arange(min(len(rows), 2000))).compact())  # compiles, starts processes
            contestants.append(contestant)
        except ReproError as error:
            print(f"{contestant.label} is left out: {str(error).splitlines()[0]}", flush=True)
    if not contestants or not contestants[0].label.startswith("reference/"):
        print(f"{name} is left out: it needs the plug-in reference", flush=True)
        return
    # In turns, so that whatever else the machine does meets all of them.
    taken = [[measured(contestant, rows) for contestant in contestants] for _ in range(rounds)]
    best = [min(times, key=lambda one: one.processor) for times in zip(*taken, strict=True)]
    fastest = min(peer.processor for peer in best[1:]) if len(best) > 1 else best[0].processor
    for contestant, one in zip(contestants, best, strict=True):
        own = contestant is contestants[0]
        share = f"{one.processor / fastest:.2f} of the fastest" if own else f"{one.processor / best[0].processor:.1f}x"
        seconds = f"{one.fit:.2f} | {one.score:.2f} | {one.fit + one.score:.2f} | {one.processor:.2f}"
        print(f"| {name} | {contestant.label} | {seconds} | {share} |", flush=True)


def load(path: str | None) -> Interactions:
    if path and Path(path).exists():
        return repro.load_dataset(path)
    if path:
        print(f"{path} is absent; the data set is ml-100k\n")
    return repro.load_dataset("ml-100k")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a data set of repro, or the path of a file; ml-100k by default")
    parser.add_argument("--only", nargs="*", choices=list(CONTESTS), default=list(CONTESTS), help="which algorithms")
    parser.add_argument("--against", nargs="*", help="the frameworks to compare with; all by default")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    rows = load(options.data)
    print(
        f"{rows.n_users:,} users by {rows.n_items:,} items, {len(rows):,} rows; the best of {options.rounds} rounds\n"
    )
    print("| algorithm | contestant | fit, s | score, s | both, s | processor, s | against the reference |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in options.only:
        contest(name, rows, options.against, options.rounds)


if __name__ == "__main__":
    main()
