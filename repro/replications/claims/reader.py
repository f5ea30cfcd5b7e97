"""Read claim files strictly: errors state the line, the value and what is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro.errors import ProtocolError, ReproError, StudyError, nearest
from repro.evaluation.metrics import metrics, parse_measure
from repro.explanations.design import read_axes
from repro.lists import default_protocol, read_truth
from repro.plugin import plugins
from repro.plugin.isolation.pins import checked_pins
from repro.protocol import Protocol, flatten
from repro.replications.claims.claim import (
    OWN,
    CellKey,
    Claim,
    ClaimedAlgorithm,
    Data,
    Examples,
    Operand,
    Setting,
    System,
    claimed_algorithms,
)
from repro.replications.claims.keys import CLAIM, DATA, EXAMPLES, SYSTEMS
from repro.replications.claims.statements import ClaimFile, read_cells, read_facts, read_patterns, read_tolerance
from repro.study.model import read_toml, stated_protocol

_TEXTS = ("title", "source", "cite", "url", "notes")


def read_claim(path: Path) -> Claim:
    """Read the claim in the file at ``path``."""
    text, document = read_toml(path, "claim")
    file = ClaimFile(path, text, document)
    for key in document:
        if key not in CLAIM.keys:
            raise file.error(key, f"unknown key '{key}'{nearest(key, CLAIM.keys)} A claim has: {', '.join(CLAIM.keys)}")
    for key in CLAIM.required:
        if not document.get(key):
            raise StudyError(f'{path} has no {key}; a claim states its title and its source: {key} = "..."')
    examples = read_examples(file)
    algorithms = claimed_algorithms(tuple(file.tables("algorithms")))
    labels = _labels(file, algorithms, examples)
    tolerance = read_tolerance(file, document.get("tolerance", {}), "tolerance")
    claim = Claim(
        path=path,
        **{key: file.string(document.get(key, ""), key) for key in _TEXTS},
        seeds=file.seeds(document.get("seeds", [0]), "seeds"),
        data=read_data(file, "data", document["data"]) if "data" in document else None,
        further=_further(file),
        frameworks=read_frameworks(file),
        settings=_settings(file, examples, bool(algorithms)),
        algorithms=algorithms,
        tune=document.get("tune"),
        examples=examples,
        tolerance=tolerance,
        cells=read_cells(file, tolerance),
        facts=read_facts(file),
        patterns=read_patterns(file),
        labels=labels,
        text=text,
    )
    _check(file, claim)
    return claim


def read_data(file: ClaimFile, key: str, entry: object) -> Data:
    table = {"name": entry} if isinstance(entry, str) else entry
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise file.error(key, f'{key} needs the name of a data set or a file: [{key}] name = "ml-100k"')
    options = {name: value for name, value in table.items() if name not in DATA.keys}
    return Data(table["name"], options, file.string(table.get("digest", ""), f"{key}.digest"))


def _further(file: ClaimFile) -> dict[str, Data]:
    """The further data sets by name."""
    entries = file.document.get("datasets", {})
    if not isinstance(entries, Mapping):
        raise file.error("datasets", "write each further data set as [datasets.NAME], with its name")
    return {name: read_data(file, f"datasets.{name}", entry) for name, entry in entries.items()}


def read_frameworks(file: ClaimFile) -> dict[str, tuple[str, ...]]:
    entry = file.document.get("frameworks", {})
    if not isinstance(entry, Mapping):
        raise file.error("frameworks", 'write [frameworks] with surprise = ["scikit-surprise==1.1.4"]')
    frameworks, owners, broken = plugins().frameworks, plugins().owners, plugins().broken
    for name, pins in entry.items():
        if name not in frameworks and owners.get(name, name) not in broken:
            raise file.error(
                f"frameworks.{name}",
                f"there is no framework '{name}'{nearest(name, frameworks)} Frameworks: {', '.join(frameworks)}",
            )
        if not isinstance(pins, list) or not all(isinstance(pin, str) for pin in pins):
            raise file.error(f"frameworks.{name}", f'{name} = {pins!r} must be a list such as ["numpy==1.26.4"]')
    return {name: checked_pins(name, pins) for name, pins in entry.items()}


def read_examples(file: ClaimFile) -> Examples | None:
    systems = []
    for entry in file.tables("systems"):
        system = file.table(entry, "systems", SYSTEMS)
        systems.append(System(*(file.string(system[key], f"systems.{key}") for key in SYSTEMS.required)))
    examples = file.document.get("examples")
    if examples is None and not systems:
        return None
    if examples is None or not systems:
        raise StudyError(f"{file.path}: worked examples need [examples] with truth, and [[systems]] with label and run")
    table = file.table(examples, "examples", EXAMPLES)
    names = [("systems", system.file) for system in systems] + [("examples", name) for name in table.values()]
    for key, name in names:
        if not (file.path.parent / file.string(name, key)).is_file():
            raise file.error(key, f"there is no file {name} next to the claim")
    return Examples(table["truth"], tuple(systems), table.get("train", ""))


def _labels(file: ClaimFile, algorithms: Sequence[ClaimedAlgorithm], examples: Examples | None) -> tuple[str, ...]:
    """The labels of algorithms and systems, which must be unique."""
    labels = [entry.label for entry in algorithms] + [entry.label for entry in (examples.systems if examples else ())]
    for label in labels:
        if labels.count(label) > 1:
            raise file.error("systems", f"two algorithms are labelled '{label}'; give each its own label")
    return tuple(labels)


def _settings(file: ClaimFile, examples: Examples | None, studied: bool) -> dict[str, Setting]:
    """The claim's main protocol, and the others by name."""
    further = file.document.get("protocols", {})
    if not isinstance(further, Mapping):
        raise file.error("protocols", "write each further protocol as [protocols.NAME], with a base")
    settings: dict[str, Setting] = {}
    entry = file.document.get("protocol")
    if entry is not None:
        settings[OWN] = read_setting(file, entry, "protocol", examples if not studied else None)
    elif examples is not None and not studied:
        settings[OWN] = read_setting(file, {}, "protocol", examples)
    elif studied and not further:
        raise StudyError(f'{file.path} has no protocol; write [protocol] with base = "random-5fold"')
    return settings | {name: read_setting(file, table, f"protocols.{name}", None) for name, table in further.items()}


