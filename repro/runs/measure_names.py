"""The names of the measures of a run in its tables, and the measure that a name stands for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from repro.errors import ProtocolError, StudyError, nearest
from repro.evaluation.metrics import Measure, MetricName, metric_text, own_name


def metric_names(measures: Sequence[Measure]) -> dict[str, str]:
    """The name of each measure in the tables, by its full name: the short name, unless two measures share it."""
    short = [measure.name for measure in measures]
    return {m.full_name: m.name if short.count(m.name) == 1 else m.full_name for m in measures}


def measure_named(metric: MetricName, measures: Sequence[Measure], folder: Path) -> Measure:
    """The measure with a name, short or in full, of the run in ``folder``; it must have a value for each user."""
    name = metric_text(metric)
    by_name = {measure.name: measure for measure in reversed(measures)}
    by_name |= {measure.full_name: measure for measure in measures}
    measure = by_name.get(name)
    if measure is None:
        with suppress(ProtocolError):
            measure = by_name.get(own_name(name))
    if measure is None:
        raise StudyError(
            f"the run in {folder} did not measure '{name}'{nearest(name, by_name)} "
            f"It measured: {', '.join(metric_names(measures).values())}"
        )
    if not measure.per_user:
        raise StudyError(
            f"{measure.name} is a number about all users together, so there is nothing to pair by user; compare "
            f"by another metric: {', '.join(m.name for m in measures if m.per_user) or 'the study has none'}"
        )
    return measure
