"""The bootstrap for all systems at once: means of users drawn with replacement.

All systems are resampled together, so that the means give the differences of any pair. The draws of a sample are hashes
of the seed and the number of the sample, and users are in the order of their own hashes: the order of users and the
number of threads have no effect on any bit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core import config
from numba.extending import register_jitable

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.rng import combine, mix, stream
from repro.stats.users import Users, user_keys

register_jitable(mix)
register_jitable(combine)

RESAMPLES = 10_000

_CHUNK = 256  # samples for each task of a thread


def resampled_means(
    values: npt.ArrayLike,
    samples: int = RESAMPLES,
    seed: int = 0,
    *,
    users: Users | None = None,
    threads: int | None = None,
) -> FloatArray:
    """samples x systems: the mean of each system over users drawn with replacement, as many as there are.

    ``values`` is systems x users, ``users`` are the ids of its columns.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise DataError("the bootstrap needs a table, systems x users, in which every value is a finite number")
    if samples < 1:
        raise DataError(f"samples = {samples} must be at least 1")
    _, order = user_keys(table, users, seed, "bootstrap")
    rows = np.ascontiguousarray(table[:, order].T)
    key = stream(seed, "stats", "bootstrap", "draws")
    means = np.empty((samples, len(table)))

    def over(first: int) -> None:
        _fill_means(key, first, min(first + _CHUNK, samples), rows, means)

    workers = threads or config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when Numba is imported
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(over, range(0, samples, _CHUNK)))
    return means


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_means(key: Any, first: int, last: int, rows: Any, means: Any) -> None:
    """The means of the samples from ``first`` to ``last``."""
    n_users, n_systems = rows.shape
    sums = np.empty(n_systems)
    for sample in range(first, last):
        sample_key = combine(key, np.uint64(sample))
        sums[:] = 0.0
        for draw in range(n_users):
            # The upper 32 bits as a fraction: the relative error of a user's probability is at most n_users / 2^32.
            row = np.int64(
                ((combine(sample_key, np.uint64(draw)) >> np.uint64(32)) * np.uint64(n_users)) >> np.uint64(32)
            )
            for i in range(n_systems):
                sums[i] += rows[row, i]
        for i in range(n_systems):
            means[sample, i] = sums[i] / n_users
