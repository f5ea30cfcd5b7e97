"""Sizes of the files against the stated ones, and the data sets that have them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repro.data.identification import Sizes, identify
from repro.reviews.artefact.data_sets import DataSet
from repro.reviews.artefact.names import TEST, TRAIN, VALIDATION, WHOLE
from repro.reviews.checks.pairs import NOUNS
from repro.reviews.findings import Example, Finding
from repro.reviews.stated import Stated


def size_findings(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """The sizes of all parts together, against the stated ones, and what they are the sizes of."""
    yield from _of_parts(data_set, stated)
    whole = data_set.part(WHOLE)
    parts = [whole] if whole is not None else data_set.split_parts
    numbers = stated.sizes
    if not parts:
        return
    complete = whole is not None or {TRAIN, TEST} <= set(data_set.parts)
    counted = data_set.sizes(parts)
    files = " and ".join(part.file for part in parts)
    if not complete:
        for name, number in numbers.named():
            yield Finding(
                "sizes",
                "undetermined",
                f"{number:,} {name} are stated, and the folder has {files} only, with {counted.sentence}",
                "a training and a test part, or all rows, are needed",
            )
        return
    for name, off in counted.minus(numbers).items():
        number = dict(numbers.named())[name]
        if not off:
            continue
        yield Finding(
            "sizes",
            "error",
            f"{number:,} {name} are stated, and the files have {number + off:,} ({off:+,})"
            + _as_highest_id(data_set, name, number),
            f"distinct {name} of {files}" if name != "rows" else f"rows of {files}",
            abs(off),
            number,
        )
    agreeing = [name for name, off in counted.minus(numbers).items() if not off]
    if agreeing:
        text = f"{' and '.join(agreeing)} of the files are as stated: {counted.sentence}"
    else:
        text = f"the files have {counted.sentence}"
    yield Finding("sizes", "note", text, f"distinct users, distinct items and rows of {files}")
    yield from _identified(counted, files)


def _as_highest_id(data_set: DataSet, name: str, number: int) -> str:
    """The end of a sentence if the stated number is that of the highest id; empty otherwise."""
    ids = {"users": data_set.user_ids, "items": data_set.item_ids}.get(name)
    if ids is None or ids.dtype.kind not in "iu" or not len(ids):
        return ""
    highest = int(ids.max())
    if number == highest:
        return "; the stated number is the highest id"
    return f"; the stated number is the highest id, {highest:,}, plus 1" if number == highest + 1 else ""


def _of_parts(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """The rows of each part, and the users of the test part."""
    for role, number in ((TRAIN, stated.train_rows), (VALIDATION, stated.validation_rows), (TEST, stated.test_rows)):
        part = data_set.part(role)
        if number is None:
            continue
        if part is None:
            yield Finding(
                f"{role}-rows",
                "undetermined",
                f"{number:,} {NOUNS[role]} rows are stated, and no such part is here",
                "",
            )
        elif len(part) != number:
            yield Finding(
                f"{role}-rows",
                "error",
                f"{number:,} {NOUNS[role]} rows are stated, and {part.file} has {len(part):,} "
                f"({len(part) - number:+,})",
                f"rows of {part.file}",
                abs(len(part) - number),
                number,
            )
    test = data_set.part(TEST)
    if stated.test_users is not None and test is not None:
        users = len(np.unique(test.users))
        if users != stated.test_users:
            yield Finding(
                "test-users",
                "error",
                f"{stated.test_users:,} test users are stated, and {test.file} has {users:,} "
                f"({users - stated.test_users:+,}) in {len(test):,} rows",
                f"distinct users of {test.file}",
                abs(users - stated.test_users),
                stated.test_users,
            )


def _identified(counted: Sizes, files: str) -> Iterator[Finding]:
    """The known data with these sizes."""
    found = identify(counted.users, counted.items, counted.rows, try_here=False)
    how = f"the sizes of {files} in the table of published sizes"
    if found.matches:
        examples = tuple(
            Example(f"{match.data}, {match.version}", (match.source, match.address)) for match in found.matches
        )
        names = ", ".join(dict.fromkeys(f"{match.data} ({match.version})" for match in found.matches))
        yield Finding("identified", "note", f"these are the published sizes of {names}", how, examples=examples)
        return
    near = ""
    if found.near:
        nearest = found.near[0]
        off = ", ".join(f"{difference:+,} {name}" for name, difference in nearest.differences.items() if difference)
        near = f"; the nearest is {nearest.data} ({nearest.version}), with {off}"
    yield Finding("identified", "note", f"no known data has these sizes{near}", how)
