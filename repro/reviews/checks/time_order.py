"""Times of held-out rows against those of the rows before them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from repro.reviews.artefact.data_sets import DataSet, Part
from repro.reviews.artefact.names import TEST, TRAIN
from repro.reviews.checks.pairs import NOUNS, pair_text, place
from repro.reviews.findings import EXAMPLES, Example, Finding
from repro.reviews.stated import Stated
from repro.text import plural


def time_findings(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """Rows of a later part that are older than a row of the same user in an earlier part."""
    parts = data_set.split_parts
    timed = [part for part in parts if part.times is not None]
    if timed and len(np.unique(np.concatenate([part.times for part in timed if part.times is not None]))) == 1:
        timed = []  # a constant in the place of times
    if stated.order == "time" and len(parts) > 1 and len(timed) < len(parts):
        without = [part.file for part in parts if part not in timed]
        yield Finding(
            "order-in-time",
            "undetermined",
            f"the split is stated to be by time, and {' and '.join(without)} have no times: the order cannot be told",
            "a column of times that are not all the same",
        )
    for earlier, later in pairwise(timed):
        yield from _older(data_set, earlier, later, stated)
    train, test = (next((part for part in timed if part.role == role), None) for role in (TRAIN, TEST))
    if train is not None and test is not None:
        yield from _global(train, test, stated)


def _older(data_set: DataSet, earlier: Part, later: Part, stated: Stated) -> Iterator[Finding]:
    assert earlier.times is not None and later.times is not None
    latest, first_of = _latest(earlier, len(data_set.user_ids))
    known = first_of[later.users] >= 0
    older = known & (later.times < latest[later.users])
    tied = int((known & (later.times == latest[later.users])).sum())
    nouns, total = (NOUNS[earlier.role], NOUNS[later.role]), int(known.sum())
    by_time = stated.order == "time"
    ties = f"; {tied:,} have the same time as its latest one, so the files cannot tell their order" if tied else ""
    if older.any():
        rows, count = np.flatnonzero(older)[:EXAMPLES].tolist(), int(older.sum())
        examples = tuple(
            Example(
                f"{pair_text(data_set, later, row)}, time {later.times[row]} before {latest[later.users[row]]}",
                (place(later, row), place(earlier, int(first_of[later.users[row]]))),
            )
            for row in rows
        )
        yield Finding(
            "order-in-time",
            "error" if by_time else "note",
            f"{count:,} of {plural(total, f'{nouns[1]} row')} are older than a {nouns[0]} row of the same user{ties}",
            f"times of {later.file} below the latest time of the same user in {earlier.file}",
            count,
            total,
            examples,
        )
    elif total:
        yield Finding(
            "order-in-time",
            "note",
            f"no {nouns[1]} row is older than a {nouns[0]} row of the same user{ties}",
            f"times of {later.file} against the latest time of the same user in {earlier.file}",
        )


def _latest(part: Part, n_users: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The latest time of each user, and a row that has it; -1 for users without rows."""
    assert part.times is not None
    order = np.lexsort((part.times, part.users))
    users = part.users[order]
    last = np.flatnonzero(np.r_[users[1:] != users[:-1], True]) if len(users) else np.array([], dtype=np.int64)
    latest, row = np.zeros(n_users, dtype=np.int64), np.full(n_users, -1, dtype=np.int64)
    latest[users[last]], row[users[last]] = part.times[order[last]], order[last]
    return latest, row


def _global(train: Part, test: Part, stated: Stated) -> Iterator[Finding]:
    """Test rows that are older than the latest training row of anybody."""
    assert train.times is not None and test.times is not None
    end = int(train.times.max())
    before = int((test.times < end).sum())
    by_time = stated.order == "time" and stated.split == "ratio"
    if before:
        row = int(np.argmin(test.times))
        yield Finding(
            "test-before-end-of-training",
            "error" if by_time else "note",
            f"{before:,} of {plural(len(test), 'test row')} ({before / len(test):.1%}) are older than the latest "
            "training row of all users: a model may be fitted on what came after them",
            f"times of {test.file} below {end}, the latest of {train.file}",
            before,
            len(test),
            (Example(f"time {test.times[row]}, the earliest", (place(test, row),)),),
        )
