"""The systems' order under many smaller test sets, worked out in one process or in several."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import numpy as np

from repro.data.interactions import FloatArray
from repro.errors import StudyError
from repro.metric_study.judged_lists import JudgedRun
from repro.metric_study.measuring import Column, system_values
from repro.metric_study.reduced_tests import ReducedTest
from repro.stats.correlation import kendall
from repro.study.executors.processes import leave_with_parent, starting_workers

# Test sets that a worker is given at once: few enough to show progress, enough to be worth the way.
BATCH = 5


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
    """Kendall's tau-b; not a number where a system has no value, for want of anybody to be averaged."""
    if np.isnan(a).any() or np.isnan(b).any():
        return float("nan")
    return kendall(a, b)


def all_taus(
    comparison: Comparison, reduced: Sequence[ReducedTest], workers: int, tell: Callable[[int], None]
) -> FloatArray:
    """Test sets by columns; ``tell`` is called with the number of test sets done."""
    done: list[FloatArray] = []
    for taus in _serial(comparison, reduced) if workers == 1 else _parallel(comparison, reduced, workers):
        done += taus
        tell(len(done))
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
