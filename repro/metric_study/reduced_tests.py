"""The order of systems under smaller test sets: random parts of the held-out ratings, or without popular items."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.errors import StudyError
from repro.metric_study.judged_lists import JudgedFold, JudgedRun, Mask
from repro.metric_study.measuring import Column, system_values
from repro.rng import child_keys, stream
from repro.stats import kendall
from repro.study.executors.processes import leave_with_parent, starting_workers

# Valcarce et al. 2018, section 5.
SPARSITY_SHARES = tuple(percent / 100 for percent in range(95, 0, -5))
POPULARITY_SHARES = tuple(percent / 100 for percent in range(1, 21))
# Test sets in one task of a worker: few enough to show progress, enough to be worth sending.
BATCH = 5


class ReducedTest(NamedTuple):
    """A part of the test set, which alone counts.

    A random ``share`` of the held-out ratings, drawn for the ``sample``-th time; or, where ``sample`` is 0, all of
    them but those of the ``share`` of items that have most.
    """

    share: float
    sample: int

    def kept(self, run: JudgedRun, seed: int) -> list[Mask]:
        """For each fold, which of its held-out rows are in the set."""
        if self.sample:
            return [_drawn(fold, self.share, self.sample, seed) for fold in run.folds]
        removed = np.zeros(run.folds[0].test.n_items, dtype=np.bool_)
        removed[most_popular(run, self.share)] = True
        return [~removed[fold.test.items] for fold in run.folds]


def _drawn(fold: JudgedFold, share: float, sample: int, seed: int) -> Mask:
    """The rows with the lowest random numbers, each a hash of the user and the item; at least one row."""
    test = fold.test
    name = stream(seed, "metric-study", "sparsity", fold.name, f"{share:g}", sample)
    keys = child_keys(name, test.user_keys[test.users], test.item_keys[test.items])
    kept = np.zeros(len(test), dtype=np.bool_)
    kept[np.argsort(keys, kind="stable")[: sample_size(len(test), share)]] = True
    return kept


def sample_size(rows: int, share: float) -> int:
    return max(1, round(share * rows))


def most_popular(run: JudgedRun, share: float) -> CodeArray:
    """The ``share`` of the held-out items with most held-out ratings, all folds together; equals by item id."""
    counts = sum(fold.test.item_counts() for fold in run.folds)
    ordered = np.argsort(-counts, kind="stable")
    return ordered[: round(share * np.count_nonzero(counts))].astype(np.int32)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Orders of systems under smaller test sets, compared with ``whole``: columns by systems, all ratings."""

    run: JudgedRun
    columns: Sequence[Column]
    whole: FloatArray
    seed: int

    def taus(self, test: ReducedTest) -> FloatArray:
        """For each column, Kendall's tau between the orders under ``test`` and under the whole test set."""
        values = system_values(self.run, self.columns, test.kept(self.run, self.seed))
        return np.array([tau(part, whole) for part, whole in zip(values, self.whole, strict=True)])


def tau(a: FloatArray, b: FloatArray) -> float:
    """Kendall's tau-b; NaN if a system has no value because no user is averaged."""
    if np.isnan(a).any() or np.isnan(b).any():
        return float("nan")
    return kendall(a, b)


def all_taus(
    comparison: Comparison, reduced: Sequence[ReducedTest], workers: int, report_progress: Callable[[int], None]
) -> FloatArray:
    """Test sets by columns; ``report_progress`` is called with the number of test sets done."""
    done: list[FloatArray] = []
    for taus in _serial(comparison, reduced) if workers == 1 else _parallel(comparison, reduced, workers):
        done += taus
        report_progress(len(done))
    return np.array(done).reshape(len(reduced), len(comparison.columns))


def _serial(comparison: Comparison, reduced: Sequence[ReducedTest]) -> Iterator[list[FloatArray]]:
    for test in reduced:
        yield [comparison.taus(test)]


_comparison: Comparison | None = None


def _start(comparison: Comparison) -> None:
    global _comparison
    _comparison = comparison
    threading.Thread(target=leave_with_parent, daemon=True).start()


def _work(reduced: Sequence[ReducedTest]) -> list[FloatArray]:
    assert _comparison is not None
    return [_comparison.taus(test) for test in reduced]


def _parallel(comparison: Comparison, reduced: Sequence[ReducedTest], workers: int) -> Iterator[list[FloatArray]]:
    batches = [reduced[start : start + BATCH] for start in range(0, len(reduced), BATCH)]
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_start, initargs=(comparison,)
    ) as pool:
        with starting_workers():
            results = pool.map(_work, batches)
        try:
            yield from results
        except BrokenProcessPool:
            raise StudyError(
                "a worker process died (killed, or out of memory?); try again with fewer --workers"
            ) from None
