"""A split given as files, used as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from repro.data.description import pair_codes
from repro.data.filters import one_row_per_pair
from repro.data.impact import Impact
from repro.data.interactions import CodeArray, IdArray, Interactions, RowArray
from repro.data.io.readers import Reading, read_told
from repro.data.io.sniff import UnknownColumns
from repro.data.io.user_lines import read_lists
from repro.errors import DataError
from repro.protocol import Protocol
from repro.split.plan import TEST, TRAIN, VALIDATION, Plan

ROLES = {"split.train_file": TRAIN, "split.validation_file": VALIDATION, "split.test_file": TEST}
_FLOAT = re.compile(r"-?[0-9]+\.0+")
_KNOWN = 0.9


@dataclass(frozen=True)
class _Part:
    """One file of a split: its rows, one for each pair, and what is to be told about it."""

    decision: str
    path: Path
    rows: Interactions
    written: int
    notes: tuple[str, ...]


def plan_files(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The rows of ``split.train_file``, ``split.validation_file`` (if any) and ``split.test_file``.

    The data set of the study has no say in it: the files' rows, one file after the other, are the interactions. A pair
    that a file has several times is treated as ``data.duplicates`` says. One that is both known (in the training or
    the validation file) and in the test file stays in both, as the split has it.
    """
    stated = {decision: protocol.files[decision] for decision in ROLES if decision in protocol.files}
    impacts: list[Impact] = []
    parts = []
    for decision, reading in _readings(stated).items():
        part, merged = _part(decision, stated[decision], reading, protocol)
        impacts += [merged] if merged.touched else []
        parts.append(part)
    _refuse_mixed_ratings(parts, protocol)
    together, parts = joined(parts)
    sizes = [len(part.rows) for part in parts]
    numbers = np.split(np.arange(len(together)), np.cumsum(sizes)[:-1])
    rows = {part.decision: together.select(own) for part, own in zip(parts, numbers, strict=True)}
    told = [
        Impact(
            part.decision,
            protocol[part.decision],
            len(part.rows),
            part.written,
            "rows",
            f"are used, read as: {'; '.join(part.notes)}",
        )
        for part in parts
    ]
    return Plan(
        [np.repeat(np.array([ROLES[part.decision] for part in parts]), sizes)],
        [*told, *impacts, *_overlaps(rows, stated, protocol)],
        validation="split.validation_file" in stated,
        interactions=together,
        rated=all(part.rows.explicit for part in parts) or not together.explicit,
    )


def _readings(stated: dict[str, Path]) -> dict[str, Reading]:
    """Each file read; where one has a line for each user, a file that fits is taken to be of that form too."""
    found: dict[str, Reading | DataError] = {}
    for decision, path in stated.items():
        try:
            found[decision] = read_told(path)
        except DataError as error:
            found[decision] = error
    listed = next((one for one in found.values() if isinstance(one, Reading) and one.format == "lists"), None)
    readings = {}
    for decision, one in found.items():
        if listed is not None and (isinstance(one, DataError) or one.format == "text"):
            one = _as_lists(stated[decision], listed) or one
        if isinstance(one, UnknownColumns):
            raise DataError(f"{one}, or, in a file of a split, with a first line such as 'user,item,rating'")
        if isinstance(one, DataError):
            raise one
        readings[decision] = one
    return readings


def _as_lists(path: Path, other: Reading) -> Reading | None:
    """A file as lines of a user and its items, where its ids are those of another file of that form; else None."""
    try:
        entries = read_lists(path).entries
    except (DataError, OSError):
        return None
    known = {str(item) for item in other.interactions.item_ids}
    items = [item for entry in entries for item in entry.items]
    users = {entry.user for entry in entries if entry.target is None}
    if len(users) < len(entries) or sum(item in known for item in items) < _KNOWN * max(len(items), 1):
        return None
    return read_told(path, "lists")


def _part(decision: str, path: Path, reading: Reading, protocol: Protocol) -> tuple[_Part, Impact]:
    given = reading.interactions
    try:
        rows, merged = one_row_per_pair(given, protocol.text("data.duplicates"))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    told = replace(merged, note=f"of {decision} are merged into another of the same user and item")
    return _Part(decision, path, rows, len(given), reading.notes), told


