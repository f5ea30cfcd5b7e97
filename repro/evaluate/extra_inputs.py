"""Inputs of some metrics besides lists and truth: earlier recommendations, and features of the items."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import pandas as pd

from repro.data import ItemFeatures, features_from_frame, load_item_features
from repro.data.io.surprise import are_predictions
from repro.errors import DataError, ProtocolError
from repro.evaluate.inputs import Input, as_frame
from repro.protocol import Protocol

# A data frame, the path of a file, the name of a data set, or features that are already loaded.
Features = ItemFeatures | pd.DataFrame | str | os.PathLike[str]


def previous_inputs(previous: Input | Sequence[Input]) -> dict[str, Input]:
    """Each of the earlier recommendations under a label."""
    several = isinstance(previous, list | tuple) and not are_predictions(previous)
    sources: Sequence[Input] = previous if several else [previous]  # type: ignore[assignment]
    return {f"previous {number}": source for number, source in enumerate(sources, start=1)}


def read_features(features: Features, columns: Mapping[str, str] | None = None) -> ItemFeatures:
    """The features of items from any source."""
    if isinstance(features, ItemFeatures):
        return features
    if isinstance(features, str | os.PathLike):
        return load_item_features(features)
    frame = as_frame(features)
    if frame is None:
        raise DataError(
            f"features are of type {type(features).__name__}; give a pandas DataFrame with a row for each item, the "
            "path of a file, or the name of a data set"
        )
    item = (columns or {}).get("item")
    return features_from_frame(frame, item=item if item in frame.columns else None)


def protocol_features(protocol: Protocol) -> ItemFeatures | None:
    """The features in the file that a protocol names."""
    if protocol["data.item_features"] == "dataset":
        raise ProtocolError(
            'data.item_features = "dataset" asks for the features of the data set of a study; give them as '
            'features= here, such as features="ml-100k"'
        )
    return load_item_features(path) if (path := protocol.files.get("data.item_features")) else None
