"""Read the tables of a claim file: printed numbers, figures of the data, patterns, and tolerances.

Errors state the line, the value and what is expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from repro.errors import StudyError, nearest
from repro.protocol import Value, flatten, line_of
from repro.replications.claims.claim import MEAN, OWN, Cell, CellKey, Fact, Operand, Pattern
from repro.replications.claims.figures import FIGURES, TIMES
from repro.replications.claims.keys import (
    CELLS,
    FACTS,
    KINDS,
    NUMBERS,
    OPERAND,
    PATTERNS,
    RELATIONS,
    TAKES,
    TOLERANCE,
    Table,
)
from repro.replications.claims.printed import LEVEL, Printed, Tolerance, read_printed

NOTHING = ("-", "–", "")
PROPERTIES = ("dp", "tau", "sparsity", "popularity")


class ClaimFile:
    """The content of a claim file, with errors that name the line."""

    def __init__(self, path: Path, text: str, document: Mapping[str, Any]) -> None:
        self.path, self.text, self.document = path, text, document
        self._above = 0  # lines above the table that is being read, where several tables have the same name

    def error(self, key: str, problem: str) -> StudyError:
        """An error about a key, with its line."""
        below = "\n".join(self.text.splitlines()[self._above :])
        return StudyError(f"{self.path}:{self._above + line_of(below, key)}: {problem}")

    def table(self, entry: object, key: str, declared: Table) -> Mapping[str, Any]:
        """Return ``entry`` if it is a table with declared keys only and all required ones."""
        allowed, required = declared.keys, declared.required
        if not isinstance(entry, Mapping):
            raise self.error(key, f"{key} must be a table with {', '.join(allowed)}; it is {entry!r}")
        for name in entry:
            if name not in allowed:
                where = self.error(f"{key}.{name}", f"unknown key '{name}' in [{key}]{nearest(name, allowed)}")
                raise StudyError(f"{where} Allowed: {', '.join(allowed)}")
        for name in required:
            if name not in entry:
                raise self.error(key, f"[{key}] has no '{name}'; it needs {' and '.join(required)}")
        return entry

    def tables(self, key: str) -> Iterator[Any]:
        """The entries of a list of tables, ``[[key]]``; errors name the line within the current entry."""
        entries = self.document.get(key, [])
        if not isinstance(entries, list):
            raise self.error(key, f"write each of the {key} as [[{key}]]")
        lines = self.text.splitlines()
        heads = [number for number, line in enumerate(lines) if line.replace(" ", "").startswith(f"[[{key}]]")]
        for position, entry in enumerate(entries):
            self._above = heads[position] if position < len(heads) else 0
            yield entry
        self._above = 0

    def string(self, entry: object, key: str) -> str:
        """Return ``entry`` if it is text."""
        if not isinstance(entry, str):
            raise self.error(key, f"{key} = {entry!r} must be text")
        return entry

    def seeds(self, entry: object, key: str) -> tuple[int, ...]:
        """Return a list of seeds without repetitions; the first is the seed of the source."""
        if not isinstance(entry, list) or not entry or not all(type(seed) is int and seed >= 0 for seed in entry):
            raise self.error(key, f"{key} = {entry!r} must be a list of whole numbers, such as [0, 1, 2]")
        return tuple(dict.fromkeys(entry))


def read_tolerance(file: ClaimFile, entry: object, key: str, base: Tolerance | None = None) -> Tolerance:
    """Read a tolerance; missing keys have the values of ``base``."""
    table = file.table(entry, key, TOLERANCE)
    default = base or Tolerance()
    kind, decimals = table.get("kind", default.kind), table.get("decimals", default.decimals)
    width, level = table.get("width", default.width), table.get("level", LEVEL)
    if kind not in tuple(KINDS):
        raise file.error(f"{key}.kind", f"kind = {kind!r} must be one of {', '.join(KINDS)}{nearest(str(kind), KINDS)}")
    if type(width) not in (int, float) or width < 0 or (kind == "interval") != (width > 0):
        raise file.error(key, f'kind = "interval" takes the authors\' own width, such as width = 0.01; it is {width!r}')
    if type(level) is not float or not 0 < level < 1:
        raise file.error(f"{key}.level", f"level = {level!r} must lie between 0 and 1, such as 0.95")
    if decimals is not None and (type(decimals) is not int or decimals < 0):
        raise file.error(f"{key}.decimals", f"decimals = {decimals!r} must be a whole number, such as 3")
    seeds = file.seeds(table["seeds"], f"{key}.seeds") if "seeds" in table else default.seeds
    source = file.string(table.get("source", default.source), f"{key}.source")
    return Tolerance(kind, source, float(width), decimals, level, seeds)


def read_cells(file: ClaimFile, tolerance: Tolerance) -> tuple[Cell, ...]:
    """Read the cells of the table (or tables), and the single ones."""
    entry = file.document.get("table", [])
    tables = entry if isinstance(entry, list) else [entry]
    cells: dict[CellKey, Cell] = {}
    for cell in chain(*(_table(file, table, tolerance) for table in tables), _single_cells(file, tolerance)):
        if cell.key in cells:
            raise file.error("cells", f"{cell.key.sentence} is claimed twice; remove one of the cells")
        cells[cell.key] = cell
    return tuple(cells.values())


def _table(file: ClaimFile, entry: object, tolerance: Tolerance) -> Iterator[Cell]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("metrics"), list):
        raise file.error("table", 'a table needs metrics, a list such as ["rmse", "mae"], and a row for each algorithm')
    names = [file.string(name, "table.metrics") for name in entry["metrics"]]
    row_tolerance = read_tolerance(file, entry.get("tolerance", {}), "table.tolerance", tolerance)
    for label, row in entry.items():
        if label in NUMBERS.keys:
            continue
        if not isinstance(row, list) or len(row) != len(names):
            raise file.error(
                f"table.{label}",
                f"the row of {label} must have a number for each of the {len(names)} metrics ({', '.join(names)}), "
                f'"-" where nothing is claimed; it is {row!r}',
            )
        for name, value in zip(names, row, strict=True):
            if value in NOTHING:
                continue
            printed = _printed(file, value, f"table.{label}", row_tolerance.decimals)
            yield Cell(CellKey(label, name, *_where(file, entry, "table")), printed, row_tolerance)


def _single_cells(file: ClaimFile, tolerance: Tolerance) -> Iterator[Cell]:
    for entry in file.tables("cells"):
        table = file.table(entry, "cells", CELLS)
        label = table.get("algorithm", table.get("system"))
        if not isinstance(label, str) or ("algorithm" in table and "system" in table):
            raise file.error("cells", f"a cell names an algorithm or a system by its label; it is {dict(table)!r}")
        cell_tolerance = read_tolerance(file, table.get("tolerance", {}), "cells.tolerance", tolerance)
        printed = _printed(file, table["value"], "cells.value", cell_tolerance.decimals)
        cell_key = CellKey(label, file.string(table["metric"], "cells.metric"), *_where(file, table, "cells"))
        yield Cell(cell_key, printed, cell_tolerance)


def _where(file: ClaimFile, table: Mapping[str, Any], key: str) -> tuple[str, tuple[tuple[str, Value], ...], str, str]:
    """The protocol of a cell (or several, over which it is the mean), its changes, its user, and its data set."""
    under = table.get("under", OWN)
    if isinstance(under, list):
        if len(under) < 2 or not all(isinstance(name, str) for name in under):
            raise file.error(f"{key}.under", f"under = {under!r} must be a name, or a list of names of protocols")
        under = MEAN.join(under)
    under, user = file.string(under, f"{key}.under"), file.string(table.get("user", ""), f"{key}.user")
    return under, _changes(file, table, key), user, _data(file, table, key)


def _data(file: ClaimFile, table: Mapping[str, Any], key: str) -> str:
    """The name of the data set that an entry is about."""
    name = file.string(table.get("data", OWN), f"{key}.data")
    further = file.document.get("datasets", {})
    if name and name not in further:
        raise file.error(
            f"{key}.data", f"there is no data set '{name}'{nearest(name, further)} Write [datasets.{name}]"
        )
    if not name and "data" not in file.document and further:
        raise file.error(key, f'there is no [data]; name one of [datasets] with data = "{next(iter(further))}"')
    return name


def _changes(file: ClaimFile, table: Mapping[str, Any], key: str) -> tuple[tuple[str, Value], ...]:
    changes = table.get("set", {})
    if not isinstance(changes, Mapping):
        raise file.error(f"{key}.set", f'set = {changes!r} must be a table, such as {{ "ties.break" = "expected" }}')
    return tuple(sorted(flatten(changes).items()))


def _printed(file: ClaimFile, text: object, key: str, decimals: int | None = None) -> Printed:
    if not isinstance(text, str):
        raise file.error(
            key, f'write the number as it is printed, in quotes, so that its digits can be counted: "{text}"'
        )
    try:
        return read_printed(text, decimals)
    except StudyError as error:
        raise file.error(key, str(error)) from None


def read_facts(file: ClaimFile) -> tuple[Fact, ...]:
    """Read printed figures of the data set."""
    facts = []
    for entry in file.tables("facts"):
        table = file.table(entry, "facts", FACTS)
        name, prepared = file.string(table["name"], "facts.name"), table.get("prepared", False)
        if name not in (known := (*FIGURES, *TIMES)):
            raise file.error(
                "facts", f"there is no figure '{name}'{nearest(name, known)} There are: {', '.join(known)}"
            )
        if type(prepared) is not bool:
            raise file.error("facts", f"prepared = {prepared!r} must be true or false")
        printed = _printed(file, table["value"], "facts.value")
        texts = {key: file.string(table.get(key, ""), f"facts.{key}") for key in ("under", "fold", "algorithm")}
        factor, is_time = table.get("factor", 0.0), name in TIMES
        if type(factor) not in (int, float) or is_time != bool(texts["algorithm"]) or is_time != (factor >= 1):
            raise file.error(
                "facts",
                f"{name}: times, and no other figures, have an algorithm and a factor of at least 1, by which they may "
                "differ on another machine: factor = 3",
            )
        facts.append(Fact(name, printed, prepared=prepared, factor=factor, data=_data(file, table, "facts"), **texts))
    return tuple(facts)


def read_patterns(file: ClaimFile) -> tuple[Pattern, ...]:
    """Read qualitative claims."""
    patterns = []
    for entry in file.tables("patterns"):
        table = file.table(entry, "patterns", PATTERNS)
        relation = table["is"]
        if relation not in tuple(RELATIONS):
            raise file.error("patterns", f"is = {relation!r} must be one of {', '.join(RELATIONS)}")
        within, relative = _within(file, table.get("within"), relation)
        sides = [_operand(file, table[side], side) for side in ("left", "right")]
        says = file.string(table["says"], "patterns.says")
        data = _data(file, table, "patterns")
        patterns.append(Pattern(says, sides[0], relation, sides[1], within, relative, data))
    return tuple(patterns)


def _within(file: ClaimFile, entry: object, relation: str) -> tuple[float, bool]:
    """Read the allowed distance of "about": 0.01 is absolute, "10%" is a share of the number on the right."""
    if (entry is None) == (relation == "about"):
        raise file.error(
            "patterns",
            'is = "about" needs within, and no other relation takes it: within = 0.01, or "10%" of the right',
        )
    if entry is None:
        return 0.0, False
    if type(entry) in (int, float) and float(str(entry)) >= 0:
        return float(str(entry)), False
    if isinstance(entry, str) and entry.strip().endswith("%"):
        return _printed(file, entry, "patterns").value, True
    raise file.error("patterns", f'within = {entry!r} must be a number, such as 0.01, or a share, such as "10%"')


def _property(file: ClaimFile, table: Mapping[str, Any], name: str, side: str) -> dict[str, Any]:
    """Read a property of a metric, or of two, over all algorithms."""
    given, share = table[name], table.get("share", 0.0)
    metrics = [given] if isinstance(given, str) else given
    expected = 2 if name == "tau" else 1
    if not isinstance(metrics, list) or len(metrics) != expected:
        example = 'a list of two metrics, such as ["ndcg@5", "ndcg@100"]' if expected == 2 else 'such as "ndcg@100"'
        raise file.error(f"patterns.{side}", f"{side}: {name} is {example}; it is {given!r}")
    for metric in metrics:
        if not file.string(metric, f"patterns.{side}").rpartition("@")[2].isdecimal():
            raise file.error(f"patterns.{side}", f"{side}: {name} needs a metric with its cut-off; it is {metric!r}")
    has_share = name in ("sparsity", "popularity")
    if has_share != ("share" in table) or (has_share and not (type(share) is float and 0 < share < 1)):
        raise file.error(
            f"patterns.{side}",
            f"{side}: sparsity and popularity, and nothing else, have a share between 0 and 1, such as share = 0.5",
        )
    return {"property_of_metric": name, "metrics": tuple(metrics), "share": share}


def _operand(file: ClaimFile, entry: object, side: str) -> Operand:
    if type(entry) in (int, float):
        return Operand(number=float(str(entry)))
    table = file.table(entry, f"patterns.{side}", OPERAND)
    metric = table.get("metric", "")
    labels = table.get("algorithm", [])
    labels = [labels] if isinstance(labels, str) else labels
    times, take = table.get("times", 1.0), table.get("take", "each")
    properties = [name for name in PROPERTIES if name in table]
    if len(properties) != (not metric) or bool(metric) != bool(labels):
        raise file.error(
            f"patterns.{side}",
            f"{side} is a number, or has an algorithm and a metric, or one of {', '.join(PROPERTIES)}; "
            f"it is {dict(table)!r}",
        )
    if type(times) not in (int, float) or take not in tuple(TAKES):
        raise file.error(f"patterns.{side}", f"{side}: times is a number, and take one of {', '.join(TAKES)}")
    return Operand(
        algorithms=tuple(labels),
        metric=file.string(metric, f"patterns.{side}"),
        **(_property(file, table, properties[0], side) if properties else {}),
        under=file.string(table.get("under", OWN), f"patterns.{side}"),
        changes=_changes(file, table, f"patterns.{side}"),
        times=float(times),
        take=take,
    )