def joined(parts: list[_Part]) -> tuple[Interactions, list[_Part]]:
    """The rows of several files, one after the other, with one set of ids; and the files with what that took."""
    users, user_ids, parts = _shared_codes(parts, "user")
    items, item_ids, parts = _shared_codes(parts, "item")
    held = [part.rows for part in parts]
    explicit = held[0].explicit  # frameworks learn from the training rows: where these have no ratings, nobody has
    timed = all(rows.timestamps is not None for rows in held)
    parts = [_without(part, explicit, timed) for part in parts]
    ratings = [rows.ratings if explicit and rows.explicit else np.ones(len(rows)) for rows in held]
    times = [rows.timestamps for rows in held if rows.timestamps is not None] if timed else []
    return (
        Interactions(
            users,
            items,
            np.concatenate(ratings),
            np.concatenate(times) if timed else None,
            user_ids,
            item_ids,
            explicit,
        ),
        parts,
    )


def _without(part: _Part, explicit: bool, timed: bool) -> _Part:
    """What is not used of a file because another has none, and what is made up for one that has none."""
    notes = [*part.notes]
    if part.rows.explicit and not explicit:
        notes.append("its ratings are not used, since the training file has none")
    if explicit and not part.rows.explicit:
        notes.append("it has no ratings, unlike the training file: they are 1")
    if part.rows.timestamps is not None and not timed:
        notes.append("its timestamps are not used, since another file has none")
    return replace(part, notes=tuple(notes))


def _shared_codes(parts: list[_Part], noun: str) -> tuple[CodeArray, IdArray, list[_Part]]:
    """Codes in the ids of all files, ascending: as numbers where all of them are, else as text."""
    codes = [part.rows.users if noun == "user" else part.rows.items for part in parts]
    ids = [part.rows.user_ids if noun == "user" else part.rows.item_ids for part in parts]
    whole = [some.dtype.kind == "i" for some in ids]
    notes = [""] * len(parts)
    if any(whole) and not all(whole):
        for place, some in enumerate(ids):
            if not whole[place] and all(_FLOAT.fullmatch(text) for text in some):
                ids[place] = np.array([int(text.partition(".")[0]) for text in some], dtype=np.int64)
                notes[place] = f"{noun} ids such as {some[0]} are taken for whole numbers, as in the other files"
            elif not whole[place]:
                notes[place] = f"{noun} ids are text, and so are those of the other files then"
    if any(some.dtype.kind != "i" for some in ids):
        ids = [np.array([str(value) for value in some], dtype=object) for some in ids]
    shared = np.unique(np.concatenate(ids))
    recoded = [np.searchsorted(shared, some).astype(np.int32)[own] for own, some in zip(codes, ids, strict=True)]
    told = [replace(part, notes=(*part.notes, *filter(None, [note]))) for part, note in zip(parts, notes, strict=True)]
    return np.concatenate(recoded), shared, told


def _refuse_mixed_ratings(parts: list[_Part], protocol: Protocol) -> None:
    """Files with and without ratings go together only where relevance does not depend on them."""
    present = [part.rows.explicit for part in parts]
    rule = protocol["relevance.rule"]
    if any(present) and not all(present) and rule != "any":
        raise DataError(
            f"{parts[present.index(True)].path} has ratings and {parts[present.index(False)].path} has none; "
            f'relevance.rule = "{rule}" compares ratings: use relevance.rule = "any", or add the ratings'
        )


def _overlaps(rows: dict[str, Interactions], stated: dict[str, Path], protocol: Protocol) -> list[Impact]:
    """What the test file has that is known already; training and validation rows may not be the same."""
    pairs = {decision: pair_codes(part) for decision, part in rows.items()}
    train, test, validation = "split.train_file", "split.test_file", "split.validation_file"
    if validation in pairs:
        _refuse_repeated(rows, pairs, stated)
    impacts = []
    for known in (train, validation):
        if known in pairs and (again := int(np.isin(pairs[test], pairs[known]).sum())):
            note = f"are of a user and item that {known} has too, and stay in both: held out although known"
            impacts.append(Impact(test, protocol[test], again, len(pairs[test]), "rows", note))
    return impacts


def _refuse_repeated(rows: dict[str, Interactions], pairs: dict[str, RowArray], stated: dict[str, Path]) -> None:
    train, validation = "split.train_file", "split.validation_file"
    again = np.flatnonzero(np.isin(pairs[validation], pairs[train]))
    if len(again):
        part = rows[validation]
        user, item = part.user_ids[part.users[again[0]]], part.item_ids[part.items[again[0]]]
        raise DataError(
            f"user {user} and item {item} are in both {stated[train]} and {stated[validation]} ({len(again):,} such "
            "pairs), and the rows of both are joined to fit what was tuned; remove them from one of the files, or "
            "leave split.validation_file out"
        )
