"""RecBole's own evaluation: ``Trainer.evaluate`` of a model with given scores, on data that is already split.

RecBole numbers items in the order of the rows, training rows first, which is therefore the order of presentation. Its
data set has the items of all rows. In a full sort every held-out item is relevant. Labelled rows have a label: the
rating or, for AUC, whether it is 3 or more (RecBole has no default, and its authors recommend this).

RecBole 1.2.1 cannot compute ItemCoverage and GiniIndex: its collector fails to copy the number of items. They are
evaluated with a collector that does not copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import Case, Evaluator, Observed
from repro_recbole.learning import ITEM, RATING, USER
from repro_recbole.surroundings import own_folder, own_numbers, own_process

DATA = "case"
THRESHOLD = 3.0
# As good as unrounded: RecBole always rounds.
DECIMALS = 15
_ROUNDED = 4  # RecBole's default

_FULL = {
    "Recall": "recall@k",
    "MRR": "rr@k",
    "NDCG": "ndcg@k",
    "Hit": "hit@k",
    "Precision": "precision@k",
    "MAP": "ap@k",
    "GAUC": "auc",
    "ShannonEntropy": "entropy@k",
}
_COUNTED = {"ItemCoverage": "catalogue-coverage@k", "GiniIndex": "gini@k"}
_LABELLED = {"RMSE": "rmse", "MAE": "mae", "AUC": "auc"}
_CANNOT = {
    "partial-lists": "a model scores all items",
    "no-list": "a model scores all items",
    "fallback": "a score has no such mark",
}


def evaluate(
    case: Case, measure: str, k: int | None, *, mode: str, decimals: int = DECIMALS, single: bool = False
) -> Observed:
    """The result of ``Trainer.evaluate`` on the test part; RecBole has no values for each user."""
    import torch
    from recbole.data import create_dataset
    from recbole.data.utils import create_samplers, get_dataloader
    from recbole.trainer import Trainer

    from repro_recbole.given_scores import GivenScores, UncopiedCollector

    with own_folder() as folder, own_process(), own_numbers():
        config = configured(mode, measure, k, decimals)
        write_part(folder, "train", case.presented(case.train))
        write_part(folder, "valid", case.train.select(np.arange(0)))
        write_part(folder, "test", case.presented(case.test))
        dataset = create_dataset(config)
        parts = dataset.build()
        sampler = create_samplers(config, dataset, parts)[-1]
        loader = get_dataloader(config, "test")(config, parts[-1], sampler, shuffle=False)
        scores = torch.from_numpy(scores_of(case, dataset))
        trainer = Trainer(config, GivenScores(config, dataset, scores.float() if single else scores))
        trainer.tensorboard.close()
        if measure in _COUNTED:
            trainer.eval_collector = UncopiedCollector(config)
            trainer.eval_collector.data_collect(get_dataloader(config, "train")(config, parts[0], None))
        values = trainer.evaluate(loader, load_best_model=False)
    return Observed(values[measure.lower() if k is None else f"{measure.lower()}@{k}"])


@lru_cache(maxsize=64)
def configured(mode: str, measure: str, k: int | None, decimals: int) -> Any:
    """RecBole's configuration for one measure, otherwise with defaults; paths are relative to the current folder."""
    from recbole.config import Config

    from repro_recbole.given_scores import GivenScores

    settings: dict[str, Any] = {
        "data_path": ".",
        "benchmark_filename": ["train", "valid", "test"],
        "load_col": {"inter": [USER, ITEM, RATING]},
        "eval_args": {"mode": mode},
        "metrics": [measure],
        "valid_metric": measure if k is None else f"{measure}@{k}",
        "metric_decimal_place": decimals,
        "use_gpu": False,
        "gpu_id": "",
        "show_progress": False,
    }
    if k is not None:
        settings["topk"] = [k]
    if mode == "labeled":
        settings |= {"threshold": {RATING: THRESHOLD}} if measure == "AUC" else {"LABEL_FIELD": RATING}
        settings["train_neg_sample_args"] = None
    return Config(model=GivenScores, dataset=DATA, config_dict=settings)


def write_part(folder: Path, part: str, rows: Interactions) -> None:
    """An atomic file of a part, with codes as ids."""
    lines = [f"{USER}:token\t{ITEM}:token\t{RATING}:float"]
    columns = (rows.users.tolist(), rows.items.tolist(), rows.ratings.tolist())
    lines += [f"{user}\t{item}\t{rating!r}" for user, item, rating in zip(*columns, strict=True)]
    path = folder / DATA / f"{DATA}.{part}.inter"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def scores_of(case: Case, dataset: Any) -> np.ndarray:
    """The scores by RecBole's inner ids; 0 is its padding."""
    users, items = (
        [int(token) for token in dataset.field2id_token[field][1:]]  # the first is the padding
        for field in (USER, ITEM)
    )
    scores = np.zeros((len(users) + 1, len(items) + 1))
    scores[1:, 1:] = case.scores.values[np.ix_(users, items)]
    return scores


def _evaluator(name: str, summary: str, measures: Mapping[str, str], **settings: Any) -> Evaluator:
    mode = "labeled" if measures is _LABELLED else "full"
    title = f"Trainer.evaluate of {'labelled rows' if measures is _LABELLED else 'a full sort'}{summary}"
    return Evaluator(f"recbole/{name}", title, partial(evaluate, mode=mode, **settings), measures, _CANNOT)


_DEFAULT = f", rounded to {_ROUNDED} decimals as by default"
_UNROUNDED = f" with {DECIMALS} decimals"
_SINGLE = f"{_UNROUNDED}, of scores in single precision, as RecBole's models have them"
EVALUATORS = (
    _evaluator("full", _DEFAULT, _FULL, decimals=_ROUNDED),
    _evaluator("full-unrounded", _UNROUNDED, _FULL),
    _evaluator("full-single", _SINGLE, _FULL, single=True),
    _evaluator("full-counted", f"{_UNROUNDED}, past a collector that fails", _COUNTED),
    _evaluator("labeled", _DEFAULT, _LABELLED, decimals=_ROUNDED),
    _evaluator("labeled-unrounded", _UNROUNDED, _LABELLED),
)
