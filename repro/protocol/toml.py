"""TOML, read and written in one place.

Files that are read are not trusted: any content is read, or raises a TOMLDecodeError, within a moment.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from numbers import Integral, Real
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from repro.errors import ReproError

if TYPE_CHECKING:
    from tomlkit.container import Container
    from tomlkit.items import AbstractTable, Item

# Where a key is in a document: ``("algorithms", 0, "use")``.
Place = tuple[str | int, ...]

DEEPEST = 100
_LONG_LIST = 100  # characters; longer lists have a line for each value
# Names with dots between them: the time that tomllib takes grows with the square of their number.
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{DEEPEST}}}")
_NOT_IN_COMMENTS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")


def parse_toml(text: str) -> dict[str, Any]:
    """The document in ``text``."""
    if _LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError(f"a key of more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("lists or tables that are nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise tomllib.TOMLDecodeError(str(error).partition(";")[0]) from None


class Inline(dict[str, Any]):
    """A table that is written in the line of its key: ``parameters = {k = 20}``."""


def toml_value(value: object) -> str:
    """``value`` as TOML writes it, in one line."""
    return _item(value).as_string()


def write_toml(
    document: Mapping[str, Any],
    comments: Mapping[Place, str] | None = None,
    remarks: Mapping[Place, Sequence[str]] | None = None,
) -> str:
    """``document`` as text that ``parse_toml`` reads back equal.

    A mapping becomes a table with a header, unless it is :class:`Inline`; a list of mappings becomes an array of
    tables, and any other list is written in brackets. Entries that are None are left out: TOML has no such value.
    ``comments`` stand behind the value at a place, ``remarks`` in lines of their own above it.
    """
    import tomlkit

    written = tomlkit.document()
    _fill(written, document, (), comments or {}, remarks or {})
    # No value has a raw line break in it, so blank lines are between values and tables only.
    return re.sub(r"\n{3,}", "\n\n", tomlkit.dumps(written)).strip("\n") + "\n"


def _fill(
    target: Container | AbstractTable,
    entries: Mapping[str, Any],
    place: Place,
    comments: Mapping[Place, str],
    remarks: Mapping[Place, Sequence[str]],
) -> None:
    """Append ``entries`` to the document or table at ``place``: values first, as tables end where the next begins."""
    import tomlkit
    from tomlkit.items import Array

    def remark(at: Place) -> None:
        for line in remarks.get(at, ()):
            target.add(tomlkit.comment(_comment(line)))

    def new_table(at: Place, content: Mapping[str, Any]) -> AbstractTable:
        table = tomlkit.table(is_super_table=bool(content) and all(map(_is_table, content.values())))
        _fill(table, content, at, comments, remarks)
        return table

    tables = {key: value for key, value in entries.items() if _is_table(value)}
    values = {key: value for key, value in entries.items() if key not in tables and value is not None}
    for key, value in values.items():
        remark((*place, key))
        item = _item(value)
        if isinstance(item, Array) and len(item.as_string()) > _LONG_LIST:
            item.multiline(True)
        if comment := comments.get((*place, key)):
            item.comment(_comment(comment))
            item.trivia.comment_ws = "  "
        target.append(_key(key), item)
    if values or not tables:
        target.add(tomlkit.nl())
    for key, value in tables.items():
        remark((*place, key))
        if isinstance(value, Mapping):
            target.append(_key(key), new_table((*place, key), value))
        else:
            array = tomlkit.aot()
            for number, content in enumerate(value):
                array.append(new_table((*place, key, number), content))
            target.append(_key(key), array)


def _is_table(value: object) -> bool:
    """Whether a value has a header of its own."""
    if isinstance(value, Mapping):
        return not isinstance(value, Inline)
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _item(value: object) -> Item:
    """``value`` as an item in one line."""
    import tomlkit

    match value:
        case Mapping():
            table = tomlkit.inline_table()
            for key, inner in value.items():
                if inner is not None:
                    table.append(_key(key), _item(inner))
            return table
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise _not_written(value, "it has characters that UTF-8 cannot encode") from None
            return tomlkit.item(str(value))
        case bool() | date() | time():  # a datetime is a date
            return tomlkit.item(value)
        case Integral():
            return tomlkit.item(int(value))
        case Real():
            return tomlkit.item(float(value))
        case PathLike():
            return _item(fspath(value))
        case Iterable() if not isinstance(value, bytes):
            array = tomlkit.array()
            for inner in value:
                array.append(_item(inner))
            return array
    raise _not_written(value, f"it is of type {type(value).__name__}")


def _key(key: object) -> Any:
    from tomlkit.items import SingleKey

    if not isinstance(key, str):
        raise _not_written(key, "a key must be text")
    return SingleKey(key)


def _comment(text: str) -> str:
    """``text`` in one line, with the characters that a comment cannot hold spelled out."""
    return _NOT_IN_COMMENTS.sub(lambda character: f"\\u{ord(character[0]):04x}", text)


def _not_written(value: object, why: str) -> ReproError:
    return ReproError(
        f"{value!r} cannot be written to a TOML file: {why}; use text, numbers, true or false, dates, lists or tables"
    )
