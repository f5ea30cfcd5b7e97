"""An evaluation of one fold: the lists of an algorithm and the ratings that it predicts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from repro.evaluation.blocks import DEFAULT_OPTIONS, ExecutionOptions
from repro.evaluation.fold import FoldData
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.measured import Measured
from repro.evaluation.metrics import Measure, average_predictions, simple_measures
from repro.evaluation.stages import resolve
from repro.evaluation.suspicion import prediction_facts
from repro.plugin import CheckedRecommender, Scores
from repro.protocol import Protocol

CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The settings of an evaluation on a fold.

    seed     of sampled negatives and random tie orders
    scale    the lowest and the highest rating that there can be
    options  change no number
    """

    data: FoldData
    measures: Sequence[Measure]
    protocol: Protocol
    seed: int
    scale: tuple[float, float]
    options: ExecutionOptions = DEFAULT_OPTIONS

    def measure(self, recommender: CheckedRecommender, progress: Callable[[int, int], None] | None = None) -> Measured:
        """Measure the lists of a fitted algorithm and the ratings that it predicts.

        ``progress`` is called after each block with the number of users done and of all users.
        """
        parts = []
        if of_lists := simple_measures(self.measures, "ranking", "collection"):
            parts.append(
                measure_lists(recommender, self.data, of_lists, self.protocol, self.seed, self.options, progress)
            )
        if of_predictions := simple_measures(self.measures, "prediction"):
            parts.append(measure_predictions(recommender, self.data, of_predictions, self.protocol, self.scale))
        return Measured.joined(parts)


def measure_predictions(
    recommender: CheckedRecommender,
    parts: FoldData,
    measures: Sequence[Measure],
    protocol: Protocol,
    scale: tuple[float, float],
) -> Measured:
    """The value of each measure, the effects of the ``predict.*`` decisions, and a table with the predictions as the
    algorithm returned them and after fallback and clipping (``resolved``; not a number for a pair that is left out).

    For an algorithm that does not predict ratings, each value is not a number, over no users.
    """
    if not recommender.predicts:
        return Measured({measure.full_name: (math.nan, 0) for measure in measures})
    test = parts.test
    began = time.perf_counter()
    queries = parts.queries(test.users)
    chunks = [
        recommender.predict(queries.part(start, start + CHUNK), test.items[start : start + CHUNK])
        for start in range(0, len(test), CHUNK)
    ]
    seconds = {"predict": time.perf_counter() - began}
    scores = Scores.joined(chunks)
    resolved = resolve(scores, test, parts.train, scale, protocol)
    values = {}
    for measure in measures:
        averaged = average_predictions(measure, resolved)
        values[measure.full_name] = (averaged.value, averaged.users_counted)
    predictions = pa.table(
        {
            "user": pa.array(test.user_ids[test.users]),
            "item": pa.array(test.item_ids[test.items]),
            "rating": test.ratings,
            "prediction": scores.values,
            "state": scores.states,
            "own": resolved.own,
            "resolved": resolved.values,
        }
    )
    return Measured(
        values, list(resolved.impacts), {"predictions": predictions}, seconds, facts=prediction_facts(scores)
    )
