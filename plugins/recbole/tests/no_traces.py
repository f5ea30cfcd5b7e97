"""Runs in RecBole's environment: the plug-in used in a process with a command line, a folder and seeds of its own."""

import contextlib
import io
import logging
import os
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import torch

from repro.data.interactions import Interactions
from repro.plugin import History, Queries
from repro_recbole.plugin import repro_framework


def state():
    return {
        "python": random.getstate(),
        "numpy": [str(part) for part in np.random.get_state()],  # noqa: NPY002
        "torch": torch.get_rng_state().tolist(),
        "threads": torch.get_num_threads(),
        "gradients": torch.is_grad_enabled(),
        "cudnn": (torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic),
        "accelerators": os.environ.get("CUDA_VISIBLE_DEVICES"),
        "arguments": list(sys.argv),
        "folder": Path.cwd(),
        "files": sorted(Path.cwd().rglob("*")),
        "logging": logging.getLogger().level,
        "filters": list(warnings.filters),
    }


def check(before):
    changed = {name: value for name, value in state().items() if value != before[name]}
    assert not changed, str(changed)[:2000]


def rows():
    rng = np.random.default_rng(1)
    users, items = (part.astype(np.int32) for part in np.nonzero(rng.random((30, 20)) < 0.4))
    return Interactions(users, items, np.ones(len(users)), None, np.arange(30), np.arange(20))


def main():
    algorithms = {algorithm.name: algorithm for algorithm in repro_framework().algorithms}
    torch.set_num_threads(2)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        for name in ("bpr", "random"):
            recommender = algorithms[name].make(**({"epochs": 1} if name == "bpr" else {}))
            assert recommender.settings.get("epochs", 1) == 1
            before = state()
            recommender.fit(rows(), seed=1)
            check(before)
            recommender.score(Queries(np.arange(30, dtype=np.int32), History(None)), np.arange(20, dtype=np.int32))
            check(before)
    assert not printed.getvalue(), printed.getvalue()
    print("left as it was")


if __name__ == "__main__":
    main()
