"""Averages and values of users, from the tables that cells stored; also over all folds together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from repro.data.interactions import IdArray
from repro.data.io.parquet import read_parquet
from repro.evaluation.metrics import (
    Averaged,
    ListOwners,
    Measure,
    Predictions,
    Ratio,
    average,
    average_predictions,
    has_tie_interval,
    spoils,
    with_rows,
)
from repro.evaluation.stages import TIE_ORDERS
from repro.protocol import Protocol

if TYPE_CHECKING:
    from repro.runs.folder import RunFolder
    from repro.runs.journal import events

Part = TypeVar("Part")

_LIST_COLUMNS = ("user", "stratum", "length")
_PREDICTION_COLUMNS = ("user", "item", "rating", "resolved", "own")


@dataclass(frozen=True)
class FinishedCells:
    """The finished cells of a run.

    folder      where their tables are stored
    finished    the events of the cells, by algorithm and fold
    frameworks  the framework of each algorithm of the study, by label
    folds       the names of all folds
    """

    folder: RunFolder
    finished: Mapping[str, events.CellFinished]
    frameworks: Mapping[str, str]
    folds: Sequence[str]

    def of(self, label: str) -> dict[str, events.CellFinished]:
        """The finished cells of an algorithm, by fold."""
        return {fold: self.finished[cell] for fold in self.folds if (cell := f"{label}/{fold}") in self.finished}

    def tables(self, label: str) -> list[dict[str, Path]]:
        """The paths of the tables of each cell of an algorithm."""
        return [
            {name: self.folder.artifact(digest) for name, digest in cell.artifacts.items()}
            for cell in self.of(label).values()
        ]


def pooled_value(
    measure: Measure, cells: Sequence[Mapping[str, Path]], protocol: Protocol, scale: tuple[float, float]
) -> tuple[float, int] | None:
    """The value of ``measure`` over the users (lists, pairs) of all cells, and how many users are in it, each once;
    ``cells`` are the paths of their tables, ``scale`` is the rating scale.

    None where nothing can be pooled: a number about all lists together belongs to one fold, and an algorithm that does
    not predict ratings has none.
    """
    if measure.parts:
        values = _all_known([pooled_value(part, cells, protocol, scale) for part in measure.parts])
        if values is None:
            return None
        return _joined(measure, (value for value, _ in values)), min(users for _, users in values)
    stored = stored_average(measure, cells, protocol, scale)
    return None if stored is None else (stored[0].value, stored[0].users_counted)


def pooled_interval(
    measure: Measure, cells: Sequence[Mapping[str, Path]], protocol: Protocol
) -> tuple[float, float] | None:
    """The lowest and highest pooled value over all orders of tied items; None where they are unknown."""
    if measure.parts:
        intervals = _all_known([pooled_interval(part, cells, protocol) for part in measure.parts])
        if intervals is None:
            return None
        return _joined(measure, (low for low, _ in intervals)), _joined(measure, (high for _, high in intervals))
    if not has_tie_interval(measure):
        return None
    averages = _all_known([stored_average(measure, cells, protocol, (0.0, 1.0), order) for order in TIE_ORDERS])
    extremes = [averaged.value for averaged, _ in averages or ()]
    return (min(extremes), max(extremes)) if extremes else None


def _all_known(parts: list[Part | None]) -> list[Part] | None:
    """The parts; None where one of them is unknown."""
    known = [part for part in parts if part is not None]
    return known if len(known) == len(parts) else None


def _joined(measure: Measure, values: Iterable[float]) -> float:
    return measure.combined(list(values))


def user_values(
    measure: Measure, cells: Sequence[Mapping[str, Path]], protocol: Protocol, scale: tuple[float, float]
) -> pd.DataFrame | None:
    """The users of all cells of an algorithm with their values, each user once, in ascending order.

    A user of several cells has the mean of the values. None where the measure is not defined on one of the cells.
    """
    averages = _all_known([stored_average(measure, [cell], protocol, scale) for cell in cells])
    if averages is None:
        return None
    folds = [pd.DataFrame({"user": ids[averaged.users], "value": averaged.values}) for averaged, ids in averages]
    if len(folds) == 1:
        return folds[0]
    rows = pd.concat(folds, ignore_index=True)
    codes, ids = pd.factorize(rows["user"].to_numpy(), sort=True)
    # The sums are in the order of the folds, whatever the order in which they were computed; NaN makes a mean NaN.
    sums = np.bincount(codes, weights=rows["value"].to_numpy(), minlength=len(ids))
    return pd.DataFrame({"user": ids, "value": sums / np.bincount(codes, minlength=len(ids))})


def stored_average(
    measure: Measure,
    cells: Sequence[Mapping[str, Path]],
    protocol: Protocol,
    scale: tuple[float, float],
    order: str | None = None,
) -> tuple[Averaged, IdArray] | None:
    """The average over the users (lists, pairs) of all cells, and the ids of the users by their codes in it.

    None where the cells stored nothing to average; ``measure`` has no parts. ``order``, one of TIE_ORDERS, replaces the
    tie rule of the protocol.
    """
    kind = measure.metric.kind
    name = {"ranking": "values", "prediction": "predictions"}.get(kind)
    if name is None or not all(name in cell for cell in cells):
        return None
    stored = _PREDICTION_COLUMNS if kind == "prediction" else (*_LIST_COLUMNS, *_ratio_columns(measure.full_name))
    tables = [read_parquet(cell[name], stored) for cell in cells]
    # A fold without lists or pairs has columns without a type.
    table = pa.concat_tables(tables, promote_options="default")
    unlisted = [read_parquet(cell["unlisted"])["user"].to_numpy() for cell in cells if "unlisted" in cell]
    listed = [table["user"].to_numpy()] if len(table) else []
    codes, ids = pd.factorize(np.concatenate([*listed, *unlisted]) if listed or unlisted else np.empty(0), sort=True)
    users = codes.astype(np.int32)
    if kind == "ranking":
        ratio = _stored_ratio(table, measure.full_name)
        if order is not None:
            ratio = _in_order(ratio, cells, [len(rows) for rows in tables], f"{measure.full_name} {order}")
        listed_users, unlisted_users = np.split(users, [len(table)])
        empty = table["length"].to_numpy() == 0
        owners = ListOwners(listed_users, table["stratum"].to_numpy(), empty, unlisted_users)
        return average(measure, ratio, owners, protocol), ids
    users = users[: len(table)]
    items = pd.factorize(table["item"].to_numpy(), sort=True)[0].astype(np.int32)
    predictions = Predictions(
        users,
        items,
        table["rating"].to_numpy(),
        table["resolved"].to_numpy(),
        table["own"].to_numpy(),
        scale,
        spoils=spoils(protocol),
    )
    return average_predictions(measure, predictions), ids


def _ratio_columns(name: str) -> tuple[str, str]:
    return f"{name} numerator", f"{name} denominator"


def _stored_ratio(table: pa.Table, name: str) -> Ratio:
    return Ratio(*(table[column].to_numpy() for column in _ratio_columns(name)))


def _in_order(ratio: Ratio, cells: Sequence[Mapping[str, Path]], lists: Sequence[int], name: str) -> Ratio:
    """The numbers of all lists of the cells, one cell after the other, with tied items in another order.

    ``lists`` are the numbers of lists of the cells.
    """
    start = 0
    for cell, count in zip(cells, lists, strict=True):
        if "tied_values" in cell:
            tied = read_parquet(cell["tied_values"], ("row", *_ratio_columns(name)))
            ratio = with_rows(ratio, tied["row"].to_numpy() + start, _stored_ratio(tied, name))
        start += count
    return ratio
