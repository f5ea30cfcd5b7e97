"""Printed tables in LaTeX or CSV, with notes on everything that was dropped or interpreted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from repro.errors import StudyError
from repro.replications.claims.keys import NUMBERS

_COMMENT = re.compile(r"(?<!\\)%.*")
_RULES = re.compile(
    r"\\(toprule|midrule|bottomrule|hline|cmidrule|cline|addlinespace|centering|small)\s*(\([^)]*\))?\s*(\{[^}]*\}|\[[^\]]*\])*"
)
_DROPPED = re.compile(
    r"\\(cite[tp]?|footnote|footnotemark|label|rowcolor|cellcolor|color|textcolor)\*?(\[[^\]]*\])*\{[^{}]*\}"
)
_SPANNING = re.compile(r"\\(multicolumn|multirow)\{[^{}]*\}\{[^{}]*\}\{([^{}]*)\}")
_STYLED = re.compile(r"\\[A-Za-z]+\*?\s*\{([^{}]*)\}")
_SWITCH = re.compile(r"\\(bf|it|bfseries|itshape|boldmath|em|tt|rm|sc|small|footnotesize)\b\s*")
_MARK = re.compile(r"\^\{?[^{}\s]*\}?|\\(dagger|ddagger|ast|star)\b|[*†‡]+$")
_SPREAD = re.compile(r"(±|\\pm|\+/-|\+-).*$|\(\s*[\d.,]+\s*\)$")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|[.,]\d+)\s*%?")


@dataclass(frozen=True)
class PrintedTable:
    """A table with a header: the names of its columns, and rows of a label and printed numbers.

    notes   what was dropped or interpreted, to be checked against the source
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...] = ()


