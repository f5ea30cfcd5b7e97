"""Lists of negatives: their lengths, and negatives that are positives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repro.reviews.artefact.data_sets import DataSet, Part
from repro.reviews.artefact.names import TEST, TRAIN, VALIDATION, WHOLE
from repro.reviews.checks.pairs import NOUNS, first_rows, pair_text, place
from repro.reviews.findings import EXAMPLES, Example, Finding
from repro.reviews.stated import Stated
from repro.text import plural


def negative_findings(data_set: DataSet, stated: Stated) -> Iterator[Finding]:
    """Findings about all lists of negatives."""
    for part in data_set.negatives:
        yield from _lengths(part, stated)
        yield from _repeated(data_set, part)
        yield from _positives(data_set, part)
        yield from _without_list(data_set, part)


def _lengths(part: Part, stated: Stated) -> Iterator[Finding]:
    if part.lines is None:
        return
    sizes = np.bincount(part.lines)
    values, counts = np.unique(sizes, return_counts=True)
    how = f"items of each line of {part.file}"
    if stated.negatives is not None and (wrong := np.flatnonzero(sizes != stated.negatives)).size:
        first = [int(np.searchsorted(part.lines, line)) for line in wrong[:EXAMPLES].tolist() if sizes[line]]
        examples = tuple(Example(f"{sizes[part.lines[row]]:,} items", (place(part, row),)) for row in first)
        text = f"{len(wrong):,} of {plural(len(sizes), 'list')} of negatives have other than {stated.negatives:,} items"
        yield Finding("length-of-negatives", "error", text, how, len(wrong), len(sizes), examples)
    elif len(values) > 1:
        usual = int(values[np.argmax(counts)])
        odd = np.flatnonzero(sizes != usual)
        first = [int(np.searchsorted(part.lines, line)) for line in odd[:EXAMPLES].tolist() if sizes[line]]
        examples = tuple(Example(f"{sizes[part.lines[row]]:,} items", (place(part, row),)) for row in first)
        text = (
            f"lists of negatives have {values.min():,} to {values.max():,} items; {len(odd):,} of {len(sizes):,} have "
            f"other than {usual:,}"
        )
        yield Finding("length-of-negatives", "warning", text, how, len(odd), len(sizes), examples)
    else:
        text = f"each of {plural(len(sizes), 'list')} of negatives has {plural(int(values[0]), 'item')}"
        yield Finding("length-of-negatives", "note", text, how)


def _repeated(data_set: DataSet, part: Part) -> Iterator[Finding]:
    if part.lines is None:
        return
    keys = part.lines * len(data_set.item_ids) + part.items
    distinct, first = first_rows(keys)
    count = len(keys) - len(distinct)
    if count:
        is_first = np.zeros(len(keys), dtype=np.bool_)
        is_first[first] = True
        rows = np.flatnonzero(~is_first)[:EXAMPLES].tolist()
        yield Finding(
            "repeated-negatives",
            "warning",
            f"{count:,} of {plural(len(keys), 'negative')} repeat an item of the same list",
            f"items of each line of {part.file} minus distinct ones",
            count,
            len(keys),
            tuple(Example(pair_text(data_set, part, row), (place(part, row),)) for row in rows),
        )


def _positives(data_set: DataSet, part: Part) -> Iterator[Finding]:
    """Negatives that are the target of their list, or other rows of the user."""
    total = len(part)
    targets = np.zeros(total, dtype=np.bool_) if part.targets is None else part.items == part.targets
    if targets.any():
        yield _finding(
            data_set, part, targets, "target-among-negatives", "error", "are the test item of their own list"
        )
    pairs = data_set.pairs(part)
    for role, severity in ((TEST, "error"), (VALIDATION, "warning"), (TRAIN, "warning"), (WHOLE, "warning")):
        positive = data_set.part(role)
        if positive is None:
            continue
        hit = np.isin(pairs, data_set.pairs(positive)) & ~targets
        if hit.any():
            rows = "rows" if role == WHOLE else f"{NOUNS[role]} rows"
            yield _finding(
                data_set, part, hit, f"{role}-items-among-negatives", severity, f"are items of {rows} of the same user"
            )


def _finding(data_set: DataSet, part: Part, hit: np.ndarray, check: str, severity: str, are: str) -> Finding:
    rows, count = np.flatnonzero(hit)[:EXAMPLES].tolist(), int(hit.sum())
    lists = "" if part.lines is None else f", in {plural(len(np.unique(part.lines[hit])), 'list')}"
    return Finding(
        check,
        severity,
        f"{count:,} of {plural(len(part), 'negative')}{lists}, {are}",
        f"pairs of a user and a negative of {part.file} that are pairs of the other rows too",
        count,
        len(part),
        tuple(Example(pair_text(data_set, part, row), (place(part, row),)) for row in rows),
    )


def _without_list(data_set: DataSet, part: Part) -> Iterator[Finding]:
    """Test rows without a list of negatives, and lists without a test row."""
    tested = data_set.part(part.negatives_of)
    if tested is None:
        return
    if part.targets is None:
        wanted, given, noun = tested.users.astype(np.int64), part.users.astype(np.int64), "user"
    else:
        wanted, given, noun = data_set.pairs(tested), data_set.pairs(part, part.targets), "pair"
    without = ~np.isin(wanted, given)
    if without.any():
        rows, count = np.flatnonzero(without)[:EXAMPLES].tolist(), len(np.unique(wanted[without]))
        yield Finding(
            "test-rows-without-negatives",
            "warning",
            f"{count:,} of {plural(len(np.unique(wanted)), noun)} of the {NOUNS[tested.role]} part have no list of "
            "negatives",
            f"{noun}s of {tested.file} that {part.file} does not have",
            count,
            len(np.unique(wanted)),
            tuple(Example(pair_text(data_set, tested, row), (place(tested, row),)) for row in rows),
        )
    surplus = ~np.isin(given, wanted)
    if surplus.any():
        rows, count = np.flatnonzero(surplus), len(np.unique(given[surplus]))
        first = rows[np.unique(given[rows], return_index=True)[1]]
        yield Finding(
            "negatives-without-test-row",
            "warning",
            f"{plural(count, 'list')} of negatives have no {noun} in the {NOUNS[tested.role]} part",
            f"{noun}s of {part.file} that {tested.file} does not have",
            count,
            len(np.unique(given)),
            tuple(
                Example(f"user {data_set.user_ids[part.users[row]]}", (place(part, row),))
                for row in np.sort(first)[:EXAMPLES].tolist()
            ),
        )
