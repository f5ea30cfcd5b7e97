"""Interactions: the container, its sources, and the filters of a study."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from repro.data.description import Description as Description
    from repro.data.description import describe as describe
    from repro.data.download import Fetched as Fetched
    from repro.data.download import get_dataset as get_dataset
    from repro.data.features import ItemFeatures as ItemFeatures
    from repro.data.features import features_from_frame as features_from_frame
    from repro.data.features import load_item_features as load_item_features
    from repro.data.filters import prepare as prepare
    from repro.data.identification import Identification as Identification
    from repro.data.identification import identify as identify
    from repro.data.impact import Impact as Impact
    from repro.data.interactions import Interactions as Interactions
    from repro.data.io.options import ReadOptions as ReadOptions
    from repro.data.io.tables import read_interactions as read_interactions
    from repro.data.load import load_dataset as load_dataset
    from repro.data.registry import Dataset as Dataset
    from repro.data.registry import Source as Source
    from repro.data.registry import data_folder as data_folder
    from repro.data.registry import dataset as dataset
    from repro.data.registry import datasets as datasets
    from repro.data.synthetic import synthetic_interactions as synthetic_interactions

# The public names of each module, imported at their first use: the container needs neither readers nor a compiler.
_MODULES = {
    "description": ("Description", "describe"),
    "download": ("Fetched", "get_dataset"),
    "features": ("ItemFeatures", "features_from_frame", "load_item_features"),
    "filters": ("prepare",),
    "identification": ("Identification", "identify"),
    "impact": ("Impact",),
    "interactions": ("Interactions",),
    "io.options": ("ReadOptions",),
    "io.tables": ("read_interactions",),
    "load": ("load_dataset",),
    "registry": ("Dataset", "Source", "data_folder", "dataset", "datasets"),
    "synthetic": ("synthetic_interactions",),
}
__all__ = sorted(name for names in _MODULES.values() for name in names)


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"repro.data.{module}"), name)
    raise AttributeError(f"module 'repro.data' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
