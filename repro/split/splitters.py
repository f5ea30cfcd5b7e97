"""Splitters of frameworks: a framework's own way to hold out rows, as an option of ``split.strategy``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from repro.data.interactions import Interactions
from repro.errors import PluginError
from repro.plugin import Parameter, Splitter, plugins
from repro.protocol import AnyOf, Decision, Option, Protocol, When, registry
from repro.protocol.decision import Kind
from repro.split.plan import LEFT_OUT, TEST, TRAIN, PartArray, Plan, Strategy

_KINDS: dict[type, Kind] = {bool: "flag", int: "integer", float: "number"}


def strategies(splitters: Iterable[Splitter]) -> tuple[Option, ...]:
    """The splitters as options of ``split.strategy``."""
    return tuple(Option(splitter.name, splitter.summary, cite=splitter.cite) for splitter in splitters)


def orders(splitters: Iterable[Splitter]) -> tuple[Option, ...]:
    """A splitter's own order as an option of ``data.order``, where a splitter has one."""
    shuffling = []
    for splitter in splitters:
        if isinstance(splitter.own_order, When):
            shuffling.append(_of(splitter.name, splitter.own_order))
        elif splitter.own_order:
            shuffling.append(When("split.strategy", (splitter.name,)))
    if not shuffling:
        return ()
    return (
        Option(
            "splitter",
            "as the framework's own splitter gives the rows of each part, shuffled as it has them",
            "Algorithms saw the training interactions in the order in which the framework's own splitter gives them.",
            used_by=("surprise", "cornac"),
            when=(AnyOf(*shuffling),),
            instead='use "source", which is the same here',
        ),
    )


def decisions(splitters: Iterable[Splitter]) -> tuple[Decision, ...]:
    """The parameters of the splitters as decisions."""
    return tuple(_decision(splitter.name, parameter) for splitter in splitters for parameter in splitter.parameters)


def plan_splitter(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The folds that a framework's own splitter makes of the rows in the order of the source."""
    name = protocol.text("split.strategy")
    splitter = plugins().splitters()[name]
    values = {
        parameter.name: protocol.get(_id(name, parameter.name), parameter.default) for parameter in splitter.parameters
    }
    folds = plugins().split(name, interactions, seed & 0x7FFFFFFF, values)
    parts = [_parts(name, len(interactions), *fold) for fold in folds]
    return Plan(parts, given_rows=[(np.asarray(train), np.asarray(test)) for train, test in folds])


def splitter_strategy(name: str) -> Strategy:
    """The splitter of that name as a strategy."""
    meaning = registry()["split.strategy"].meaning(name)
    return Strategy(Option(name, meaning), plan_splitter, "change the parameters of the splitter")


def _parts(name: str, rows: int, train: object, test: object) -> PartArray:
    """The part of every row; rows that are in neither are left out."""
    parts = np.full(rows, LEFT_OUT)
    for part, rows_of_part in ((TRAIN, train), (TEST, test)):
        positions = np.asarray(rows_of_part)
        if positions.dtype.kind not in "iu" or (len(positions) and not 0 <= positions.min() <= positions.max() < rows):
            raise PluginError(f"{name} gave rows that are not positions from 0 to {rows - 1:,}")
        if (parts[positions] != LEFT_OUT).any():
            raise PluginError(f"{name} put a row into both training and test")
        parts[positions] = part
    return parts


def _decision(splitter: str, parameter: Parameter) -> Decision:
    kind = _KINDS.get(type(parameter.default), "choice")
    options = tuple(Option(str(value), str(value)) for value in parameter.options) if kind == "choice" else ()
    return Decision(
        _id(splitter, parameter.name),
        f"{splitter}: {parameter.meaning}?",
        kind,
        options=options,
        default=parameter.default,
        when=(When("split.strategy", (splitter,)), *(_of(splitter, when) for when in parameter.when)),
    )


def _of(splitter: str, when: When) -> When:
    """A condition on a parameter, as a condition on its decision."""
    return replace(when, decision=_id(splitter, when.decision))


def _id(splitter: str, parameter: str) -> str:
    return f"split.{splitter.replace('/', '-')}.{parameter}"
