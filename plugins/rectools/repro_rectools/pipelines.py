"""RecTools' ``cross_validate``: its own folds, a model, its recommendations and its metrics."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Three folds of a fifth of the rows each, without those of users and items unseen in training, and EASE."""
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
        for (train, test, _), told in zip(splitter.split(dataset.interactions), done["metrics"], strict=True):
            part = dataset.filter_interactions(row_indexes_to_keep=train)
            scores = _scores(model.fit(part), part, rows, test)
            folds.append(PipelineFold(train, test, scores, {name: told[name] for name in MEASURES}))
    return folds


def _scores(model: Any, dataset: Any, rows: Interactions, test: Any) -> Scores:
    """What ``recommend`` gives for all items: of the tested users together, as in the evaluation, where products are
    added up for as many users at a time; and of the other users that the model knows."""
    from rectools import Columns

    values = np.full((rows.n_users, rows.n_items), np.nan)
    user_codes = {one: code for code, one in enumerate(rows.user_ids.tolist())}
    item_codes = {one: code for code, one in enumerate(rows.item_ids.tolist())}
    known = dataset.user_id_map.external_ids
    tested = list(dict.fromkeys(rows.user_ids[rows.users[test]].tolist()))
    for users in (tested, [one for one in known.tolist() if one not in set(tested)]):
        if users:
            told = model.recommend(users, dataset, k=rows.n_items, filter_viewed=False)
            at = told[Columns.User].map(user_codes), told[Columns.Item].map(item_codes)
            values[at] = told[Columns.Score]
    return Scores.from_nan(values)


def pipelines() -> Sequence[Pipeline]:
    """All of RecTools' pipelines."""
    summary = "cross_validate of EASE over random folds"
    return [Pipeline("rectools/cross_validate", summary, cross_validate, "rectools/calc_metrics", K)]