def read_setting(file: ClaimFile, entry: object, key: str, examples: Examples | None) -> Setting:
    table = {"base": entry} if isinstance(entry, str) else entry
    if not isinstance(table, Mapping):
        raise file.error(key, f'{key} must be a table with base = "random-5fold" and the decisions that differ')
    open_decisions = table.get("open", [])
    if not isinstance(open_decisions, list) or not all(isinstance(name, str) for name in open_decisions):
        raise file.error(
            f"{key}.open", f'open = {open_decisions!r} must be a list of decisions, such as ["ties.break"]'
        )
    decisions = {name: value for name, value in table.items() if name != "open"}
    stated = flatten({name: value for name, value in decisions.items() if name != "base"})
    if examples is not None and "base" not in decisions:
        protocol = _examples_protocol(file, examples, stated)
    else:
        protocol = stated_protocol(decisions, file.text, file.path, key)
    # Origins are published: they contain the name of the file, not its path on this machine.
    origins = {name: origin.replace(str(file.path), file.path.name) for name, origin in protocol.origins.items()}
    protocol = replace(protocol, origins=origins)
    try:
        read_axes(open_decisions, protocol, refit=True)
    except ProtocolError as error:
        raise file.error(f"{key}.open", f"open: {error}") from None
    if clash := [name for name in open_decisions if name.partition("=")[0].strip() in stated and "=" not in name]:
        raise file.error(
            f"{key}.open",
            f"{clash[0]} is both stated and open; remove one of them, or, if the stated value is a guess, list the "
            f"options that are open: '{clash[0]}=...|...'",
        )
    return Setting(protocol, tuple(open_decisions), frozenset(stated))


def _examples_protocol(file: ClaimFile, examples: Examples, stated: Mapping[str, Any]) -> Protocol:
    """The protocol of worked examples: the default of `repro evaluate`, with the decisions that the claim states."""
    truth = read_truth(file.path.parent / examples.truth)
    return default_protocol("rating" in truth).replace(stated, file.path.name, file.path.parent)


def _check(file: ClaimFile, claim: Claim) -> None:
    """Check that the labels, protocols and metrics to which the claim refers exist."""
    if not (claim.cells or claim.facts or claim.patterns):
        raise StudyError(f"{claim.path} claims nothing; write a [table], [[cells]], [[facts]] or [[patterns]]")
    for entries, what in ((claim.algorithms, "algorithms"), (claim.facts, "facts about data")):
        if entries and claim.data is None and not claim.further:
            raise StudyError(f'{claim.path} has {what} and no data; write [data] with name = "ml-100k"')
    section = "cells" if "cells" in file.document else "table"
    for cell in claim.cells:
        _check_label(file, claim, cell.key, section)
        _check_metric(file, claim, cell.key.metric, cell.key, section)
    for operand in claim.operands:
        for metric in operand.measures or ("",):
            _check_metric(file, claim, metric, operand, "patterns")
    for fact in claim.facts:
        _check_under(file, claim, fact.under, "facts", fact.prepared)
        if fact.algorithm and fact.algorithm not in claim.labels:
            raise file.error("facts", f"'{fact.algorithm}' is not an algorithm of the claim")


def _check_label(file: ClaimFile, claim: Claim, key: CellKey, section: str) -> None:
    if key.algorithm not in claim.labels:
        raise file.error(
            f"table.{key.algorithm}" if section == "table" else section,
            f"'{key.algorithm}' is not an algorithm or system of the claim{nearest(key.algorithm, claim.labels)} "
            f"Labels: {', '.join(claim.labels) or 'none'}",
        )
    if key.user and key.algorithm not in claim.systems:
        raise file.error(
            section, f'user = "{key.user}": only worked examples have numbers of single users; remove user'
        )


def _check_under(file: ClaimFile, claim: Claim, under: str, key: str, needed: bool) -> None:
    if under not in claim.settings and (needed or under):
        if not under:
            raise file.error(key, 'there is no [protocol]; write one, or name one of [protocols] with under = "..."')
        raise file.error(
            key, f"there is no protocol '{under}'{nearest(under, claim.settings)} Write it as [protocols.{under}]"
        )


def _check_metric(file: ClaimFile, claim: Claim, metric: str, where: CellKey | Operand, section: str) -> None:
    """Raise an error for a metric that is not defined under its protocol; no metric needs no protocol."""
    for under in where.protocols:
        _check_under(file, claim, under, section, bool(metric))
        if metric:
            try:
                parse_measure(metric, claim.setting(under, where.changes).protocol, metrics())
            except ReproError as error:
                raise file.error(section, str(error)) from None
