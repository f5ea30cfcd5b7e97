"""In which order rows are kept: the last ones of an order are held out.

A random order is the order of the rows' keys, which are hashes of the seed, the purpose and the external ids:
the same rows are held out whatever the order in which they are stored.
"""

from __future__ import annotations

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import Interactions, RowArray
from repro.protocol import Protocol
from repro.rng import KeyArray, child_keys
from repro.split.plan import TEST, TRAIN, VALIDATION, PartArray, Times, timestamps_for
from repro.split.share import CountArray
from repro.split.sorting import Column, Groups, sorted_rows


def row_keys(interactions: Interactions, key: np.uint64) -> KeyArray:
    """The stream of each row: child of ``key`` by its user and item."""
    return child_keys(key, interactions.user_keys[interactions.users], interactions.item_keys[interactions.items])


def random_order(interactions: Interactions, key: np.uint64, groups: Groups | None = None) -> RowArray:
    """The rows by group (where there are groups), at random within it.

    Several rows of one pair have one key: what they hold decides then, not where they are stored.
    """
    content: list[Column] = [interactions.items, interactions.users, interactions.ratings]
    if interactions.timestamps is not None:
        content.insert(0, interactions.timestamps)
    return sorted_rows([row_keys(interactions, key), *content], groups)


def time_order(
    interactions: Interactions,
    protocol: Protocol,
    key: np.uint64,
    groups: Groups | None = None,
    decision: str = "split.order",
) -> RowArray:
    """The rows by group, earliest first, as ``decision`` asks; those of equal time as ``split.equal_times`` has it."""
    columns: list[Column] = [timestamps_for(interactions, protocol, decision)]
    match protocol.text("split.equal_times"):
        case "item-asc":
            columns += [interactions.items, interactions.users]
        case "random":
            columns.append(row_keys(interactions, key))
        case "source":
            pass  # rows that are equal so far stay as they are stored
    return sorted_rows(columns, groups)


def kept_order(
    interactions: Interactions,
    protocol: Protocol,
    key: np.uint64,
    groups: Groups | None = None,
    decision: str = "split.order",
) -> RowArray:
    """The rows by group, and in it by time or at random, as ``decision`` has it: what comes last is held out."""
    if protocol.text(decision) == "time":
        return time_order(interactions, protocol, key, groups, decision)
    return random_order(interactions, key, groups)


def hold_out_last(
    order: RowArray,
    test: CountArray,
    validation: CountArray | None = None,
    groups: Groups | None = None,
) -> PartArray:
    """The last ``test[g]`` rows of each group to the test, the ``validation[g]`` before them to validation.

    ``order`` has the rows by group, ``groups`` the group of each row; without groups, all rows are one. Rows that are
    not in the order stay where they are.
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


def equal_times_impact(
    interactions: Interactions,
    protocol: Protocol,
    order: RowArray,
    parts: PartArray,
    groups: Groups | None = None,
) -> list[Impact]:
    """At how many borders between parts the rows on both sides have equal times, so that the rule decides."""
    if protocol.text("split.order") != "time":
        return []
    times = timestamps_for(interactions, protocol, "split.order")
    tied, borders = tied_borders(times, order, parts, groups)
    return [tied_borders_impact(protocol, tied, borders)]


def tied_borders(times: Times, order: RowArray, parts: PartArray, groups: Groups | None = None) -> tuple[int, int]:
    """Where the order goes from part to part within a group: how often between rows of equal time, and how often."""
    before, after = order[:-1], order[1:]
    border = parts[before] != parts[after]
    if groups is not None:
        border &= groups[before] == groups[after]
    tied = border & (times[before] == times[after])
    return int(tied.sum()), int(border.sum())


def tied_borders_impact(protocol: Protocol, tied: int, borders: int) -> Impact:
    unit, note = "borders between parts", "lie between rows of equal time"
    return Impact("split.equal_times", protocol["split.equal_times"], tied, borders, unit, note)
