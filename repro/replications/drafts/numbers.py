"""Cells of printed tables: which are numbers, and how a claim writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

NOTHING = ("", "-", "–", "—", "--", "---", "n/a", "N/A", "na", "NA", "/", "x", "✗")
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?\.?|[.,]\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"[+-]?{_DIGITS}\s*%?")
_CELL = re.compile(rf"([+-]?{_DIGITS}\s*%?)\s*(?:(?:±|\+/-|\+-)\s*({_DIGITS}\s*%?)|\(\s*(?:±|\+-)?\s*([^()]*)\))?")
# Marks of significance, of notes and of the best number.
_MARKS = re.compile(r"\s*(?:\^\{?[^{}\s]*\}?|_\{?[^{}\s]*\}?|[*†‡§¶◦•▲▼△▽↑↓✓]+|(?<=\d)\s?[a-e](?:,[a-e])*$)\s*")
_DECIMAL_COMMA = re.compile(r"([+-]?\d*),(\d{1,2}|\d{4,}|\d{3}(?=\s*%?$))(\s*%?)")


@dataclass(frozen=True)
class Number:
    """A printed number as a claim writes it, and a note on what was changed."""

    text: str
    note: str = ""


def number_of(cell: str) -> Number | None:
    """The number in a cell, with its spread; None if the cell has none."""
    plain = re.sub(r"^[−–](?=[\d.])", "-", cell.strip())
    bare = _MARKS.sub(" ", plain).strip().strip("*_").strip()
    match = _CELL.fullmatch(bare)
    if not match:
        return None
    value, commas = _with_point(match[1].replace(" ", ""))
    notes = [f"the comma in '{cell}' is read as a decimal point"] if commas else []
    spread = match[2] or (
        match[3] if match[3] and re.search(r"\.\d", match[3]) and _NUMBER.fullmatch(match[3].strip()) else ""
    )
    if match[3] and not spread:
        notes.append(f"'({match[3]})' in '{cell}' is left out")
    if spread and spread.strip()[0] in "+-":
        notes.append(f"'({match[3]})' in '{cell}' is left out")
        spread = ""
    text = f"{value} ± {_with_point(spread.replace(' ', ''))[0]}" if spread else value
    return Number(text, "; ".join(notes))


def _with_point(text: str) -> tuple[str, bool]:
    """A number with a decimal point, and whether it had a comma in its place; 1,234 has one between thousands."""
    match = _DECIMAL_COMMA.fullmatch(text)
    if not match or (re.fullmatch(r"[+-]?[1-9]\d{0,2}", match[1]) and len(match[2]) == 3):
        return text, False
    return f"{match[1] or '0'}.{match[2]}{match[3]}", True
