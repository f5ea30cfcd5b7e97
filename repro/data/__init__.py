"""Interactions: the container, its sources, and the filters of a study."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# The module of each public name, imported at its first use: the container needs neither readers nor a compiler.
_PUBLIC = {
    "Dataset": "registry",
    "Description": "description",
    "Fetched": "download",
    "Impact": "impact",
    "Interactions": "interactions",
    "ItemFeatures": "features",
    "ReadOptions": "io.options",
    "Source": "registry",
    "data_folder": "registry",
    "dataset": "registry",
    "datasets": "registry",
    "describe": "description",
    "features_from_frame": "features",
    "get_dataset": "download",
    "load_dataset": "load",
    "load_item_features": "features",
    "prepare": "filters",
    "read_interactions": "io.tables",
    "synthetic_interactions": "synthetic",
}

if TYPE_CHECKING:
    from repro.data.description import Description, describe
    from repro.data.download import Fetched, get_dataset
    from repro.data.features import ItemFeatures, features_from_frame, load_item_features
    from repro.data.filters import prepare
    from repro.data.impact import Impact
    from repro.data.interactions import Interactions
    from repro.data.io.options import ReadOptions
    from repro.data.io.tables import read_interactions
    from repro.data.load import load_dataset
    from repro.data.registry import Dataset, Source, data_folder, dataset, datasets
    from repro.data.synthetic import synthetic_interactions

__all__ = [
    "Dataset",
    "Description",
    "Fetched",
    "Impact",
    "Interactions",
    "ItemFeatures",
    "ReadOptions",
    "Source",
    "data_folder",
    "dataset",
    "datasets",
    "describe",
    "features_from_frame",
    "get_dataset",
    "load_dataset",
    "load_item_features",
    "prepare",
    "read_interactions",
    "synthetic_interactions",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(f"repro.data.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'repro.data' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
