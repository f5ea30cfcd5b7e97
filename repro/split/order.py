"""The order of rows: the last ones of an order are held out.

A random order is the order of the rows' keys, which are hashes of the seed, the purpose and the external ids:
the same rows are held out whatever the order in which they are stored.
"""

from __future__ import annotations

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import Interactions, RowArray
from repro.protocol import Protocol
from repro.rng import KeyArray, child_keys
from repro.split.plan import TEST, TRAIN, VALIDATION, PartArray, Times, draws, timestamps_for
from repro.split.share import CountArray
from repro.split.sorting import Column, Groups, sorted_rows


def row_keys(interactions: Interactions, key: np.uint64) -> KeyArray:
    """The stream of each row: child of ``key`` by its user and item."""
    return child_keys(key, interactions.user_keys[interactions.users], interactions.item_keys[interactions.items])


def random_order(interactions: Interactions, key: np.uint64, groups: Groups | None = None) -> RowArray:
    """The rows by group (where there are groups), at random within it.

    Several rows of one pair have one key: their content decides then, not where they are stored.
    """
    content: list[Column] = [interactions.items, interactions.users, interactions.ratings]
    if interactions.timestamps is not None:
        content.insert(0, interactions.timestamps)
    return sorted_rows([row_keys(interactions, key), *content], groups)


def holdout_order(
    interactions: Interactions,
    protocol: Protocol,
    key: np.uint64,
    groups: Groups | None = None,
    decision: str = "split.order",
) -> RowArray:
    """The rows by group, and in it at random or by time, as ``decision`` says: the last ones are held out.

    ``split.equal_times`` orders rows of equal time.
    """
    if protocol[decision] != "time":
        return random_order(interactions, key, groups)
    columns: list[Column] = [timestamps_for(interactions, protocol, decision)]
    match protocol["split.equal_times"]:
        case "item-asc":
            columns += [interactions.items, interactions.users]
        case "random":
            columns.append(row_keys(interactions, key))
        case "source":
            pass  # rows that are equal so far stay as they are stored
    return sorted_rows(columns, groups)


def hold_out_last(
    order: RowArray, test: CountArray, validation: CountArray | None = None, groups: Groups | None = None
) -> PartArray:
    """The last ``test[g]`` rows of each group to the test, the ``validation[g]`` before them to validation.

    ``order`` has the rows by group, ``groups`` the group of each row; without groups, all rows are in one. Rows that
    are not in the order stay in training.
    """
    if groups is None:
        groups = np.zeros(len(order), dtype=np.int8)
    parts = np.full(len(groups), TRAIN)
    in_order = groups[order]
    ends = np.cumsum(np.bincount(in_order, minlength=len(test)))
    from_end = ends[in_order] - np.arange(len(order))  # 1 for the last row of a group
    if validation is not None:
        parts[order[from_end <= (test + validation)[in_order]]] = VALIDATION
    parts[order[from_end <= test[in_order]]] = TEST
    return parts


def draw_folds(
    interactions: Interactions,
    protocol: Protocol,
    seed: int,
    test: CountArray,
    validation: CountArray | None = None,
    groups: Groups | None = None,
) -> tuple[list[PartArray], list[Impact]]:
    """The parts of each draw, ordered by ``split.order``, and for how many borders between parts a tie rule decides."""
    folds, impacts = [], []
    for key in draws(protocol, seed):
        order = holdout_order(interactions, protocol, key, groups)
        parts = hold_out_last(order, test, validation, groups)
        folds.append(parts)
        if protocol["split.order"] == "time":
            times = timestamps_for(interactions, protocol, "split.order")
            impacts.append(tied_borders_impact(protocol, *tied_borders(times, order, parts, groups)))
    return folds, impacts


def tied_borders(times: Times, order: RowArray, parts: PartArray, groups: Groups | None = None) -> tuple[int, int]:
    """The number of times that the order goes from part to part in a group: between rows of equal time, and at all."""
    before, after = order[:-1], order[1:]
    border = parts[before] != parts[after]
    if groups is not None:
        border &= groups[before] == groups[after]
    tied = border & (times[before] == times[after])
    return int(tied.sum()), int(border.sum())


def tied_borders_impact(protocol: Protocol, tied: int, borders: int) -> Impact:
    unit, note = "borders between parts", "lie between rows of equal time"
    return Impact.of(protocol, "split.equal_times", tied, borders, unit, note)
