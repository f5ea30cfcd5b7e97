"""A split given as files, used as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from repro.data.binarise import binarise_impacts, binarised, is_binarised
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


@dataclass
class _Part:
    """One file of a split: its rows, one for each pair, how many rows it has, and notes about it."""

    decision: str
    path: Path
    rows: Interactions
    written: int
    notes: list[str]


def plan_files(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The rows of ``split.train_file``, ``split.validation_file`` (if any) and ``split.test_file``.

    The data set of the study is not read: the rows of the files, one file after the other, are the interactions.
    ``data.duplicates`` says what happens to a pair that a file has several times. A pair that is both known (in the
    training or the validation file) and in the test file stays in both files.
    """
    paths = {decision: protocol.files[decision] for decision in ROLES if decision in protocol.files}
    merged, parts = [], []
    for decision, file in _read_files(paths).items():
        part, impact = _part(decision, paths[decision], file, protocol)
        merged += [impact] if impact.touched else []
        parts.append(part)
    merged += _binarise(parts, protocol)
    _refuse_mixed_ratings(parts, protocol)
    together = _joined(parts)
    sizes = [len(part.rows) for part in parts]
    used = []
    for part, size in zip(parts, sizes, strict=True):
        note = f"are used, read as: {'; '.join(part.notes)}"
        used.append(Impact.of(protocol, part.decision, size, part.written, "rows", note))
    pairs = np.split(pair_codes(together), np.cumsum(sizes)[:-1])
    overlaps = _overlaps(dict(zip(paths, pairs, strict=True)), together, paths, protocol)
    return Plan(
        [np.repeat(np.array([ROLES[part.decision] for part in parts]), sizes)],
        [*used, *merged, *overlaps],
        validation="split.validation_file" in paths,
        interactions=together,
        rated=all(part.rows.explicit for part in parts) or not together.explicit,
    )


def _read_files(paths: dict[str, Path]) -> dict[str, ReadResult]:
    """Each file read; where one has a line for each user, the others are read like that too if they can be."""
    outcomes: dict[str, ReadResult | DataError] = {}
    for decision, path in paths.items():
        try:
            outcomes[decision] = read_with_notes(path)
        except DataError as error:
            outcomes[decision] = error
    results = (outcome for outcome in outcomes.values() if isinstance(outcome, ReadResult))
    with_user_lines = next((result for result in results if result.format == "lists"), None)
    files = {}
    for decision, outcome in outcomes.items():
        if with_user_lines and (isinstance(outcome, DataError) or outcome.format in ("text", "trec")):
            outcome = _as_user_lines(paths[decision], with_user_lines) or outcome
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
    return _Part(decision, path, rows, len(file.interactions), [*file.notes]), merged


def _binarise(parts: list[_Part], protocol: Protocol) -> list[Impact]:
    """Make the ratings of the files binary, where the protocol has that before the split; files without ratings stay.

    The rows of these are positive already.
    """
    if not is_binarised(protocol, "all"):
        return []
    impacts = []
    for part in parts:
        if part.rows.explicit or not any(other.rows.explicit for other in parts):
            changed = binarised(part.rows, protocol)
            impacts += [
                replace(impact, note=f"of {part.decision} are {impact.note}")
                for impact in binarise_impacts(part.rows, protocol)
            ]
            part.rows = changed.compact()
    return impacts


def _joined(parts: list[_Part]) -> Interactions:
    """The rows of several files, one after the other, with one set of ids; adds notes about it to the parts.

    Models learn from the training rows, the first part: if they have no ratings, no ratings are used.
    """
    users, user_ids = _shared_codes(parts, "user")
    items, item_ids = _shared_codes(parts, "item")
    explicit = parts[0].rows.explicit
    ratings, times = [], []
    for part in parts:
        ratings.append(part.rows.ratings if explicit and part.rows.explicit else np.ones(len(part.rows)))
        if part.rows.timestamps is not None:
            times.append(part.rows.timestamps)
        if part.rows.explicit and not explicit:
            part.notes.append("its ratings are not used, since the training file has none")
        if explicit and not part.rows.explicit:
            part.notes.append("it has no ratings, unlike the training file: they are 1")
    timed = len(times) == len(parts)
    for part in parts:
        if part.rows.timestamps is not None and not timed:
            part.notes.append("its timestamps are not used, since another file has none")
    timestamps = np.concatenate(times) if timed else None
    return Interactions(users, items, np.concatenate(ratings), timestamps, user_ids, item_ids, explicit)


def _shared_codes(parts: list[_Part], noun: str) -> tuple[CodeArray, IdArray]:
    """Codes in the ids of all files, ascending: as numbers where all of them are, else as text."""
    codes = [part.rows.users if noun == "user" else part.rows.items for part in parts]
    ids = [part.rows.user_ids if noun == "user" else part.rows.item_ids for part in parts]
    if any(values.dtype.kind == "i" for values in ids):
        for place, (part, values) in enumerate(zip(parts, ids, strict=True)):
            if values.dtype.kind == "i":
                continue
            if all(_FLOAT.fullmatch(text) for text in values):
                ids[place] = np.array([int(text.partition(".")[0]) for text in values], dtype=np.int64)
                part.notes.append(f"{noun} ids such as {values[0]} are taken for whole numbers, as in the other files")
            else:
                part.notes.append(f"{noun} ids are text, and so are those of the other files then")
    if any(values.dtype.kind != "i" for values in ids):
        ids = [np.array([str(value) for value in values], dtype=object) for values in ids]
    shared = np.unique(np.concatenate(ids))
    recoded = [np.searchsorted(shared, values).astype(np.int32)[own] for own, values in zip(codes, ids, strict=True)]
    return np.concatenate(recoded), shared


def _refuse_mixed_ratings(parts: list[_Part], protocol: Protocol) -> None:
    """Files with and without ratings go together only where relevance does not depend on them."""
    present = [part.rows.explicit for part in parts]
    rule = protocol["relevance.rule"]
    if any(present) and not all(present) and rule != "any":
        raise DataError(
            f"{parts[present.index(True)].path} has ratings and {parts[present.index(False)].path} has none; "
            f'relevance.rule = "{rule}" compares ratings: use relevance.rule = "any", or add the ratings'
        )


def _overlaps(
    pairs: dict[str, RowArray], together: Interactions, paths: dict[str, Path], protocol: Protocol
) -> list[Impact]:
    """Test rows that are also known rows; training and validation rows must differ."""
    train, test, validation = "split.train_file", "split.test_file", "split.validation_file"
    if validation in pairs and len(repeated := np.intersect1d(pairs[validation], pairs[train])):
        first = pairs[validation][np.isin(pairs[validation], repeated)][0]
        user, item = (int(code) for code in divmod(first, together.n_items))
        raise DataError(
            f"user {together.user_ids[user]} and item {together.item_ids[item]} are in both {paths[train]} and "
            f"{paths[validation]} ({len(repeated):,} such pairs), and the rows of both are joined to fit what was "
            "tuned; remove them from one of the files, or leave split.validation_file out"
        )
    impacts = []
    for known in (train, validation):
        if known in pairs and (repeats := int(np.isin(pairs[test], pairs[known]).sum())):
            note = f"are of a user and item that {known} has too, and stay in both: held out although known"
            impacts.append(Impact.of(protocol, test, repeats, len(pairs[test]), "rows", note))
    return impacts


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
