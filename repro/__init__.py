"""repro: recommender-system results that can be compared across toolkits."""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from repro.clashes import clash as _clash
from repro.current import Views, provide
from repro.version import __version__

if _problem := _clash():
    warnings.warn(_problem, stacklevel=2)

# Public names with the modules that define them. Modules are imported when first used, so that `import repro` is fast.
_PUBLIC = {
    "Claim": "repro.replications",
    "Interactions": "repro.data",
    "Matrix": "repro.data.memory",
    "Metric": "repro.catalogue",
    "Protocol": "repro.protocol",
    "ReproError": "repro.errors",
    "ReproWarning": "repro.errors",
    "Run": "repro.runs.run",
    "Study": "repro.study",
    "algorithms": "repro.catalogue",
    "audit": "repro.audits",
    "compare": "repro.runs.comparison",
    "curves": "repro.lists.curves",
    "datasets": "repro.catalogue",
    "decisions": "repro.catalogue",
    "diff": "repro.explanations",
    "doctor": "repro.machine",
    "evaluate": "repro.lists",
    "explain": "repro.explanations",
    "export": "repro.exports",
    "find_protocols": "repro.explanations",
    "load_dataset": "repro.data",
    "metrics": "repro.catalogue",
    "multiverse": "repro.explanations",
    "plugins": "repro.catalogue",
    "protocols": "repro.catalogue",
    "replay": "repro.verification",
    "replicate": "repro.replications",
    "report": "repro.reports",
    "review": "repro.reviews",
    "seal": "repro.verification",
    "study_metrics": "repro.metric_study",
    "verify": "repro.verification",
}
_PACKAGES = (
    "audits",
    "catalogue",
    "data",
    "definitions",
    "evaluation",
    "explanations",
    "exports",
    "lists",
    "metric_study",
    "models",
    "plugin",
    "protocol",
    "replications",
    "reports",
    "reviews",
    "runs",
    "stats",
    "study",
    "verification",
)

if TYPE_CHECKING:
    from repro import (
        audits,
        catalogue,
        data,
        definitions,
        evaluation,
        explanations,
        exports,
        lists,
        metric_study,
        models,
        plugin,
        protocol,
        replications,
        reports,
        reviews,
        runs,
        stats,
        study,
        verification,
    )
    from repro.audits import audit
    from repro.catalogue import Metric, algorithms, datasets, decisions, metrics, plugins, protocols
    from repro.data import Interactions, load_dataset
    from repro.data.memory import Matrix
    from repro.errors import ReproError, ReproWarning
    from repro.explanations import diff, explain, find_protocols, multiverse
    from repro.exports import export
    from repro.lists import evaluate
    from repro.lists.curves import curves
    from repro.machine import doctor
    from repro.metric_study import study_metrics
    from repro.protocol import Protocol
    from repro.replications import Claim, replicate
    from repro.reports import report
    from repro.reviews import review
    from repro.runs.comparison import compare
    from repro.runs.run import Run
    from repro.study import Study
    from repro.verification import replay, seal, verify

__all__ = [
    "Claim",
    "Interactions",
    "Matrix",
    "Metric",
    "Protocol",
    "ReproError",
    "ReproWarning",
    "Run",
    "Study",
    "__version__",
    "algorithms",
    "audit",
    "audits",
    "catalogue",
    "compare",
    "curves",
    "data",
    "datasets",
    "decisions",
    "definitions",
    "diff",
    "doctor",
    "evaluate",
    "evaluation",
    "explain",
    "explanations",
    "export",
    "exports",
    "find_protocols",
    "lists",
    "load_dataset",
    "metric_study",
    "metrics",
    "models",
    "multiverse",
    "plugin",
    "plugins",
    "protocol",
    "protocols",
    "replay",
    "replicate",
    "replications",
    "report",
    "reports",
    "review",
    "reviews",
    "runs",
    "seal",
    "stats",
    "study",
    "study_metrics",
    "verification",
    "verify",
]


def _application() -> object:
    """The default application, made when the first function needs decisions, metrics, data sets or plug-ins."""
    from repro.app import Application

    return Application()


def _views() -> Views:
    """Charts and reports, for the methods of results."""
    from repro.views import OF_RESULTS

    return OF_RESULTS


provide(_application, _views)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"repro.{name}")
    raise AttributeError(f"module 'repro' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
