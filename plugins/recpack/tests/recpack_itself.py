"""Runs in RecPack's environment, and knows nothing of the plug-in: learning and predicting as RecPack's users do it.

``recpack_itself.py FOLDER`` reads ``rows.npz`` and ``request.json`` there and writes ``scores.npz``: for each run,
users by items, not a number where RecPack's prediction has no entry.
"""

import inspect
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import recpack.algorithms
import torch
from recpack.matrix import InteractionMatrix


def matrix(users, items, shape):
    frame = pd.DataFrame({"user": users, "item": items})
    return InteractionMatrix(frame, item_ix="item", user_ix="user", shape=shape)


def fit(name, parameters, seed, rows, validation):
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    cls = getattr(recpack.algorithms, name)
    seeded = {"seed": seed} if "seed" in inspect.signature(cls).parameters else {}
    algorithm = cls(**parameters, **seeded)
    return algorithm.fit(rows, validation) if validation else algorithm.fit(rows)


def validation_of(out, users, items, shape):
    """The rows to learn from, and those to validate a network with: held-out rows, or one user if there are none."""
    if out.any():
        learnt = matrix(users[~out], items[~out], shape)
        return learnt, (learnt, matrix(users[out], items[out], shape))
    entry = matrix(users[users == 0], items[users == 0], shape)
    return matrix(users, items, shape), (entry, entry)


def main(folder):
    request = json.loads((folder / "request.json").read_text())
    with np.load(folder / "rows.npz") as stored:
        rows = dict(stored)
    known_users, users = np.unique(rows["users"], return_inverse=True)
    known_items, items = np.unique(rows["items"], return_inverse=True)
    shape = (len(known_users), len(known_items))
    actual = {}
    for n, run in enumerate(request["runs"]):
        everything = matrix(users, items, shape)
        learnt, validation = everything, None
        if run["validated"]:
            learnt, validation = validation_of(rows[f"held_out_{n}"], users, items, shape)
        algorithm = fit(run["name"], run["parameters"], request["seed"], learnt, validation)
        predicted = algorithm.predict(everything).tocoo()
        scores = np.full((request["n_users"], request["n_items"]), np.nan)
        scores[known_users[predicted.row], known_items[predicted.col]] = predicted.data
        actual[str(n)] = scores
    np.savez(folder / "scores.npz", **actual)


if __name__ == "__main__":
    # RecPack reads back whole networks, which torch refuses since 2.6; and least squares of torch depend on what
    # is in memory before, unless it is told to be deterministic.
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
