"""LensKit's evaluation from ratings to numbers, as its guide begins: folds of users, lists or predictions, metrics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.plugin import Pipeline, PipelineFold, Scores
from repro_lenskit.evaluators import OF_LISTS, OF_PREDICTIONS, metric_of
from repro_lenskit.splitters import positions_of
from repro_lenskit.training import dataset_of, train_component

_K = 100


def crossfold(rows: Interactions, seed: int, *, predicts: bool) -> list[PipelineFold]:
    """Five folds of users, of whom a fifth of the rows is held out; a biased factorisation of 50 features."""
    from lenskit.als import BiasedMFScorer
    from lenskit.pipeline import topn_pipeline

    folds = []
    for split in _splits(rows, seed):
        pipeline = topn_pipeline(BiasedMFScorer(features=50), predicts_ratings=predicts)
        train_component(pipeline, split.train, seed)
        reported = _predictions(pipeline, split.test) if predicts else _lists(pipeline, split.test)
        train, test = positions_of(split, rows)
        scores = _scores(pipeline, rows, split.test, predicts=predicts)
        folds.append(PipelineFold(train, test, Scores.from_nan(scores), reported))
    return folds


def _splits(rows: Interactions, seed: int) -> Iterator[Any]:
    from lenskit.splitting import SampleFrac, crossfold_users

    rng = np.random.default_rng(seed)
    return crossfold_users(dataset_of(rows), 5, SampleFrac(0.2, rng=rng), rng=rng)


def _lists(pipeline: Any, test: Any) -> dict[str, float]:
    from lenskit.batch import recommend

    lists = recommend(pipeline, list(test.keys()), n=_K, n_jobs=1)
    return {name: _mean(metric_of(name, _K), lists, test) for name in OF_LISTS}


def _predictions(pipeline: Any, test: Any) -> dict[str, float]:
    from lenskit.batch import predict

    predictions = predict(pipeline, test, n_jobs=1)
    return {name: _mean(metric_of(name, None), predictions, test) for name in OF_PREDICTIONS}


def _mean(metric: Any, outputs: Any, test: Any) -> float:
    from lenskit.metrics import RunAnalysis

    (mean,) = RunAnalysis(metric).measure(outputs, test).list_summary()["mean"]
    return float(mean)


def _scores(pipeline: Any, rows: Interactions, test: Any, *, predicts: bool) -> FloatArray:
    """The scores of the tested users for all items; NaN for missing scores and for other users.

    The last bits of a score depend on the other items that are scored with it: the candidates of lists, and the items
    whose ratings are predicted, are scored again as in the evaluation.
    """
    from lenskit import score
    from lenskit.data import ItemList

    items = ItemList(item_ids=np.arange(rows.n_items))
    scores = np.full((rows.n_users, rows.n_items), np.nan)
    for key, held_out in test:
        scores[key.user_id] = score(pipeline, key.user_id, items).scores()
        again = pipeline.run("scorer", query=key.user_id, items=held_out if predicts else None)
        scores[key.user_id, again.ids()] = again.scores()
    return scores


PIPELINES = (
    Pipeline(
        "lenskit/crossfold_users",
        "crossfold_users, BiasedMFScorer, batch.recommend and RunAnalysis",
        partial(crossfold, predicts=False),
        "lenskit/recommend",
        _K,
    ),
    Pipeline(
        "lenskit/crossfold_users-predict",
        "crossfold_users, BiasedMFScorer, batch.predict and RunAnalysis",
        partial(crossfold, predicts=True),
        "lenskit/predict",
    ),
)
