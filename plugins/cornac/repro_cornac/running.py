"""Contexts for calls of Cornac: seeded generators, one thread, and no output."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Iterator

import numpy as np

LARGEST_SEED = 0x7FFFFFFF


def cornac_seed(seed: int) -> int:
    """A seed of 31 bits, which every part of Cornac accepts."""
    return seed & LARGEST_SEED


@contextlib.contextmanager
def seeded(seed: int, *, torch: bool) -> Iterator[None]:
    """Seed the global generators, with that of PyTorch if a model uses it; restore their states afterwards."""
    with contextlib.ExitStack() as stack:
        stack.callback(random.setstate, random.getstate())
        stack.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        if torch:
            stack.enter_context(_seeded_torch(seed))
        yield


@contextlib.contextmanager
def _seeded_torch(seed: int) -> Iterator[None]:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def one_thread(*, torch: bool) -> Iterator[None]:
    """PyTorch with one thread, for a model that uses it: the distribution of work changes the last bits."""
    if not torch:
        yield
        return
    from torch import get_num_threads, set_num_threads

    before = get_num_threads()
    set_num_threads(1)
    try:
        yield
    finally:
        set_num_threads(before)


@contextlib.contextmanager
def quiet(*, progress: bool) -> Iterator[None]:
    """Discard standard output and, with ``progress``, standard error: some progress bars cannot be switched off."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if progress:
            stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        yield
