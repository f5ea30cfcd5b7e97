"""RecTools' ``cross_validate``: its own folds, a model, its recommendations and its metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from repro.data.interactions import Interactions
from repro.plugin import Pipeline, PipelineFold, Scores
from repro_rectools.evaluators import frame_of

K = 10
FOLDS = 3
MEASURES = (
    "Precision",
    "Recall",
    "F1Beta",
    "HitRate",
    "MAP",
    "NDCG",
    "MRR",
    "MeanInvUserFreq",
    "Serendipity",
    "CatalogCoverage",
    "CoveredUsers",
)
_LARGEST_SEED = 0xFFFFFFFF


def cross_validate(rows: Interactions, seed: int) -> list[PipelineFold]:
    """Three folds of a fifth of the rows each, without users and items that are new to the training part, and EASE."""
    import rectools.metrics  # type: ignore[import-not-found, unused-ignore]
    from rectools import model_selection
    from rectools.dataset import Dataset  # type: ignore[import-not-found, unused-ignore]
    from rectools.models import EASEModel  # type: ignore[import-not-found, unused-ignore]
    from threadpoolctl import threadpool_limits

    dataset = Dataset.construct(frame_of(rows))
    splitter = model_selection.RandomSplitter(0.2, n_splits=FOLDS, random_state=seed & _LARGEST_SEED)
    metrics = {name: getattr(rectools.metrics, name)(k=K) for name in MEASURES}
    model = EASEModel(regularization=500, recommend_n_threads=1)
    with threadpool_limits(1, "blas"):  # threads would add up in another order
        done = model_selection.cross_validate(dataset, splitter, metrics, {"ease": model}, k=K, filter_viewed=True)
        folds = []
        for (train, test, _), values in zip(splitter.split(dataset.interactions), done["metrics"], strict=True):
            part = dataset.filter_interactions(row_indexes_to_keep=train)
            scores = _scores(model.fit(part), part, rows, test)
            folds.append(PipelineFold(train, test, scores, {name: values[name] for name in MEASURES}))
    return folds


def _scores(model: Any, dataset: Any, rows: Interactions, test: Any) -> Scores:
    """The scores of ``recommend`` for all items: first for the tested users together, as in the evaluation, since the
    rounding of products depends on the number of users at a time; then for the other users that the model knows."""
    from rectools import Columns

    values = np.full((rows.n_users, rows.n_items), np.nan)
    tested = list(dict.fromkeys(rows.user_ids[rows.users[test]].tolist()))
    others = [user for user in dataset.user_id_map.external_ids.tolist() if user not in set(tested)]
    for users in (tested, others):
        if users:
            recommended = model.recommend(users, dataset, k=rows.n_items, filter_viewed=False)
            row = rows.user_codes(recommended[Columns.User].tolist())
            values[row, rows.item_codes(recommended[Columns.Item].tolist())] = recommended[Columns.Score]
    return Scores.from_nan(values)


PIPELINES = (
    Pipeline(
        "rectools/cross_validate",
        "cross_validate of EASE over random folds",
        cross_validate,
        "rectools/calc_metrics",
        K,
    ),
)
