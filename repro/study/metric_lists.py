"""Metrics as a study states them: names, and tables of names with cut-offs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repro.errors import StudyError, nearest
from repro.evaluation.metrics import MetricName, metric_named, metric_text

KEYS = ("names", "at")
EXAMPLE = 'metrics = { names = ["ndcg", "precision"], at = [5, 10] }'

StatedMetrics = MetricName | Mapping[str, Any] | Sequence[MetricName | Mapping[str, Any]]


def expanded_metrics(stated: StatedMetrics) -> tuple[str, ...]:
    """The names of all metrics, in order: of a table, each name with every cut-off before the next name.

    A metric that takes no cut-off, such as ``rmse``, stays as it is.

    >>> from repro.study.metric_lists import expanded_metrics
    >>> expanded_metrics(["ap", {"names": ["ndcg", "precision", "rmse"], "at": [5, 10]}])
    ('ap', 'ndcg@5', 'ndcg@10', 'precision@5', 'precision@10', 'rmse')
    """
    parts: Any = stated if isinstance(stated, Iterable) and not isinstance(stated, str | Mapping) else [stated]
    return tuple(name for part in parts for name in (_of_table(part) if isinstance(part, Mapping) else (_text(part),)))


def _text(metric: Any) -> str:
    if not isinstance(metric, str) and not hasattr(metric, "stated"):
        raise StudyError(f"metrics: a metric is text such as ndcg@10, or repro.Metric in Python; not {metric!r}")
    return metric_text(metric)


def _of_table(table: Mapping[str, Any]) -> list[str]:
    for key in table:
        if key not in KEYS:
            raise StudyError(f"metrics: unknown key '{key}'{nearest(str(key), KEYS)} Write {EXAMPLE}")
    for key in KEYS:
        if key not in table:
            raise StudyError(f"metrics: the table has no '{key}'; write {EXAMPLE}")
    names, cutoffs = _as_list(table["names"]), _as_list(table["at"])
    for cutoff in cutoffs:
        if type(cutoff) is not int or cutoff < 1:
            raise StudyError(f"metrics: at has {cutoff!r}; a cut-off is a whole number of at least 1")
    if not names or not cutoffs:
        raise StudyError(f"metrics: names and at must not be empty; write {EXAMPLE}")
    expanded = []
    for name in map(_text, names):
        base = name.partition("[")[0].strip()
        if "@" in name:
            raise StudyError(
                f"metrics: names has {name}, and the cut-offs are in at; write {name.partition('@')[0]}, or put {name} "
                "into a list next to the table"
            )
        takes_cutoff = metric_named(base).cutoff != "none"
        expanded += [f"{name}@{cutoff}" for cutoff in cutoffs] if takes_cutoff else [name]
    return expanded


def _as_list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]
