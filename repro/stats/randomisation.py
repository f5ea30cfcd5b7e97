"""Fisher's paired randomisation test, for all pairs of systems at once.

Under the null hypothesis two systems are two names for one: exchanging their values for a user changes nothing. The
statistic is the difference in means, T = mean(a) - mean(b); p is the share of all 2^n ways of exchanging that give
a |T| of at least the observed one (Fisher 1935; Smucker, Allan & Carterette 2007).

Where 2^n is more than ``samples``, ways are drawn at random, and p = (count + 1) / (samples + 1): the observed way
is itself one of them, and an estimate of exactly 0 would claim more than any sample can show (Phipson & Smyth 2010).
``add_one=False`` gives count / samples, as most implementations have it.

The difference in means is linear: with s the 0s and 1s that say which users are exchanged, the difference of a pair
is (sum(a) - 2 s·a) - (sum(b) - 2 s·b). So one product of all samples with all systems serves every pair. The product
adds up, for each eight users, one of the 256 sums that they can have.

Which users a sample exchanges is a hash of the seed, the user's id and the number of the sample, and sums are made in
the order of these hashes: neither the order of the users nor the number of threads changes a bit, and a pair has the
same p whichever systems are tested beside it. Without ids, users are told apart by their place in the sorted table.

Equal differences can come out unequal by rounding. So one that falls short of the observed difference by at most
``TOLERANCE`` times the two systems' mean absolute values counts as reaching it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core import config
from numba.extending import register_jitable

from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.rng import KeyArray, combine, mix
from repro.stats.equality import TOLERANCE
from repro.stats.users import Users, user_keys

register_jitable(mix)
register_jitable(combine)

SAMPLES = 100_000


_WORD = 64  # samples for which one hash decides
_WORDS = 16  # words that a thread works on at once: their sums fit into its cache
_LANES = 8  # systems are padded to a multiple of this, for the vector unit

CountArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Randomisation:
    """Two-sided p-values of all pairs of systems.

    p        systems x systems, symmetric, 1 on the diagonal
    exact    whether all ways of exchanging were tried; otherwise p is an estimate from random ones
    samples  how many ways were tried
    """

    p: FloatArray
    exact: bool
    samples: int


def randomisation_test(
    values: npt.ArrayLike,
    samples: int = SAMPLES,
    seed: int = 0,
    *,
    users: Users | None = None,
    add_one: bool = True,
    threads: int | None = None,
) -> Randomisation:
    """The test for all pairs of systems; ``values`` is systems x users, ``users`` are the ids of its columns.

    Exact where all ways of exchanging are no more than ``samples``.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise DataError("the randomisation test takes a table, systems x users, in which every value is a number")
    if samples < 1:
        raise DataError(f"samples = {samples} must be at least 1")
    n_systems, n_users = table.shape
    exact = n_users < 63 and 2**n_users <= samples
    keys, order = user_keys(table, users, seed, "randomisation")
    tried = 2**n_users if exact else samples
    counts = _count(table[:, order], keys[order], tried, exact, threads)
    counts += counts.T
    p = counts / tried if exact or not add_one else (counts + 1) / (tried + 1)
    p[np.diag_indices(n_systems)] = 1.0
    return Randomisation(p, exact, tried)


def paired_randomisation(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    samples: int = SAMPLES,
    seed: int = 0,
    *,
    users: Users | None = None,
    add_one: bool = True,
    threads: int | None = None,
) -> Randomisation:
    """The test for two systems with values for the same users; see :func:`randomisation_test`."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise DataError(f"the two systems have {first.size:,} and {second.size:,} values; a paired test needs pairs")
    return randomisation_test(np.stack([first, second]), samples, seed, users=users, add_one=add_one, threads=threads)


def _count(table: FloatArray, keys: KeyArray, samples: int, exact: bool, threads: int | None) -> CountArray:
    """How many samples reach the observed difference of each pair; systems x systems, above the diagonal."""
    n_systems, n_users = table.shape
    groups = -(-n_users // 8)
    width = -(-n_systems // _LANES) * _LANES
    padded = np.zeros((groups * 8, width))
    padded[:n_users, :n_systems] = table.T
    totals = _ordered_sums(padded)[:n_systems]
    sizes = _ordered_sums(np.abs(padded))[:n_systems]
    thresholds = np.abs(totals[:, None] - totals) - TOLERANCE * (sizes[:, None] + sizes)
    words = -(-samples // _WORD)

    def over(first: int) -> CountArray:
        last = min(first + _WORDS, words)
        return _count_words(first, last, samples, exact, keys, padded, totals, thresholds)

    workers = threads or config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set when Numba is imported
    starts = range(0, words, _WORDS)
    counts = np.zeros((n_systems, n_systems), dtype=np.int64)
    with ThreadPoolExecutor(workers) as pool:
        for part in pool.map(over, starts):
            counts += part
    return counts


@njit(cache=True, nogil=True, error_model="numpy")
def _ordered_sums(rows: Any) -> Any:
    """The sum of each column, from the first row to the last."""
    sums = np.zeros(rows.shape[1])
    for n in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            sums[i] += rows[n, i]
    return sums


@njit(cache=True, nogil=True, error_model="numpy")
def _count_words(
    first: int, last: int, samples: int, exact: bool, keys: Any, rows: Any, totals: Any, thresholds: Any
) -> Any:
    """:func:`_count` for the samples of the words from ``first`` to ``last``."""
    n_systems = len(totals)
    width = rows.shape[1]
    sums = np.zeros(((last - first) * _WORD, width))
    choices = np.empty(_WORD, dtype=np.uint8)
    subsets = np.zeros((256, width))
    for group in range(rows.shape[0] // 8):
        _subset_sums(rows, group * 8, subsets)
        for word in range(first, last):
            _choose(word, exact, keys, group * 8, choices)
            base = (word - first) * _WORD
            for s in range(_WORD):
                choice = choices[s]
                for i in range(width):
                    sums[base + s, i] += subsets[choice, i]
    counts = np.zeros((n_systems, n_systems), dtype=np.int64)
    difference = np.empty(n_systems)
    for s in range(min(len(sums), samples - first * _WORD)):
        for i in range(n_systems):
            difference[i] = totals[i] - 2.0 * sums[s, i]
        for i in range(n_systems):
            for j in range(i + 1, n_systems):
                counts[i, j] += abs(difference[i] - difference[j]) >= thresholds[i, j]
    return counts


@njit(cache=True, nogil=True, error_model="numpy")
def _subset_sums(rows: Any, first: int, subsets: Any) -> None:
    """The sums of all 256 subsets of eight rows; bit b of a subset's number stands for row ``first + b``."""
    for b in range(8):
        for subset in range(1 << b):
            for i in range(rows.shape[1]):
                subsets[subset + (1 << b), i] = subsets[subset, i] + rows[first + b, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(word: int, exact: bool, keys: Any, first: int, choices: Any) -> None:
    """For each sample of the word, which of eight users are exchanged, as bits.

    All ways of exchanging, one after the other, are the numbers of the samples themselves.
    """
    choices[:] = 0
    for b in range(min(8, len(keys) - first)):
        if exact:
            for s in range(_WORD):
                choices[s] |= np.uint8((((word * _WORD + s) >> (first + b)) & 1) << b)
        else:
            bits = combine(keys[first + b], np.uint64(word))
            for s in range(_WORD):
                choices[s] |= np.uint8(((bits >> np.uint64(s)) & np.uint64(1)) << np.uint64(b))
