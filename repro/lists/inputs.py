"""The inputs of an evaluation by role, from data frames, files or predictions of Surprise."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from repro.data import ItemFeatures, features_from_frame, load_item_features
from repro.data.io.recommendations import (
    are_predictions,
    prediction_frame,
    read_recommendations,
    read_train,
    read_truth,
    recommendations_from_frame,
    truth_of_recommendations,
)
from repro.data.io.roles import SURPRISE_FIELDS
from repro.errors import DataError, ProtocolError, nearest
from repro.protocol import Protocol

# A data frame (of pandas, or with a method `to_pandas`), the path of a file, or a list of Surprise's predictions.
Input = pd.DataFrame | str | os.PathLike[str] | Sequence[Any]
# A data frame, the path of a file, the name of a data set, or features that are already loaded.
Features = ItemFeatures | pd.DataFrame | str | os.PathLike[str]
# The columns of an input by role, such as "user" and "score".
InputColumns = dict[str, pd.Series]

READERS = {"recommendations": read_recommendations, "truth": read_truth, "train": read_train}
_ROLES = {
    "recommendations": ("user", "item", "score", "rank", "state", "rating"),
    "truth": ("user", "item", "rating", "timestamp"),
    "train": ("user", "item", "rating", "timestamp"),
}


def read_inputs(inputs: Mapping[str, Input | None], columns: Mapping[str, str] | None) -> dict[str, InputColumns]:
    """The columns of each input that is not None.

    ``inputs`` are "recommendations", "truth", "train", and "previous ..." for earlier recommendations. Without truth,
    it is made of the ratings of predictions.
    """
    if inputs.get("recommendations") is None:
        raise DataError("recommendations are None; give a pandas DataFrame with user, item and score, or a file")
    names = columns or {}
    require_known_columns(names)
    tables = {label: read_input(source, label, names) for label, source in inputs.items() if source is not None}
    if "truth" not in tables:
        tables["truth"] = _truth_of_predictions(tables["recommendations"])
    return tables


def read_input(source: Input, label: str, columns: Mapping[str, str]) -> InputColumns:
    """The columns of one input."""
    kind = label if label in READERS else "recommendations"
    frame = as_frame(source)
    if frame is None:
        return dict(_read(source, kind, columns).items())  # type: ignore[arg-type]
    if kind == "recommendations" and not columns and set(SURPRISE_FIELDS[:4]) <= set(frame.columns):
        return dict(recommendations_from_frame(frame, label).items())  # type: ignore[arg-type]
    if not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{label} has two columns called '{name}'; rename or drop one of them")
    return _columns_of_frame(frame, kind, label, columns)


def as_frame(source: object) -> pd.DataFrame | None:
    """A pandas frame, also of a polars or Arrow table; None where the source is something else."""
    if isinstance(source, pd.DataFrame):
        return source
    return source.to_pandas() if hasattr(source, "to_pandas") else None


def columns_of(label: str, columns: Mapping[str, str]) -> dict[str, str]:
    """The names that are stated for the columns of a file."""
    stated = [role for role in _ROLES[label] if role in columns or f"{label}.{role}" in columns]
    return {role: _column_name(role, label, columns) for role in stated}


def require_known_columns(columns: Mapping[str, str]) -> None:
    """Reject names for columns that no input has."""
    for key in columns:
        label, _, role = key.rpartition(".")
        known = _ROLES.get(label, ()) if label else {role for roles in _ROLES.values() for role in roles}
        if role not in known:
            every = sorted({role for roles in _ROLES.values() for role in roles})
            raise DataError(
                f"columns: there is no '{key}'{nearest(role, every)} There are {', '.join(every)}; for one of the "
                f"frames alone, such as truth.user (the frames are {', '.join(READERS)})"
            )


def _column_name(role: str, kind: str, columns: Mapping[str, str]) -> str:
    """The name that is stated for one input (``truth.user``), for all of them (``user``), or the role itself."""
    return columns.get(f"{kind}.{role}", columns.get(role, role))


def _read(source: Input, kind: str, columns: Mapping[str, str]) -> pd.DataFrame:
    if isinstance(source, str | os.PathLike):
        return READERS[kind](source, columns_of(kind, columns))
    if kind == "recommendations" and are_predictions(source):
        return recommendations_from_frame(prediction_frame(source), kind)
    raise DataError(
        f"{kind} is of type {type(source).__name__}; give a pandas DataFrame or the path of a file"
        + (", or a list of Surprise's predictions" if kind == "recommendations" else "")
    )


def _columns_of_frame(frame: pd.DataFrame, kind: str, label: str, columns: Mapping[str, str]) -> InputColumns:
    """The columns of a frame by role; users and items may also be in its index, where grouping leaves them."""
    names = {role: _column_name(role, kind, columns) for role in _ROLES[kind]}
    levels = [name for name in frame.index.names if name in (names["user"], names["item"]) and name not in frame]
    frame = frame.reset_index(level=levels) if levels else frame
    required = {"user", "item", *(role for role in names if columns.get(f"{kind}.{role}", role) != role)}
    if kind == "recommendations" and "score" in columns:
        required.add("score")
    for role, name in names.items():
        if role in required and name not in frame:
            available = [str(column) for column in frame.columns]
            raise DataError(
                f"{label} has no column '{name}'; it has {', '.join(available) or 'none'}{nearest(name, available)} "
                f'State other names: columns={{"{role}": "..."}}, or {{"{kind}.{role}": "..."}} for {label} alone'
            )
    if kind == "recommendations" and names["score"] not in frame and names["rank"] not in frame:
        raise DataError(
            f"{label} have neither a column 'score' nor 'rank'; they have {', '.join(map(str, frame.columns))}"
        )
    return {role: frame[name] for role, name in names.items() if name in frame}


def _truth_of_predictions(recommendations: InputColumns) -> InputColumns:
    if "rating" not in recommendations:
        raise DataError(
            "there is no truth, and recommendations have no column 'rating' next to their predictions (as those of "
            "Surprise have); give the held-out rows as truth (on the command line, --truth)"
        )
    rated = pd.DataFrame({role: recommendations[role] for role in ("user", "item", "rating")})
    return dict(truth_of_recommendations(rated).items())  # type: ignore[arg-type]


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
