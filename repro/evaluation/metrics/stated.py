"""Metrics as callers state them: by name, or as an object such as :class:`repro.Metric`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from repro.errors import ProtocolError


class MetricObject(Protocol):
    """An object that stands for a metric: ``stated`` is the name by which it is requested."""

    @property
    def stated(self) -> str: ...


MetricName: TypeAlias = str | MetricObject


def metric_text(metric: MetricName) -> str:
    """The name of a metric."""
    text = metric if isinstance(metric, str) else getattr(metric, "stated", None)
    if not isinstance(text, str):
        raise ProtocolError(
            f'a metric is {metric!r:.80} of type {type(metric).__name__}; give a name such as "ndcg@10", or '
            'repro.Metric("ndcg@10")'
        )
    return text.strip()


def metric_texts(metrics: MetricName | Iterable[MetricName]) -> tuple[str, ...]:
    """The names of one metric or of several."""
    if isinstance(metrics, Iterable) and not isinstance(metrics, str):
        return tuple(map(metric_text, metrics))
    return (metric_text(metrics),)
