"""Printed numbers of systems: from a table in CSV, Markdown, LaTeX or JSON, or from a claim."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from repro.errors import ReproError, StudyError
from repro.evaluation.metrics import metrics, own_name, parse_measure
from repro.lists import default_protocol
from repro.replications.claims.claim import Cell, CellKey, Claim
from repro.replications.claims.printed import Printed, Tolerance, read_printed
from repro.replications.drafts.one_header import read_table


@dataclass(frozen=True)
class PrintedNumber:
    """A printed number: the system, its metric by the name here, and the number."""

    system: str
    metric: str
    printed: Printed

    @property
    def cell(self) -> Cell:
        """The number as a cell of a claim."""
        return Cell(CellKey(self.system, self.metric), self.printed, Tolerance())


@dataclass(frozen=True)
class PrintedNumbers:
    """The numbers of a file, and notes about columns that were left out or interpreted."""

    numbers: tuple[PrintedNumber, ...]
    notes: tuple[str, ...] = ()


def read_numbers(path: Path) -> PrintedNumbers:
    """The printed numbers in a file."""
    if path.suffix.lower() == ".toml":
        cells = Claim.load(path).cells
        return PrintedNumbers(
            tuple(
                PrintedNumber(cell.key.algorithm, cell.key.metric, cell.printed) for cell in cells if not cell.key.user
            )
        )
    if path.suffix.lower() == ".json":
        return _named(path, dict(_of_json(path)))
    if path.suffix.lower() in (".md", ".markdown"):
        return _of_markdown(path)
    return _of_table(path)


def _of_table(path: Path) -> PrintedNumbers:
    table = read_table(path)
    rows = {system: dict(zip(table.columns, numbers, strict=False)) for system, numbers in table.rows}
    named = _named(path, rows)
    return PrintedNumbers(named.numbers, (*table.notes, *named.notes))


def _of_markdown(path: Path) -> PrintedNumbers:
    """The first table in a Markdown file whose header names metrics."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    problems = []
    for block in _blocks(lines):
        with TemporaryDirectory() as folder:
            copy = Path(folder) / "table.txt"
            copy.write_text("\n".join(block), encoding="utf-8")
            try:
                return _of_table(copy)
            except ReproError as error:
                problems.append(str(error).replace(str(copy), f"the table that begins with {block[0][:40]!r}"))
    why = problems[0] if problems else "it has no table with bars"
    raise StudyError(f"{path} has no table of numbers by system and metric: {why}")


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """The tables of a Markdown text: lines with bars that follow each other."""
    block: list[str] = []
    for line in (*lines, ""):
        if "|" in line:
            block.append(line.strip())
        elif block:
            if len(block) > 2:
                yield block
            block = []


def _of_json(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """``{system: {metric: number}}``; numbers keep the digits that are written."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_float=str, parse_int=str)
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(document, dict) or not all(isinstance(of, dict) for of in document.values()):
        raise StudyError(f'{path} must have the numbers of each system, such as {{"MF": {{"ndcg@10": "0.123"}}}}')
    yield from document.items()


def _named(path: Path, rows: Mapping[str, Mapping[str, Any]]) -> PrintedNumbers:
    """The numbers whose column names a metric; a metric between 0 and 1 with numbers up to 100 is in percent."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    names = {column: _metric(column) for column in columns}
    notes = [
        f"the column '{column}' names no metric that is known, and was left out"
        for column in columns
        if not names[column]
    ]
    texts = {
        column: {system: text for system, row in rows.items() if (text := str(row.get(column, "-"))) not in ("-", "")}
        for column in columns
        if names[column]
    }
    percentages = _percentages({column: (names[column], list(of.values())) for column, of in texts.items()})
    numbers = []
    for column, of in texts.items():
        mark = "%" if column in percentages else ""
        if mark:
            notes.append(f"the numbers of '{column}' were read as percentages: {names[column]} is at most 1")
        numbers += [
            PrintedNumber(system, names[column], read_printed(text.removesuffix("%") + mark if mark else text))
            for system, text in of.items()
        ]
    if not numbers:
        known = ", ".join(columns[:8])
        raise StudyError(f"{path} has no column of a known metric, such as ndcg@10 or Recall@20; it has {known}")
    return PrintedNumbers(tuple(numbers), tuple(notes))


def _percentages(columns: Mapping[str, tuple[str, Sequence[str]]]) -> set[str]:
    """The columns in percent: most of their numbers are above 1, the highest value of the metric, and up to 100.

    A single number above 1 is in percent only if most numbers of the table are; alone, it is out of range.
    """
    protocol = default_protocol(False)
    above: dict[str, list[bool]] = {}
    for column, (metric, texts) in columns.items():
        if parse_measure(metric, protocol, metrics()).range(protocol)[1] == 1:
            values = [read_printed(text).value for text in texts if not text.strip().endswith("%")]
            above[column] = [1 < value <= 100 for value in values]
    together = [one for of in above.values() for one in of]
    most = 2 * sum(together) > len(together)
    return {column for column, of in above.items() if 2 * sum(of) > len(of) and (len(of) > 1 or most)}


def _metric(column: str) -> str:
    """The metric that a column names, with its cut-off; empty if none is known."""
    text = re.sub(r"[\s_]+", "", column).strip("↑↓").replace("(", "@").rstrip(")")
    for name in (text, text.lower()):
        try:
            own = own_name(name)
            parse_measure(own, default_protocol(False), metrics())
            return own
        except ReproError:
            continue
    return ""