def read_table(path: str | Path) -> PrintedTable:
    """Read the table in a file: LaTeX if it has a tabular, and otherwise text with commas, tabs or semicolons."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot read the table {path}: {getattr(error, 'strerror', None) or error}") from None
    latex = path.suffix == ".tex" or "\\begin{tabular" in text or "\\\\" in text
    rows = _latex_rows(text) if latex else _csv_rows(text)
    return _table(path, rows)


def _latex_rows(text: str) -> list[list[str]]:
    body = re.search(r"\\begin\{tabular[x*]?\}(.*?)\\end\{tabular[x*]?\}", text, re.DOTALL)
    inside = body[1] if body else text
    inside = "\n".join(_COMMENT.sub("", line) for line in inside.splitlines())
    if body:
        inside = _without_arguments(inside)
    lines = re.split(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline", _RULES.sub(" ", inside))
    return [[_plain(cell) for cell in re.split(r"(?<!\\)&", line)] for line in lines if line.strip()]


def _without_arguments(text: str) -> str:
    """Drop the arguments of a tabular: {llrr}, or {\\textwidth}{lrr}, with braces inside."""
    remaining = text.lstrip()
    while remaining[:1] in ("{", "["):
        depth, end = 0, {"{": "}", "[": "]"}[remaining[0]]
        for position, letter in enumerate(remaining):
            depth += (letter == remaining[0]) - (letter == end)
            if not depth:
                remaining = remaining[position + 1 :].lstrip()
                break
        else:
            return remaining
    return remaining


def _plain(cell: str) -> str:
    """A cell without LaTeX commands such as bold, mathematics and footnotes."""
    text = _DROPPED.sub("", cell.replace("~", " ").replace("\\,", "").replace("\\%", "%").replace("\\_", "_"))
    text = _SPANNING.sub(r"\2", text)
    while (inner := _STYLED.sub(r"\1", text)) != text:
        text = inner
    text = _SWITCH.sub("", text).replace("$", "").replace("{,}", ",")
    text = text.replace("\\pm", "±").replace("\\&", "&").replace("\\#", "#")
    return re.sub(r"\s+", " ", text.replace("{", "").replace("}", "")).strip()


def _csv_rows(text: str) -> list[list[str]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    counts = {delimiter: first.count(delimiter) for delimiter in ("\t", ";", ",", "|")}
    delimiter = max(counts, key=counts.__getitem__)
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    cells = [[cell.strip().strip("*_") for cell in row] for row in rows]
    if delimiter == "|":  # Markdown tables have bars at both ends and a line of dashes below the header
        cells = [row[1:-1] if row[:1] == [""] and row[-1:] == [""] else row for row in cells]
        cells = [row for row in cells if not all(set(cell) <= set("-: ") for cell in row)]
    return [row for row in cells if any(row)]


def _table(path: Path, rows: Sequence[Sequence[str]]) -> PrintedTable:
    """Rows with a number are the body; the last row above them that names a column is the header."""
    body = [row for row in rows if any(_is_number(cell) for cell in row[1:])]
    if not body:
        raise StudyError(f"{path} has no row with a label and a number; expected a table with a row for each algorithm")
    first = next(position for position, row in enumerate(rows) if row is body[0])
    # The label columns are those before the first column with a number in any row.
    wide = min(next(n for n, cell in enumerate(row) if n and _is_number(cell)) for row in body)
    header = next((row for row in reversed(rows[:first]) if any(row[wide:])), None)
    if header is None:
        raise StudyError(f"{path} has no header above its numbers; the first row must name the metrics")
    used = {id(row) for row in (header, *body)}
    notes = [f"dropped a row without numbers: {' | '.join(row)}" for row in rows if any(row) and id(row) not in used]
    columns = tuple(header[wide:])
    rows_by_label: dict[str, tuple[str, ...]] = {}
    above = [""] * wide
    for row in body:
        # An empty cell belongs to a cell above that spans several rows.
        above = [cell or before for cell, before in zip(row[:wide], above, strict=False)]
        label = _label(" ".join(filter(None, above)), rows_by_label, notes)
        numbers = [_number(cell, f"{label}, {name}", notes) for name, cell in zip(columns, row[wide:], strict=False)]
        if len(row) - wide != len(columns):
            notes.append(f"the row of {label} has {len(row) - wide} numbers, and the header has {len(columns)}")
        rows_by_label[label] = tuple(numbers + ["-"] * (len(columns) - len(numbers)))
    return PrintedTable(columns, tuple(rows_by_label.items()), tuple(dict.fromkeys(notes)))


def _label(text: str, used: Collection[str], notes: list[str]) -> str:
    """A valid label for a claim: one line, without a slash, and unique."""
    label = re.sub(r"[/\x00-\x1f]", "-", _MARK.sub("", text).strip()) or "row"
    number, name = 2, label
    while name in used or name in NUMBERS.keys:
        name, number = f"{label} ({number})", number + 1
    if name != text:
        notes.append(f"the row '{text}' was renamed to '{name}'")
    return name


def _is_number(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(_bare(cell)))


def _bare(cell: str) -> str:
    return _MARK.sub("", _SPREAD.sub("", cell).strip()).strip()


def _number(cell: str, where: str, notes: list[str]) -> str:
    """A printed number in the form of a claim, or a dash if the cell has none; ``notes`` receives every change."""
    bare = _bare(cell)
    if bare in ("", "-", "–", "—", "--", "n/a", "N/A"):
        return "-"
    if not _NUMBER.fullmatch(bare):
        notes.append(f"{where}: '{cell}' is not a number and was left out")
        return "-"
    if _SPREAD.search(cell):
        notes.append(f"{where}: the spread in '{cell}' was dropped; it may serve as the tolerance")
    if "%" in bare:
        notes.append(f"{where}: '{bare}' is a percentage, so {bare} of 1")
    decimal_comma = re.fullmatch(r"([+-]?\d*),(\d+)\s*%?", bare)
    thousands = re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+\s*%?", bare)
    if decimal_comma and not thousands:
        notes.append(f"{where}: the comma in '{bare}' was read as a decimal point")
        return bare.replace(",", ".")
    return bare
