"""Claim files: read strictly, refused with the line, what was given and what is expected."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro.errors import ProtocolError, ReproError, StudyError, nearest
from repro.evaluate import default_protocol, read_truth
from repro.evaluation.metrics import metrics, parse_measure
from repro.explain.design import read_axes
from repro.protocol import Protocol, flatten, line_of
from repro.protocol.toml import parse_toml
from repro.replicate.claim import OWN, Asked, Cell, Claim, Data, Examples, Setting, System, asked_algorithms
from repro.replicate.statements import read_cells, read_facts, read_patterns, read_tolerance
from repro.study.model import stated_protocol

KEYS = (
    *("title", "source", "cite", "url", "notes", "seeds", "data", "frameworks", "protocol", "protocols"),
    *("algorithms", "tune", "examples", "systems", "tolerance", "table", "cells", "facts", "patterns"),
)
_TEXTS = ("title", "source", "cite", "url", "notes")


class Reading:
    """A claim file while it is read: its tables, and how to say what is wrong with them."""

    def __init__(self, path: Path, text: str, document: Mapping[str, Any]) -> None:
        self.path, self.text, self.document = path, text, document
        self._above = 0  # lines above the one of several tables of a name that is being read

    def error(self, key: str, problem: str) -> StudyError:
        """What is wrong at a key, with its line."""
        below = "\n".join(self.text.splitlines()[self._above :])
        return StudyError(f"{self.path}:{self._above + line_of(below, key)}: {problem}")

    def table(self, given: object, key: str, known: Sequence[str], needed: Sequence[str] = ()) -> Mapping[str, Any]:
        """A table with no other keys than these."""
        if not isinstance(given, Mapping):
            raise self.error(key, f"{key} must be a table with {', '.join(known)}; it is {given!r}")
        for name in given:
            if name not in known:
                where = self.error(f"{key}.{name}", f"unknown key '{name}' in [{key}]{nearest(name, known)}")
                raise StudyError(f"{where} It takes: {', '.join(known)}")
        for name in needed:
            if name not in given:
                raise self.error(key, f"[{key}] has no '{name}'; it needs {' and '.join(needed)}")
        return given

    def tables(self, key: str) -> Iterator[Any]:
        """The entries of a list of tables, ``[[key]]``; none where there is none."""
        given = self.document.get(key, [])
        if not isinstance(given, list):
            raise self.error(key, f"write each of the {key} as [[{key}]]")
        lines = self.text.splitlines()
        heads = [at for at, line in enumerate(lines) if line.replace(" ", "").startswith(f"[[{key}]]")]
        for number, one in enumerate(given):
            self._above = heads[number] if number < len(heads) else 0
            yield one
        self._above = 0

    def words(self, given: object, key: str) -> str:
        """Text."""
        if not isinstance(given, str):
            raise self.error(key, f"{key} = {given!r} must be text")
        return given


def read_claim(path: Path) -> Claim:
    """The claim in the file at ``path``."""
    try:
        text = path.read_text(encoding="utf-8")
        document = parse_toml(text)
    except OSError as error:
        raise StudyError(f"cannot read the claim {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from None
    reading = Reading(path, text, document)
    for key in document:
        if key not in KEYS:
            raise reading.error(key, f"unknown key '{key}'{nearest(key, KEYS)} A claim has: {', '.join(KEYS)}")
    for key in ("title", "source"):
        if not document.get(key):
            raise StudyError(f'{path} has no {key}; a claim says what it is and where it was printed: {key} = "..."')
    examples = _examples(reading)
    algorithms = asked_algorithms(tuple(reading.tables("algorithms")))
    labels = _labels(reading, algorithms, examples)
    tolerance = read_tolerance(reading, document.get("tolerance", {}), "tolerance")
    claim = Claim(
        path=path,
        **{key: reading.words(document.get(key, ""), key) for key in _TEXTS},
        seeds=read_seeds(reading, document.get("seeds", [0]), "seeds"),
        data=_data(reading),
        frameworks=_frameworks(reading),
        settings=_settings(reading, examples, bool(algorithms)),
        algorithms=algorithms,
        tune=document.get("tune"),
        examples=examples,
        tolerance=tolerance,
        cells=read_cells(reading, tolerance),
        facts=read_facts(reading),
        patterns=read_patterns(reading),
        labels=labels,
        text=text,
    )
    _check(reading, claim)
    return claim


def read_seeds(reading: Reading, given: object, key: str) -> tuple[int, ...]:
    """Whole numbers, each once; the first is the claim's own."""
    if not isinstance(given, list) or not given or not all(type(one) is int and one >= 0 for one in given):
        raise reading.error(key, f"{key} = {given!r} must be a list of whole numbers, such as [0, 1, 2]")
    return tuple(dict.fromkeys(given))


