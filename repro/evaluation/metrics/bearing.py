"""Which decisions affect a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repro.evaluation.metrics.metric import Measure, simple_measures
from repro.protocol import BEFORE_FITTING, OF_LISTS, OF_PREDICTIONS, Stage, registry


def bearing(decisions: Iterable[str], measures: Sequence[Measure]) -> list[str]:
    """Those of ``decisions`` that can affect the numbers of these measures.

    Decisions about the data and the split affect all of them; those about lists and about predictions, the metrics of
    each. A variant affects its own metric. A decision of an unknown stage may affect anything.
    """
    simple = simple_measures(measures)
    tasks = {measure.metric.task for measure in simple}
    stages: set[Stage | None] = {*BEFORE_FITTING, None}
    if "recommendation" in tasks:
        stages |= set(OF_LISTS)
    if "rating prediction" in tasks:
        stages |= set(OF_PREDICTIONS)
    named = {key for measure in (*measures, *simple) for key in (*measure.decisions, *measure.metric.reads)}
    known = registry()
    return [key for key in decisions if key in named | {"average.folds"} or known.stage_of(key) in stages]
