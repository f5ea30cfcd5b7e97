"""Fisher's paired randomisation test, for all pairs of systems at once.

Under the null hypothesis, exchanging the values of the two systems for any user changes nothing. The statistic is the
difference in means, T = mean(a) - mean(b); p is the share of all 2^n permutations with a |T| of at least the observed
one (Fisher 1935; Smucker, Allan & Carterette 2007).

If 2^n exceeds ``samples``, permutations are drawn at random, and p = (count + 1) / (samples + 1): the observed one is
itself a permutation, and an estimate of exactly 0 would claim more than any sample can show (Phipson & Smyth 2010).
``add_one=False`` gives count / samples, as most implementations do.

The difference in means is linear: if s is the 0/1 vector of exchanged users, the difference of a pair is
(sum(a) - 2 s·a) - (sum(b) - 2 s·b). A single product of all samples with all systems therefore serves every pair. The
product adds, for each group of eight users, one of the 256 possible subset sums.

The users that a sample exchanges depend on a hash of the seed, the user id and the number of the sample, and sums are
taken in the order of these hashes. The order of users and the number of threads have no effect on any bit, and the p of
a pair does not depend on the other systems. Without ids, users are identified by their position in the sorted table.

Equal differences may be unequal after rounding. A difference that is below the observed one by at most ``TOLERANCE``
times the mean absolute values of both systems therefore counts as reaching it.
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


_WORD = 64  # samples decided by one hash
_WORDS = 16  # words for each task of a thread, whose sums fit into the cache
_LANES = 8  # systems are padded to a multiple of this, for the vector unit

CountArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Randomisation:
    """Two-sided p-values of all pairs of systems.

    p        systems x systems, symmetric, 1 on the diagonal
    exact    whether all permutations were evaluated; otherwise p is an estimate from random ones
    samples  the number of permutations
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
    """Test all pairs of systems; ``values`` is systems x users, ``users`` are the ids of its columns.

    The test is exact if there are at most ``samples`` permutations.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise DataError(
            "the randomisation test needs a table, systems x users, in which every value is a finite number"
        )
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
    """Test two systems with values for the same users; see :func:`randomisation_test`."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise DataError(f"the two systems have {first.size:,} and {second.size:,} values; a paired test needs pairs")
    return randomisation_test(np.stack([first, second]), samples, seed, users=users, add_one=add_one, threads=threads)


def _count(table: FloatArray, keys: KeyArray, samples: int, exact: bool, threads: int | None) -> CountArray:
    """The number of samples that reach the observed difference of each pair; systems x systems, above the diagonal."""
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
    """For each sample of the word, the exchanged users among eight, as bits.

    In the exact test, the bits of the sample's number are the permutation.
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
