"""Runs in RecBole's environment, and knows nothing of the plug-in: learning and scoring as RecBole's users do it.

``recbole_itself.py FOLDER`` reads ``rows.npz`` and ``request.json`` there and writes ``scores.npz``: for each run,
users by items in the order of the ids asked for, not a number where RecBole has no such user or item.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.data.interaction import Interaction
from recbole.utils import get_model, get_trainer, init_seed


def write_rows(folder, rows):
    (folder / "ml").mkdir()
    columns = (rows["users"].tolist(), rows["items"].tolist(), rows["ratings"].tolist())
    lines = [f"{user}\t{item}\t{rating}" for user, item, rating in zip(*columns, strict=True)]
    (folder / "ml" / "ml.inter").write_text("\n".join(["user_id:token\titem_id:token\trating:float", *lines, ""]))


def learn(folder, name, settings, seed):
    parameters = {
        "data_path": str(folder),
        "checkpoint_dir": str(folder / "saved"),
        "eval_args": {"split": {"RS": [1, 0, 0]}, "order": "RO", "group_by": "none", "mode": "full"},
        "load_col": {"inter": ["user_id", "item_id", "rating"]},
        "seed": seed,
        "use_gpu": False,
        "show_progress": False,
        **settings,
    }
    config = Config(model=name, dataset="ml", config_dict=parameters)
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    rows, _, _ = data_preparation(config, dataset)
    init_seed(config["seed"], config["reproducibility"])
    model = get_model(name)(config, rows._dataset).to(config["device"])
    get_trainer(config["MODEL_TYPE"], name)(config, model).fit(rows, saved=False)
    model.eval()
    return dataset, model, config["eval_batch_size"]


def one_by_one(model, user, batch):
    """As RecBole's trainer scores all items of a user where a model cannot do so itself."""
    items = torch.arange(model.n_items)
    scores = [
        model.predict(Interaction({"user_id": torch.full_like(part, user), "item_id": part}))
        for part in items.split(batch)
    ]
    return torch.cat(scores)


def all_scores(model, users, batch, seeds):
    step = 1 if seeds else max(batch // model.n_items, 1)  # RecBole's own number of users in a batch
    scores = []
    for start in range(0, len(users), step):
        if seeds:
            torch.manual_seed(seeds[start])
        some = torch.tensor(users[start : start + step])
        try:
            scores.append(model.full_sort_predict(Interaction({"user_id": some})).reshape(len(some), -1))
        except NotImplementedError:
            scores.extend(one_by_one(model, user, batch)[None] for user in some.tolist())
    return torch.cat(scores).numpy()


@torch.no_grad()
def in_order(model, dataset, rows, batch, seeds):
    user_ids, item_ids = (
        [dataset.field2token_id[f"{role}_id"].get(entry) for entry in rows[f"{role}_ids"].tolist()]
        for role in ("user", "item")
    )
    known_users = [n for n, inner in enumerate(user_ids) if inner is not None]
    known_items = [n for n, inner in enumerate(item_ids) if inner is not None]
    scores = all_scores(model, [user_ids[n] for n in known_users], batch, [seeds[n] for n in known_users if seeds])
    complete = np.full((len(user_ids), len(item_ids)), np.nan)
    complete[np.ix_(known_users, known_items)] = scores[:, [item_ids[n] for n in known_items]]
    return complete


def main(folder):
    request = json.loads((folder / "request.json").read_text())
    with np.load(folder / "rows.npz") as stored:
        rows = dict(stored)
    write_rows(folder, rows)
    torch.set_num_threads(1)
    actual = {}
    for n, (name, settings) in enumerate(request["runs"]):
        dataset, model, batch = learn(folder, name, settings, request["seed"])
        actual[str(n)] = in_order(model, dataset, rows, batch, request["seeds"])
    np.savez(folder / "scores.npz", **actual)


if __name__ == "__main__":
    folder = Path(sys.argv.pop())
    main(folder)
