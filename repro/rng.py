"""Named streams: every random draw is a function of the seed, its purpose and its external ids.

There is no generator with a state that changes from draw to draw. The number drawn for "split, user 42, item 7" is a
hash of exactly that, so that it does not depend on block size, worker count, or the order of users or rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

KeyArray = npt.NDArray[np.uint64]

_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


def mix(x):  # type: ignore[no-untyped-def]  # runs on NumPy arrays and, compiled, on scalars
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64 bits that scatters them."""
    x = (x ^ (x >> _S30)) * _M1
    x = (x ^ (x >> _S27)) * _M2
    return x ^ (x >> _S31)


def combine(key, value):  # type: ignore[no-untyped-def]  # as mix
    """The key of the child stream ``value`` of stream ``key``."""
    return mix((key ^ value) + _STEP)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def stream(seed: int, *names: str | int) -> np.uint64:
    """The key of a named stream: ``stream(7, "split")``."""
    return np.uint64(_hash("\x1f".join([str(seed), *map(str, names)])))


def id_keys(ids: Iterable[object]) -> KeyArray:
    """A key for each external id, from its text: 42 and "42" are the same id."""
    return np.array([_hash(str(external_id)) for external_id in ids], dtype=np.uint64)


def child_keys(key: np.uint64, *ids: KeyArray) -> KeyArray:
    """The keys of child streams of ``key``, one for each position of the (equally long) arrays of id keys."""
    keys: KeyArray = np.broadcast_to(key, ids[0].shape) if ids else np.array([key])
    with np.errstate(over="ignore"):
        for values in ids:
            keys = combine(keys, values)
    return keys


def uniform(keys: KeyArray) -> npt.NDArray[np.float64]:
    """Uniform numbers in [0, 1), one for each key."""
    return (keys >> _S11).astype(np.float64) * 2.0**-53
