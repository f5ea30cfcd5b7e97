"""Filters of interactions: duplicates, ranges, samples and cores, each with its impact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from repro.data.binarise import BINARISE, binarise_impacts, binarised, is_binarised
from repro.data.description import pair_codes
from repro.data.impact import Impact
from repro.data.interactions import FloatArray, Interactions, RowArray
from repro.errors import DataError
from repro.protocol import Protocol
from repro.rng import KeyArray, child_keys, stream


def prepare(interactions: Interactions, protocol: Protocol, seed: int) -> tuple[Interactions, list[Impact]]:
    """The interactions of a study, and the impact of each ``data`` decision.

    In this order: duplicates, rating range, time range, binary ratings, sampled users, sampled items, cores; then ids
    that no longer occur are dropped. Decisions whose values filter nothing are not reported. Where the split is read
    from files, only duplicates are merged: the filters have no effect.
    """
    data, merged = one_row_per_pair(interactions, protocol.text("data.duplicates"))
    impacts = [merged]
    if protocol.text("split.strategy") == "files":
        return data.compact(), impacts
    for key, values, inside in (
        ("data.min_rating", _ratings, np.greater_equal),
        ("data.max_rating", _ratings, np.less_equal),
        ("data.from_time", _timestamps, np.greater_equal),
        ("data.to_time", _timestamps, np.less_equal),
    ):
        if protocol[key] != "none":  # bounds are included
            rows = inside(values(data), protocol.number(key))
            impacts.append(Impact.of(protocol, key, int((~rows).sum()), len(data), "rows", "left out"))
            data = _not_empty(data.select(rows), key, protocol)
    if is_binarised(protocol, "all"):
        impacts += binarise_impacts(data, protocol)
        data = _not_empty(binarised(data, protocol), BINARISE, protocol)
    data = _sampled(data, protocol, "users", seed, impacts)
    data = _sampled(data, protocol, "items", seed, impacts)
    return _core(data, protocol, impacts).compact(), impacts


def one_row_per_pair(data: Interactions, treatment: str) -> tuple[Interactions, Impact]:
    """Merge rows with the same user and item; the row that stays keeps its position."""
    order = _pair_order(data)
    pairs = pair_codes(data)[order]
    starts = np.flatnonzero(np.r_[True, pairs[1:] != pairs[:-1]]) if len(pairs) else np.array([], dtype=np.int64)
    surplus = len(data) - len(starts)
    if treatment == "error":
        if surplus:
            raise _duplicate_error(data, order, starts)
        return data, Impact("data.duplicates", treatment, 0, len(data), "rows", "repeat a user and item")
    impact = Impact("data.duplicates", treatment, surplus, len(data), "rows", "merged into another")
    if not surplus:
        return data, impact
    ends = np.r_[starts[1:], len(order)] - 1
    if treatment in ("first", "last"):
        return data.select(np.sort(order[starts if treatment == "first" else ends])), impact
    sums = np.add.reduceat(_ascending_ratings(data, order, starts), starts)
    values = sums / (ends - starts + 1) if treatment == "mean" else sums
    place = np.argsort(order[ends], kind="stable")
    merged = data.select(order[ends][place])
    # The sum of interactions without ratings is their count, and serves as a rating.
    return replace(merged, ratings=values[place], explicit=data.explicit or treatment == "sum"), impact


def _pair_order(data: Interactions) -> RowArray:
    """Rows by user and item, and those of a pair from the earliest to the latest."""
    if data.timestamps is not None:
        return data.canonical_order()
    return np.argsort(pair_codes(data), kind="stable")


def _ascending_ratings(data: Interactions, order: RowArray, starts: RowArray) -> FloatArray:
    """The ratings in pair order, ascending within a pair: a sum then does not depend on the order of rows."""
    group = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(order)]))
    ratings = data.ratings[order]
    return ratings[np.lexsort((ratings, group))]


def _duplicate_error(data: Interactions, order: RowArray, starts: RowArray) -> DataError:
    sizes = np.diff(np.r_[starts, len(order)])
    repeated = np.flatnonzero(sizes > 1)
    row = order[starts[repeated[0]]]
    count = "1 pair has" if len(repeated) == 1 else f"{len(repeated):,} pairs have"
    return DataError(
        f"{count} several rows; the first is user {data.user_ids[data.users[row]]} and item "
        f"{data.item_ids[data.items[row]]} with {sizes[repeated[0]]} rows. State data.duplicates: "
        '"first", "last", "mean" or "sum"',
        decision="data.duplicates",
    )


def _ratings(data: Interactions) -> FloatArray:
    return data.ratings


def _timestamps(data: Interactions) -> FloatArray:
    if data.timestamps is None:
        raise DataError(
            "data.from_time and data.to_time need timestamps, and this data set has none; "
            'leave them at "none", or use data with a timestamp column'
        )
    return data.timestamps.astype(np.float64)


def _sampled(data: Interactions, protocol: Protocol, noun: str, seed: int, impacts: list[Impact]) -> Interactions:
    """Keep a share of the users (items): those whose draws are the smallest, so that samples are nested."""
    key = f"data.sample_{noun}"
    share = protocol.number(key)
    if share == 1:
        return data
    codes = data.users if noun == "users" else data.items
    keys: KeyArray = data.user_keys if noun == "users" else data.item_keys
    present = np.unique(codes)
    size = int(np.floor(share * len(present) + 0.5))
    draws = child_keys(stream(seed, key), keys[present])
    chosen = np.zeros(len(keys), dtype=bool)
    chosen[present[np.argsort(draws, kind="stable")[:size]]] = True
    impacts.append(Impact.of(protocol, key, len(present) - size, len(present), noun, "left out"))
    return _not_empty(data.select(chosen[codes]), key, protocol)


def _core(data: Interactions, protocol: Protocol, impacts: list[Impact]) -> Interactions:
    """Drop users, then items, with too few ratings; repeat until all have enough, or for the stated rounds.

    A single round is enough where only users, or only items, have a minimum.
    """
    least_user, least_item = protocol.count("data.user_core"), protocol.count("data.item_core")
    if not (least_user or least_item):
        return data
    limit = protocol.get("data.core_rounds", 1)
    before, rounds = data, 0
    while limit == "until-stable" or rounds < int(limit):
        size = len(data)
        data = data.select(data.user_counts()[data.users] >= least_user)
        data = data.select(data.item_counts()[data.items] >= least_item)
        rounds += 1
        if len(data) == size:
            break
    for noun, least in (("users", least_user), ("items", least_item)):
        if least:
            old, new = (len(np.unique(part.users if noun == "users" else part.items)) for part in (before, data))
            key = f"data.{noun.removesuffix('s')}_core"
            impacts.append(Impact.of(protocol, key, old - new, old, noun, "left out"))
    if "data.core_rounds" in protocol:
        note = f"left out in {rounds} round{'s' * (rounds != 1)}"
        impacts.append(Impact("data.core_rounds", limit, len(before) - len(data), len(before), "rows", note))
    return _not_empty(data, "data.user_core" if least_user else "data.item_core", protocol)


def _not_empty(data: Interactions, key: str, protocol: Protocol) -> Interactions:
    if not len(data):
        raise DataError(f"{key} = {protocol[key]} leaves no rows; relax it")
    return data
