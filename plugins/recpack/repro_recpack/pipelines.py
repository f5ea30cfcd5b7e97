"""RecPack's evaluation from interactions to numbers: a scenario, and a ``Pipeline``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from repro.data.interactions import Interactions, RowArray
from repro.plugin import Pipeline, PipelineFold, Scores
from repro_recpack.running import quiet, reproducible

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

K = 10
MEASURES = ("NDCGK", "PrecisionK", "RecallK", "CalibratedRecallK", "ReciprocalRankK", "HitK", "CoverageK")
_LARGEST_SEED = 2**31  # RecPack adds the number of a user; NumPy's limit is twice as high


def weak_generalization(rows: Interactions, seed: int) -> list[PipelineFold]:
    """One fold: four fifths of each user's interactions for training, and EASE."""
    import pandas as pd
    from recpack.algorithms import EASE
    from recpack.matrix import InteractionMatrix
    from recpack.pipelines import PipelineBuilder
    from recpack.scenarios import WeakGeneralization

    # The time of an interaction is its position in the rows, which identifies it after the split.
    frame = pd.DataFrame({"user": rows.users, "item": rows.items, "position": np.arange(len(rows))})
    data = InteractionMatrix(frame, "item", "user", "position", shape=(rows.n_users, rows.n_items))
    seed %= _LARGEST_SEED
    with quiet("recpack.pipelines.pipeline", "recpack.scenarios.splitters"), reproducible(seed):
        scenario = WeakGeneralization(frac_data_in=0.8, seed=seed)
        scenario.split(data)
        builder = PipelineBuilder()
        builder.set_data_from_scenario(scenario)
        builder.add_algorithm("EASE")
        for measure in MEASURES:
            builder.add_metric(measure, K)
        builder.add_metric("PercentileRanking")
        pipeline = builder.build()
        pipeline.run()
        predicted = EASE().fit(scenario.full_training_data).predict(scenario.test_data_in)
    (reported,) = pipeline.get_metrics().to_dict("records")
    numbers = {measure: float(reported[f"{measure}_{K}"]) for measure in MEASURES}
    numbers["PercentileRanking"] = float(reported["PercentileRanking"])
    train, test = _positions(scenario.full_training_data), _positions(scenario.test_data_out)
    return [PipelineFold(train, test, _scores(predicted), numbers)]


def _positions(matrix: Any) -> RowArray:
    positions: RowArray = np.sort(matrix.timestamps.to_numpy().astype(np.int64))
    return positions


def _scores(predicted: csr_matrix) -> Scores:
    """Pairs that the matrix does not store are unscored."""
    entries = predicted.tocoo()
    values = np.full(predicted.shape, np.nan)
    values[entries.row, entries.col] = entries.data
    return Scores.from_nan(values)


PIPELINES = (
    Pipeline(
        "recpack/WeakGeneralization",
        "WeakGeneralization, EASE and a Pipeline",
        weak_generalization,
        "recpack/Pipeline",
        K,
    ),
)
