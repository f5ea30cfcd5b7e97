"""RecBole's quick start: ``run_recbole`` on an atomic file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray, Interactions, RowArray
from repro.errors import PluginError
from repro.plugin import Pipeline, PipelineFold, Scores
from repro_recbole.learning import ITEM, RATING, SEEDS, USER
from repro_recbole.surroundings import own_folder, own_numbers, own_process

MODEL = "EASE"
# Not "ml-100k": for that name RecBole reads the file in its own package, whatever the path.
DATA = "rows"
TIME = "timestamp"
K = 10
MEASURES = ("Recall", "MRR", "NDCG", "Hit", "Precision", "MAP", "GAUC", "ShannonEntropy")
_USERS = 64


def quick_start(rows: Interactions, seed: int) -> list[PipelineFold]:
    """One fold: of each user eight tenths for training, one for validation and one for testing, and EASE.

    RecBole does not recommend validation items in the test, as if they were training items; so the training rows of
    the fold include them.
    """
    from recbole.quick_start import run_recbole

    settings = {
        "data_path": ".",
        "load_col": {"inter": [USER, ITEM, RATING, TIME]},
        "metrics": list(MEASURES),
        "topk": [K],
        "seed": seed % SEEDS,
        "use_gpu": False,
        "gpu_id": "",
        "show_progress": False,
        "state": "ERROR",
    }
    with own_folder() as folder, own_process(), own_numbers():
        write_rows(rows, folder / DATA / f"{DATA}.inter")
        values = run_recbole(model=MODEL, dataset=DATA, config_dict=settings, saved=False)["test_result"]
        network, dataset, parts = _repeated(settings)
        scores = _scores(network, dataset, rows)
    train, validation, test = (_positions(part, dataset, rows) for part in parts)
    reported = {name: float(values[name.lower() if name == "GAUC" else f"{name.lower()}@{K}"]) for name in MEASURES}
    return [PipelineFold(np.sort(np.concatenate([train, validation])), test, Scores(scores), reported)]


def _repeated(settings: dict[str, Any]) -> tuple[Any, Any, Sequence[Any]]:
    """The model, the data set and its parts, by the same steps and seed: ``run_recbole`` does not return them."""
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, init_seed

    config = Config(model=MODEL, dataset=DATA, config_dict=settings)
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    parts = [loader._dataset for loader in data_preparation(config, dataset)]
    init_seed(config["seed"], config["reproducibility"])
    return get_model(MODEL)(config, parts[0]), dataset, parts


def write_rows(rows: Interactions, path: Path) -> None:
    """The atomic file of the rows, with codes for ids."""
    import pandas as pd

    pairs = rows.users.astype(np.int64) * rows.n_items + rows.items
    if len(np.unique(pairs)) < len(pairs):
        raise PluginError("some users have an item twice; give rows in which each pair of user and item occurs once")
    times = np.zeros(len(rows), dtype=np.int64) if rows.timestamps is None else rows.timestamps
    columns = {f"{USER}:token": rows.users, f"{ITEM}:token": rows.items, f"{RATING}:float": rows.ratings}
    path.parent.mkdir()
    pd.DataFrame(columns | {f"{TIME}:float": times}).to_csv(path, sep="\t", index=False)


def _positions(part: Any, dataset: Any, rows: Interactions) -> RowArray:
    """The positions of the rows of a part, identified by user and item."""
    users, items = (
        dataset.field2id_token[field][part.inter_feat[field].numpy()].astype(np.int64) for field in (USER, ITEM)
    )
    pairs = rows.users.astype(np.int64) * rows.n_items + rows.items
    order = np.argsort(pairs)
    return np.sort(order[np.searchsorted(pairs, users * rows.n_items + items, sorter=order)])


def _scores(network: Any, dataset: Any, rows: Interactions) -> FloatArray:
    """The scores of ``full_sort_predict`` for all users and items."""
    import torch
    from recbole.data.interaction import Interaction

    users, items = (dataset.field2id_token[field][1:].astype(np.int64) for field in (USER, ITEM))
    values = np.full((rows.n_users, rows.n_items), np.nan)
    for start in range(0, len(users), _USERS):
        inner = torch.arange(start + 1, min(start + _USERS, len(users)) + 1)
        scores = network.full_sort_predict(Interaction({USER: inner})).numpy().reshape(len(inner), -1)
        values[np.ix_(users[start : start + _USERS], items)] = scores[:, 1:]
    return values


PIPELINES = (
    Pipeline(
        "recbole/run_recbole",
        f"run_recbole with {MODEL}, and RecBole's split and full sort",
        quick_start,
        "recbole/full",
        K,
    ),
)
