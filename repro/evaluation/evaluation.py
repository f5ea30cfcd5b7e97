"""An evaluation of one fold: the same for every algorithm, fitted here, replayed or given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repro.evaluation.blocks import DEFAULT_OPTIONS, ExecutionOptions
from repro.evaluation.fold import FoldData
from repro.evaluation.measure_lists import measure_lists
from repro.evaluation.measure_predictions import measure_predictions
from repro.evaluation.measured import Measured
from repro.evaluation.metrics import Measure, simple_measures
from repro.plugin import CheckedRecommender
from repro.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is measured on a fold, and how.

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
        if of_lists := self._of_kind("ranking", "collection"):
            parts.append(
                measure_lists(recommender, self.data, of_lists, self.protocol, self.seed, self.options, progress)
            )
        if of_predictions := self._of_kind("prediction"):
            parts.append(measure_predictions(recommender, self.data, of_predictions, self.protocol, self.scale))
        return Measured.joined(parts)

    def _of_kind(self, *kinds: str) -> list[Measure]:
        return [measure for measure in simple_measures(self.measures) if measure.metric.kind in kinds]
