"""Formats of other systems: those that repro reads everywhere, the files of MyMediaLite and RiVal, and bare lists.

MyMediaLite writes the lists of item recommendation as one line for each user, ``user TAB [item:score,item:score]``, and
predicted ratings as ``user TAB item TAB rating``. RiVal writes ``user TAB item TAB score``, or TREC runs with tabs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from repro.errors import DataError, PluginError

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("recognised", "text", "parquet", "json", "recbole", "trec", "surprise", "mymedialite", "rival")

_LINE = re.compile(r"^([^\t]+)\t\[(.*)\]\s*$")


def read_output(file: Path, format: str, columns: str, *, lists: bool) -> pd.DataFrame:
    """The output of a system: ``user``, ``item``, and ``score`` or ``rank``, or, where it gives lists, neither."""
    from repro.data.io.formats import existing_file
    from repro.data.io.recommendations import read_recommendations

    file, names = existing_file(file), parsed_columns(columns)
    first = _first_lines(file) if format in ("recognised", "text", "mymedialite", "rival") else []
    if first and format in ("recognised", "mymedialite") and _LINE.match(first[0]):
        return _bracketed(file)
    if format in ("mymedialite", "rival"):
        if all(len(line.split("\t")) == 6 for line in first):
            return read_recommendations(file, names, "trec")
        return read_recommendations(file, names or {"score": "3"}, "text")
    if format in ("recognised", "text") and first and not names and all(map(_is_pair, first)):
        pairs = _pairs(file)
        if not lists:
            raise DataError(f'{file} has users and items and no scores; say that the system gives = "lists"')
        return pairs
    return read_recommendations(file, names, None if format == "recognised" else format)


def parsed_columns(text: str) -> dict[str, str]:
    """``user=uid,score=3`` as a mapping."""
    names: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not role or not name:
            raise PluginError(f"columns = {text!r}: write them like user=uid,item=iid,score=3")
        names[role] = name
    return names


def _first_lines(file: Path, count: int = 20) -> list[str]:
    from repro.data.io.compressed import lines_of

    return [line for _, line in itertools.islice(lines_of(file), count)]


def _is_pair(line: str) -> bool:
    """Whether a line of text has two columns; one that begins with a bracket is JSON."""
    parts = re.split(r"[\t,;]", line) if re.search(r"[\t,;]", line) else line.split()
    return len(parts) == 2 and line.lstrip()[0] not in "{["


def _pairs(file: Path) -> pd.DataFrame:
    """Two columns: users and their items, best first."""
    from repro.data import read_interactions

    return read_interactions(file).to_frame()[["user", "item"]]


def _bracketed(file: Path) -> pd.DataFrame:
    """The lists of MyMediaLite; a user with an empty list has no rows."""
    import pandas as pd

    rows = list(_listed(file))
    if not rows:
        raise DataError(f"{file} has no recommendations: all its lists are empty")
    return pd.DataFrame(rows, columns=["user", "item", "score"])


def _listed(file: Path) -> Iterator[tuple[str, str, float]]:
    from repro.data.io.compressed import lines_of
    from repro.data.io.values import is_number

    for number, line in lines_of(file):
        matched = _LINE.match(line)
        if not matched:
            raise DataError(f"{file}: line {number:,} is {line[:60]!r}; expected user, a tab and [item:score,...]")
        user, inside = matched.groups()
        for entry in filter(None, inside.split(",")):
            item, _, score = entry.rpartition(":")
            if not item.strip() or not is_number(score):
                raise DataError(f"{file}: line {number:,} has {entry!r}; expected item:score")
            yield user.strip(), item.strip(), float(score)
