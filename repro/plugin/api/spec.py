"""The hooks a plug-in may implement. A plug-in is a module with some of these functions, each marked ``@impl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from repro.data import Dataset
    from repro.plugin.api.evaluator import Evaluator, Pipeline
    from repro.plugin.api.interfaces import Exporter, Framework, MetricDeclaration, Splitter

NAME = "repro"
spec = pluggy.HookspecMarker(NAME)
impl = pluggy.HookimplMarker(NAME)


@spec
def repro_framework() -> Framework:  # type: ignore[empty-body]
    """Declare a framework: its name, version, environment and algorithms.

    Called once, when the plug-ins are first used. The declaration is data; the framework itself is imported at the
    first ``make`` or ``fit``, so that a plug-in can be listed where its framework is not installed.
    """


@spec
def repro_evaluators() -> Sequence[Evaluator]:  # type: ignore[empty-body]
    """Declare evaluators: a framework's own evaluation code, fed with known scores, for audits.

    Called when evaluators are first used.
    """


@spec
def repro_pipelines() -> Sequence[Pipeline]:  # type: ignore[empty-body]
    """Declare pipelines: a framework's whole evaluation, run as its documentation shows, for audits.

    Called when pipelines are first used.
    """


@spec
def repro_datasets() -> Sequence[Dataset]:  # type: ignore[empty-body]
    """Declare data sets: their sources, checksums and readers.

    Called when data sets are first used; the names join those of ``repro data list``.
    """


@spec
def repro_metrics() -> Sequence[MetricDeclaration]:  # type: ignore[empty-body]
    """Declare metrics (:class:`repro.evaluation.metrics.Metric`).

    Their variants join the registry of decisions, their names those of ``repro metrics list``.

    Called when metrics are first used.
    """


@spec
def repro_splitters() -> Sequence[Splitter]:  # type: ignore[empty-body]
    """Declare splitters: a framework's own way to hold out rows, as ``split.strategy = "NAME"``.

    Called when decisions are first used; the parameters of a splitter become decisions ``split.NAME.PARAMETER``.
    """


@spec
def repro_exporters() -> Sequence[Exporter]:  # type: ignore[empty-body]
    """Declare exporters: a finished run written in another form (``repro.export``).

    Called when exporters are first used.
    """


@spec
def repro_journal_event(folder: Path, line: Mapping[str, Any]) -> None:
    """Observe the journal: called after each line is written, with the run folder and the line as plain data.

    An observer cannot change a run: after an error, which is a warning, it is not called again in that run.
    """
