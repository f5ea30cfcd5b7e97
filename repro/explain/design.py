"""Which protocols are tried: all combinations of some decisions, or a designed sample of them.

The sample is a split plot, as decisions cost differently: those about candidates make other lists, those about missing
and tied scores another order of the same lists, and those about relevance, metrics and averages only count anew. So few
combinations of the first are taken, more of the second, and many of the last. At each level the first are all that
differ from the study's protocol in one decision; the others are drawn at random, in pairs that differ in one decision
(Morris, Factorial sampling plans for preliminary computational experiments, 1991).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from repro.current import once
from repro.data.interactions import FloatArray
from repro.errors import ProtocolError, nearest
from repro.evaluation.stages import lists_depend_on_relevance
from repro.protocol import Decision, Option, Protocol, Stage, Value, registry, resolve

RANKING: tuple[Stage, ...] = ("missing", "precision", "ties")
_FEW = 20  # ratings, up to which each of them is tried as a threshold
COUNTED = 20_000
# Of a budget of 1,000: 4 candidate sets beyond those one step away, 100 orders of the study's own lists, 3 of others.
_PER_LISTING, _PER_ORDER, _PER_FURTHER_ORDER = 250, 10, 500
_TOGETHER = 8  # plots that go with the same combinations of what is counted

Combination = Mapping[str, Value]


@dataclass(frozen=True)
class Axis:
    """A decision and what is tried of it; ``named`` says whether it was asked for by itself, not with its family."""

    decision: str
    values: tuple[Value, ...]
    named: bool = False

    @property
    def level(self) -> int:
        """0 where it makes other lists, 1 where it orders them anew, 2 where it only counts anew."""
        stage = registry()[self.decision].stage
        return 0 if stage == "candidates" else 1 if stage in RANKING else 2


@dataclass(frozen=True, eq=False)
class Variant:
    """One protocol of a design; ``choices`` are the values of the axes, None where one has no effect in it."""

    protocol: Protocol
    choices: Mapping[str, Value | None]


def read_axes(
    asked: Sequence[str], base: Protocol, ratings: FloatArray | None = None, *, refit: bool = False
) -> list[Axis]:
    """The axes that are called ``ties``, ``ties.break``, or ``relevance.threshold=3|4|5``.

    A family stands for all its decisions. Of decisions that are numbers, the typical ones are tried, and what the
    protocol has; of thresholds, the ``ratings`` that there are, where they are few. What the protocol has comes first.
    Decisions that change what is fitted are refused, unless ``refit`` says that they may be there.
    """
    known = registry()
    axes: dict[str, Axis] = {}
    for text in asked:
        name, equals, written = (piece.strip() for piece in text.partition("="))
        family = known.family(name)
        if not family:
            every = {*known, *(key.rpartition(".")[0] for key in known)}
            raise ProtocolError(
                f"there is no decision or family '{name}'{nearest(name, every)} `repro protocol explain` lists them all"
            )
        if not refit and (refitted := [one.id for one in family if one.needs_refit]):
            raise ProtocolError(
                f"{refitted[0]} changes what is fitted, and kept scores cannot answer for that; vary decisions about "
                "evaluation (relevance, candidates, missing, ties, average, predict, metric), or explain with --refit"
            )
        for decision in family:
            values = _written(decision, written) if equals else _tried(decision, ratings)
            own = base.get(decision.id)
            if own is not None:
                values = (own, *(value for value in values if value != own))
            if len(values) > 1 or equals:
                axes[decision.id] = Axis(decision.id, values, name == decision.id)
    return [axes[key] for key in known if key in axes]


def _tried(decision: Decision, ratings: FloatArray | None) -> tuple[Value, ...]:
    values = decision.tried
    if decision.id == "relevance.threshold" and ratings is not None:
        there = np.unique(ratings)
        values = tuple(there.tolist()) if len(there) <= _FEW else values
    return tuple(value for value in values if _gives_a_number(decision.option(value)))


def _gives_a_number(option: Option | None) -> bool:
    """Whether a study can be evaluated under an option, and gives a number."""
    return option is None or (option.gives_number and not option.stops_run and option.needs is None)


def _written(decision: Decision, text: str) -> tuple[Value, ...]:
    values = []
    for piece in (one.strip() for one in text.split("|")):
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
            meant = ", ".join(f"{key}={one}" for key, one in option.means.items())
            raise ProtocolError(f"{decision.id} = {piece} is short for {meant}; vary these")
        values.append(value)
    return tuple(dict.fromkeys(values))


def axes_met(axes: Sequence[Axis], variants: Sequence[Variant]) -> list[Axis]:
    """The axes that have an effect in any variant; refuses those that were asked for by name and have none."""
    met = [axis for axis in axes if any(variant.choices[axis.decision] is not None for variant in variants)]
    for axis in axes:
        if axis.named and axis not in met:
            needs = " and ".join(map(str, registry()[axis.decision].when))
            raise ProtocolError(
                f"{axis.decision} has no effect under any of these protocols: it applies when {needs}; vary that too"
            )
    return met


class Design:
    """Variants of a protocol along some axes: all of them, or a sample where they are more than a budget."""

    def __init__(self, base: Protocol, axes: Sequence[Axis], budget: int, seed: int = 0) -> None:
        self.base, self.axes, self.budget, self.seed = base, tuple(axes), budget, seed

    @cached_property
    def combinations(self) -> int | None:
        """How many protocols there are in all; None where they are more than can be counted quickly."""
        counted = sum(1 for _ in islice(self._meaningful(), COUNTED + 1))
        return counted if counted <= COUNTED else None

    @cached_property
    def complete(self) -> bool:
        """Whether all of them are tried."""
        return self.combinations is not None and self.combinations <= self.budget

    def variants(self) -> list[Variant]:
        """Protocols that differ, the one that all start from first."""
        return list(self._distinct(self._meaningful() if self.complete else self._sample()).values())

    def _meaningful(self) -> Iterator[Combination]:
        """All combinations of values that have an effect. Decisions hang on those before them."""
        known = registry()

        def walk(number: int, stated: dict[str, Value], chosen: dict[str, Value]) -> Iterator[Combination]:
            while number < len(self.axes):
                axis = self.axes[number]
                number += 1
                if not known.active(known[axis.decision], stated):
                    continue
                for value in axis.values:
                    yield from walk(number, {**stated, axis.decision: value}, {**chosen, axis.decision: value})
                return
            yield chosen

        return walk(0, {**_usual(), **self.base}, {})

    def _sample(self) -> Iterator[Combination]:
        levels = [[axis for axis in self.axes if axis.level == level] for level in range(3)]
        draws = np.random.default_rng(self.seed)
        listings = self._some(levels[0], self.budget // _PER_LISTING, draws)
        orders = self._some(levels[1], 0, draws)[: max(1, self.budget // _PER_ORDER)]
        plots = [(listings[0], order) for order in orders]
        few = 1 + self.budget // _PER_FURTHER_ORDER
        for number, listing in enumerate(listings[1:], start=1):
            plots += [(listing, order) for order in _window(orders, number * few, few)]
        # Where lists hang on what is relevant, another relevance would be other lists: the study's own is taken.
        judged = [one for one in listings if lists_depend_on_relevance(self.protocol(one))]
        each = max(1, self.budget // len(plots))
        counted = self._some(levels[2], each, draws)
        for turn in range(len(counted)):  # until the budget is spent
            for number, (listing, order) in enumerate(plots):
                first = turn * (each - 1) + (number // _TOGETHER) * (each - 1)
                chosen = counted if not number and not turn else _window(counted, first, each)
                for combination in chosen:
                    yield {**_kept(combination, listing in judged), **listing, **order}

        for _ in range(10 * self.budget):
            yield {axis.decision: _any_of(axis, draws) for axis in self.axes}

    def _some(self, axes: Sequence[Axis], further: int, draws: np.random.Generator) -> list[Combination]:
        """Combinations that differ in meaning: the protocol's own, those one step from it, and further ones at random,
        with one step each."""
        own: Combination = {axis.decision: axis.values[0] for axis in axes}
        found: dict[str, Combination] = {}

        def add(combination: Combination) -> None:
            protocol = self._protocol(combination)
            if protocol is not None:
                found.setdefault(protocol.hash, combination)

        add(own)
        for axis in axes:
            for value in axis.values[1:]:
                add({**own, axis.decision: value})
        wanted = len(found) + (further if axes else 0)
        for _ in range(10 * further):
            if len(found) >= wanted:
                break
            point = {axis.decision: _any_of(axis, draws) for axis in axes}
            axis = axes[int(draws.integers(len(axes)))]
            add(point)
            add({**point, axis.decision: _any_of(axis, draws)})
        return list(found.values())[:wanted]

    def _distinct(self, combinations: Iterable[Combination]) -> dict[str, Variant]:
        """As many variants as the budget allows, by the hash of their protocol; contradictions are left out."""
        names = [axis.decision for axis in self.axes]
        found: dict[str, Variant] = {}
        for combination in combinations:
            protocol = self._protocol(combination)
            if protocol is not None and protocol.hash not in found:
                found[protocol.hash] = Variant(protocol, {name: protocol.get(name) for name in names})
                if len(found) == self.budget:
                    break
        return found

    def _protocol(self, values: Combination) -> Protocol | None:
        try:
            return self.protocol(values)
        except ProtocolError:
            return None

    def protocol(self, values: Combination) -> Protocol:
        """The protocol with these values; what it then needs and does not state is as it usually is."""
        base = self.base
        stated = {**_usual(), **base, **values}
        made = resolve(stated, {**base.origins, **dict.fromkeys(values, "varied")}, strict=frozenset())
        return Protocol(made.values_, made.origins, folder=base.folder, folders=base.folders)


@once
def _usual() -> dict[str, Value]:
    """A value for each number that has no default: variants may need one that the protocol does not state."""
    numbers = (one for one in registry().values() if one.required and one.kind in ("integer", "number"))
    return {one.id: one.tried[len(one.tried) // 2] for one in numbers if one.tried}


def _window(combinations: Sequence[Combination], start: int, size: int) -> Sequence[Combination]:
    """The first combination, and ``size - 1`` of the others, from ``start`` on and round."""
    if size >= len(combinations):
        return combinations
    rest = combinations[1:]
    return [combinations[0], *(rest[(start + further) % len(rest)] for further in range(size - 1))]


def _kept(counted: Combination, without_relevance: bool) -> Combination:
    if not without_relevance:
        return counted
    return {key: value for key, value in counted.items() if not key.startswith("relevance.")}


def _any_of(axis: Axis, draws: np.random.Generator) -> Value:
    return axis.values[int(draws.integers(len(axis.values)))]
