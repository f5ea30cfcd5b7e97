"""All metrics by name: one module here for each metric of the suite, and those of plug-ins."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

from repro.current import current
from repro.errors import ProtocolError
from repro.evaluation.metrics.measure import by_any_name, canonical_name, how_read, named
from repro.evaluation.metrics.metric import Metric


def own_modules() -> dict[str, ModuleType]:
    """The modules of this package that define a metric as ``METRIC``, by the name of the metric."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names if not name.startswith("_")]
    return {module.METRIC.name: module for module in modules if hasattr(module, "METRIC")}


def own_metrics() -> dict[str, Metric]:
    """The metrics of the suite, by name."""
    return {name: module.METRIC for name, module in own_modules().items()}


def metrics() -> dict[str, Metric]:
    """All metrics by name: those of the suite, and those of plug-ins."""
    return current().metrics


def metrics_by_any_name() -> dict[str, Metric]:
    """All metrics by their names and aliases."""
    return by_any_name(metrics())


def metric_named(name: str) -> Metric:
    """The metric with that name or alias."""
    return named(name, metrics())


def own_name(name: str) -> str:
    """A name of a metric, with its cut-off and variants, as the suite reports it: ``ap@10`` for ``MAP@10``."""
    return canonical_name(name, metrics())


def reading_notes(names: Iterable[str]) -> list[str]:
    """Notes on those of ``names`` that have several definitions in the literature; unknown names have no note."""
    notes = []
    for name in names:
        with suppress(ProtocolError):
            notes.append(how_read(name, metrics()))
    return [note for note in dict.fromkeys(notes) if note]
