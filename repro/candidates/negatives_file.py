"""Files that give the negatives of each user or of each test pair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from repro.candidates.lists import Offsets
from repro.candidates.ragged import offsets_of
from repro.data.interactions import CodeArray, IdArray, Interactions
from repro.errors import DataError, nearest

_PAIR = re.compile(r"^\(\s*([^,]+?)\s*,\s*(.+?)\s*\)(?=[\t, ]|$)")


@dataclass(frozen=True, eq=False)
class GivenNegatives:
    """The lines of a file of negatives: those of line ``n`` are ``items[offsets[n]:offsets[n + 1]]``.

    ``kind`` says what a line is about: a user, or a pair of a user and a test item (``targets``, else -1).
    """

    path: Path
    kind: Literal["user", "pair"]
    users: CodeArray
    targets: CodeArray
    offsets: Offsets
    items: CodeArray

    def __len__(self) -> int:
        return len(self.users)


@dataclass(frozen=True)
class _Line:
    number: int
    user: str
    target: str | None
    negatives: list[str]


def read_negatives(path: Path, interactions: Interactions) -> GivenNegatives:
    """Read a file with one line for each user (``user negative negative ...``), or for each test pair as in the
    files of He et al. 2017 (``(user,item) negative negative ...``); fields separated by tab, comma or space."""
    lines = list(_lines(path))
    kinds = {line.target is None for line in lines}
    if len(kinds) != 1:
        what = "lines of both kinds" if kinds else "no lines"
        raise DataError(
            f"{path} has {what}; give one line per user ('user negative ...') or one per test pair "
            "('(user,item) negative ...')"
        )
    users, items = _codes(interactions.user_ids), _codes(interactions.item_ids)
    user_codes = [_code(users, line.user, "user", line, path) for line in lines]
    targets = [-1 if line.target is None else _code(items, line.target, "item", line, path) for line in lines]
    _require_single_lines(list(zip(user_codes, targets, strict=True)), lines, path)
    return GivenNegatives(
        path,
        "user" if kinds == {True} else "pair",
        np.array(user_codes, dtype=np.int32),
        np.array(targets, dtype=np.int32),
        offsets_of(np.array([len(line.negatives) for line in lines], dtype=np.int64)),
        np.array([_code(items, text, "item", line, path) for line in lines for text in line.negatives], np.int32),
    )


def _lines(path: Path) -> Iterator[_Line]:
    try:
        texts = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise DataError(
            f"cannot read the file of negatives {path}: {error.strerror or error}; candidates.file is found "
            "from the folder of the protocol file"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"the file of negatives {path} is not text in UTF-8 ({error.reason})") from None
    delimiter = _delimiter(texts)
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        pair = _PAIR.match(text.strip())
        rest = text.strip()[pair.end() :] if pair else text
        fields = [field.strip() for field in rest.split(delimiter)]
        fields = [field for field in fields if field]
        if pair:
            yield _Line(number, pair[1], pair[2], fields)
        else:
            yield _Line(number, fields[0], None, fields[1:])


def _delimiter(texts: list[str]) -> str | None:
    """Tab where there is one, else comma (beside the one inside a pair), else any white space."""
    fields = [_PAIR.sub("", text.strip()) for text in texts]
    return next((mark for mark in "\t," if any(mark in text for text in fields)), None)


def _codes(ids: IdArray) -> dict[str, int]:
    return {str(value): code for code, value in enumerate(ids)}


def _code(codes: dict[str, int], text: str, noun: str, line: _Line, path: Path) -> int:
    code = codes.get(text)
    if code is None:
        raise DataError(
            f"{path}, line {line.number}: there is no {noun} '{text}' in the data set{nearest(text, codes)} "
            f"The data has {len(codes):,} {noun}s; the ids of the file must be those of the data set"
        )
    return code


def _require_single_lines(about: list[tuple[int, int]], lines: list[_Line], path: Path) -> None:
    first: dict[tuple[int, int], int] = {}
    for key, line in zip(about, lines, strict=True):
        if key in first:
            what = f"user {line.user}" if line.target is None else f"the pair ({line.user},{line.target})"
            raise DataError(f"{path}: {what} has two lines, {first[key]} and {line.number}; make one line of them")
        first[key] = line.number
