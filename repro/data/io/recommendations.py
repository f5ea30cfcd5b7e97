"""Recommendations, held-out rows and training rows from files, as data frames with the usual names of columns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.data.io.ids import Values, Where, encode_ids
from repro.data.io.options import ReadOptions
from repro.data.io.roles import RECOMMENDATIONS, SURPRISE_FIELDS, TRUTH
from repro.data.io.tables import read_table
from repro.data.io.values import interactions_from_columns, numbers_or_missing, plain_values

# In the text of a dictionary, as Python or JSON writes it; it is searched, never evaluated.
_IMPOSSIBLE = re.compile(r"""['"]was_impossible['"]\s*:\s*(?:np\.)?(true|1)\b""", re.IGNORECASE)
_TRUE = ("true", "1", "1.0", "yes")


def read_recommendations(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, format: str | None = None
) -> pd.DataFrame:
    """Recommendations from a file: ``user``, ``item``, and ``score`` or ``rank`` or both.

    ``format`` is a name in :data:`repro.data.io.formats.FORMATS`; by default, content and suffix of the file show it.
    ``columns`` has the names of columns, such as ``{"user": "userId"}``; common names are recognised, and a column of
    a table without a header is called by its position (``{"rank": "3"}``). Where the file has the information, there
    is a column ``state`` ("fallback" for the score of a framework that had no prediction), and ``rating``, the true
    rating of a prediction. Ids are whole numbers where all of them are, and text otherwise.

    Of a TREC run the score counts and its rank is not read, as in trec_eval.
    """
    table = read_table(path, RECOMMENDATIONS, ReadOptions(format=format, columns=columns))
    return _recommendation_frame(table.values, str(Path(path)), table.where)


def read_truth(
    path: str | os.PathLike[str], columns: Mapping[str, str] | None = None, format: str | None = None
) -> pd.DataFrame:
    """Held-out rows from a file: ``user``, ``item`` and, where the file has them, ``rating`` and ``timestamp``.

    As :func:`read_recommendations`; "trec" are qrels, and the rating of a prediction of Surprise is its ``r_ui``.
    """
    table = read_table(path, TRUTH, ReadOptions(format=format, columns=columns))
    return interactions_from_columns(table.values, str(Path(path)), where=table.where).to_frame()


read_train = read_truth  # training rows, in the order of the file


def are_predictions(source: object) -> TypeGuard[Sequence[Any]]:
    """Whether these are predictions of Surprise: a list of tuples with its fields. Surprise itself is not needed."""
    if not isinstance(source, Sequence) or isinstance(source, str | bytes) or not source:
        return False
    return all(hasattr(source[0], name) for name in SURPRISE_FIELDS)


def prediction_frame(predictions: Sequence[Any]) -> pd.DataFrame:
    """The predictions as a frame with the names of Surprise's fields."""
    return pd.DataFrame(
        {name: pd.Series([getattr(prediction, name) for prediction in predictions]) for name in SURPRISE_FIELDS}
    )


def _recommendation_frame(values: Mapping[str, Values], label: str, where: Where) -> pd.DataFrame:
    """The checked columns under their usual names."""
    table: dict[str, Values] = {}
    for role in ("user", "item"):
        codes, ids = encode_ids(values[role], role, label, where)
        table[role] = ids[codes]
    for role in ("score", "rank", "rating"):
        if role in values:
            table[role] = numbers_or_missing(values[role], role, label, where)
    if (states := score_states(values)) is not None:
        table["state"] = states
    return pd.DataFrame(table)


def score_states(values: Mapping[str, Values]) -> npt.NDArray[Any] | None:
    """The state of each score by a column that says so, or by what Surprise says of its predictions; None without."""
    if "state" in values:
        return plain_values(values["state"])
    if "details" in values:
        return _states(plain_values(values["details"]), lambda text: bool(_IMPOSSIBLE.search(text)))
    if "was_impossible" in values:
        return _states(plain_values(values["was_impossible"]), lambda text: text.strip().lower() in _TRUE)
    return None


def _states(cells: Iterable[object], is_fallback: Callable[[str], bool]) -> npt.NDArray[Any]:
    """Whether each score is a fallback; each text is examined once, however many rows have it."""
    codes, distinct = pd.factorize(np.array([str(cell) for cell in cells], dtype=object))
    return np.array(["fallback" if is_fallback(text) else "scored" for text in distinct], dtype=object)[codes]
