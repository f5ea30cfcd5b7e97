"""The inputs of an evaluation by role, from tables in memory, files or predictions of Surprise."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from repro.data import ItemFeatures, features_from_frame, load_item_features
from repro.data.interactions import IdArray
from repro.data.io.ids import Values
from repro.data.io.recommendations import (
    are_predictions,
    prediction_frame,
    read_recommendations,
    read_train,
    read_truth,
    score_states,
)
from repro.data.io.roles import RECOMMENDATIONS, TRUTH, TableKind
from repro.data.io.values import numbers_or_missing, plain_values
from repro.data.memory import Input, MemoryTable, read_memory
from repro.data.memory.tables import Target
from repro.errors import DataError, ProtocolError, nearest
from repro.protocol import Protocol

# A data frame, the path of a file, the name of a data set, or features that are already loaded.
Features = ItemFeatures | pd.DataFrame | str | os.PathLike[str]

READERS = {"recommendations": read_recommendations, "truth": read_truth, "train": read_train}
_KINDS: Mapping[str, TableKind] = {"recommendations": RECOMMENDATIONS, "truth": TRUTH, "train": TRUTH}
_ROLES = {
    "recommendations": ("user", "item", "score", "rank", "state", "rating"),
    "truth": ("user", "item", "rating", "timestamp"),
    "train": ("user", "item", "rating", "timestamp"),
}


def read_inputs(inputs: Mapping[str, Input | None], columns: Mapping[str, str] | None) -> dict[str, MemoryTable]:
    """The columns of each input that is not None.

    ``inputs`` are "recommendations", "truth", "train", and "previous ..." for earlier recommendations. Without truth,
    it is made of the ratings of predictions.
    """
    if inputs.get("recommendations") is None:
        raise DataError("recommendations are None; give a data frame with user, item and score, or a file")
    names = columns or {}
    require_known_columns(names)
    tables = {label: read_input(source, label, names) for label, source in inputs.items() if source is not None}
    if "truth" not in tables:
        tables["truth"] = _truth_of_predictions(tables["recommendations"])
    return tables


def read_input(source: Input, label: str, columns: Mapping[str, str]) -> MemoryTable:
    """The columns of one input."""
    kind = label if label in READERS else "recommendations"
    if isinstance(source, str | os.PathLike):
        frame = READERS[kind](source, columns_of(kind, columns))
        return MemoryTable({str(role): frame[role].to_numpy() for role in frame})
    if kind == "recommendations" and are_predictions(source):
        source = prediction_frame(source)

    def choose(names: Sequence[str]) -> Mapping[str, str]:
        return _KINDS[kind].choose(names, _stated(kind, columns, names), label)

    table = read_memory(source, Target(_KINDS[kind], label, choose))
    if (states := score_states(table.values)) is None:
        return table
    return MemoryTable({**table.values, "state": states}, table.sizes)


def _stated(kind: str, columns: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The names that are stated for the columns of an input; an empty one for a role that has none.

    A name for all inputs (``rating``) need not be in each of them, unless it is of a user, an item or the score.
    """
    required = ("user", "item", *(["score"] if kind == "recommendations" else []))
    stated = {}
    for role in _ROLES[kind]:
        if (name := columns.get(f"{kind}.{role}")) is not None:
            stated[role] = name
        elif (name := columns.get(role)) is not None:
            stated[role] = name if name in names or role in required else ""
    return stated


def columns_of(label: str, columns: Mapping[str, str]) -> dict[str, str]:
    """The names that are stated for the columns of a file."""
    return {
        role: columns.get(f"{label}.{role}", columns.get(role, role))
        for role in _ROLES[label]
        if role in columns or f"{label}.{role}" in columns
    }


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


def require_positions(tables: Mapping[str, MemoryTable], role: str, ids: IdArray) -> None:
    """Reject ids that are no positions, where those of an input are: positions match other ids by accident only."""
    counts = {label: table.sizes[role] for label, table in tables.items() if role in table.sizes}
    if not counts:
        return
    label, count = max(counts.items(), key=lambda counted: counted[1])
    others: Sequence[object] | IdArray
    hint = "state ids: dict(zip(users, lists)) for lists, repro.Matrix(matrix, users=..., items=...) for a matrix"
    if len(set(counts.values())) > 1:
        described = ", ".join(f"{name} {number:,}" for name, number in counts.items())
        raise DataError(f"{role}s are positions, and inputs have different numbers of {role}s ({described}); {hint}")
    if ids.dtype.kind == "i":
        others = ids[(ids < 0) | (ids >= count)]
    else:
        positions = set(map(str, range(count)))
        others = [id_ for id_ in ids if id_ not in positions]
    if len(others):
        raise DataError(
            f"the {role}s of {label} are positions from 0 to {count - 1:,}, and another input has the {role} "
            f"{str(others[0])!r}; {hint}"
        )


def _truth_of_predictions(recommendations: MemoryTable) -> MemoryTable:
    if "rating" not in recommendations.values:
        raise DataError(
            "there is no truth, and recommendations have no column 'rating' next to their predictions (as those of "
            "Surprise have); give the held-out rows as truth (on the command line, --truth)"
        )
    ratings = numbers_or_missing(recommendations.values["rating"], "rating", "recommendations")
    held_out = ~np.isnan(ratings)
    if not held_out.any():
        raise DataError("no prediction has a rating to compare it with; give the truth")
    ids: dict[str, Values] = {role: plain_values(recommendations.values[role])[held_out] for role in ("user", "item")}
    return MemoryTable({**ids, "rating": ratings[held_out]}, recommendations.sizes)


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
    frame: object = features.to_pandas() if hasattr(features, "to_pandas") else features  # type: ignore[operator]
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            f"features are of type {type(features).__name__}; give a data frame with a row for each item, the "
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
    return load_item_features(protocol.path(key)) if (key := "data.item_features") in protocol.files else None
