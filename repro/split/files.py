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
from repro.data.io.options import ReadOptions
from repro.data.io.roles import UnknownColumns
from repro.data.io.tables import ReadResult, read_with_notes
from repro.data.io.user_lines import read_user_lines
from repro.errors import DataError
from repro.protocol import Option, Protocol
from repro.split.plan import TEST, TRAIN, VALIDATION, Plan, Strategy

ROLES = {"split.train_file": TRAIN, "split.validation_file": VALIDATION, "split.test_file": TEST}
_FLOAT = re.compile(r"-?[0-9]+\.0+")
_KNOWN = 0.9


@dataclass(frozen=True)
class _Part:
    """One file of a split: its rows, one for each pair, how many rows it has, and notes about it."""

    decision: str
    path: Path
    rows: Interactions
    written: int
    notes: tuple[str, ...]


def plan_files(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The rows of ``split.train_file``, ``split.validation_file`` (if any) and ``split.test_file``.

    The data set of the study is not read: the rows of the files, one file after the other, are the interactions. A pair
    that a file has several times is treated as ``data.duplicates`` says. One that is both known (in the training or
    the validation file) and in the test file stays in both, as the split has it.
    """
    stated = {decision: protocol.files[decision] for decision in ROLES if decision in protocol.files}
    impacts: list[Impact] = []
    parts = []
    for decision, file in _read_files(stated).items():
        part, merged = _part(decision, stated[decision], file, protocol)
        impacts += [merged] if merged.touched else []
        parts.append(part)
    _refuse_mixed_ratings(parts, protocol)
    together, parts = joined(parts)
    sizes = [len(part.rows) for part in parts]
    numbers = np.split(np.arange(len(together)), np.cumsum(sizes)[:-1])
    rows = {part.decision: together.select(own) for part, own in zip(parts, numbers, strict=True)}
    used = [
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
        [*used, *impacts, *_overlaps(rows, stated, protocol)],
        validation="split.validation_file" in stated,
        interactions=together,
        rated=all(part.rows.explicit for part in parts) or not together.explicit,
    )


def _read_files(stated: dict[str, Path]) -> dict[str, ReadResult]:
    """Each file read; where one has a line for each user, the others are read like that too if they can be."""
    outcomes: dict[str, ReadResult | DataError] = {}
    for decision, path in stated.items():
        try:
            outcomes[decision] = read_with_notes(path)
        except DataError as error:
            outcomes[decision] = error
    results = (outcome for outcome in outcomes.values() if isinstance(outcome, ReadResult))
    with_user_lines = next((result for result in results if result.format == "lists"), None)
    files = {}
    for decision, outcome in outcomes.items():
        if with_user_lines and (isinstance(outcome, DataError) or outcome.format in ("text", "trec")):
            outcome = _as_user_lines(stated[decision], with_user_lines) or outcome
        if isinstance(outcome, UnknownColumns):
            raise DataError(f"{outcome}, or, in a file of a split, with a first line such as 'user,item,rating'")
        if isinstance(outcome, DataError):
            raise outcome
        files[decision] = outcome
    return files


def _as_user_lines(path: Path, other: ReadResult) -> ReadResult | None:
    """A file read as a line for each user, if nearly all its items are in another file of that form; else None."""
    try:
        lines = read_user_lines(path).lines
    except (DataError, OSError):
        return None
    known = {str(item) for item in other.interactions.item_ids}
    items = [item for line in lines for item in line.items]
    users = {line.user for line in lines if line.target is None}
    if len(users) < len(lines) or sum(item in known for item in items) < _KNOWN * max(len(items), 1):
        return None
    return read_with_notes(path, ReadOptions(format="lists"))


def _part(decision: str, path: Path, file: ReadResult, protocol: Protocol) -> tuple[_Part, Impact]:
    try:
        rows, merged = one_row_per_pair(file.interactions, protocol.text("data.duplicates"))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    merged = replace(merged, note=f"of {decision} are merged into another of the same user and item")
    return _Part(decision, path, rows, len(file.interactions), file.notes), merged


def joined(parts: list[_Part]) -> tuple[Interactions, list[_Part]]:
    """The rows of several files, one after the other, with one set of ids; and the files with notes about it."""
    users, user_ids, parts = _shared_codes(parts, "user")
    items, item_ids, parts = _shared_codes(parts, "item")
    held = [part.rows for part in parts]
    explicit = held[0].explicit  # models learn from the training rows; without ratings there, no file's are used
    timed = all(rows.timestamps is not None for rows in held)
    parts = [_with_notes(part, explicit, timed) for part in parts]
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


def _with_notes(part: _Part, explicit: bool, timed: bool) -> _Part:
    """The file with notes about columns that are not used because another file lacks them, or are filled in."""
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
    whole = [values.dtype.kind == "i" for values in ids]
    notes = [""] * len(parts)
    if any(whole) and not all(whole):
        for position, values in enumerate(ids):
            if not whole[position] and all(_FLOAT.fullmatch(text) for text in values):
                ids[position] = np.array([int(text.partition(".")[0]) for text in values], dtype=np.int64)
                notes[position] = f"{noun} ids such as {values[0]} are taken for whole numbers, as in the other files"
            elif not whole[position]:
                notes[position] = f"{noun} ids are text, and so are those of the other files then"
    if any(values.dtype.kind != "i" for values in ids):
        ids = [np.array([str(value) for value in values], dtype=object) for values in ids]
    shared = np.unique(np.concatenate(ids))
    recoded = [np.searchsorted(shared, values).astype(np.int32)[own] for own, values in zip(codes, ids, strict=True)]
    noted = [replace(part, notes=(*part.notes, *filter(None, [note]))) for part, note in zip(parts, notes, strict=True)]
    return np.concatenate(recoded), shared, noted


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
    """Test rows that are also known rows; training and validation rows must differ."""
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


FILES = Strategy(
    Option(
        "files",
        "as given in files",
        "The training set and the test set were given, as the files {split.train_file} and {split.test_file}.",
    ),
    plan_files,
    "check the files",
    reads=("split.train_file", "split.test_file", "split.validation_file"),
    validation="split.validation_file",
)
