"""The experiment of Cornac's README: ``RatioSplit``, matrix factorisation, and an ``Experiment``."""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import Pipeline, PipelineFold, Scores
from repro_cornac.evaluators import README_THRESHOLD, metric_of, triples_of
from repro_cornac.running import cornac_seed, quiet
from repro_cornac.splitters import ratio_split

K = 10
TEST_SIZE = 0.2
# MRR is not in the README.
WHOLE = ("MAE", "RMSE", "AUC", "MAP", "MRR")
AT_K = ("Precision", "Recall", "NDCG")
QUIRKS = {
    "MRR": (
        f"Beside metrics with a cut-off, Cornac puts only the first {K} items of a list in order; MRR goes on to the "
        "first hit, through items in no order. Asked without such metrics, it says what the core does."
    )
}


def readme_experiment(rows: Interactions, seed: int) -> list[PipelineFold]:
    """One fold: that of the README, with its matrix factorisation and metrics, and MRR.

    Cornac leaves test rows of users and items without training rows out; the fold has them, as the split does.
    """
    from cornac import Experiment
    from cornac.eval_methods import RatioSplit
    from cornac.models import MF

    number = cornac_seed(seed)
    split = RatioSplit(triples_of(rows), test_size=TEST_SIZE, rating_threshold=README_THRESHOLD, seed=number)
    model = MF(k=10, max_iter=25, learning_rate=0.01, lambda_reg=0.02, use_bias=True, seed=number, verbose=False)
    metrics = [metric_of(name, None) for name in WHOLE] + [metric_of(name, K) for name in AT_K]
    with TemporaryDirectory() as folder, quiet(progress=False):  # it writes what it prints to a file as well
        done = Experiment(eval_method=split, models=[model], metrics=metrics, user_based=True, save_dir=folder)
        done.run()
    reported = done.result[0].metric_avg_results
    numbers = {name: float(reported[metric_of(name, None).name]) for name in WHOLE}
    numbers |= {name: float(reported[metric_of(name, K).name]) for name in AT_K}
    ((train, test),) = ratio_split(rows, number, test_size=TEST_SIZE, val_size=0.0)
    return [PipelineFold(train, test, _scores(model, rows), numbers)]


def _scores(model: Any, rows: Interactions) -> Scores:
    """What a fitted model says of the users and items of the training rows; the others are unscored."""
    users = {str(one): code for code, one in enumerate(rows.user_ids)}
    items = {str(one): code for code, one in enumerate(rows.item_ids)}
    known = np.array([items[one] for one, inner in model.iid_map.items() if model.knows_item(inner)])
    values = np.full((rows.n_users, rows.n_items), np.nan)
    for one, inner in model.uid_map.items():
        if model.knows_user(inner):
            values[users[one], known] = model.score(inner)
    return Scores.from_nan(values)


def pipelines() -> Sequence[Pipeline]:
    """All of Cornac's pipelines."""
    summary = "RatioSplit of a fifth, matrix factorisation and an Experiment, as in the README"
    return [Pipeline("cornac/Experiment", summary, readme_experiment, "cornac/Experiment", k=K, quirks=QUIRKS)]
