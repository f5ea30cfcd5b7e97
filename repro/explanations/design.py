"""Designs: the protocols to try, which are all combinations of some decisions, or a sample of them.

The sample is a split-plot design, because decisions differ in cost: those about candidates need new lists, those about
missing and tied scores need a new order of the same lists, and those about relevance, metrics and averages need a new
count only. The design therefore has few combinations of the first, more of the second, and many of the last. At each
level, the first combinations are all that differ from the study's protocol in one decision; the others are drawn at
random, in pairs that differ in one decision (Morris, Factorial sampling plans for preliminary computational
experiments, 1991).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from repro.current import once
from repro.data.interactions import FloatArray
from repro.errors import ProtocolError, nearest
from repro.evaluation.stages import lists_depend_on_relevance
from repro.protocol import Decision, Option, Protocol, Stage, Value, registry, resolve
from repro.protocol.decision import AnyOf

RANKING: tuple[Stage, ...] = ("missing", "precision", "ties")
_MAX_THRESHOLDS = 20  # the largest number of distinct ratings that are all tried as thresholds
COUNTED = 20_000
# For a budget of 1,000: 4 further candidate sets, 100 orders of the study's own lists, and 3 orders of other lists.
_PER_LISTING, _PER_ORDER, _PER_FURTHER_ORDER = 250, 10, 500
_PLOTS_PER_WINDOW = 8  # plots that share the same combinations of the last level

Combination = Mapping[str, Value]


@dataclass(frozen=True)
class Axis:
    """A decision with the values to try; ``named`` if it was requested by its own name, and not with its family."""

    decision: str
    values: tuple[Value, ...]
    named: bool = False

    @property
    def level(self) -> int:
        """0 if the decision changes lists, 1 if it changes their order, 2 if it changes only what is counted."""
        stage = registry()[self.decision].stage
        return 0 if stage == "candidates" else 1 if stage in RANKING else 2


@dataclass(frozen=True, eq=False)
class Variant:
    """A protocol of a design; ``choices`` are the values of the axes, None for axes without effect."""

    protocol: Protocol
    choices: Mapping[str, Value | None]


def read_axes(
    names: Sequence[str], base: Protocol, ratings: FloatArray | None = None, *, refit: bool = False
) -> list[Axis]:
    """Read axes from texts such as ``ties``, ``ties.break``, or ``relevance.threshold=3|4|5``.

    A family stands for all its decisions. Numeric decisions have typical values, and thresholds have the distinct
    ``ratings`` if these are few. The value of the protocol ``base`` comes first. Decisions that need a refit raise an
    error unless ``refit`` allows them.
    """
    decisions = registry()
    axes: dict[str, Axis] = {}
    for text in names:
        name, equals, options = (piece.strip() for piece in text.partition("="))
        family = decisions.family(name)
        if not family:
            known_names = {*decisions, *(key.rpartition(".")[0] for key in decisions)}
            raise ProtocolError(
                f"there is no decision or family '{name}'{nearest(name, known_names)} `repro protocol explain` "
                "lists them all"
            )
        if not refit and (refitted := [member.id for member in family if member.needs_refit]):
            raise ProtocolError(
                f"{refitted[0]} changes the fitted models, for which stored scores do not suffice; vary decisions "
                "about evaluation (relevance, candidates, missing, ties, average, predict, metric), or explain with "
                "--refit"
            )
        for decision in family:
            values = _listed_values(decision, options) if equals else _values_to_try(decision, ratings)
            current = base.get(decision.id)
            if current is not None:
                values = (current, *(value for value in values if value != current))
            if len(values) > 1 or equals:
                axes[decision.id] = Axis(decision.id, values, name == decision.id)
    return [_with_possible_values(axes[key], axes, base) for key in decisions if key in axes]


def _with_possible_values(axis: Axis, axes: Mapping[str, Axis], base: Protocol) -> Axis:
    """The axis without options that no combination of the other axes allows."""

    def values_of(decision: str) -> tuple[Value | None, ...]:
        return axes[decision].values if decision in axes else (base.get(decision),)

    def possible(value: Value) -> bool:
        option = registry()[axis.decision].option(value)
        required = () if option is None else option.when
        return all(
            any(
                condition.holds(other)
                for condition in (group.conditions if isinstance(group, AnyOf) else (group,))
                for other in values_of(condition.decision)
            )
            for group in required
        )

    return replace(axis, values=tuple(filter(possible, axis.values)))


def _values_to_try(decision: Decision, ratings: FloatArray | None) -> tuple[Value, ...]:
    values = decision.tried
    if decision.id == "relevance.threshold" and ratings is not None:
        distinct = np.unique(ratings)
        values = tuple(distinct.tolist()) if len(distinct) <= _MAX_THRESHOLDS else values
    return tuple(value for value in values if _gives_a_number(decision.option(value)))


def _gives_a_number(option: Option | None) -> bool:
    """Whether a study under this option runs and gives a number."""
    return option is None or (option.gives_number and not option.stops_run and option.needs is None)


def _listed_values(decision: Decision, text: str) -> tuple[Value, ...]:
    values = []
    for piece in (part.strip() for part in text.split("|")):
        read: object = piece
        if decision.kind == "flag" and piece in ("true", "false"):
            read = piece == "true"
        elif decision.kind in ("integer", "number") and piece not in decision.words:
            try:
                read = float(piece)
            except ValueError:
                read = piece
        value = decision.accept(read)
        if value is None:
            raise ProtocolError(f"{decision.id} = {piece} is not allowed; allowed: {decision.allowed()}")
        if (option := decision.option(value)) and option.means:
            meaning = ", ".join(f"{key}={part}" for key, part in option.means.items())
            raise ProtocolError(f"{decision.id} = {piece} is short for {meaning}; vary these")
        values.append(value)
    return tuple(dict.fromkeys(values))


def effective_axes(axes: Sequence[Axis], variants: Sequence[Variant]) -> list[Axis]:
    """The axes with an effect in any variant; raises an error for axes without effect that were requested by name."""
    effective = [axis for axis in axes if any(variant.choices[axis.decision] is not None for variant in variants)]
    for axis in axes:
        if axis.named and axis not in effective:
            needs = " and ".join(map(str, registry()[axis.decision].when))
            raise ProtocolError(
                f"{axis.decision} has no effect under any of these protocols: it applies when {needs}; vary that too"
            )
    return effective


class Design:
    """Variants of a protocol along some axes: all combinations, or a sample if they exceed the budget."""

    def __init__(self, base: Protocol, axes: Sequence[Axis], budget: int, seed: int = 0) -> None:
        self.base, self.axes, self.budget, self.seed = base, tuple(axes), budget, seed

    @cached_property
    def combinations(self) -> int | None:
        """The number of all combinations; None if there are too many to count quickly."""
        counted = sum(1 for _ in islice(self._meaningful(), COUNTED + 1))
        return counted if counted <= COUNTED else None

    @cached_property
    def complete(self) -> bool:
        """Whether the design contains all combinations."""
        return self.combinations is not None and self.combinations <= self.budget

    def variants(self) -> list[Variant]:
        """Distinct protocols, the base first."""
        return list(self._distinct(self._meaningful() if self.complete else self._sample()).values())

    def _meaningful(self) -> Iterator[Combination]:
        """All combinations of values that have an effect; decisions depend only on earlier ones."""
        decisions = registry()

        def walk(number: int, stated: dict[str, Value], chosen: dict[str, Value]) -> Iterator[Combination]:
            while number < len(self.axes):
                axis = self.axes[number]
                number += 1
                if not decisions.active(decisions[axis.decision], stated):
                    continue
                for value in axis.values:
                    yield from walk(number, {**stated, axis.decision: value}, {**chosen, axis.decision: value})
                return
            yield chosen

        return walk(0, {**_typical_values(), **self.base}, {})

    def _sample(self) -> Iterator[Combination]:
        levels = [[axis for axis in self.axes if axis.level == level] for level in range(3)]
        draws = np.random.default_rng(self.seed)
        listings = self._level(levels[0], self.budget // _PER_LISTING, draws)
        orders = self._level(levels[1], 0, draws)[: max(1, self.budget // _PER_ORDER)]
        plots = [(listings[0], order) for order in orders]
        few = 1 + self.budget // _PER_FURTHER_ORDER
        for number, listing in enumerate(listings[1:], start=1):
            plots += [(listing, order) for order in _window(orders, number * few, few)]
        # Where lists depend on relevance, other relevance would change the lists: the study's own is used.
        dependent = [listing for listing in listings if lists_depend_on_relevance(self.protocol(listing))]
        each = max(1, self.budget // len(plots))
        counted = self._level(levels[2], each, draws)
        for turn in range(len(counted)):  # until the budget is spent
            for number, (listing, order) in enumerate(plots):
                first = turn * (each - 1) + (number // _PLOTS_PER_WINDOW) * (each - 1)
                chosen = counted if not number and not turn else _window(counted, first, each)
                fixed = "relevance." if listing in dependent else ()
                for combination in chosen:
                    varied = {key: value for key, value in combination.items() if not key.startswith(fixed)}
                    yield {**varied, **listing, **order}

        for _ in range(10 * self.budget):
            yield {axis.decision: _random_value(axis, draws) for axis in self.axes}

    def _level(self, axes: Sequence[Axis], further: int, draws: np.random.Generator) -> list[Combination]:
        """Distinct combinations: that of the protocol, those one step away, and random pairs one step apart."""
        base_combination: Combination = {axis.decision: axis.values[0] for axis in axes}
        by_hash: dict[str, Combination] = {}

        def add(combination: Combination) -> None:
            protocol = self._protocol(combination)
            if protocol is not None:
                by_hash.setdefault(protocol.hash, combination)

        add(base_combination)
        for axis in axes:
            for value in axis.values[1:]:
                add({**base_combination, axis.decision: value})
        most = len(by_hash) + (further if axes else 0)
        for _ in range(10 * further):
            if len(by_hash) >= most:
                break
            point = {axis.decision: _random_value(axis, draws) for axis in axes}
            axis = axes[int(draws.integers(len(axes)))]
            add(point)
            add({**point, axis.decision: _random_value(axis, draws)})
        return list(by_hash.values())[:most]

    def _distinct(self, combinations: Iterable[Combination]) -> dict[str, Variant]:
        """Distinct variants within the budget, by the hash of their protocol, without contradictory ones."""
        names = [axis.decision for axis in self.axes]
        variants: dict[str, Variant] = {}
        for combination in combinations:
            protocol = self._protocol(combination)
            if protocol is not None and protocol.hash not in variants:
                variants[protocol.hash] = Variant(protocol, {name: protocol.get(name) for name in names})
                if len(variants) == self.budget:
                    break
        return variants

    def _protocol(self, values: Combination) -> Protocol | None:
        try:
            return self.protocol(values)
        except ProtocolError:
            return None

    def protocol(self, values: Combination) -> Protocol:
        """The protocol with these values; decisions that become necessary have their defaults, or typical values."""
        base = self.base
        stated = {**_typical_values(), **base, **values}
        made = resolve(stated, {**base.origins, **dict.fromkeys(values, "varied")}, strict=frozenset())
        return Protocol(made.values_, made.origins, folder=base.folder, folders=base.folders)


@once
def _typical_values() -> dict[str, Value]:
    """A typical value of each numeric decision without a default, for variants that need one."""
    numbers = (
        decision for decision in registry().values() if decision.required and decision.kind in ("integer", "number")
    )
    return {decision.id: decision.tried[len(decision.tried) // 2] for decision in numbers if decision.tried}


def _window(combinations: Sequence[Combination], start: int, size: int) -> Sequence[Combination]:
    """The first combination, and ``size - 1`` of the others, cyclically from ``start`` on."""
    if size >= len(combinations):
        return combinations
    others = combinations[1:]
    return [combinations[0], *(others[(start + further) % len(others)] for further in range(size - 1))]


def _random_value(axis: Axis, draws: np.random.Generator) -> Value:
    return axis.values[int(draws.integers(len(axis.values)))]
