"""Tests and means from random draws: Fisher's paired randomisation test and the bootstrap, for all systems at once.

**Randomisation test.** Under the null hypothesis, exchanging the values of both systems for any user changes nothing.
The statistic is the difference in means, T = mean(a) - mean(b); p is the share of all 2^n permutations with a |T| of at
least the observed one (Fisher 1935; Smucker, Allan & Carterette 2007). If 2^n exceeds ``samples``, permutations are
drawn at random, and p = (count + 1) / (samples + 1): the observed one is itself a permutation, and an estimate of
exactly 0 would claim more than any sample can show (Phipson & Smyth 2010). ``add_one=False`` gives count / samples, as
most implementations do.

The difference in means is linear: if s is the 0/1 vector of exchanged users, the difference of a pair is
(sum(a) - 2 s·a) - (sum(b) - 2 s·b). A single product of all samples with all systems therefore serves every pair. The
product adds, for each group of eight users, one of the 256 possible subset sums. Equal differences may be unequal after
rounding: a difference that is below the observed one by at most ``TOLERANCE`` times the mean absolute values of both
systems counts as reaching it.

**Bootstrap.** Means of users drawn with replacement. All systems are resampled together, so that the means give the
differences of any pair.

Draws are hashes of the seed, the number of the sample and, in the randomisation test, the user id; sums are taken in
the order of the users' hashes. The order of users and the number of threads have no effect on any bit, and the p of a
pair does not depend on the other systems. Without ids, users are identified by their position in the sorted table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from repro.compiling import compiled, inlined
from repro.compiling import threads as all_threads
from repro.data.interactions import FloatArray
from repro.errors import DataError
from repro.rng import KeyArray, child_keys, combine, id_keys, mix, stream
from repro.stats.equality import TOLERANCE

inlined(mix, combine)

SAMPLES = 100_000
RESAMPLES = 10_000

_WORD = 64  # samples decided by one hash
_WORDS = 16  # words for each task of a thread, whose sums fit into the cache
_PADDING = 8  # systems are padded to a multiple of this, for the vector unit
_CHUNK = 256  # bootstrap samples for each task of a thread

CountArray = npt.NDArray[np.int64]
Result = TypeVar("Result")
Users = Sequence[object] | npt.NDArray[Any]


def _checked_table(values: npt.ArrayLike, samples: int, test: str) -> FloatArray:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise DataError(f"{test} needs a table, systems x users, in which every value is a finite number")
    if samples < 1:
        raise DataError(f"samples = {samples} must be at least 1")
    return table


def _in_threads(task: Callable[[int], Result], starts: Sequence[int], threads: int | None) -> Iterator[Result]:
    """The results of ``task`` for each start, in order."""
    workers = threads or all_threads()
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(task, starts)


def _user_keys(
    table: FloatArray, users: Users | None, seed: int, purpose: str
) -> tuple[KeyArray, npt.NDArray[np.intp]]:
    """The key of each user's random stream, and an order of users that is independent of the columns.

    ``table`` is systems x users. Without ids, users are identified by their position in the sorted table.
    """
    root = stream(seed, "stats", purpose)
    n_users = table.shape[1]
    if users is None:
        order = np.lexsort(table[::-1]) if len(table) else np.arange(n_users)
        keys = np.empty(n_users, dtype=np.uint64)
        keys[order] = child_keys(root, np.arange(n_users, dtype=np.uint64))
        return keys, order
    if len(users) != n_users:
        raise DataError(f"there are {len(users):,} ids for {n_users:,} users")
    keys = child_keys(root, id_keys(users))
    order = np.argsort(keys, kind="stable")
    if (keys[order][1:] == keys[order][:-1]).any():
        raise DataError("a user occurs twice; a paired test needs one value for each user and system")
    return keys, order


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
    table = _checked_table(values, samples, "the randomisation test")
    n_systems, n_users = table.shape
    exact = n_users < 63 and 2**n_users <= samples
    keys, order = _user_keys(table, users, seed, "randomisation")
    tried = 2**n_users if exact else samples
    counts = _count(table[:, order], keys[order], tried, exact, threads)
    counts += counts.T
    p = counts / tried if exact or not add_one else (counts + 1) / (tried + 1)
    p[np.diag_indices(n_systems)] = 1.0
    return Randomisation(p, exact, tried)


def _count(table: FloatArray, keys: KeyArray, samples: int, exact: bool, threads: int | None) -> CountArray:
    """The number of samples that reach the observed difference of each pair; systems x systems, above the diagonal."""
    n_systems, n_users = table.shape
    groups = -(-n_users // 8)
    width = -(-n_systems // _PADDING) * _PADDING
    padded = np.zeros((groups * 8, width))
    padded[:n_users, :n_systems] = table.T
    totals = _ordered_sums(padded)[:n_systems]
    sizes = _ordered_sums(np.abs(padded))[:n_systems]
    thresholds = np.abs(totals[:, None] - totals) - TOLERANCE * (sizes[:, None] + sizes)
    words = -(-samples // _WORD)

    def over(first: int) -> CountArray:
        last = min(first + _WORDS, words)
        return _count_words(first, last, samples, exact, keys, padded, totals, thresholds)

    counts = np.zeros((n_systems, n_systems), dtype=np.int64)
    for part in _in_threads(over, range(0, words, _WORDS), threads):
        counts += part
    return counts


@compiled("numpy")
def _ordered_sums(rows: Any) -> Any:
    """The sum of each column, from the first row to the last."""
    sums = np.zeros(rows.shape[1])
    for n in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            sums[i] += rows[n, i]
    return sums


@compiled("numpy")
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


@compiled("numpy")
def _subset_sums(rows: Any, first: int, subsets: Any) -> None:
    """The sums of all 256 subsets of eight rows; bit b of a subset's number stands for row ``first + b``."""
    for b in range(8):
        for subset in range(1 << b):
            for i in range(rows.shape[1]):
                subsets[subset + (1 << b), i] = subsets[subset, i] + rows[first + b, i]


@compiled("numpy")
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
    table = _checked_table(values, samples, "the bootstrap")
    if not table.size:
        raise DataError("the bootstrap needs a table, systems x users, with at least one value")
    _, order = _user_keys(table, users, seed, "bootstrap")
    rows = np.ascontiguousarray(table[:, order].T)
    key = stream(seed, "stats", "bootstrap", "draws")
    means = np.empty((samples, len(table)))

    def over(first: int) -> None:
        _fill_means(key, first, min(first + _CHUNK, samples), rows, means)

    list(_in_threads(over, range(0, samples, _CHUNK), threads))
    return means


@compiled("numpy")
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
