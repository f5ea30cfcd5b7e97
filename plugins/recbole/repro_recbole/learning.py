"""Training with RecBole's own data set, sampler, loader and trainer, on all training rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro_recbole.models import Model
from repro_recbole.settings import Settings
from repro_recbole.surroundings import own_folder, own_numbers, own_process

DATA = "train"
USER, ITEM, RATING = "user_id", "item_id", "rating"
# RecBole seeds NumPy too, which takes 32 bits.
SEEDS = 2**32

InnerIds = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Learnt:
    """A trained model of RecBole, and RecBole's inner id of each user and item: 0 for unknown ones."""

    network: Any
    users: InnerIds
    items: InnerIds


def learn(model: Model, settings: Settings, train: Interactions, seed: int) -> Learnt:
    """Train a model on all rows of ``train``."""
    if not len(train):
        raise PluginError(f"{model.name} cannot learn from no training rows")
    if settings["train_neg_sample_args"]:
        _require_items_to_draw(model, train)
    with own_folder() as folder, own_process(), own_numbers():
        # In canonical order, so that RecBole's inner ids and draws do not depend on the order of the training rows.
        _write_rows(train.canonical(), folder / DATA / f"{DATA}.inter")
        return _learn(model, settings | _environment(model, folder, seed % SEEDS), train)


def _learn(model: Model, settings: Settings, train: Interactions) -> Learnt:
    """The steps of RecBole's quick start, without a validation and a test part."""
    from recbole.config import Config
    from recbole.data import create_dataset
    from recbole.data.utils import get_dataloader
    from recbole.utils import get_model, get_trainer, init_seed

    config = Config(model=model.name, dataset=DATA, config_dict=settings)
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    rows = dataset.build()[0]
    loader = get_dataloader(config, "train")(config, rows, _sampler(config, rows), shuffle=config["shuffle"])
    init_seed(config["seed"], config["reproducibility"])
    network = get_model(model.name)(config, rows).to(config["device"])
    trainer = get_trainer(config["MODEL_TYPE"], model.name)(config, network)
    trainer.fit(loader, saved=False, verbose=False, show_progress=False)
    trainer.tensorboard.close()
    network.eval()
    return Learnt(
        network,
        _inner_ids(dataset.field2token_id[USER], train.n_users),
        _inner_ids(dataset.field2token_id[ITEM], train.n_items),
    )


def _sampler(config: Any, rows: Any) -> Any:
    """The sampler of items that a user does not have; None for a model that needs none."""
    from recbole.sampler import Sampler

    sampling = config["train_neg_sample_args"]
    if sampling["distribution"] == "none":
        return None
    return Sampler("train", rows, sampling["distribution"], sampling["alpha"]).set_phase("train")


def _environment(model: Model, folder: Path, seed: int) -> Settings:
    """Settings that are not parameters: the folder, training on all rows, on the CPU, without output."""
    return {
        "data_path": str(folder),
        "checkpoint_dir": str(folder / "saved"),
        "load_col": {"inter": [USER, ITEM, RATING] if model.ratings else [USER, ITEM]},
        "eval_args": {"split": {"RS": [1, 0, 0]}, "group_by": "none", "order": "RO", "mode": "full"},
        "seed": seed,
        "reproducibility": True,
        "use_gpu": False,
        "gpu_id": "",
        "show_progress": False,
    }


def _write_rows(rows: Interactions, path: Path) -> None:
    """RecBole's atomic file, with codes as ids: an id may contain a separator, a code cannot."""
    import pandas as pd

    path.parent.mkdir()
    table = pd.DataFrame({f"{USER}:token": rows.users, f"{ITEM}:token": rows.items, f"{RATING}:float": rows.ratings})
    table.to_csv(path, sep="\t", index=False)


def _inner_ids(token_ids: dict[str, int], n_codes: int) -> InnerIds:
    """RecBole's inner id of each code; 0, its padding, for an unknown code."""
    inner = np.zeros(n_codes, dtype=np.int64)
    for token, inner_id in token_ids.items():
        if inner_id:
            inner[int(token)] = inner_id
    return inner


def _require_items_to_draw(model: Model, train: Interactions) -> None:
    """Refuse a user who has all items: RecBole draws items that a user does not have."""
    pairs = np.unique(train.users.astype(np.int64) * train.n_items + train.items)
    counts = np.bincount(pairs // train.n_items, minlength=train.n_users)
    users = np.flatnonzero(counts == np.count_nonzero(train.item_counts()))
    if len(users):
        user = train.user_ids[users[0]]
        raise PluginError(
            f"{model.name} draws items that a user does not have, and user {user} has all items of the training rows; "
            "leave such users out"
        )
