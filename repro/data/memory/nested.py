"""Dictionaries and lists: something for each user, by id or by position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any, Literal

import numpy as np

from repro.data.io.ids import Values
from repro.data.io.roles import RECOMMENDATIONS, TRUTH, find_alias
from repro.data.memory.frames import column_values
from repro.data.memory.tables import MemoryTable, Target, objects
from repro.errors import DataError

Form = Literal["dictionary", "list of pairs", "list", "set", "single item"]
_FORMS: Mapping[Form, str] = {
    "dictionary": "{item: score}",
    "list of pairs": "[(item, score), ...]",
    "list": "[item, ...]",
    "set": "{item, ...}",
    "single item": "an item",
}


def mapping_columns(source: Mapping[Any, Any], target: Target) -> MemoryTable:
    """The rows of ``{user: {item: score}}``, ``{user: [items]}``, or ``{"user": [...], "item": [...], ...}``."""
    if names_columns(source, target):
        return _table({str(name): column_values(column) for name, column in source.items()}, target)
    return _of_users(list(source), list(source.values()), target)


def sequence_columns(source: Sequence[Any], target: Target) -> MemoryTable:
    """The rows of records, or of something for each user, who is called by the position."""
    first = source[0] if len(source) else None
    if isinstance(first, Mapping) and names_columns(first, target):
        if odd := next((row for row in source if not isinstance(row, Mapping)), None):
            raise DataError(f"{target.label} has records and a {type(odd).__name__} among them; give records only")
        names = dict.fromkeys(chain.from_iterable(source))
        return _table({str(name): objects([row.get(name) for row in source]) for name in names}, target)
    if isinstance(first, tuple) and all(isinstance(row, tuple) and len(row) == len(first) for row in source):
        raise DataError(
            f"{target.label} is a list of tuples, and it is unclear whether a tuple is a row or the items of a user; "
            "give rows as a data frame, such as pandas.DataFrame(rows, columns=['user', 'item', 'score']), and the "
            "items of users as lists"
        )
    table = _of_users(range(len(source)), source, target)
    return MemoryTable(table.values, {"user": len(source)})


def names_columns(source: Mapping[Any, Any], target: Target) -> bool:
    """Whether the keys of a dictionary are names of columns, and not ids of users."""
    names = list(source)
    if not names or not all(isinstance(name, str) for name in names):
        return False
    if all(find_alias(names, target.kind.aliases[role]) for role in ("user", "item")):
        return True
    try:  # under names that the caller states
        return bool(target.choose(names))
    except DataError:
        return False


def _table(columns: Mapping[str, Values], target: Target) -> MemoryTable:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise DataError(f"the columns of {target.label} are not equally long ({described})")
    return MemoryTable({role: columns[name] for role, name in target.choose(list(columns)).items()})


def _of_users(users: Sequence[Any], given: Sequence[Any], target: Target) -> MemoryTable:
    """A row for each item of each user."""
    entries = [_listed(value) for value in given]
    form = _common_form(users, entries, target)
    if form == "single item":
        entries = [[value] for value in entries]
    sizes = np.fromiter(map(len, entries), dtype=np.int64, count=len(entries))
    total = int(sizes.sum())
    items: Iterable[Any] = chain.from_iterable(entries)
    values: Iterable[Any] = ()
    if form == "dictionary":
        values = chain.from_iterable(entry.values() for entry in entries)
    elif form == "list of pairs":
        items, values = ([pair[n] for pair in chain.from_iterable(entries)] for n in (0, 1))
    columns: dict[str, Values] = {
        "user": np.repeat(np.arange(len(users)) if isinstance(users, range) else objects(users), sizes),
        "item": np.fromiter(items, dtype=object, count=total),
    }
    if form in ("dictionary", "list of pairs"):
        value = "score" if target.kind is RECOMMENDATIONS else "rating"
        columns[value] = np.fromiter(values, dtype=object, count=total)
    elif target.kind is RECOMMENDATIONS:
        columns["rank"] = np.arange(1, total + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return MemoryTable(columns)


def _listed(value: Any) -> Any:
    """Arrays and columns as lists; the rest as it is."""
    return value.tolist() if hasattr(value, "tolist") else value.to_list() if hasattr(value, "to_list") else value


def _common_form(users: Sequence[Any], entries: Sequence[Any], target: Target) -> Form:
    """The form in which the items of all users are given; empty ones may be of any."""
    seen: dict[Form, Any] = {}
    for user, entry in zip(users, entries, strict=True):
        if (of_user := _form(user, entry, target)) is not None:
            seen.setdefault(of_user, user)
    if len(seen) > 1:
        (first, user), (other, second) = list(seen.items())[:2]
        raise DataError(
            f"{target.label} has {_FORMS[first]} for user {user!r} and {_FORMS[other]} for user {second!r}; give the "
            "items of all users in the same form"
        )
    form: Form = next(iter(seen)) if seen else "list"
    if target.kind is RECOMMENDATIONS and form in ("set", "single item"):
        given = "a set of items, which has no order" if form == "set" else "a single item"
        raise DataError(
            f"{target.label} has {given}, for user {seen[form]!r}; give a list in order of rank, or {{item: score}}"
        )
    return form


def _form(user: Any, entry: Any, target: Target) -> Form | None:
    """The form of the items of one user; None where there are none."""
    if isinstance(entry, Mapping):
        return "dictionary" if entry else None
    if isinstance(entry, AbstractSet):
        return "set" if entry else None
    if isinstance(entry, Sequence) and not isinstance(entry, str | bytes):
        if not entry:
            return None
        pairs = [isinstance(item, tuple) and len(item) == 2 for item in entry]
        return "list of pairs" if all(pairs) else "list"
    if isinstance(entry, str | bytes | int) or (target.kind is TRUTH and not isinstance(entry, float | None)):
        return "single item"
    raise DataError(
        f"{target.label} has {entry!r} of type {type(entry).__name__} for user {user!r}; give a list of items in order "
        "of rank, or {item: score}"
    )
