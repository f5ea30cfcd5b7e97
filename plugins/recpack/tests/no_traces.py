"""Runs in RecPack's environment: the plug-in in this process, which must be as it was before when it is done.

Prints nothing but, at the end, what has changed and what the plug-in or RecPack printed on standard error.
"""

import contextlib
import io
import json
import logging
import os
import random
import warnings
from pathlib import Path

import numpy as np
import recpack.algorithms
import torch

from repro.data.interactions import Interactions
from repro.plugin import History, Queries, parameters_of
from repro_recpack.plugin import repro_framework


def state():
    return {
        "random": hash(random.getstate()),
        "numpy": np.random.get_state()[1].tolist(),  # noqa: NPY002
        "torch": torch.get_rng_state().tolist(),
        "threads": torch.get_num_threads(),
        "deterministic": torch.get_deterministic_debug_mode(),
        "log": logging.getLogger("recpack").level,
        "bars": id(recpack.algorithms.bprmf.tqdm),
        # torch itself sets one of these when an optimiser is first made.
        "environment": {name: value for name, value in os.environ.items() if not name.startswith("TORCHINDUCTOR")},
        "folder": sorted(path.name for path in Path().iterdir()),
    }


def rows():
    users, items = (codes.astype(np.int32) for codes in np.nonzero(np.random.default_rng(1).random((40, 30)) < 0.3))
    ids = np.arange(40), np.arange(30)
    return Interactions(users, items, np.ones(len(users)), None, *ids, explicit=False)


def main():
    torch.set_num_threads(2)
    train = rows()
    before = state()
    warnings.simplefilter("ignore", UserWarning)  # RecPack's warnings about the data are not held back
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        for algorithm in repro_framework().algorithms:
            if algorithm.name in ("BPRMF", "WeightedMatrixFactorization", "SLIM"):
                run(algorithm, train)
    after = state()
    changed = [name for name in before if before[name] != after[name]]
    print(json.dumps({"changed": changed, "printed": printed.getvalue()}))


def run(algorithm, train):
    sizes = {"num_components": 4, "max_epochs": 2, "iterations": 2}
    options = {entry.name: sizes[entry.name] for entry in algorithm.parameters if entry.name in sizes}
    recommender = algorithm.make(**parameters_of(algorithm, options))
    recommender.fit(train, seed=3)
    recommender.score(Queries(np.arange(40, dtype=np.int32), History(None)), np.arange(30, dtype=np.int32))


if __name__ == "__main__":
    main()
