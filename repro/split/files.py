"""A split given as files, used as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

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
from repro.split.plan import LEFT_OUT, TEST, TRAIN, VALIDATION, PartArray, Plan, Strategy

ROLES = {"split.train_file": TRAIN, "split.validation_file": VALIDATION, "split.test_file": TEST}
_FLOAT = re.compile(r"-?[0-9]+\.0+")
_KNOWN = 0.9


@dataclass
class _Part:
    """One file of a fold: its rows, one for each pair, how many rows it has, and notes about it."""

    decision: str
    path: Path
    rows: Interactions
    written: int
    notes: list[str]


def plan_files(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The rows of ``split.train_file``, ``split.validation_file`` (if any) and ``split.test_file``.

    The data set of the study is not read: the rows of the files, one file after the other, are the interactions. Files
    of several folds share the rows that are the same. ``data.duplicates`` says what happens to a pair that a file has
    several times. A pair that is both known (in the training or the validation file) and in the test file stays in both
    files.
    """
    files = _files_of_folds(protocol)
    merged: list[Impact] = []
    parts: dict[tuple[str, Path], _Part] = {}
    for paths in files.values():
        new = {decision: path for decision, path in paths.items() if (decision, path) not in parts}
        for decision, file in _read_files(new).items():
            parts[decision, new[decision]], impact = _part(decision, new[decision], file, protocol)
            merged += [impact] if impact.touched else []
    ordered = list(parts.values())
    merged += _binarise(ordered, protocol)
    _refuse_mixed_ratings(ordered, protocol)
    joined = _joined(ordered)
    ends = np.cumsum([len(part.rows) for part in ordered]).tolist()
    rows_of = {key: np.arange(end - len(part.rows), end) for (key, part), end in zip(parts.items(), ends, strict=True)}
    folds = [{decision: rows_of[decision, path] for decision, path in paths.items()} for paths in files.values()]
    overlaps = [
        overlap
        for rows, paths in zip(folds, files.values(), strict=True)
        for overlap in _overlaps({key: pair_codes(joined)[own] for key, own in rows.items()}, joined, paths, protocol)
    ]
    together, given = (joined, folds) if len(folds) == 1 else _shared_rows(joined, folds)
    return Plan(
        [_parts(len(together), rows) for rows in given],
        [*_used(ordered, protocol), *merged, *_summed(overlaps)],
        validation=any("split.validation_file" in paths for paths in files.values()),
        interactions=together,
        rated=all(part.rows.explicit for part in ordered) or not joined.explicit,
        names=list(files),
        given_rows=[(rows["split.train_file"], rows["split.test_file"]) for rows in given],
    )


def _files_of_folds(protocol: Protocol) -> dict[str, dict[str, Path]]:
    """The files of each fold, by the name of the fold; a file for all folds belongs to each of them."""
    named = {decision: files for decision, files in protocol.files.items() if decision in ROLES}
    for decision, files in named.items():
        if not files:
            raise DataError(f'no file matches {decision} = "{protocol[decision]}"; "{{fold}}" stands for the fold')
    folds = next((list(files) for files in named.values() if "" not in files), ["1"])
    for decision, files in named.items():
        if "" not in files and set(files) != set(folds):
            raise DataError(
                f'{decision} = "{protocol[decision]}" has files for the folds {", ".join(files)}, and another decision '
                f"has them for {', '.join(folds)}; name the files of the same folds"
            )
    return {
        fold: {decision: protocol.path(decision, fold) for decision in ROLES if decision in named} for fold in folds
    }


def _parts(n_rows: int, rows: Mapping[str, RowArray]) -> PartArray:
    """The part of every row in a fold; rows that the fold does not have are left out."""
    parts = np.full(n_rows, LEFT_OUT)
    for decision, own in rows.items():
        parts[own] = ROLES[decision]
    return parts


def _shared_rows(
    joined: Interactions, folds: Sequence[Mapping[str, RowArray]]
) -> tuple[Interactions, list[dict[str, RowArray]]]:
    """Each distinct row once, as often as a single fold has it, and the rows of the folds among these."""
    columns = {"pair": pair_codes(joined), "rating": joined.ratings}
    if joined.timestamps is not None:
        columns["time"] = joined.timestamps
    alike = pd.DataFrame(columns).groupby(list(columns), sort=False).ngroup().to_numpy()
    codes = [np.concatenate([alike[own] for own in rows.values()]) for rows in folds]
    turns = [pd.Series(own).groupby(own).cumcount().to_numpy() for own in codes]
    keys = np.concatenate([own * len(ROLES) + turn for own, turn in zip(codes, turns, strict=True)])
    of_folds = np.concatenate([own for rows in folds for own in rows.values()])
    shared, distinct = pd.factorize(keys)
    first = np.empty(len(distinct), dtype=np.int64)
    first[shared[::-1]] = of_folds[::-1]
    ends = np.cumsum([len(own) for rows in folds for own in rows.values()])[:-1]
    pieces = iter(np.split(shared.astype(np.int64), ends))
    return joined.select(first), [{decision: next(pieces) for decision in rows} for rows in folds]


def _used(parts: Sequence[_Part], protocol: Protocol) -> list[Impact]:
    """The number of rows of the files of each decision that are used, and how these were read."""
    impacts = []
    for decision in ROLES:
        if own := [part for part in parts if part.decision == decision]:
            notes = dict.fromkeys(note for part in own for note in part.notes)
            several = f"of {len(own)} files " if len(own) > 1 else ""
            note = f"{several}are used, read as: {'; '.join(notes)}"
            used, written = sum(len(part.rows) for part in own), sum(part.written for part in own)
            impacts.append(Impact.of(protocol, decision, used, written, "rows", note))
    return impacts


def _summed(impacts: Iterable[Impact]) -> list[Impact]:
    """One impact for those of several folds that are about the same."""
    summed: dict[tuple[str, str], Impact] = {}
    for impact in impacts:
        key = (impact.decision, impact.note)
        before = summed.get(key)
        added = (before.touched, before.total) if before else (0, 0)
        summed[key] = replace(impact, touched=impact.touched + added[0], total=impact.total + added[1])
    return list(summed.values())


def _read_files(paths: Mapping[str, Path]) -> dict[str, ReadResult]:
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
