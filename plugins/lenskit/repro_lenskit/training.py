"""Training of components: LensKit's data set, one thread, and a seed for all generators."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.errors import PluginError

# Compiled by torch, FlexMF needs a C++ compiler, and its last bits depend on that compiler.
_SETTINGS = {"LK_TORCH_COMPILE": "0", "LK_EASE_SOLVER": "torch"}


def dataset_of(rows: Interactions, *, times: bool = False) -> Any:
    """The rows as a LensKit data set, with codes as ids, in the same order; it does not contain users and items without
    rows."""
    import pandas as pd
    from lenskit.data import from_interactions_df

    pairs = rows.users.astype(np.int64) * rows.n_items + rows.items
    repeated = len(pairs) - len(np.unique(pairs))
    if repeated:
        raise PluginError(
            f"{repeated:,} rows repeat the user and item of another, and LensKit takes one row of each pair; "
            "state which is kept with data.duplicates"
        )
    columns: dict[str, Any] = {"user_id": rows.users, "item_id": rows.items}
    if rows.explicit:
        columns["rating"] = rows.ratings
    if times and rows.timestamps is not None:
        columns["timestamp"] = pd.to_datetime(rows.timestamps, unit="s")
    return from_interactions_df(pd.DataFrame(columns))


def train_component(component: Any, data: Any, seed: int) -> None:
    """Train a component on the CPU, with this seed."""
    from lenskit.training import TrainingOptions

    options = TrainingOptions(rng=seed, device="cpu", environment=_SETTINGS)
    with _one_thread(), _seeded(seed), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse ", category=UserWarning)  # about torch's tensors
        component.train(data, options)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """One thread for BLAS, OpenMP, torch and LensKit's own pool; restores the settings of the process."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    with threadpool_limits(1):
        _initialise()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


@cache
def _initialise() -> None:
    """LensKit's own pool, which is made once in a process. A pool with more threads gives the same bits."""
    from lenskit.parallel import initialize

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="failed to set inter", category=RuntimeWarning)
        initialize(processes=1, threads=1, backend_threads=1)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generators too, which scikit-learn uses inside LensKit; restore them afterwards."""
    import torch

    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])
