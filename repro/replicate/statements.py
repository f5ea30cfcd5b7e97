"""What a claim file states: printed numbers, facts about data, patterns, and how exact they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from repro.errors import StudyError, nearest
from repro.protocol import Value, flatten
from repro.replicate.claim import OWN, Cell, Fact, Operand, Pattern, Place
from repro.replicate.facts import FACTS
from repro.replicate.printed import Printed, read_printed
from repro.replicate.tables import RESERVED
from repro.replicate.tolerance import KINDS, LEVEL, Tolerance

if TYPE_CHECKING:
    from repro.replicate.reader import Reading

NOTHING = ("-", "–", "")
RELATIONS = ("<", "<=", ">", ">=", "about")
TAKES = ("each", "min", "max", "mean")
_CELL = ("algorithm", "system", "metric", "value", "under", "set", "user", "tolerance")
_OPERAND = ("algorithm", "metric", "dp", "under", "set", "times", "take")


def read_tolerance(reading: Reading, given: object, key: str, base: Tolerance | None = None) -> Tolerance:
    """A tolerance; what it does not say is as in ``base``."""
    from repro.replicate.reader import read_seeds

    table = reading.table(given, key, ("kind", "source", "width", "decimals", "level", "seeds"))
    own = base or Tolerance()
    kind, decimals = table.get("kind", own.kind), table.get("decimals", own.decimals)
    width, level = table.get("width", own.width), table.get("level", LEVEL)
    if kind not in KINDS:
        raise reading.error(f"{key}.kind", f"kind = {kind!r} is none of {', '.join(KINDS)}{nearest(str(kind), KINDS)}")
    if type(width) not in (int, float) or width < 0 or (kind == "interval") != (width > 0):
        raise reading.error(
            key, f'kind = "interval" takes the authors\' own width, such as width = 0.01; it is {width!r}'
        )
    if type(level) is not float or not 0 < level < 1:
        raise reading.error(f"{key}.level", f"level = {level!r} must lie between 0 and 1, such as 0.95")
    if decimals is not None and (type(decimals) is not int or decimals < 0):
        raise reading.error(f"{key}.decimals", f"decimals = {decimals!r} must be a whole number, such as 3")
    seeds = read_seeds(reading, table["seeds"], f"{key}.seeds") if "seeds" in table else own.seeds
    source = reading.words(table.get("source", own.source), f"{key}.source")
    return Tolerance(kind, source, float(width), decimals, level, seeds)


def read_cells(reading: Reading, tolerance: Tolerance) -> tuple[Cell, ...]:
    """The cells of the table (or tables), and those that are written one by one."""
    given = reading.document.get("table", [])
    tables = given if isinstance(given, list) else [given]
    found: dict[Place, Cell] = {}
    for cell in (*(cell for one in tables for cell in _table(reading, one, tolerance)), *_single(reading, tolerance)):
        if cell.place in found:
            raise reading.error("cells", f"{cell.place.sentence} is claimed twice; leave one out")
        found[cell.place] = cell
    return tuple(found.values())


def _table(reading: Reading, given: object, tolerance: Tolerance) -> Iterator[Cell]:
    if not isinstance(given, Mapping) or not isinstance(given.get("metrics"), list):
        raise reading.error(
            "table", 'a table needs metrics, a list such as ["rmse", "mae"], and a row for each algorithm'
        )
    names = [reading.words(name, "table.metrics") for name in given["metrics"]]
    own = read_tolerance(reading, given.get("tolerance", {}), "table.tolerance", tolerance)
    for label, row in given.items():
        if label in RESERVED:
            continue
        if not isinstance(row, list) or len(row) != len(names):
            raise reading.error(
                f"table.{label}",
                f"the row of {label} must have a number for each of the {len(names)} metrics ({', '.join(names)}), "
                f'"-" where nothing is claimed; it is {row!r}',
            )
        for name, value in zip(names, row, strict=True):
            if value in NOTHING:
                continue
            printed = _printed(reading, value, f"table.{label}", own.decimals)
            yield Cell(Place(label, name, *_where(reading, given, "table")), printed, own)


def _single(reading: Reading, tolerance: Tolerance) -> Iterator[Cell]:
    for given in reading.tables("cells"):
        table = reading.table(given, "cells", _CELL, ("metric", "value"))
        label = table.get("algorithm", table.get("system"))
        if not isinstance(label, str) or ("algorithm" in table and "system" in table):
            raise reading.error("cells", f"a cell names an algorithm or a system, as labelled; it is {dict(table)!r}")
        own = read_tolerance(reading, table.get("tolerance", {}), "cells.tolerance", tolerance)
        printed = _printed(reading, table["value"], "cells.value", own.decimals)
        place = Place(label, reading.words(table["metric"], "cells.metric"), *_where(reading, table, "cells"))
        yield Cell(place, printed, own)


def _where(reading: Reading, table: Mapping[str, Any], key: str) -> tuple[str, tuple[tuple[str, Value], ...], str]:
    """Under which protocol, with which changes, and whose."""
    under = reading.words(table.get("under", OWN), f"{key}.under")
    return under, _changes(reading, table, key), reading.words(table.get("user", ""), f"{key}.user")


def _changes(reading: Reading, table: Mapping[str, Any], key: str) -> tuple[tuple[str, Value], ...]:
    given = table.get("set", {})
    if not isinstance(given, Mapping):
        raise reading.error(f"{key}.set", f'set = {given!r} must be a table, such as {{ "ties.break" = "expected" }}')
    return tuple(sorted(flatten(given).items()))


def _printed(reading: Reading, given: object, key: str, decimals: int | None = None) -> Printed:
    if not isinstance(given, str):
        raise reading.error(
            key, f'a number is written as it is printed, in quotes, so that its digits can be counted: "{given}"'
        )
    try:
        return read_printed(given, decimals)
    except StudyError as error:
        raise reading.error(key, str(error)) from None


def read_facts(reading: Reading) -> tuple[Fact, ...]:
    """Printed figures of the data set."""
    found = []
    for given in reading.tables("facts"):
        table = reading.table(given, "facts", ("name", "value", "under", "prepared"), ("name", "value"))
        name, prepared = reading.words(table["name"], "facts.name"), table.get("prepared", False)
        if name not in FACTS:
            raise reading.error(
                "facts", f"there is no figure '{name}'{nearest(name, FACTS)} There are: {', '.join(FACTS)}"
            )
        if type(prepared) is not bool:
            raise reading.error("facts", f"prepared = {prepared!r} must be true or false")
        printed = _printed(reading, table["value"], "facts.value")
        found.append(Fact(name, printed, reading.words(table.get("under", OWN), "facts.under"), prepared))
    return tuple(found)


def read_patterns(reading: Reading) -> tuple[Pattern, ...]:
    """Qualitative claims."""
    found = []
    for given in reading.tables("patterns"):
        table = reading.table(
            given, "patterns", ("says", "left", "is", "right", "within"), ("says", "left", "is", "right")
        )
        relation = table["is"]
        if relation not in RELATIONS:
            raise reading.error("patterns", f"is = {relation!r} is none of {', '.join(RELATIONS)}")
        within, relative = _within(reading, table.get("within"), relation)
        sides = [_operand(reading, table[side], side) for side in ("left", "right")]
        says = reading.words(table["says"], "patterns.says")
        found.append(Pattern(says, sides[0], relation, sides[1], within, relative))
    return tuple(found)


def _within(reading: Reading, given: object, relation: str) -> tuple[float, bool]:
    """How far "about" goes: 0.01 is a difference, "10%" a share of the number on the right."""
    if (given is None) == (relation == "about"):
        raise reading.error(
            "patterns", 'is = "about" takes within, and no other does: within = 0.01, or "10%" of the right'
        )
    if given is None:
        return 0.0, False
    if type(given) in (int, float) and float(str(given)) >= 0:
        return float(str(given)), False
    if isinstance(given, str) and given.strip().endswith("%"):
        return _printed(reading, given, "patterns").value, True
    raise reading.error("patterns", f'within = {given!r} must be a number, such as 0.01, or a share, such as "10%"')


def _operand(reading: Reading, given: object, side: str) -> Operand:
    if type(given) in (int, float):
        return Operand(number=float(str(given)))
    table = reading.table(given, f"patterns.{side}", _OPERAND)
    dp, metric = table.get("dp", ""), table.get("metric", "")
    labels = table.get("algorithm", [])
    labels = [labels] if isinstance(labels, str) else labels
    times, take = table.get("times", 1.0), table.get("take", "each")
    if bool(dp) == bool(metric) or bool(metric) != bool(labels):
        raise reading.error(
            f"patterns.{side}", f"{side} is a number, or has an algorithm and a metric, or dp; it is {dict(table)!r}"
        )
    if type(times) not in (int, float) or take not in TAKES:
        raise reading.error(f"patterns.{side}", f"{side}: times is a number, and take one of {', '.join(TAKES)}")
    return Operand(
        algorithms=tuple(labels),
        metric=reading.words(metric, f"patterns.{side}"),
        dp=reading.words(dp, f"patterns.{side}"),
        under=reading.words(table.get("under", OWN), f"patterns.{side}"),
        changes=_changes(reading, table, f"patterns.{side}"),
        times=float(times),
        take=take,
    )
