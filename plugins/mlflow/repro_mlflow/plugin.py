"""Observes the journal where MLflow's own variable says where runs are tracked, and does nothing otherwise.

Every run calls this file: MLflow is imported only where it is wanted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.errors import PluginError
from repro.plugin import impl

if TYPE_CHECKING:
    from repro_mlflow.tracking import Tracking

ADDRESS = "MLFLOW_TRACKING_URI"
EXPERIMENT = "MLFLOW_EXPERIMENT_NAME"
INSTALL = "pip install 'recsys-repro-mlflow[framework]'"


@impl
def repro_journal_event(folder: Path, line: Mapping[str, Any]) -> None:
    address = os.environ.get(ADDRESS)
    if not address:
        return
    if find_spec("mlflow") is None:
        raise PluginError(f"{ADDRESS} is set, and MLflow is not here: {INSTALL}, or unset it")
    _tracking(address, os.environ.get(EXPERIMENT) or "repro").observe(folder, line)


@cache
def _tracking(address: str, experiment: str) -> Tracking:
    from repro_mlflow.tracking import Tracking

    return Tracking(address, experiment)
