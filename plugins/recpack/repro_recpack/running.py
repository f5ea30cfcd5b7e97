"""Contexts for a fit: seeded generators, the same bits, no output; the caller's settings are restored afterwards."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import warnings
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

# RecPack loads the whole network that it has just saved, which torch refuses since 2.6.
_WHOLE_NETWORKS = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
_WITH_PROGRESS_BARS = tuple(f"recpack.algorithms.{name}" for name in ("bprmf", "loss_functions", "wmf"))


@contextlib.contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Seed the generators of Python, NumPy and torch; restore their states afterwards."""
    import torch

    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - RecPack draws from it
    with torch.random.fork_rng(devices=[]), same_bits():
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


@contextlib.contextmanager
def same_bits() -> Iterator[None]:
    """Linear algebra that gives the same bits each time.

    With one thread, because the distribution of work changes the last bits. And with torch's deterministic algorithms,
    which fill memory before they use it: its least squares choose columns by the values in that memory.
    """
    import torch
    from threadpoolctl import threadpool_limits

    threads = torch.get_num_threads()
    mode = torch.get_deterministic_debug_mode()
    torch.set_num_threads(1)
    torch.set_deterministic_debug_mode("warn")
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(mode)


@contextlib.contextmanager
def quiet(*modules: str) -> Iterator[None]:
    """Switch off the progress bars of RecPack's algorithms and of these modules, and logs below warnings."""
    logger = logging.getLogger("recpack")
    level = logger.level
    loud: list[Any] = [import_module(name) for name in (*_WITH_PROGRESS_BARS, *modules)]
    bars = [module.tqdm for module in loud]
    logger.setLevel(logging.WARNING)
    for module, bar in zip(loud, bars, strict=True):
        module.tqdm = partial(bar, disable=True)
    try:
        yield
    finally:
        logger.setLevel(level)
        for module, bar in zip(loud, bars, strict=True):
            module.tqdm = bar


@contextlib.contextmanager
def whole_networks() -> Iterator[None]:
    """Let torch load networks that were saved as a whole."""
    before = os.environ.get(_WHOLE_NETWORKS)
    os.environ[_WHOLE_NETWORKS] = "1"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=f".*{_WHOLE_NETWORKS}")
            yield
    finally:
        if before is None:
            del os.environ[_WHOLE_NETWORKS]
        else:
            os.environ[_WHOLE_NETWORKS] = before
