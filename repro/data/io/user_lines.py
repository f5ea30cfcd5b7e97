"""Files with a line for each user: the user (or a pair of a user and an item, in brackets), then items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from repro.data.io.compressed import lines_of
from repro.data.io.formats import is_json_name
from repro.data.io.ids import id_text
from repro.data.io.json_files import load_json
from repro.data.io.roles import ALIASES, TARGETS, plain_name
from repro.data.io.sniff import COMMENT, DELIMITER_NAMES, comments_note
from repro.errors import DataError

_ID = r"""(?:"([^"]*)"|'([^']*)'|([^\s"'()\[\],;][^"'()\[\],;]*?))"""
# A pair as NCF writes it, (user,item), and as others do: [user, item], ('user', 'item'), "(user, item)".
_PAIR = re.compile(rf"""^["']?[(\[]\s*{_ID}(?:\s*[,;|]\s*|\s+){_ID}\s*[)\]]["']?(?:\s*:(?!:))?""")
# 7: 1 2 3
_BEFORE_COLON = re.compile(r"(-?[0-9]+)\s*:(?!:)\s*")
_DELIMITERS = ("::", "\t", ";", ",", "|")
_WHOLE = re.compile(r"-?[0-9]+")


@dataclass(frozen=True)
class UserLine:
    """The items of a user, or of a pair of a user and a target item, and their place in the file."""

    place: str
    user: str
    target: str | None
    items: tuple[str, ...]


@dataclass(frozen=True)
class UserLines:
    """The lines of a file, in its order, and what was assumed to read them."""

    lines: tuple[UserLine, ...]
    notes: tuple[str, ...]


def read_user_lines(path: Path, encoding: str = "utf-8") -> UserLines:
    """The lines of a text file, whatever its delimiter, or the entries of JSON such as ``{user: [items]}``."""
    state = path.stat()
    return _read_user_lines(path, encoding, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)  # every fold and algorithm of a study reads the same file
def _read_user_lines(path: Path, encoding: str, changed: int, size: int) -> UserLines:
    lines = [(number, line.strip()) for number, line in lines_of(path, encoding) if line.strip()]
    rows = [(number, line) for number, line in lines if not line.startswith(COMMENT)] or lines
    notes = [comments_note(len(lines) - len(rows))] if rows != lines else []
    if is_json_name(path) or (rows and _begins_json(rows[0][1])):
        return UserLines(tuple(_json_lines(path)), (*notes, "JSON"))
    delimiter = _delimiter([line for _, line in rows])
    form = f"text separated by {DELIMITER_NAMES[delimiter] if delimiter else 'white space'}"
    return UserLines(tuple(_text_line(number, line, delimiter) for number, line in rows), (form, *notes))


def are_user_lines(lines: Sequence[UserLine]) -> bool:
    """Whether lines of unequal length are the items of a user each, and not a table with broken lines.

    No user has two lines; all ids are whole numbers, or some cell in the position of a rating is a word; and at most
    three quarters of the lines have the same length, unless no line has more than a user and an item.
    """
    if not lines or any(line.target is not None for line in lines):
        return False
    widths = Counter(len(line.items) for line in lines)
    distinct = len({line.user for line in lines}) == len(lines)
    numbers = all(_WHOLE.fullmatch(text) for line in lines for text in (line.user, *line.items))
    words = any(re.search(r"[^\W\d]", text) for line in lines for text in line.items[1:])
    uneven = max(widths) <= 1 or widths.most_common(1)[0][1] <= 0.75 * len(lines)
    return distinct and (numbers or words) and len(widths) > 1 and uneven


def _begins_json(line: str) -> bool:
    """Whether a line begins a JSON document; brackets may also begin a pair."""
    return line.startswith("{") or (line.startswith("[") and not _PAIR.match(line))


def _delimiter(lines: Sequence[str]) -> str | None:
    """The delimiter of most lines with several fields, not counting those within a pair; None for white space."""
    rests = [_PAIR.sub("", line, count=1).strip() for line in lines]
    several = [rest for rest in rests if re.search(r"\S[\s,;|:]+\S", rest)]
    return next((mark for mark in _DELIMITERS if sum(mark in rest for rest in several) * 2 > len(several)), None)


def _text_line(number: int, line: str, delimiter: str | None) -> UserLine:
    pair = _PAIR.match(line)
    if not pair and (colon := _BEFORE_COLON.match(line)):
        line = f"{colon[1]}{delimiter or ' '}{line[colon.end() :]}"
    fields = [field.strip() for field in (line[pair.end() :] if pair else line).split(delimiter)]
    items = [item for field in fields[0 if pair else 1 :] for item in _pieces(field)]
    if pair:
        groups = [group for group in pair.groups() if group is not None]
        return UserLine(f"line {number:,}", groups[0].strip(), groups[1].strip(), tuple(items))
    user, *more = _pieces(fields[0]) or [""]
    return UserLine(f"line {number:,}", user, None, (*more, *items))


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


def _json_lines(path: Path) -> Iterator[UserLine]:
    document = load_json(path)
    for number, entry in enumerate(document if isinstance(document, list) else [document], 1):
        place = f"entry {number:,}"
        if isinstance(entry, list) and len(entry) > 1 and isinstance(entry[-1], list):  # [user, [items]], [user, ...]
            target = id_text(entry[1]) if len(entry) > 2 else None
            yield UserLine(place, id_text(entry[0]), target, _texts(entry[-1], path))
        elif isinstance(entry, dict) and (line := _line_of_record(entry, place, path)):
            yield line
        elif isinstance(entry, dict) and entry:
            yield from _lines_by_user(entry, path)
        else:
            raise _unknown_form(path)


def _line_of_record(record: Mapping[str, Any], place: str, path: Path) -> UserLine | None:
    """``{"user": 1, "negatives": [...]}``, perhaps with the target; None where it is not such a record."""
    plain = {plain_name(str(name)): value for name, value in record.items()}
    user = next((plain[name] for name in ALIASES["user"] if name in plain), None)
    lists = [value for value in plain.values() if isinstance(value, list)]
    if user is None or isinstance(user, list | dict) or len(lists) != 1:
        return None
    names = (name for name in (*TARGETS, *ALIASES["item"]) if name in plain)
    target = next((plain[name] for name in names if not isinstance(plain[name], list)), None)
    return UserLine(place, id_text(user), None if target is None else id_text(target), _texts(lists[0], path))


def _lines_by_user(document: Mapping[str, Any], path: Path) -> Iterator[UserLine]:
    """``{user: [items]}``, ``{"(user, item)": [items]}`` or ``{user: {item: [items]}}``."""
    for key, value in document.items():
        pair = _PAIR.match(key)
        if isinstance(value, dict) and value:
            for target, items in value.items():
                yield UserLine(f"user {key}", key, target, _texts(items, path))
        elif pair:
            first, second = (group for group in pair.groups() if group is not None)
            yield UserLine(f"pair {key}", first.strip(), second.strip(), _texts(value, path))
        else:
            yield UserLine(f"user {key}", key, None, _texts(value, path))


def _texts(items: object, path: Path) -> tuple[str, ...]:
    if not isinstance(items, list) or any(isinstance(item, list | dict) for item in items):
        raise _unknown_form(path)
    return tuple(map(id_text, items))


def _unknown_form(path: Path) -> DataError:
    return DataError(
        f"{path} has no lists in a known form; expected are {{user: [items]}}, {{user: {{item: [items]}}}}, or lines "
        'such as {"user": 1, "items": [2, 3]}'
    )
