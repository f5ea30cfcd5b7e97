"""Files that give the negatives of each user or of each test pair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from repro.data.interactions import CodeArray, IdArray, Interactions
from repro.data.io.roles import ALIASES, LABELS, TARGETS, plain_name
from repro.data.io.user_lines import UserLine, read_user_lines
from repro.errors import DataError, nearest
from repro.evaluation.candidates.lists import Offsets
from repro.evaluation.candidates.ragged import offsets_of
from repro.grouping import grouped

Kind = Literal["user", "pair"]
Pairs = set[tuple[str, str]]

_FLOAT = re.compile(r"(-?[0-9]+)\.0+")
# A file in which this share of the users or items is unknown has other ids than the data set.
_UNKNOWN_SHARE = 0.5


class FileNote(NamedTuple):
    """A note about a file: how many of how many, and what was done with them."""

    touched: int
    total: int
    unit: str
    note: str


@dataclass(frozen=True, eq=False)
class GivenNegatives:
    """The lines of a file of negatives: those of line ``n`` are ``items[offsets[n]:offsets[n + 1]]``.

    ``kind`` says what a line is about: a user, or a pair of a user and a test item (``targets``, else -1). ``notes``
    are about what was assumed, and what could not be used.
    """

    path: Path
    kind: Kind
    users: CodeArray
    targets: CodeArray
    offsets: Offsets
    items: CodeArray
    notes: tuple[FileNote, ...] = ()

    def __len__(self) -> int:
        return len(self.users)


def read_negatives(path: Path, interactions: Interactions, test: Interactions | None = None) -> GivenNegatives:
    """Read a file with one line for each user (``user negative negative ...``), or for each test pair as in the
    files of He et al. 2017 (``(user,item) negative negative ...``).

    Delimiters, brackets, quotes, a header and comments are recognised; a table with a row for each negative, JSON and
    compressed files are read too. ``test`` are the held-out rows, by which test items among the columns are recognised.
    """
    entries, notes = _read_lines(path)
    users, items = _Codes(interactions.user_ids, "user", path), _Codes(interactions.item_ids, "item", path)
    pairs = _test_pairs(test)
    entries, names = _without_header(entries, users, items)
    entries, form = _one_line_each(entries, names, pairs, path)
    kind = _kind(entries, path)
    known = [entry for entry in entries if users.has(entry.user, entry.place)]
    aimed = [entry for entry in known if entry.target is None or items.has(entry.target, entry.place)]
    listed = [[item for item in entry.items if items.has(item, entry.place)] for entry in aimed]
    users.refuse_unknown()
    items.refuse_unknown()
    note = FileNote(len(entries), len(entries), "lists of the file", f"are read as: {'; '.join([*notes, *form])}")
    return GivenNegatives(
        path,
        kind,
        users.codes(entry.user for entry in aimed),
        np.array([-1 if entry.target is None else items.code(entry.target) for entry in aimed], dtype=np.int32),
        offsets_of(np.array([len(own) for own in listed], dtype=np.int64)),
        items.codes(item for own in listed for item in own),
        (note, *users.notes(), *items.notes()),
    )


def _read_lines(path: Path) -> tuple[list[UserLine], list[str]]:
    try:
        file = read_user_lines(path)
    except OSError as error:
        raise DataError(
            f"cannot read the file of negatives {path}: {error.strerror or error}; candidates.file is "
            "relative to the folder of the protocol file"
        ) from None
    return list(file.lines), list(file.notes)


def _test_pairs(test: Interactions | None) -> Pairs:
    if test is None:
        return set()
    users, items = test.user_ids[test.users], test.item_ids[test.items]
    return {(_whole(str(user)), _whole(str(item))) for user, item in zip(users, items, strict=True)}


def _whole(text: str) -> str:
    """An id without the decimals that a column of floats adds to whole numbers."""
    matched = _FLOAT.fullmatch(text)
    return matched[1] if matched else text


class _Codes:
    """The codes of users or items by their text; counts unknown ids, and ids with decimals."""

    def __init__(self, ids: IdArray, noun: str, path: Path) -> None:
        self._codes = {str(value): code for code, value in enumerate(ids)}
        self._whole: dict[str, int] = {}
        for text, code in self._codes.items():
            self._whole.setdefault(_whole(text), code)
        self._noun, self._path = noun, path
        self._total = self._unknown = self._rounded = 0
        self._first: tuple[str, str] = ("", "")

    def __contains__(self, text: str) -> bool:
        return text in self._codes or _whole(text) in self._whole

    def has(self, text: str, place: str) -> bool:
        """Whether there is such an id; counts, and remembers the first unknown entry."""
        self._total += 1
        if text in self:
            self._rounded += text not in self._codes
            return True
        self._first = self._first if self._unknown else (text, place)
        self._unknown += 1
        return False

    def code(self, text: str) -> int:
        return self._codes[text] if text in self._codes else self._whole[_whole(text)]

    def codes(self, texts: Iterable[str]) -> CodeArray:
        return np.array([self.code(text) for text in texts], dtype=np.int32)

    def refuse_unknown(self) -> None:
        """Reject a file in which so many ids are unknown that it must be about other data."""
        if self._unknown and self._unknown >= _UNKNOWN_SHARE * self._total:
            text, place = self._first
            raise DataError(
                f"{self._path}, {place}: there is no {self._noun} '{text}' in the data set"
                f"{nearest(text, self._codes)} The data has {len(self._codes):,} {self._noun}s, and {self._unknown:,} "
                f"of {self._total:,} in the file are not among them; the ids of the file must be those of the data set"
            )

    def notes(self) -> list[FileNote]:
        notes = []
        if self._unknown:
            text, place = self._first
            what = {"user": "are of users without any row", "item": "are of items without any row"}[self._noun]
            unit = {"user": "lists of the file", "item": "items of the file"}[self._noun]
            note = f"{what} and left out, the first '{text}' in {place}"
            notes.append(FileNote(self._unknown, self._total, unit, note))
        if self._rounded:
            note = "are whole numbers written otherwise than in the data set (7 and 7.0), and taken for these"
            notes.append(FileNote(self._rounded, self._total, f"{self._noun} ids of the file", note))
        return notes


def _without_header(entries: list[UserLine], users: _Codes, items: _Codes) -> tuple[list[UserLine], list[str]]:
    """The entries without a header; and the names in it, if there is entry."""
    if not entries:
        return entries, []
    first = entries[0]
    cells = [first.user, *([] if first.target is None else [first.target]), *first.items]
    names = [plain_name(cell.partition(":")[0]) for cell in cells]
    known = {alias for role in ("user", "item") for alias in ALIASES[role]}
    named = any(name in known or name.startswith("neg") for name in names)
    if not named or (first.user in users and any(item in items for item in first.items)):
        return entries, []
    return entries[1:], names


def _one_line_each(
    entries: list[UserLine], names: Sequence[str], pairs: Pairs, path: Path
) -> tuple[list[UserLine], list[str]]:
    """One entry for each user or pair, whatever the form of the table; and notes about that form."""
    notes = [f"a header ({', '.join(names)})"] if names else []
    if not entries or any(entry.target is not None for entry in entries):
        entries = _joined(entries) if all(len(entry.items) == 1 for entry in entries) else entries
        return _single(entries, path), [*notes, "each line is a test pair and its negatives"]
    widths = {len(entry.items) for entry in entries}
    again = len({entry.user for entry in entries}) < len(entries)
    if names and widths == {len(names) - 1} and (again or _is_table(names)):
        return _by_names(entries, names, notes, path)
    if again and widths == {1}:
        return _joined(entries), [*notes, "each row is a user and one of its negatives"]
    held_out = (len(entry.items) > 1 and _is_pair(entry.user, entry.items[0], pairs) for entry in entries)
    if pairs and all(held_out):
        entries = [replace(entry, target=entry.items[0], items=entry.items[1:]) for entry in entries]
        form = "each line is a user, its test item and negatives (the first item is held out for the user in all lines)"
        if again and widths == {2}:
            form = "each row is a user, its test item and one negative (the first item is held out in all rows)"
        return _single(_joined(entries) if widths == {2} else entries, path), [*notes, form]
    if again and widths == {2} and {entry.items[1] for entry in entries} <= {"0", "1", "0.0", "1.0"}:
        form = "each row is a user, an item and a label, and negatives have the label 0"
        return _labelled(entries, path), [*notes, form]
    return _single(entries, path), [*notes, "each line is a user and its negatives"]


def _is_pair(user: str, item: str, pairs: Pairs) -> bool:
    return (_whole(user), _whole(item)) in pairs


def _is_table(names: Sequence[str]) -> bool:
    """Whether by its header a table has other columns than a user and negatives: a target, a label, row numbers."""
    several = sum(name.startswith("neg") for name in names) > 1 and names[1] in ALIASES["item"]
    return several or names[0] not in ALIASES["user"] or any(name in (*TARGETS, *LABELS) for name in names[1:])


def _by_names(
    entries: list[UserLine], names: Sequence[str], notes: list[str], path: Path
) -> tuple[list[UserLine], list[str]]:
    """A table with a header: user, perhaps a target, and one or several negatives, or items with a label."""
    user = next((n for n, name in enumerate(names) if name in ALIASES["user"]), None)
    label = next((n for n, name in enumerate(names) if name in LABELS), None)
    target = next((n for n, name in enumerate(names) if name in TARGETS), None)
    negatives = [n for n, name in enumerate(names) if name.startswith("neg")]
    items = [n for n, name in enumerate(names) if name in ALIASES["item"] and n != target]
    if target is None and negatives and items:
        target = items[0]
    negatives = negatives or items[:1]
    if user is None or not negatives:
        raise DataError(
            f"{path} has the columns {', '.join(names)}; of a table of negatives, the columns 'user' and 'item' (and "
            "'target', where negatives go with a test item) are expected"
        )
    taken = [f"{names[user]} for user", f"{names[negatives[0]]} for the negative"]
    taken += [] if target is None else [f"{names[target]} for the test item"]
    taken += [] if label is None else [f"negatives have {names[label]} 0"]
    moved = []
    for entry in entries:
        row = [entry.user, *entry.items]
        of = [row[n] for n in negatives] + ([] if label is None else [row[label]])
        moved.append(UserLine(entry.place, row[user], None if target is None else row[target], tuple(of)))
    return _joined(moved) if label is None else _labelled(moved, path), [*notes, f"taken are {', '.join(taken)}"]


def _labelled(entries: list[UserLine], path: Path) -> list[UserLine]:
    """The items with label 0, joined for each user or pair; one without such rows has no negatives."""
    negatives = []
    for entry in entries:
        try:
            is_negative = float(entry.items[-1]) == 0
        except ValueError:
            raise DataError(
                f"{path}, {entry.place}: the label is '{entry.items[-1]}'; expected 0 for a negative and 1 for others"
            ) from None
        negatives.append(replace(entry, items=entry.items[:-1] if is_negative else ()))
    if not any(entry.items for entry in negatives):
        raise DataError(f"{path} has no row with the label 0, which negatives have; leave the labels out")
    return _joined(negatives)


def _joined(entries: list[UserLine]) -> list[UserLine]:
    """One entry for each user or pair, with the items of all its rows."""
    groups = grouped(entries, lambda entry: (entry.user, entry.target)).values()
    return [replace(own[0], items=tuple(item for entry in own for item in entry.items)) for own in groups]


def _kind(entries: list[UserLine], path: Path) -> Kind:
    kinds = {entry.target is None for entry in entries}
    if len(kinds) != 1:
        what = "lines of both kinds" if kinds else "no lines"
        raise DataError(
            f"{path} has {what}; give one line per user ('user negative ...') or one per test pair "
            "('(user,item) negative ...')"
        )
    return "user" if kinds == {True} else "pair"


def _single(entries: list[UserLine], path: Path) -> list[UserLine]:
    """The entries; rejects two of the same user or pair."""
    first: dict[tuple[str, str | None], str] = {}
    for entry in entries:
        key = (entry.user, entry.target)
        if key in first:
            what = f"user {entry.user}" if entry.target is None else f"the pair ({entry.user},{entry.target})"
            raise DataError(f"{path}: {what} has two lines, {first[key]} and {entry.place}; make one line of them")
        first[key] = entry.place
    return entries
