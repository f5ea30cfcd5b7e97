"""Features of items, such as genres or weights: from files, frames, or the files of a data set."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from repro.data.download import Progress, fetch
from repro.data.interactions import CodeArray, FloatArray, IdArray
from repro.data.io.feature_files import read_feature_table
from repro.data.io.formats import existing_file
from repro.data.io.ids import encode_ids
from repro.data.io.roles import ALIASES, find_alias, plain_name
from repro.data.registry import dataset, datasets
from repro.errors import DataError, nearest
from repro.extras import needed_for

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NO_TOKENS = ("", "(no genres listed)")
# Columns that name an item and do not describe it; they are features only if stated.
_LABELS = ("title", "name", "url")


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """Items by features: a weight for each, 0 where an item lacks the feature.

    ``item_ids`` ascend as in :class:`repro.data.Interactions`; ``names`` are those of the columns of ``weights``.
    """

    item_ids: IdArray
    names: tuple[str, ...]
    weights: csr_array

    def of_items(self, item_ids: IdArray) -> csr_array:
        """A row for each of these items, empty for an unknown one. 7 and "7" are the same item."""
        from scipy.sparse import csr_array

        known = {str(item): row for row, item in enumerate(self.item_ids.tolist())}
        rows = np.array([known.get(str(item), -1) for item in item_ids.tolist()], dtype=np.int64)
        has_row = np.flatnonzero(rows >= 0)
        selection = csr_array((np.ones(len(has_row)), (has_row, rows[has_row])), shape=(len(rows), len(self.item_ids)))
        return csr_array(selection @ self.weights)

    def to_frame(self) -> pd.DataFrame:
        """A row for each item, a column for each feature."""
        table = pd.DataFrame(self.weights.toarray(), columns=pd.Index(self.names))
        table.insert(0, "item", self.item_ids)
        return table

    @cached_property
    def digest(self) -> str:
        """SHA-256 of items, features and weights, whatever file they come from."""
        entries = self.weights.tocoo()
        items = [str(item) for item in self.item_ids[entries.coords[0]].tolist()]
        names = [self.names[column] for column in entries.coords[1].tolist()]
        lines = sorted(zip(items, names, (float(v).hex() for v in entries.data), strict=True))
        known = "\x1f".join(sorted(str(item) for item in self.item_ids.tolist()))
        content = "\x1e".join([known, *("\x1f".join(line) for line in lines)])
        return hashlib.sha256(content.encode()).hexdigest()

    def __repr__(self) -> str:
        return f"ItemFeatures({len(self.item_ids):,} items, {len(self.names):,} features)"


def load_item_features(
    name_or_path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    item: str | None = None,
    progress: Progress | None = None,
) -> ItemFeatures:
    """Features of items by the name of a data set that has them (``"ml-100k"``), or from a file.

    A file is one of RecBole's (``.item``), MovieLens' u.item, movies.dat or movies.csv, Parquet, or a table of text
    with a header. Each word of a text column is a feature that an item has (1) or lacks (0); words are separated by
    ``|``, in RecBole's ``token_seq`` by blanks. A column of numbers is a feature with that weight. An item may have
    several rows of words.

    ``columns`` are those to be used: by default all but the item and what is called a title, a name or a URL.
    ``item`` is the column of the items; common names are known.
    """
    name = os.fspath(name_or_path)
    if name in datasets() and not isinstance(name_or_path, Path):
        return _of_dataset(name, columns, progress)
    file = existing_file(name)
    return features_from_frame(read_feature_table(file), columns, item=item, label=str(file))


def _of_dataset(name: str, columns: Sequence[str] | None, progress: Progress | None) -> ItemFeatures:
    named_dataset = dataset(name)
    sources = tuple(
        replace(source, member=source.features, member_checksum="")
        for source in named_dataset.sources
        if source.features
    )
    if not sources:
        names = [other.name for other in datasets().values() if any(source.features for source in other.sources)]
        raise DataError(
            f"{name} has no features of its items; name a file of them (data sets with features: {', '.join(names)})"
        )
    fetched = fetch(replace(named_dataset, sources=sources), progress)
    stated = list(fetched.source.feature_columns) or None
    return features_from_frame(read_feature_table(fetched.path), columns or stated, label=str(fetched.path))


def features_from_frame(
    frame: pd.DataFrame, columns: Sequence[str] | None = None, *, item: str | None = None, label: str = "features"
) -> ItemFeatures:
    """Features from a frame with a row for each item; see :func:`load_item_features` for its columns.

    A cell may also be a list of words.
    """
    names = [str(name) for name in frame.columns]
    table = frame.set_axis(names, axis=1)
    key = _item_column(names, item, label)
    chosen = _feature_columns(names, key, columns, label)
    if not len(table):
        raise DataError(f"{label} has no rows: a file of features has a row for each item")
    codes, ids = encode_ids(table[key].to_numpy(), "item", label)
    entries = (_entries(table[name], name, codes, len(chosen) > 1, label) for name in chosen)
    rows, words, weights = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    with needed_for("a table of item features"):
        from scipy.sparse import csr_array

    places, features = pd.factorize(words, sort=True)
    _, first = np.unique(rows.astype(np.int64) * max(len(features), 1) + places, return_index=True)
    matrix = csr_array((weights[first], (rows[first], places[first])), shape=(len(ids), len(features)))
    return ItemFeatures(ids, tuple(str(feature) for feature in features), matrix)


def _item_column(names: Sequence[str], stated: str | None, label: str) -> str:
    if stated is not None:
        if stated not in names:
            raise DataError(f"{label} has no column '{stated}'; it has {', '.join(names)}{nearest(stated, names)}")
        return stated
    if name := find_alias(names, ALIASES["item"]):
        return name
    raise DataError(f"{label} has no column 'item'; it has {', '.join(names)}. State which one it is: item='...'")


def _feature_columns(names: Sequence[str], item: str, stated: Sequence[str] | None, label: str) -> list[str]:
    if isinstance(stated, str):
        stated = [stated]
    available = [name for name in names if name != item]
    for name in stated or ():
        if name not in available:
            raise DataError(f"{label} has no column '{name}'; it has {', '.join(available)}{nearest(name, available)}")
    chosen = list(stated or (name for name in available if not plain_name(name).endswith(_LABELS)))
    if not chosen:
        raise DataError(f"{label} has no column of features besides {item}; it has {', '.join(names)}")
    return chosen


def _entries(
    column: pd.Series, name: str, items: CodeArray, prefixed: bool, label: str
) -> tuple[CodeArray, np.ndarray[Any, np.dtype[np.object_]], FloatArray]:
    """Item, feature and weight of each entry of a column."""
    weights = _weights(column)
    if weights is not None:
        if len(np.unique(items)) < len(items):
            again = int(np.flatnonzero(pd.Series(items).duplicated())[0])
            raise DataError(
                f"{label}: the item of row {again + 1:,} has a row before, and {name} is a column of numbers; give "
                "each item one row"
            )
        nonzero = np.flatnonzero(weights)
        return items[nonzero], np.full(len(nonzero), name, dtype=object), weights[nonzero]
    words = [list(_words(cell)) for cell in column.tolist()]
    rows = np.repeat(items, [len(cell) for cell in words])
    texts = [f"{name}={word}" if prefixed else word for cell in words for word in cell]
    return rows, np.array(texts, dtype=object), np.ones(len(texts))


def _weights(column: pd.Series) -> FloatArray | None:
    """The numbers of a column, 0 for an empty cell; None for a column of words."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return None
    values = column.tolist()
    weights = np.zeros(len(values))
    for row, value in enumerate(values):
        if _is_empty(value):
            continue
        try:
            weights[row] = float(value)
        except (TypeError, ValueError):
            return None
        if not math.isfinite(weights[row]):
            return None
    return weights


def _is_empty(cell: object) -> bool:
    if isinstance(cell, str):
        return not cell.strip()
    return cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))


def _words(cell: object) -> Iterator[str]:
    if isinstance(cell, Iterable) and not isinstance(cell, str):
        parts = [str(part) for part in cell]
    else:
        parts = [] if _is_empty(cell) else str(cell).split("|")
    return (part.strip() for part in parts if part.strip() not in _NO_TOKENS)
