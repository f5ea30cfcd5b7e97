"""What some metrics want beside lists and truth: the lists of earlier times, and features of the items."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from repro.data import ItemFeatures, features_from_frame, load_item_features
from repro.data.io.surprise import are_predictions
from repro.errors import DataError, ProtocolError
from repro.evaluate.inputs import Given, column_name, given_frames
from repro.protocol import Protocol

# A data frame, the path of a file, the name of a data set, or features that were loaded.
Features = ItemFeatures | pd.DataFrame | str | os.PathLike[str]

_LISTED = ("user", "item", "score", "rank", "state")


def given_earlier(
    previous: Given | Sequence[Given], truth: pd.DataFrame, columns: Mapping[str, str] | None
) -> Iterator[tuple[str, pd.DataFrame, dict[str, str]]]:
    """A label for each time, its frame, and what its columns are called; they are read like recommendations."""
    for place, one in enumerate(_several(previous), start=1):
        label = f"previous {place}"
        frames, names = given_frames({"recommendations": one, "truth": truth}, columns)
        called = {f"{label}.{role}": column_name(role, "recommendations", names) for role in _LISTED}
        yield label, frames["recommendations"], called


def _several(previous: Given | Sequence[Given]) -> Sequence[Given]:
    if isinstance(previous, list | tuple) and not are_predictions(previous):
        return previous
    return [previous]


def given_features(features: Features, columns: Mapping[str, str] | None = None) -> ItemFeatures:
    """The features, wherever they are."""
    if isinstance(features, ItemFeatures):
        return features
    if isinstance(features, str | os.PathLike):
        return load_item_features(features)
    frame = features
    if not isinstance(frame, pd.DataFrame) and hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            f"features are of type {type(features).__name__}; give a pandas DataFrame with a row for each item, the "
            "path of a file, or the name of a data set"
        )
    item = (columns or {}).get("item")
    return features_from_frame(frame, item=item if item in frame.columns else None)


def stated_features(protocol: Protocol) -> ItemFeatures | None:
    """The features that the protocol names a file of."""
    if protocol["data.item_features"] == "dataset":
        raise ProtocolError(
            'data.item_features = "dataset" asks for the features of the data set of a study; give them as '
            'features= here, such as features="ml-100k"'
        )
    return load_item_features(path) if (path := protocol.files.get("data.item_features")) else None
