"""The rows and columns of a printed table: metrics, cut-offs, data sets and algorithms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from repro.data import datasets
from repro.errors import ReproError, StudyError
from repro.evaluation.metrics import metrics, own_name, parse_measure
from repro.protocol import Protocol
from repro.replications.drafts.numbers import NOTHING, number_of
from repro.replications.drafts.raw import RawTable

_CUT_OFF = re.compile(r"(?:@|k\s*=\s*|n\s*=\s*|top[- ]?)?\s*(\d{1,4})", re.IGNORECASE)
_PERCENT = re.compile(r"\(\s*%\s*\)|\[\s*%\s*\]|\bin %")
# Headings whose metric has another name here; the first ones only with a cut-off, as they may mean something else.
_WITH_CUT_OFF = {"n": "ndcg", "r": "recall", "h": "hit", "hr": "hit", "m": "ap", "rec": "recall", "prec": "precision"}
_ALIASES = {"hits": "hit", "hitratio": "hit", "f": "f1", "prec": "precision", "rec": "recall"}
_SECTION = "section"


@dataclass(frozen=True)
class Entry:
    """A number of the table: its algorithm, its metric (or the heading, if that is none), and its group.

    known  whether the metric is known
    """

    algorithm: str
    metric: str
    known: bool
    group: str
    number: str


@dataclass
class Layout:
    """The numbers of a table, and what was assumed to read them."""

    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Cell:
    """A number with the texts that name it, by level: columns of labels, and rows of the header."""

    number: str
    names: dict[str, str]


def metric_of(heading: str) -> str:
    """The metric that a heading means, by its name here; empty if none is known."""
    text = re.sub(r"[\s_.↑↓*†‡]+", "", _PERCENT.sub("", re.sub(r"(?<=\d)\.(?=\d)", "<point>", heading))).lower()
    text = text.replace("<point>", ".")
    if beta := re.fullmatch(r"f(?:beta)?(0\.\d+|[2-9])(?:-?(?:score|measure))?(@\d+)?", text):
        return f"f-beta[beta={beta[1]}]{beta[2] or ''}" if beta[1] != "2" else f"f-beta{beta[2] or ''}"
    match = re.fullmatch(r"([a-zé][a-z-]*?\d?)(?:@|\(|-)?(?:k=)?(\d+)?\)?", text)
    if not match:
        return ""
    name, cutoff = match[1], f"@{match[2]}" if match[2] else ""
    name = _WITH_CUT_OFF.get(name, name) if cutoff else name
    metric = f"{_ALIASES.get(name, name)}{cutoff}"
    try:
        parse_measure(metric, Protocol.load("random-5fold"), metrics())
        return own_name(metric)
    except ReproError:
        return ""


def names_metric(heading: str) -> bool:
    """Whether a heading is a metric, or one that still needs its cut-off."""
    return bool(metric_of(heading)) or bool(metric_of(f"{heading}@10"))


def dataset_of(text: str) -> str:
    """The data set of the registry that a text names; empty if there is none."""

    def plain(name: str) -> str:
        return re.sub(r"[^a-z0-9]", "", name.lower().replace("movielens", "ml"))

    wanted = plain(text)
    for name, known in datasets().items():
        if wanted and wanted in (plain(name), plain(known.title), plain(known.title.partition("(")[0])):
            return name
    return ""


def layout_of(table: RawTable) -> Layout:
    """The numbers of a table, each with its algorithm, metric and group."""
    layout = Layout()
    cells = _cells(table, layout.notes)
    levels = list(dict.fromkeys(level for cell in cells for level in cell.names))
    texts = {level: list(dict.fromkeys(cell.names.get(level, "") for cell in cells)) for level in levels}
    metric_level = _best(levels, texts, names_metric)
    cut_level = next(
        (level for level in levels if level != metric_level and all(map(_CUT_OFF.fullmatch, texts[level]))), None
    )
    rest = [level for level in levels if level not in (metric_level, cut_level)]
    algorithm_level = _algorithm_level(rest, texts, metric_level)
    if metric_level is None:
        below = [level for level in rest if level.startswith("header") and level != algorithm_level]
        metric_level = below[-1] if below else None
    groups = [level for level in rest if level not in (algorithm_level, metric_level) and len(texts[level]) > 1]
    groups = [level for level in groups if not _is_kind_of_algorithm(level, algorithm_level, cells, texts)]
    seen: dict[tuple[str, str, str], int] = {}
    for cell in cells:
        heading = cell.names.get(metric_level or "", "")
        cut = _CUT_OFF.fullmatch(cell.names.get(cut_level or "", ""))
        metric, known = _metric(heading, cut[1] if cut else "")
        group = " ".join(dict.fromkeys(filter(None, (_label(cell.names.get(level, "")) for level in groups))))
        number = cell.number
        if _PERCENT.search(heading) and "%" not in number:
            number = re.sub(r"([\d.]+)(?=\s|$)", r"\1%", number)
        label = cell.names.get(algorithm_level or "", "") or "row"
        key = (label, metric, group)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            layout.notes.append(f"{' '.join(filter(None, key))} is there {seen[key]} times; the first number is taken")
            continue
        layout.entries.append(Entry(label, metric, known, group, number))
    if any(_PERCENT.search(text) for text in texts.get(metric_level or "", ())):
        layout.notes.append("numbers below headings with (%) are percentages")
    layout.notes = list(dict.fromkeys(layout.notes))
    return layout


def _is_kind_of_algorithm(
    level: str, algorithms: str | None, cells: Sequence[_Cell], texts: dict[str, list[str]]
) -> bool:
    """Whether the labels of a level are kinds of algorithms: each algorithm has one of them, and none is a data set."""
    if level.startswith("header") or algorithms is None or any(map(dataset_of, texts[level])):
        return False
    pairs = {(cell.names.get(algorithms, ""), cell.names.get(level, "")) for cell in cells}
    return len(pairs) == len({algorithm for algorithm, _ in pairs}) and len(pairs) > len(texts[level])


def _metric(heading: str, cut: str) -> tuple[str, bool]:
    """The metric of a heading and a cut-off beside it, and whether it is known."""
    for text in (f"{heading}@{cut}" if cut else heading, heading):
        if metric := metric_of(text):
            return metric, True
    return re.sub(r"\s+", " ", f"{heading}@{cut}" if cut else heading).strip() or "unnamed column", False


def _best(levels: Sequence[str], texts: dict[str, list[str]], fits: Callable[[str], bool]) -> str | None:
    """The level most of whose texts fit; None where none of them does."""
    shares = {level: sum(map(fits, texts[level])) / len(texts[level]) for level in levels}
    best = max(levels, key=lambda level: shares[level], default=None)
    return best if best is not None and shares[best] > 0 else None


def _algorithm_level(rest: Sequence[str], texts: dict[str, list[str]], metric_level: str | None) -> str | None:
    """The labels nearest to the numbers; the header where the metrics are the labels."""
    named = [level for level in rest if not any(map(dataset_of, texts[level]))] or list(rest)
    labels = [level for level in named if level.startswith("label")]
    heads = [level for level in named if level.startswith("header")]
    first, second = (
        (heads, labels) if metric_level is not None and metric_level.startswith("label") else (labels, heads)
    )
    several = [level for level in first if len(texts[level]) > 1]
    return next(reversed(several or first or second), None)


def _cells(table: RawTable, notes: list[str]) -> list[_Cell]:
    """The numbers below the header, with their names."""
    rows = [list(row) for row in table.rows]
    width = max(map(len, rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows]
    numeric = [[column for column, cell in enumerate(row) if column and number_of(cell)] for row in rows]
    body = [number for number, columns in enumerate(numeric) if columns and not _is_heading(rows[number], columns)]
    if not body:
        raise StudyError(
            f"{table.place} has no row with a label and a number; expected a table with a row for each algorithm"
        )
    first = body[0]
    wide = min(columns[0] for number in body if (columns := numeric[number]))
    header = [row for row in rows[:first] if (any(row[wide:]) and len(set(filter(None, row))) > 1) or row is rows[0]]
    header = [row for row in header if any(row[wide:])]
    if not header:
        raise StudyError(f"{table.place} has no header above its numbers; the first rows must name the metrics")
    section, above, cells = "", [""] * wide, []
    for number in range(first, len(rows)):
        row = rows[number]
        if number not in body:
            named = list(dict.fromkeys(filter(None, row)))
            if len(named) == 1:
                section = named[0]
            elif named:
                notes.append(f"a row without numbers is left out: {' | '.join(row)}")
            continue
        above = [cell or before for cell, before in zip(row[:wide], above, strict=True)]
        names = {f"label {column}": _label(cell) for column, cell in enumerate(above)}
        if section:
            names[_SECTION] = section
        for column in range(wide, width):
            cell, read = row[column], number_of(row[column])
            if read is None:
                if cell not in NOTHING:
                    notes.append(f"{' '.join(filter(None, above))}: '{cell}' is not a number and is left out")
                continue
            if read.note:
                notes.append(f"{' '.join(filter(None, above))}: {read.note}")
            heads = {f"header {level}": own[column] for level, own in enumerate(header)}
            cells.append(_Cell(read.text, {_SECTION: section, **names, **heads} if section else {**names, **heads}))
    first_section = next((row for row in rows[:first] if row not in header and len(set(filter(None, row))) == 1), None)
    if first_section is not None and any(_SECTION in cell.names for cell in cells):
        name = next(filter(None, first_section))
        cells = [
            cell if _SECTION in cell.names else _Cell(cell.number, {_SECTION: name, **cell.names}) for cell in cells
        ]
    return cells


def _is_heading(row: Sequence[str], columns: Sequence[int]) -> bool:
    """Whether numbers of a row are cut-offs: it has no label, and all are small whole numbers."""
    return not row[0] and all(_CUT_OFF.fullmatch(row[column]) for column in columns)


def _label(text: str) -> str:
    """A valid label of a claim: one line, without marks, and without a slash."""
    bare = re.sub(r"(?<=\w)[*†‡§¶]+$|\^\{?[^{}\s]*\}?$", "", text.strip()).strip()
    return re.sub(r"[/\x00-\x1f]", "-", bare)
