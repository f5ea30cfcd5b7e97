"""Files with a line for each user: the user (or a user and an item in brackets), then items."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from repro.data.io.compressed import open_stream, read_all
from repro.data.io.json_text import parse_json
from repro.data.io.sniff import ALIASES, COMMENT, comments_told, lines_of, plain_name
from repro.data.io.values import id_text
from repro.errors import DataError

_ID = r"""(?:"([^"]*)"|'([^']*)'|([^\s"'()\[\],;][^"'()\[\],;]*?))"""
# A pair as NCF writes it, (user,item), and as others do: [user, item], ('user', 'item'), "(user, item)".
_PAIR = re.compile(rf"""^["']?[(\[]\s*{_ID}(?:\s*[,;|]\s*|\s+){_ID}\s*[)\]]["']?(?:\s*:(?!:))?""")
# 7: 1 2 3
_BEFORE_COLON = re.compile(r"(-?[0-9]+)\s*:(?!:)\s*")
_MARKS = {"::": "'::'", "\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}
_WHOLE = re.compile(r"-?[0-9]+")
# What people call the test item that negatives go with; compared without case, blanks and punctuation.
TARGETS = ("target", "targetitem", "targetid", "positive", "positem", "pos", "testitem", "groundtruth", "gt", "truth")


@dataclass(frozen=True)
class Entry:
    """The items of a user, or of a pair of a user and a target, and where in the file they stand."""

    place: str
    user: str
    target: str | None
    items: tuple[str, ...]


@dataclass(frozen=True)
class Lists:
    """The entries of a file, in its order, and what was assumed to read them."""

    entries: tuple[Entry, ...]
    notes: tuple[str, ...]


def read_lists(path: Path, encoding: str = "utf-8") -> Lists:
    """The entries of a text file (whatever the delimiter), or of JSON: ``{user: [items]}``, or lines of it."""
    state = path.stat()
    return _read_lists(path, encoding, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)  # every fold and algorithm of a study asks for the same file
def _read_lists(path: Path, encoding: str, changed: int, size: int) -> Lists:
    lines = [(number, line.strip()) for number, line in lines_of(path, encoding) if line.strip()]
    rows = [(number, line) for number, line in lines if not line.startswith(COMMENT)] or lines
    notes = [comments_told(len(lines) - len(rows))] if rows != lines else []
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson") or (rows and _begins_json(rows[0][1])):
        return Lists(tuple(_json_entries(path)), (*notes, "JSON"))
    mark = _delimiter([line for _, line in rows])
    said = f"text separated by {_MARKS[mark]}" if mark else "text separated by white space"
    return Lists(tuple(_text_entry(number, line, mark) for number, line in rows), (said, *notes))


def are_lists(entries: Sequence[Entry]) -> bool:
    """Whether lines of unequal length are the items of a user each, and not a table with broken lines.

    No user has two lines, all ids are whole numbers (or what stands where a table has ratings is no number), and no
    length is that of nearly all lines, but where the longest line is a user and an item.
    """
    if not entries or any(entry.target is not None for entry in entries):
        return False
    widths = Counter(len(entry.items) for entry in entries)
    distinct = len({entry.user for entry in entries}) == len(entries)
    whole = all(_WHOLE.fullmatch(text) for entry in entries for text in (entry.user, *entry.items))
    whole = whole or any(re.search(r"[^\W\d]", text) for entry in entries for text in entry.items[1:])
    uneven = max(widths) <= 1 or widths.most_common(1)[0][1] <= 0.75 * len(entries)
    return distinct and whole and len(widths) > 1 and uneven


def _begins_json(line: str) -> bool:
    """Whether a line begins a document of JSON; one in brackets that is no such may be a pair."""
    if line.startswith("{"):
        return True
    return line.startswith("[") and not _PAIR.match(line)


def _delimiter(lines: Sequence[str]) -> str | None:
    """The mark that most lines with several fields have, beside those within a pair; None for white space."""
    rests = [_PAIR.sub("", line, count=1).strip() for line in lines]
    several = [rest for rest in rests if re.search(r"\S[\s,;|:]+\S", rest)]
    return next((mark for mark in _MARKS if sum(mark in rest for rest in several) * 2 > len(several)), None)


def _text_entry(number: int, line: str, mark: str | None) -> Entry:
    pair = _PAIR.match(line)
    if not pair and (colon := _BEFORE_COLON.match(line)):
        line = f"{colon[1]}{mark or ' '}{line[colon.end() :]}"
    fields = [field.strip() for field in (line[pair.end() :] if pair else line).split(mark)]
    items = [item for field in fields[0 if pair else 1 :] for item in _pieces(field)]
    if pair:
        groups = [group for group in pair.groups() if group is not None]
        return Entry(f"line {number:,}", groups[0].strip(), groups[1].strip(), tuple(items))
    user, *more = _pieces(fields[0]) or [""]
    return Entry(f"line {number:,}", user, None, (*more, *items))


def _pieces(field: str) -> list[str]:
    """The ids in a field: one, without its quotes, or those of a list such as ``[1, 2, 3]`` or ``1,2,3``."""
    if field.isdigit():
        return [field]
    inside = field.strip().strip("[](){}").strip()
    parts = inside.split(",") if "," in inside else inside.split()
    if "," not in inside and not all(_WHOLE.fullmatch(part.strip("\"'")) for part in parts):
        parts = [inside]  # an id with blanks in it
    cleaned = [part.strip().strip("\"'").strip() for part in parts]
    return [part for part in cleaned if part]


def load_json(path: Path) -> Any:
    """The document in a JSON file, or the list of those in its lines."""
    with open_stream(path) as stream:
        text = read_all(stream).decode("utf-8-sig", errors="replace")
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        found = []
        for number, line in lines_of(path, "utf-8"):
            try:
                found.append(parse_json(line))
            except json.JSONDecodeError as fault:
                said, place = (error, error.lineno) if number == 1 else (fault, number)
                raise DataError(f"{path} is not valid JSON: {said.msg} in line {place:,}; write it again") from None
        return found


def _json_entries(path: Path) -> Iterator[Entry]:
    found = load_json(path)
    for number, one in enumerate(found if isinstance(found, list) else [found], 1):
        if isinstance(one, list) and len(one) > 1 and isinstance(one[-1], list):  # [user, [items]], [user, item, [...]]
            target = id_text(one[1]) if len(one) > 2 else None
            yield Entry(f"entry {number:,}", id_text(one[0]), target, _texts(one[-1], path))
        elif isinstance(one, dict) and (record := _record(one, path)):
            yield replace(record, place=f"entry {number:,}")
        elif isinstance(one, dict) and one:
            yield from _by_user(one, path)
        else:
            raise _no_lists(path)


def _record(one: Mapping[str, Any], path: Path) -> Entry | None:
    """``{"user": 1, "negatives": [...]}``, perhaps with the target; None where it is no record."""
    plain = {plain_name(str(name)): value for name, value in one.items()}
    user = next((plain[name] for name in ALIASES["user"] if name in plain), None)
    lists = [value for value in plain.values() if isinstance(value, list)]
    if user is None or isinstance(user, list | dict) or len(lists) != 1:
        return None
    names = (name for name in (*TARGETS, *ALIASES["item"]) if name in plain)
    target = next((plain[name] for name in names if not isinstance(plain[name], list)), None)
    return Entry("", id_text(user), None if target is None else id_text(target), _texts(lists[0], path))


def _by_user(one: Mapping[str, Any], path: Path) -> Iterator[Entry]:
    """``{user: [items]}``, ``{"(user, item)": [items]}`` or ``{user: {item: [items]}}``."""
    for key, value in one.items():
        pair = _PAIR.match(key)
        if isinstance(value, dict) and value:
            for target, items in value.items():
                yield Entry(f"user {key}", key, target, _texts(items, path))
        elif pair:
            first, second = (group for group in pair.groups() if group is not None)
            yield Entry(f"pair {key}", first.strip(), second.strip(), _texts(value, path))
        else:
            yield Entry(f"user {key}", key, None, _texts(value, path))


def _texts(items: object, path: Path) -> tuple[str, ...]:
    if not isinstance(items, list) or any(isinstance(item, list | dict) for item in items):
        raise _no_lists(path)
    return tuple(map(id_text, items))


def _no_lists(path: Path) -> DataError:
    return DataError(
        f"{path} has no lists in it that are understood; expected are {{user: [items]}}, {{user: {{item: [items]}}}}, "
        'or lines such as {"user": 1, "items": [2, 3]}'
    )
