"""Canonical forms of tables, JSON and text: one of the numbers alone, one of the whole content.

The form of the numbers holds every number with its exact bits, and none of the words around them, so that renamed
columns and keys and reworded sentences leave it as it is. The words of the data itself stay in it: names of algorithms,
metrics and decisions (:data:`names.LABELS`), because they say whose number it is. So do the options of decisions, as in
`ties.break = "item-asc"`: they are what an audit finds.

Dates, durations, versions, hashes and absolute paths differ between any two runs; both forms leave them out.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from names import DECISIONS, LABELS

NUMBER = r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)|\b(?:nan|inf)\b"
DECIDED = r"\b(?:" + "|".join(sorted(map(re.escape, DECISIONS))) + r"|metric\.[\w.-]+) ?= ?\"?[\w./-]*[\w/-]"
TOKEN = re.compile(f"{DECIDED}|{NUMBER}")
VOLATILE = [
    (re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: ?UTC|Z|[+-]\d\d:\d\d)?"), "DATE"),
    (re.compile(r"\blines? \d+\b|(?<=\.toml):\d+|(?<=\.jsonl):\d+"), "LINE"),
    (re.compile(r"\b(?=[0-9]*[a-f])[0-9a-f]{8,}\b"), "HASH"),
    (re.compile(r"(?<![\w.])v?\d+\.\d+\.\d+(?:[.+-]?\w+)*"), "VERSION"),
    (re.compile(r"\b\d[\d,.]*(?:e-?\d+)?\s?(?:seconds?|minutes?|hours?|min|ms|s|h|[KMGT]i?B|bytes)\b"), "AMOUNT"),
]
# Keys of JSON whose values describe the machine and the time.
VOLATILE_KEYS = re.compile(r"machine|versions?|packages|python|workers|executor|contentSize|(.*_)?(seconds|version)")


class Forms(NamedTuple):
    numbers: str
    text: str


def of_table(table: pd.DataFrame) -> Forms:
    """A table, whatever the order of its rows; the numbers by the place of their column, without its name."""
    columns = [table.iloc[:, place].tolist() for place in range(table.shape[1])]
    numbers = [[cell_numbers(value) for value in column] for column in columns]
    words = [[cell_text(value) for value in column] for column in columns]
    header = "\t".join(map(str, table.columns))
    return Forms(_sorted_rows(numbers), f"{header}\n{_sorted_rows(words)}")


def together(forms: Iterable[Forms]) -> Forms:
    """Several forms as one, whatever their order."""
    forms = list(forms)
    numbers, texts = sorted(form.numbers for form in forms), sorted(form.text for form in forms)
    return Forms("\n\n".join(filter(None, numbers)), "\n\n".join(texts))


def of_json(value: Any) -> Forms:
    """A document: lists in their order, objects whatever the order and the names of their keys."""
    value = without_volatile_keys(value)
    return Forms(json_numbers(value), masked(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)))


def of_text(text: str) -> Forms:
    text = masked(text)
    return Forms("\n".join(text_numbers(text)), text)


def of_html(page: str) -> Forms:
    """The text of the page as a reader sees it, without markup, styles and scripts."""
    reader = _Visible()
    reader.feed(page)
    return of_text("\n".join(reader.texts))


def without_volatile_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: without_volatile_keys(inner)
            for key, inner in value.items()
            if key in LABELS or not VOLATILE_KEYS.fullmatch(key)
        }
    if isinstance(value, list):
        return [without_volatile_keys(inner) for inner in value]
    return value


def json_numbers(value: Any) -> str:
    """The numbers and labels of a document; a place without any leaves no trace."""
    if isinstance(value, dict):
        inner = {
            key: part if key in DECISIONS and isinstance(part, str) else json_numbers(part)
            for key, part in value.items()
        }
        named = (
            (f"{key}:" if key in LABELS else "".join(f"{number}:" for number in text_numbers(masked(key)))) + numbers
            for key, numbers in inner.items()
            if numbers
        )
        return _joined("{", sorted(named), "}")
    if isinstance(value, list):
        return _joined("[", filter(None, map(json_numbers, value)), "]")
    return cell_numbers(value)


def cell_numbers(value: Any) -> str:
    """A number with all its bits; of other text its numbers, or the whole of it where it is a label."""
    if isinstance(value, str):
        return value if value in LABELS else " ".join(text_numbers(masked(value)))
    if isinstance(value, bool) or value is None or value is pd.NA:
        return ""
    if isinstance(value, int | float):
        return exact(value)
    if isinstance(value, Iterable):
        return "[" + " ".join(map(cell_numbers, value)) + "]"
    return " ".join(text_numbers(masked(str(value))))


def cell_text(value: Any) -> str:
    return exact(value) if isinstance(value, int | float) and not isinstance(value, bool) else masked(str(value))


def exact(value: int | float) -> str:
    """All bits of a number; a whole number is the same number as an int and as a float."""
    if isinstance(value, int) and abs(value) < 2**53:
        value = float(value)
    return "nan" if isinstance(value, float) and math.isnan(value) else repr(value)


def text_numbers(text: str) -> list[str]:
    """Numbers and decided options in the order of the text."""
    return [token.replace(" ", "").replace('"', "") for token in TOKEN.findall(text)]


def masked(text: str) -> str:
    """The text without what differs between any two runs."""
    for place, word in _places():
        text = text.replace(place, word)
    for pattern, word in VOLATILE:
        text = pattern.sub(word, text)
    return text


def _places() -> list[tuple[str, str]]:
    places = {str(Path.cwd()): "FOLDER", str(Path(__file__).parents[2]): "CHECKOUT", sys.prefix: "PYTHON"}
    return sorted(places.items(), key=lambda place: -len(place[0]))


def _joined(opening: str, parts: Iterable[str], closing: str) -> str:
    joined = " ".join(parts)
    return f"{opening}{joined}{closing}" if joined else ""


def _sorted_rows(columns: list[list[str]]) -> str:
    return "\n".join(sorted("\t".join(row) for row in zip(*columns, strict=True)))


class _Visible(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.texts.append(data.strip())
