"""The experiment of Cornac's README: ``RatioSplit``, matrix factorisation, and an ``Experiment``."""

from __future__ import annotations

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
        f"With other metrics that have a cut-off, Cornac sorts only the first {K} items of a list; MRR goes on to the "
        "first hit, through items that are not sorted. Without such metrics, it gives the same value as the core."
    )
}


def readme_experiment(rows: Interactions, seed: int) -> list[PipelineFold]:
    """One fold: that of the README, with its matrix factorisation and metrics, and MRR.

    Cornac leaves out test rows of users and items without training rows; the fold includes them, as the split does.
    """
    from cornac import Experiment
    from cornac.eval_methods import RatioSplit
    from cornac.models import MF

    number = cornac_seed(seed)
    split = RatioSplit(triples_of(rows), test_size=TEST_SIZE, rating_threshold=README_THRESHOLD, seed=number)
    model = MF(k=10, max_iter=25, learning_rate=0.01, lambda_reg=0.02, use_bias=True, seed=number, verbose=False)
    metrics = [metric_of(name, None) for name in WHOLE] + [metric_of(name, K) for name in AT_K]
    with TemporaryDirectory() as folder, quiet(progress=False):  # it also writes its output to a file
        experiment = Experiment(eval_method=split, models=[model], metrics=metrics, user_based=True, save_dir=folder)
        experiment.run()
    reported = experiment.result[0].metric_avg_results
    numbers = {name: float(reported[metric_of(name, None).name]) for name in WHOLE}
    numbers |= {name: float(reported[metric_of(name, K).name]) for name in AT_K}
    ((train, test),) = ratio_split(rows, number, test_size=TEST_SIZE, val_size=0.0)
    return [PipelineFold(train, test, _scores(model, rows), numbers)]


def _scores(model: Any, rows: Interactions) -> Scores:
    """The scores of a fitted model for the users and items of the training rows; the others are unscored."""
    users = rows.user_codes(list(model.uid_map))
    known = rows.item_codes([item for item, inner in model.iid_map.items() if model.knows_item(inner)])
    values = np.full((rows.n_users, rows.n_items), np.nan)
    for user, inner in zip(users, model.uid_map.values(), strict=True):
        if model.knows_user(inner):
            values[user, known] = model.score(inner)
    return Scores.from_nan(values)


PIPELINES = (
    Pipeline(
        "cornac/Experiment",
        "RatioSplit of a fifth, matrix factorisation and an Experiment, as in the README",
        readme_experiment,
        "cornac/Experiment",
        k=K,
        quirks=QUIRKS,
    ),
)
