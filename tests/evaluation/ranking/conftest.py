"""The ranking room once more, in plain Python: slow, obvious, and written from the decisions' texts alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.data.rating_means import RatingMeans
from repro.evaluation.candidates.lists import ListBlock
from repro.evaluation.ranking import Ranked, RankingRules, rank
from repro.plugin import FALLBACK, UNSCORED, Scores
from repro.protocol import Protocol, resolve
from repro.rng import child_keys, stream


@dataclass
class Expected:
    """One list: its items by rank, and for each judged item (position, above, tied) or None."""

    items: list[int] = field(default_factory=list)
    scored: list[int] = field(default_factory=list)
    hits: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    straddles: list[bool] = field(default_factory=list)
    missing: int = 0


def is_missing(value: float, state: int, protocol: Protocol) -> bool:
    if state == UNSCORED or math.isnan(value):
        return True
    if state == FALLBACK and protocol["missing.fallback"] == "missing":
        return True
    if math.isinf(value) and protocol["missing.infinite"] == "missing":
        return True
    zero = protocol["missing.zero"]
    return (zero == "missing" and value == 0) or (zero == "missing-or-below" and value <= 0)


def fill_of(user: int, item: int, protocol: Protocol, means: RatingMeans) -> Any:
    """The place of a missing score: a level (-1 below, 1 above all scores), "drop", or a score."""

    match protocol["missing.rank"]:
        case "last":
            return (-1, 0.0)
        case "first":
            return (1, 0.0)
        case "drop":
            return "drop"
        case "constant":
            return (0, protocol.number("missing.constant"))
        case "user-mean":
            return (0, float(means.users[user]))
        case "item-mean":
            return (0, float(means.items[item]))
        case "global-mean":
            return (0, means.overall)
    raise AssertionError


# The rating scale: a narrow one, so that many scores are beyond it.
SCALE = (0.5, 2.0)


def clipped(value: float, protocol: Protocol, train: Interactions) -> float:
    match protocol["scores.clip"]:
        case "scale":
            low, high = SCALE
        case "train":
            low, high = min(train.ratings.tolist()), max(train.ratings.tolist())
        case _:
            return value
    return low if value < low else high if value > high else value


def rounded(value: float, protocol: Protocol) -> float:
    if math.isinf(value) or protocol["ties.precision"] == "double":
        return value
    if protocol["ties.precision"] == "single":
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    return float(np.round(value, protocol.count("ties.decimals")))


def tie_key(user: int, item: int, protocol: Protocol, train: Interactions, seed: int) -> Any:
    rule = protocol["ties.break"]
    number = protocol.get("ties.id_order") != "text"
    if rule in ("item-asc", "item-desc"):
        texts = sorted(str(i) for i in train.item_ids)
        place = item if number else texts.index(str(train.item_ids[item]))
        return place if rule == "item-asc" else -place
    if rule in ("data", "data-desc"):
        seen = train.items.tolist()
        place = (0, seen.index(item)) if item in seen else (1, item)
        return place if rule == "data" else (-place[0], -place[1])
    if rule == "random":
        users, items = train.user_keys[[user]], train.item_keys[[item]]
        return int(child_keys(stream(seed, "ties"), users, items)[0])
    return item


def rank_list(
    block: ListBlock,
    scores: Scores,
    n: int,
    depth: int,
    cutoffs: list[int],
    protocol: Protocol,
    train: Interactions,
    seed: int,
) -> Expected:
    """List ``n`` of a block, ranked with ``sorted``."""
    row = int(block.rows[n])
    user = int(block.users[row])
    named = block.columns[block.offsets[n] : block.offsets[n + 1]].tolist()
    columns = named if block.listed else [c for c in range(len(block.items)) if c not in named]
    part = range(block.judged_offsets[n], block.judged_offsets[n + 1])
    judged = {int(block.judged_items[h]): (int(block.judged_relevant[h]), float(block.judged_grades[h])) for h in part}
    means = RatingMeans.of(train)
    expected = Expected()
    entries = []
    for column in columns:
        item = int(block.items[column])
        value = float(scores.values[row, column])
        state = 0 if scores.state is None else int(scores.state[row, column])
        missing = is_missing(value, state, protocol)
        expected.missing += missing
        level: Any = fill_of(user, item, protocol, means) if missing else (0, clipped(value, protocol, train))
        if level == "drop":
            continue
        level = (level[0], rounded(level[1], protocol))
        scored = 0 if missing else 2 if state == FALLBACK else 1
        entries.append((level, tie_key(user, item, protocol, train, seed), item, scored))
    entries.sort(key=lambda entry: (-entry[0][0], -entry[0][1], entry[1]))
    levels = [entry[0] for entry in entries]
    expected.items = [entry[2] for entry in entries]
    expected.scored = [entry[3] for entry in entries]
    for item in judged:
        if item in expected.items:
            place = expected.items.index(item)
            above, tied = levels.index(levels[place]), levels.count(levels[place])
            if above < depth:
                expected.hits[item] = (place + 1, above, tied)
    expected.straddles = [k < len(levels) and levels[k - 1] == levels[k] for k in cutoffs]
    return expected


def check(
    block: ListBlock,
    scores: Scores,
    protocol: Protocol,
    train: Interactions,
    depth: int | None,
    cutoffs: list[int],
    seed: int = 7,
) -> Ranked:
    """Rank a block, and compare everything with the lists ranked by hand."""
    rules = RankingRules.from_protocol(protocol, train, train=train, data_items=train.items, seed=seed, scale=SCALE)
    ranked, tally = rank(scores, block, rules, depth=depth, cutoffs=cutoffs)
    reach = depth or ranked.depth
    lists = [rank_list(block, scores, n, reach, cutoffs, protocol, train, seed) for n in range(len(block))]
    for n, expected in enumerate(lists):
        length = len(expected.items)
        assert ranked.lengths[n] == length
        padding = [-1] * (reach - length)
        assert ranked.items[n].tolist() == expected.items[:reach] + padding
        assert ranked.scored[n, :length].tolist() == expected.scored[:reach]
        part = slice(ranked.offsets[n], ranked.offsets[n + 1])
        places = zip(ranked.position[part], ranked.above[part], ranked.tied[part], strict=True)
        hits = dict(zip(ranked.hit_items[part].tolist(), [tuple(map(int, p)) for p in places], strict=True))
        judged = block.judged_items[part].tolist()
        assert hits == {item: expected.hits.get(item, (0, -1, 0)) for item in judged}
        in_order = sorted(expected.hits, key=lambda item: expected.hits[item][0])
        assert ranked.hit_items[part].tolist() == in_order + [i for i in judged if i not in expected.hits]
        grades = dict(zip(judged, block.judged_grades[part].tolist(), strict=True))
        relevant = dict(zip(judged, block.judged_relevant[part].tolist(), strict=True))
        assert ranked.grades[part].tolist() == [grades[i] for i in ranked.hit_items[part].tolist()]
        assert ranked.relevant[part].tolist() == [relevant[i] for i in ranked.hit_items[part].tolist()]
        assert ranked.n_relevant[n] == sum(relevant.values())
    users = block.users[block.rows]
    assert ranked.users.tolist() == users.tolist()
    assert (tally.users, tally.lists) == (len(set(users.tolist())), len(lists))
    for at in range(len(cutoffs)):
        tied = [n for n, expected in enumerate(lists) if expected.straddles[at]]
        assert tally.lists_tied[at] == len(tied)
        assert tally.users_tied[at] == len({int(users[n]) for n in tied})
    missing = {impact.unit: impact for impact in tally.impacts(protocol) if impact.decision == "missing.rank"}
    assert missing["scores"].touched == sum(expected.missing for expected in lists)
    assert missing["users"].touched == len({int(users[n]) for n, e in enumerate(lists) if e.missing})
    return ranked


def make_protocol(changes: dict[str, Any] | None = None) -> Protocol:
    """A protocol with these decisions of missing.* and ties.*, all others as they come."""
    stated = {"split.strategy": "ratio", "relevance.rule": "any", "candidates.base": "all-items", **(changes or {})}
    if stated.get("missing.rank") == "constant":
        stated.setdefault("missing.constant", 1.0)
    if stated.get("ties.precision") == "decimals":
        stated.setdefault("ties.decimals", 1)
    return resolve(stated, {})


def make_train(n_users: int, n_items: int, rng: np.random.Generator) -> Interactions:
    """A few training rows with half-star ratings; ids from 1."""
    size = max(1, n_users * n_items // 3)
    return Interactions(
        rng.integers(0, n_users, size).astype(np.int32),
        rng.integers(0, n_items, size).astype(np.int32),
        rng.integers(1, 11, size) / 2,
        None,
        np.arange(1, n_users + 1),
        np.arange(1, n_items + 1),
    )


def make_block(n_users: int, n_items: int, listed: bool, rng: np.random.Generator, max_lists: int = 2) -> ListBlock:
    """Random lists: of all but a few items or of some, with judged items among the candidates and not."""
    users = np.sort(rng.choice(n_users + 2, n_users, replace=False)).astype(np.int32)
    items = np.sort(rng.choice(n_items + 3, n_items, replace=False)).astype(np.int32)
    rows = np.sort(np.repeat(np.arange(n_users), rng.integers(1, max_lists + 1, n_users))).astype(np.int32)
    columns, judged = [], []
    for _ in rows:
        columns.append(np.flatnonzero(rng.random(n_items) < (0.7 if listed else 0.3)))
        judged.append(np.flatnonzero(rng.random(n_items + 3) < min(0.5, 20 / n_items)))
    codes = np.concatenate(judged)
    at = np.minimum(np.searchsorted(items, codes), n_items - 1)
    return ListBlock(
        users=users,
        items=items,
        rows=rows,
        targets=np.full(len(rows), -1, dtype=np.int32),
        strata=np.zeros(len(rows), dtype=np.int32),
        listed=listed,
        offsets=np.cumsum([0, *map(len, columns)]),
        columns=np.concatenate(columns).astype(np.int32),
        judged_offsets=np.cumsum([0, *map(len, judged)]),
        judged_items=codes.astype(np.int32),
        judged_columns=np.where(items[at] == codes, at, -1).astype(np.int32),
        judged_relevant=rng.integers(0, 2, len(codes)).astype(np.uint8),
        judged_grades=rng.integers(1, 6, len(codes)).astype(float),
    )


# Values that tie, tie only in single precision or to one decimal, or are no ordinary scores at all.
AWKWARD = np.array(
    [0.0, -0.0, 1.0, 1.0, 1.0 + 1e-12, 1.04, -1.0, 0.5, 2.5, 1e300, 1e200, -1e300, np.nan, np.nan, np.inf, -np.inf]
)


def make_scores(shape: tuple[int, int], awkward: bool, with_state: bool, rng: np.random.Generator) -> Scores:
    values = rng.choice(AWKWARD, shape) if awkward else rng.normal(size=shape)
    state = rng.choice([0, 0, 0, 1, 2], shape).astype(np.uint8) if with_state else None
    return Scores(values, state)


@dataclass(frozen=True)
class Room:
    """The helpers of these tests."""

    check: Callable[..., Ranked] = check
    protocol: Callable[..., Protocol] = make_protocol
    train: Callable[..., Interactions] = make_train
    block: Callable[..., ListBlock] = make_block
    scores: Callable[..., Scores] = make_scores


@pytest.fixture(scope="session")
def room() -> Room:
    return Room()
