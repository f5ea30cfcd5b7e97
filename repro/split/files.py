"""A split given as files, used as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, IdArray, Interactions
from repro.data.readers import read_interactions
from repro.errors import DataError
from repro.protocol import Protocol
from repro.split.plan import TEST, TRAIN, VALIDATION, Plan

ROLES = {"split.train_file": TRAIN, "split.validation_file": VALIDATION, "split.test_file": TEST}


def plan_files(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The rows of ``split.train_file``, ``split.validation_file`` (if any) and ``split.test_file``.

    The data set of the study has no say in it: the files' rows, one file after the other, are the interactions.
    """
    parts = {decision: part for decision, part in ROLES.items() if decision in protocol.files}
    paths = [protocol.files[decision] for decision in parts]
    held = [read_interactions(path) for path in paths]
    together = joined(held, paths)
    sizes = [len(rows) for rows in held]
    _refuse_repeated_pairs(together, np.repeat(np.arange(len(held)), sizes), paths)
    return Plan(
        [np.repeat(np.array(list(parts.values())), sizes)],
        validation="split.validation_file" in parts,
        interactions=together,
    )


def joined(held: list[Interactions], paths: list[Path]) -> Interactions:
    """The rows of several files, one after the other, with one set of ids."""
    users, user_ids = _shared_codes([rows.users for rows in held], [rows.user_ids for rows in held])
    items, item_ids = _shared_codes([rows.items for rows in held], [rows.item_ids for rows in held])
    times = [rows.timestamps for rows in held]
    _refuse_mixed("ratings", [rows.explicit for rows in held], paths)
    _refuse_mixed("timestamps", [column is not None for column in times], paths)
    return Interactions(
        users,
        items,
        np.concatenate([rows.ratings for rows in held]),
        np.concatenate([column for column in times if column is not None]) if times[0] is not None else None,
        user_ids,
        item_ids,
        held[0].explicit,
    )


def _shared_codes(codes: list[CodeArray], ids: list[IdArray]) -> tuple[CodeArray, IdArray]:
    """Codes in the ids of all files, ascending: as numbers where all of them are, else as text."""
    if any(some.dtype.kind != "i" for some in ids):
        ids = [np.array([str(value) for value in some], dtype=object) for some in ids]
    shared = np.unique(np.concatenate(ids))
    recoded = [np.searchsorted(shared, some).astype(np.int32)[own] for own, some in zip(codes, ids, strict=True)]
    return np.concatenate(recoded), shared


def _refuse_mixed(column: str, present: list[bool], paths: list[Path]) -> None:
    if any(present) and not all(present):
        raise DataError(
            f"{paths[present.index(True)]} has {column} and {paths[present.index(False)]} has none; "
            f"the files of a split need the same columns: add the {column}, or take them out of all files"
        )


def _refuse_repeated_pairs(together: Interactions, files: npt.NDArray[np.int64], paths: list[Path]) -> None:
    """A user and item may meet once: a pair in two files would be known and held out at once."""
    order = np.lexsort((files, together.items, together.users))
    first, second = order[:-1], order[1:]
    repeated = np.flatnonzero(
        (together.users[first] == together.users[second]) & (together.items[first] == together.items[second])
    )
    if not len(repeated):
        return
    one, other = first[repeated[0]], second[repeated[0]]
    places = (
        f"twice in {paths[files[one]]}"
        if files[one] == files[other]
        else f"in both {paths[files[one]]} and {paths[files[other]]}"
    )
    raise DataError(
        f"user {together.user_ids[together.users[one]]} and item {together.item_ids[together.items[one]]} are "
        f"{places} ({len(repeated):,} such pairs); each pair may be in one row of one file: remove the others"
    )