def _data(reading: Reading) -> Data | None:
    given = reading.document.get("data")
    if given is None:
        return None
    table = {"name": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise reading.error("data", 'data needs the name of a data set or a file: [data] name = "ml-100k"')
    options = {key: value for key, value in table.items() if key not in ("name", "digest")}
    return Data(table["name"], options, reading.words(table.get("digest", ""), "data.digest"))


def _frameworks(reading: Reading) -> dict[str, tuple[str, ...]]:
    from repro.plugin import plugins
    from repro.plugin.isolation.pins import checked_pins

    given = reading.document.get("frameworks", {})
    if not isinstance(given, Mapping):
        raise reading.error("frameworks", 'write [frameworks] with surprise = ["scikit-surprise==1.1.4"]')
    known, owners, broken = plugins().frameworks, plugins().owners, plugins().broken
    for name, pins in given.items():
        if name not in known and owners.get(name, name) not in broken:
            raise reading.error(
                f"frameworks.{name}",
                f"there is no framework '{name}'{nearest(name, known)} There are: {', '.join(known)}",
            )
        if not isinstance(pins, list) or not all(isinstance(pin, str) for pin in pins):
            raise reading.error(f"frameworks.{name}", f'{name} = {pins!r} must be a list such as ["numpy==1.26.4"]')
    return {name: checked_pins(name, pins) for name, pins in given.items()}


def _examples(reading: Reading) -> Examples | None:
    systems = []
    for one in reading.tables("systems"):
        system = reading.table(one, "systems", ("label", "run"), ("label", "run"))
        systems.append(System(*(reading.words(system[key], f"systems.{key}") for key in ("label", "run"))))
    given = reading.document.get("examples")
    if given is None and not systems:
        return None
    if given is None or not systems:
        raise StudyError(
            f"{reading.path}: worked examples need [examples] with truth, and [[systems]] with label and run"
        )
    table = reading.table(given, "examples", ("truth", "train"), ("truth",))
    for key, name in (*(("systems", one.file) for one in systems), *(("examples", name) for name in table.values())):
        if not (reading.path.parent / reading.words(name, key)).is_file():
            raise reading.error(key, f"there is no file {name} beside the claim")
    return Examples(table["truth"], tuple(systems), table.get("train", ""))


def _labels(reading: Reading, algorithms: Sequence[Asked], examples: Examples | None) -> tuple[str, ...]:
    """What cells may be about: the labels of algorithms and of systems, all different."""
    labels = [one.label for one in algorithms] + [one.label for one in (examples.systems if examples else ())]
    for label in labels:
        if labels.count(label) > 1:
            raise reading.error("systems", f"two algorithms are labelled '{label}'; give each a label of its own")
    return tuple(labels)


def _settings(reading: Reading, examples: Examples | None, studied: bool) -> dict[str, Setting]:
    """The claim's own protocol, and the others by name."""
    others = reading.document.get("protocols", {})
    if not isinstance(others, Mapping):
        raise reading.error("protocols", "write each further protocol as [protocols.NAME], with a base")
    found: dict[str, Setting] = {}
    given = reading.document.get("protocol")
    if given is not None:
        found[OWN] = _setting(reading, given, "protocol", examples if not studied else None)
    elif examples is not None and not studied:
        found[OWN] = _setting(reading, {}, "protocol", examples)
    elif studied and not others:
        raise StudyError(f'{reading.path} has no protocol; write [protocol] with base = "random-5fold"')
    return found | {name: _setting(reading, one, f"protocols.{name}", None) for name, one in others.items()}


def _setting(reading: Reading, given: object, key: str, examples: Examples | None) -> Setting:
    table = {"base": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping):
        raise reading.error(key, f'{key} must be a table with base = "random-5fold" and the decisions that differ')
    asked = table.get("open", [])
    if not isinstance(asked, list) or not all(isinstance(one, str) for one in asked):
        raise reading.error(f"{key}.open", f'open = {asked!r} must be a list of decisions, such as ["ties.break"]')
    rest = {name: value for name, value in table.items() if name != "open"}
    stated = flatten({name: value for name, value in rest.items() if name != "base"})
    if examples is not None and "base" not in rest:
        protocol = _of_examples(reading, examples, stated)
    else:
        protocol = stated_protocol(rest, reading.text, reading.path, key)
    # Origins are in what is published: they name the file, not where it is on this machine.
    origins = {name: one.replace(str(reading.path), reading.path.name) for name, one in protocol.origins.items()}
    protocol = replace(protocol, origins=origins)
    try:
        read_axes(asked, protocol, refit=True)
    except ProtocolError as error:
        raise reading.error(f"{key}.open", f"open: {error}") from None
    if clash := [one for one in asked if one.partition("=")[0].strip() in stated and "=" not in one]:
        raise reading.error(
            f"{key}.open",
            f"{clash[0]} is both stated and open; leave one out, or write what is open of it, "
            f"'{clash[0]}=...|...', where it is a guess",
        )
    return Setting(protocol, tuple(asked), frozenset(stated))


def _of_examples(reading: Reading, examples: Examples, stated: Mapping[str, Any]) -> Protocol:
    """The protocol of lists that are given: that of `repro evaluate`, with what the claim states."""
    truth = read_truth(reading.path.parent / examples.truth)
    return default_protocol("rating" in truth).replace(stated, reading.path.name, reading.path.parent)


def _check(reading: Reading, claim: Claim) -> None:
    """What hangs together: labels, protocols and metrics that are named must be there."""
    if not (claim.cells or claim.facts or claim.patterns):
        raise StudyError(f"{claim.path} claims nothing; write a [table], [[cells]], [[facts]] or [[patterns]]")
    if claim.algorithms and claim.data is None:
        raise StudyError(f'{claim.path} has algorithms and no data; write [data] with name = "ml-100k"')
    if claim.facts and claim.data is None:
        raise StudyError(f'{claim.path} has facts about data and no data; write [data] with name = "ml-100k"')
    for cell in claim.cells:
        _check_cell(reading, claim, cell)
    for pattern in claim.patterns:
        for operand in (pattern.left, pattern.right):
            _check_under(reading, claim, operand.under, "patterns", bool(operand.measure))
            if operand.measure:
                _parsed(reading, claim, operand.measure, operand.under, operand.changes, "patterns")
    for fact in claim.facts:
        _check_under(reading, claim, fact.under, "facts", fact.prepared)


def _check_cell(reading: Reading, claim: Claim, cell: Cell) -> None:
    place = cell.place
    key = "cells" if "cells" in reading.document else "table"
    if place.algorithm not in claim.labels:
        raise reading.error(
            f"table.{place.algorithm}" if key == "table" else key,
            f"'{place.algorithm}' is no algorithm or system of the claim{nearest(place.algorithm, claim.labels)} "
            f"There are: {', '.join(claim.labels) or 'none'}",
        )
    if place.user and place.algorithm not in claim.systems:
        raise reading.error(key, f'user = "{place.user}": only worked examples have numbers of one user; leave it out')
    _check_under(reading, claim, place.under, key, True)
    _parsed(reading, claim, place.metric, place.under, place.changes, key)


def _check_under(reading: Reading, claim: Claim, under: str, key: str, needed: bool) -> None:
    if under not in claim.settings and (needed or under):
        if not under:
            raise reading.error(
                key, 'there is no [protocol]; write one, or say under = "..." which of [protocols] it is'
            )
        raise reading.error(
            key, f"there is no protocol '{under}'{nearest(under, claim.settings)} Write it as [protocols.{under}]"
        )


def _parsed(reading: Reading, claim: Claim, metric: str, under: str, changes: Any, key: str) -> None:
    """Refuse a metric that cannot be had under the protocol that it is claimed under."""
    try:
        parse_measure(metric, claim.setting(under, changes).protocol, metrics())
    except ReproError as error:
        raise reading.error(key, str(error)) from None
