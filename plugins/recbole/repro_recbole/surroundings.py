"""Contexts that restore the process-wide state that RecBole changes: folder, settings, loggers and generators."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A temporary working folder: RecBole writes ``log_tensorboard`` and ``saved`` into the current folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="repro-recbole-") as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


@contextlib.contextmanager
def own_process() -> Iterator[None]:
    """As in a process of its own without a command line, accelerator or terminal.

    RecBole reads settings from the command line of the process, hides accelerators from the whole process, and
    writes to the root logger.
    """
    arguments, visible = sys.argv, os.environ.get("CUDA_VISIBLE_DEVICES")
    logger = logging.getLogger()
    level, handlers = logger.level, list(logger.handlers)
    sys.argv = arguments[:1]
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.argv = arguments
        logger.setLevel(level)
        for handler in set(logger.handlers) - set(handlers):  # their files are in the temporary folder
            logger.removeHandler(handler)
            handler.close()
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        if visible is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = visible


@contextlib.contextmanager
def own_numbers() -> Iterator[None]:
    """Generators and threads of its own; with one thread, sums are always added in the same order."""
    import torch

    python, numpy, threads = random.getstate(), np.random.get_state(), torch.get_num_threads()  # noqa: NPY002
    cudnn = torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_num_threads(threads)
        torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = cudnn
