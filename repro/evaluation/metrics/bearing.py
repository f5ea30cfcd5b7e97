"""Which decisions bear on a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repro.evaluation.metrics.metric import Measure, simple_measures

OF_LISTS = ("relevance", "candidates", "missing", "ties", "average")
OF_PREDICTIONS = ("predict",)
_OF_THE_CORE = ("data", "split", "metric", *OF_LISTS, *OF_PREDICTIONS)


def bearing(decisions: Iterable[str], measures: Sequence[Measure]) -> list[str]:
    """Those of ``decisions`` that bear on the numbers of these measures.

    Those of the data and the split bear on all of them, those of lists and of predictions where there are such. A
    variant bears on its own metric. A decision of a family that the core does not have may bear on anything.
    """
    simple = simple_measures(measures)
    kinds = {measure.metric.kind for measure in simple}
    families = {"data", "split"}
    if kinds & {"ranking", "collection"}:
        families |= set(OF_LISTS)
    if "prediction" in kinds:
        families |= set(OF_PREDICTIONS)
    own = {key for measure in (*measures, *simple) for key in (*measure.decisions, *measure.metric.reads)}
    return [key for key in decisions if key in own | {"average.folds"} or _family(key) in families or is_foreign(key)]


def is_foreign(decision: str) -> bool:
    """Whether a decision is of a family that the core does not have."""
    return _family(decision) not in _OF_THE_CORE


def _family(decision: str) -> str:
    return decision.partition(".")[0]
