"""repro: recommender-system results that can be compared across toolkits."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from repro.current import provide
from repro.version import __version__

# The modules of public names. They and public packages are imported when first used, so that `import repro` is fast.
_PUBLIC = {
    "Interactions": "repro.data",
    "Protocol": "repro.protocol",
    "ReproError": "repro.errors",
    "ReproWarning": "repro.errors",
    "Run": "repro.runs.run",
    "Study": "repro.study",
    "curves": "repro.evaluate.curves",
    "evaluate": "repro.evaluate",
    "export_run": "repro.export",
    "load_dataset": "repro.data",
    "write_report": "repro.report",
}

if TYPE_CHECKING:
    from repro import audit, data, evaluation, explain, plugin, protocol, replicate, report, stats, study, verify
    from repro.data import Interactions, load_dataset
    from repro.errors import ReproError, ReproWarning
    from repro.evaluate import evaluate
    from repro.evaluate.curves import curves
    from repro.export import export_run
    from repro.protocol import Protocol
    from repro.report import write_report
    from repro.runs.run import Run
    from repro.study import Study

__all__ = [
    "Interactions",
    "Protocol",
    "ReproError",
    "ReproWarning",
    "Run",
    "Study",
    "__version__",
    "audit",
    "curves",
    "data",
    "evaluate",
    "evaluation",
    "explain",
    "export_run",
    "load_dataset",
    "plugin",
    "protocol",
    "replicate",
    "report",
    "stats",
    "study",
    "verify",
    "write_report",
]


def _application() -> object:
    """The default application, made when the first function needs decisions, metrics, data sets or plug-ins."""
    from repro.app import Application

    return Application()


provide(_application)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in __all__:  # a package, used as in ``repro.audit.infer``
        return importlib.import_module(f"repro.{name}")
    raise AttributeError(f"module 'repro' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
