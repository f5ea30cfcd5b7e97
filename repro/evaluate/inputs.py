"""What people have in hand, as frames: data frames, the paths of files, predictions of Surprise."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from repro.data.io.recommendations import (
    read_recommendations,
    read_train,
    read_truth,
    recommendations_from_frame,
    truth_of_recommendations,
)
from repro.data.io.surprise import FIELDS, are_predictions, prediction_frame
from repro.errors import DataError, nearest

# A data frame (of pandas, or what has `to_pandas`), the path of a file, or a list of Surprise's predictions.
Given = pd.DataFrame | str | os.PathLike[str] | Sequence[Any]

LABELS = ("recommendations", "truth", "train")
READERS = {"recommendations": read_recommendations, "truth": read_truth, "train": read_train}
_ROLES = {
    "recommendations": ("user", "item", "score", "rank", "state", "rating"),
    "truth": ("user", "item", "rating", "timestamp"),
    "train": ("user", "item", "rating", "timestamp"),
}


def given_frames(
    given: Mapping[str, Given | None], columns: Mapping[str, str] | None
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """The frames by label, and what their columns are called (see :func:`column_name`).

    Without ``truth``, it is made of the ratings that come with predictions. What is None is left out.
    """
    if given.get("recommendations") is None:
        raise DataError("recommendations are None; give a pandas DataFrame with user, item and score, or a file")
    names = dict(columns or {})
    require_known_columns(names)
    frames: dict[str, pd.DataFrame] = {}
    for label, one in given.items():
        if one is None:
            continue
        frame = _table(one)
        if frame is None:
            frames[label] = _read(one, label, names)
            names |= _usual_names(label)
        elif label == "recommendations" and not names and set(FIELDS[:4]) <= set(frame.columns):
            frames[label] = recommendations_from_frame(frame, label)
            names |= _usual_names(label)
        else:
            frames[label] = _with_single_names(_without_index(frame, label, names), label)
    if "truth" not in frames:
        frames["truth"] = _truth_beside(frames["recommendations"], names)
        names |= _usual_names("truth")
    return frames, names


def _usual_names(label: str) -> dict[str, str]:
    """What was read has the names that columns have everywhere, whatever they are called in the source."""
    return {f"{label}.{role}": role for role in _ROLES[label]}


def column_name(role: str, label: str, columns: Mapping[str, str]) -> str:
    """What the column is called in that frame: as stated for it, ``truth.user``, for all of them, ``user``, or so."""
    return columns.get(f"{label}.{role}", columns.get(role, role))


def columns_of(label: str, columns: Mapping[str, str]) -> dict[str, str]:
    """The names that are stated for the columns of a file."""
    known = [role for role in _ROLES[label] if role in columns or f"{label}.{role}" in columns]
    return {role: column_name(role, label, columns) for role in known}


def _table(given: Given) -> pd.DataFrame | None:
    """The frame of pandas that this is, or that polars or Arrow make of theirs."""
    if isinstance(given, pd.DataFrame):
        return given
    return given.to_pandas() if hasattr(given, "to_pandas") else None


def _read(given: Given, label: str, columns: Mapping[str, str]) -> pd.DataFrame:
    if isinstance(given, str | os.PathLike):
        return READERS[label](given, columns_of(label, columns))
    if label == "recommendations" and are_predictions(given):
        return recommendations_from_frame(prediction_frame(given), label)
    raise DataError(
        f"{label} is of type {type(given).__name__}; give a pandas DataFrame or the path of a file"
        + (", or a list of Surprise's predictions" if label == "recommendations" else "")
    )


def _without_index(frame: pd.DataFrame, label: str, columns: Mapping[str, str]) -> pd.DataFrame:
    """A user or item in the index, where grouping by it leaves it, is as good as in a column."""
    wanted = {column_name(role, label, columns) for role in ("user", "item")}
    levels = [name for name in frame.index.names if name in wanted and name not in frame.columns]
    return frame.reset_index(level=levels) if levels else frame


def _with_single_names(frame: pd.DataFrame, label: str) -> pd.DataFrame:
    if not frame.columns.is_unique:
        again = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{label} has two columns called '{again}'; rename or drop one of them")
    return frame


def _truth_beside(recommendations: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    names = {column_name(role, "recommendations", columns): role for role in ("user", "item", "rating")}
    if not set(names) <= set(recommendations.columns):
        raise DataError(
            "truth is not given, and recommendations have no column 'rating' beside their predictions (as those of "
            "Surprise have); give the held-out rows as truth (on the command line, --truth)"
        )
    return truth_of_recommendations(recommendations[list(names)].rename(columns=names))


def require_known_columns(columns: Mapping[str, str]) -> None:
    """Refuse names for columns that no frame has."""
    for key in columns:
        label, _, role = key.rpartition(".")
        known = _ROLES.get(label, ()) if label else {role for roles in _ROLES.values() for role in roles}
        if role not in known:
            every = sorted({role for roles in _ROLES.values() for role in roles})
            raise DataError(
                f"columns: there is no '{key}'{nearest(role, every)} There are {', '.join(every)}; for one of the "
                f"frames alone, such as truth.user (the frames are {', '.join(LABELS)})"
            )
