"""Pairs of a user and an item: repeated within a part, and shared by two parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from repro.reviews.artefact.data_sets import DataSet, Part
from repro.reviews.artefact.names import FOLD_IN, TEST, TRAIN, VALIDATION, WHOLE
from repro.reviews.findings import EXAMPLES, Example, Finding
from repro.text import plural

RowNumbers = npt.NDArray[np.int64]
NOUNS = {TRAIN: "training", VALIDATION: "validation", TEST: "test", FOLD_IN: "fold-in", WHOLE: "whole"}


def place(part: Part, row: int) -> str:
    """The place of a row, with its file."""
    return f"{part.file} {part.where(int(row))}"


def pair_text(data_set: DataSet, part: Part, row: int) -> str:
    """The user and item of a row."""
    return f"user {data_set.user_ids[part.users[row]]}, item {data_set.item_ids[part.items[row]]}"


def first_rows(pairs: RowNumbers) -> tuple[RowNumbers, RowNumbers]:
    """The distinct pairs in ascending order, and the first row of each."""
    distinct, first = np.unique(pairs, return_index=True)
    return distinct, first


def repeated_pairs(data_set: DataSet) -> Iterator[Finding]:
    """Rows of a part that repeat a user and item of an earlier row."""
    for part in data_set.parts.values():
        pairs = data_set.pairs(part)
        distinct, first = first_rows(pairs)
        count = len(pairs) - len(distinct)
        if not count:
            continue
        is_first = np.zeros(len(pairs), dtype=np.bool_)
        is_first[first] = True
        rows = np.flatnonzero(~is_first)[:EXAMPLES]
        earlier = first[np.searchsorted(distinct, pairs[rows])]
        examples = tuple(
            Example(pair_text(data_set, part, row), (place(part, before), place(part, row)))
            for before, row in zip(earlier.tolist(), rows.tolist(), strict=True)
        )
        verb = "repeats" if count == 1 else "repeat"
        yield Finding(
            "repeated-rows",
            "warning",
            f"{plural(count, 'row')} of the {NOUNS[part.role]} part {verb} a user and item of an earlier row",
            "rows minus distinct pairs of user and item",
            count,
            len(pairs),
            examples,
        )


def shared_pairs(data_set: DataSet) -> Iterator[Finding]:
    """Pairs that are in two parts of a split."""
    roles = [role for role in (TRAIN, VALIDATION, FOLD_IN, TEST) if role in data_set.parts]
    for earlier_role, later_role in combinations(roles, 2):
        if {earlier_role, later_role} == {TRAIN, FOLD_IN}:
            continue  # the rows of test users that a model may see may well be among those that it is fitted on
        earlier, later = data_set.parts[earlier_role], data_set.parts[later_role]
        yield from _shared(data_set, earlier, later)


def _shared(data_set: DataSet, earlier: Part, later: Part) -> Iterator[Finding]:
    known, first = first_rows(data_set.pairs(earlier))
    wanted = data_set.pairs(later)
    shared = np.isin(wanted, known)
    count = int(shared.sum())
    if not count:
        return
    rows = np.flatnonzero(shared)[:EXAMPLES]
    before = first[np.searchsorted(known, wanted[rows])]
    examples = tuple(
        Example(pair_text(data_set, later, row), (place(earlier, other), place(later, row)))
        for other, row in zip(before.tolist(), rows.tolist(), strict=True)
    )
    nouns = NOUNS[earlier.role], NOUNS[later.role]
    same = count == len(wanted) and np.isin(known, wanted).all()
    if same and {earlier.role, later.role} == {VALIDATION, TEST}:
        yield Finding(
            "validation-is-test",
            "error",
            f"the validation part has the same {len(known):,} pairs as the test part: parameters chosen on it are "
            "chosen on the test part",
            f"the pairs of {earlier.file} and {later.file} as sets are equal",
            count,
            len(wanted),
            examples,
        )
        return
    yield Finding(
        f"{later.role}-in-{earlier.role}",
        "error",
        f"{count:,} of {plural(len(wanted), 'row')} of the {nouns[1]} part ({count / len(wanted):.1%}) have a user and "
        f"item that the {nouns[0]} part has too",
        f"rows of {later.file} whose pair of user and item is in {earlier.file}",
        count,
        len(wanted),
        examples,
    )


def unseen_ids(data_set: DataSet) -> Iterator[Finding]:
    """Users and items of the test part without training rows."""
    train = data_set.part(TRAIN)
    if train is None:
        return
    fold_in = data_set.part(FOLD_IN)
    for role in (VALIDATION, TEST):
        part = data_set.part(role)
        if part is None:
            continue
        for noun, severity in (("user", "warning"), ("item", "note")):
            codes = part.users if noun == "user" else part.items
            of_train = train.users if noun == "user" else train.items
            unseen = ~np.isin(codes, of_train)
            if noun == "user" and fold_in is not None and role == TEST:
                unseen &= ~np.isin(codes, fold_in.users)
            ids, first = np.unique(codes[unseen], return_index=True)
            if not len(ids):
                continue
            rows = np.sort(np.flatnonzero(unseen)[first])[:EXAMPLES]
            names = data_set.user_ids if noun == "user" else data_set.item_ids
            total = len(np.unique(codes))
            yield Finding(
                f"unseen-{noun}s",
                severity,
                f"{len(ids):,} of {plural(total, noun)} of the {NOUNS[role]} part have no training row; they have "
                f"{plural(int(unseen.sum()), f'{NOUNS[role]} row')}",
                f"distinct {noun}s of {part.file} that {train.file} does not have",
                len(ids),
                total,
                tuple(Example(f"{noun} {names[codes[row]]}", (place(part, row),)) for row in rows.tolist()),
            )


def shifted_ids(data_set: DataSet) -> Iterator[Finding]:
    """Whole-number ids that begin and end one later in one part than in another, as if one counted from 0."""
    train, test = data_set.part(TRAIN), data_set.part(TEST)
    if train is None or test is None:
        return
    for noun, ids in (("user", data_set.user_ids), ("item", data_set.item_ids)):
        if ids.dtype.kind not in "iu":
            continue
        ends = [
            (int(ids[codes.min()]), int(ids[codes.max()]))
            for codes in ((train.users, test.users) if noun == "user" else (train.items, test.items))
        ]
        (low, high), (test_low, test_high) = ends
        if {low, test_low} == {0, 1} and low - test_low == high - test_high:
            yield Finding(
                "shifted-ids",
                "undetermined",
                f"{noun}s have the ids {low:,} to {high:,} in the training part and {test_low:,} to {test_high:,} in "
                "the test part: one of them may count from 0 and the other from 1; ids were compared as written",
                f"lowest and highest {noun} id of {train.file} and {test.file}",
            )


def alike_ids(data_set: DataSet) -> Iterator[Finding]:
    """Ids that differ in leading zeros only."""
    if alike := data_set.alike_ids:
        yield Finding(
            "ids-in-two-spellings",
            "undetermined",
            f"{plural(len(alike), 'id')} is, or are, written with and without leading zeros; they were counted as "
            "different ids, and overlaps between the parts are higher if they are the same",
            "ids of digits whose numbers are equal and whose texts are not",
            len(alike),
            None,
            tuple(Example(f"{noun} {one} and {other}") for noun, one, other in alike[:EXAMPLES]),
        )
