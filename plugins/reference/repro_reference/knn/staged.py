"""Scores of all combinations of decisions of nearest neighbours on a small training set, stage by stage.

Decisions that make no difference on a training set are computed once: of all inputs, those with other values; of all
similarities of these, those with other values; and so on. What the stages compute is that of
:mod:`repro_reference.knn.stages`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from repro.data.interactions import CodeArray, FloatArray
from repro.plugin import ParameterValue, StagedDefinitions, TrainingData
from repro.plugin.api.relabelling import marked, relabelled
from repro_reference.knn.neighbours import Neighbours, Sums
from repro_reference.knn.setting import Setting
from repro_reference.knn.stages import BIASES, INPUT, SIMILARITY, Stages, similarity_of

Part = Mapping[str, ParameterValue]

_NEIGHBOURS = (
    "k",
    "neighbourhood",
    "pool",
    "pool_of",
    "negatives",
    "nearest",
    "itself",
    "ties",
    "min_similarity",
    "shares",
)
_SUMS = (
    "normalise",
    "center",
    "deviation",
    "contributions",
    "divisor",
    "divisor_epsilon",
    "min_neighbours",
    "fallback",
)
GROUPS = ((*BIASES, *INPUT), SIMILARITY, _NEIGHBOURS, _SUMS)


@dataclass(frozen=True, eq=False)
class Step:
    """An intermediate result: ``part`` has the parameters that gave it, ``key`` is equal where results are."""

    key: Hashable
    part: Part
    value: Any


class StagedNeighbours:
    """The stages on one training set; see :class:`repro.plugin.StagedScores`."""

    def __init__(self, make: type[Setting], by_items: bool, train: TrainingData) -> None:
        self.make, self.train, self.stages = make, train, Stages(train, by_items)
        self.size = self.stages.compared()[1]
        self._groups: dict[Hashable, dict[Hashable, list[int]]] = {}
        self._settings: dict[Hashable, Setting] = {}
        self._last: tuple[Any, FloatArray | None] = (None, None)

    def step(self, stage: int, before: Any, parts: Mapping[int, Part]) -> Iterator[tuple[Hashable, Any, list[int]]]:
        if stage == 2:
            yield from self._nearest(before, parts)
            return
        results: dict[Hashable, tuple[Step, list[int]]] = {}
        for number, part in parts.items():
            result = self._input(part) if stage == 0 else self._similarities(before, part)
            results.setdefault(result.key, (result, []))[1].append(number)
        for key, (result, numbers) in results.items():
            yield key, result, numbers

    def _input(self, part: Part) -> Step:
        rows = self.stages.rows(self.make(**part))  # type: ignore[arg-type]
        biases = tuple(part[name] for name in BIASES)
        return Step((biases, _bytes(*rows.by_row)), part, rows)

    def _similarities(self, before: Step, part: Part) -> Step:
        together = {**before.part, **part}
        setting = self.make(**together, negatives=True, itself="computed")  # type: ignore[arg-type]
        definition = similarity_of(setting)
        nearest = definition.nearest(before.value)
        return Step(
            (before.key[0], _bytes(nearest.starts, nearest.codes, nearest.similarities)),  # type: ignore[index]
            together,
            (before.value, bool((nearest.similarities < 0.0).any())),
        )

    def _nearest(self, before: Step, parts: Mapping[int, Part]) -> Iterator[tuple[Hashable, Any, list[int]]]:
        rows, negative = before.value
        groups_key = negative, tuple(parts)
        if groups_key not in self._groups:
            groups: dict[Hashable, list[int]] = {}
            for number, part in parts.items():
                groups.setdefault(self._effective(part, negative), []).append(number)
            self._groups[groups_key] = groups
        results: dict[Hashable, tuple[Step, list[int]]] = {}
        for numbers in self._groups[groups_key].values():
            together = {**before.part, **parts[numbers[0]]}
            setting = self.make(**together)  # type: ignore[arg-type]
            neighbours = self.stages.neighbours_of(setting, similarity_of(setting), rows)
            limit = int(setting.k) if setting.neighbourhood == "rated" and setting.k < self.size else 0
            free = setting.ties == "any" and not self._all_take_part(parts[numbers[0]])
            shown = _bytes(neighbours.starts, neighbours.codes, neighbours.similarities)
            key = before.key[0], limit, shown, free  # type: ignore[index]
            result = Step(key, together, (neighbours, limit, self._dense(neighbours), free))
            results.setdefault(key, (result, []))[1].extend(numbers)
        for found, (result, together_numbers) in results.items():
            yield found, result, together_numbers

    def _effective(self, part: Part, negative: bool) -> Hashable:
        """The parameters of the third group that have an effect, with or without negative similarities."""
        shown = dict(part)
        if not negative:
            shown |= {"negatives": False, "nearest": "highest"}
        if self._all_take_part(part):
            shown |= {"neighbourhood": "rated", "pool": 0, "pool_of": "target", "ties": "lower", "nearest": "highest"}
            shown["k"] = 0
        return tuple(shown.items())

    def _all_take_part(self, part: Part) -> bool:
        return int(part["k"]) >= self.size and not 0 < int(part["pool"]) < self.size

    def _dense(self, neighbours: Neighbours) -> FloatArray:
        similar = np.zeros((self.size, self.size))
        similar[np.repeat(np.arange(self.size), np.diff(neighbours.starts)), neighbours.codes] = neighbours.similarities
        return similar

    def scores(self, values: Sequence[Any], parts: Mapping[int, Part]) -> Iterator[tuple[list[int], FloatArray]]:
        """The scores with each of the neighbours, values by users by items, for parts of the last group."""
        if len({step.key[0] for step in values}) > 1:
            for number, part in parts.items():
                settings = [self._setting(step, part) for step in values]
                each = zip(values, settings, strict=True)
                blocks = np.stack([self.stages.completed(self._alone(step, own), own) for step, own in each])
                yield [number], self._without_order(blocks, values, part)
            return
        similar = self._stacked(values)
        for group in self._alike(values[0], parts).values():
            setting = self._setting(values[0], parts[group[0][0]])
            if similar is None:
                blocks = np.stack([self._alone(step, self._setting(step, parts[group[0][0]])) for step in values])
            else:
                blocks = self._together(similar, setting)
            for numbers in group:
                part = parts[numbers[0]]
                completed = self.stages.completed(blocks, self._setting(values[0], part))
                yield numbers, self._without_order(completed, values, part)

    def _without_order(self, blocks: FloatArray, values: Sequence[Any], part: Part) -> FloatArray:
        """The scores, and where ties are not defined, infinity for those that depend on the order of the codes."""
        for place, step in enumerate(values):
            if step.value[3]:
                setting = self.make(**{**step.part, **part})
                others = [other.block(setting)[users][:, items] for other, users, items in self._relabelled]
                blocks[place] = marked(blocks[place], others)
        return blocks

    @cached_property
    def _relabelled(self) -> list[tuple[Stages, CodeArray, CodeArray]]:
        by_items = self.stages.by_items
        return [(Stages(other, by_items), users, items) for other, users, items in relabelled(self.train)]

    def _alike(self, step: Step, parts: Mapping[int, Part]) -> dict[Hashable, list[list[int]]]:
        """The parts with the same sums, and of these, those with the same completion."""
        groups: dict[Hashable, dict[Hashable, list[int]]] = {}
        for number, part in parts.items():
            setting = self._setting(step, part)
            sums = self.stages.sums(setting, self.stages.normalised(setting))
            lists = self.stages.contributions(setting)
            base = self.stages.baseline(setting)
            shown = _bytes(np.array(base.overall), base.users, base.items, self.stages.deviations(setting))
            key = sums.divide, sums.added, sums.fewest, lists.data.tobytes()
            groups.setdefault(key, {}).setdefault((shown, setting.fallback), []).append(number)
        return {key: list(inner.values()) for key, inner in groups.items()}

    def _stacked(self, values: Sequence[Any]) -> FloatArray | None:
        """All similarities as one array, where all neighbours take part; of the last values only, which are many."""
        if self._last[0] is not values:
            alike = not any(step.value[1] for step in values)
            stacked = np.stack([step.value[2] for step in values]) if alike and len(values) > 8 else None
            self._last = values, stacked
        return self._last[1]

    def _setting(self, step: Step, part: Part) -> Setting:
        key = step.key[0], tuple(part.values())  # type: ignore[index]
        if key not in self._settings:
            biases = {name: step.part[name] for name in BIASES}
            self._settings[key] = self.make(**{**biases, **part})  # type: ignore[arg-type]
        return self._settings[key]

    def _alone(self, step: Step, setting: Setting) -> FloatArray:
        neighbours, limit = step.value[:2]
        sums = replace(self.stages.sums(setting, self.stages.normalised(setting)), k=limit)
        return self.stages.sums_of(neighbours, sums, setting)

    def _together(self, similar: FloatArray, setting: Setting) -> FloatArray:
        """The same sums for many matrices of similarities, where all neighbours take part."""
        sums = self.stages.sums(setting, self.stages.normalised(setting))
        lists = self.stages.contributions(setting)
        contributions, present = lists.toarray(), np.zeros(lists.shape)
        present[np.repeat(np.arange(lists.shape[0]), np.diff(lists.indptr)), lists.indices] = 1.0
        counts = (similar != 0.0).astype(np.float64) @ present.T
        values = similar @ contributions.T
        if sums.divide != "no":
            divisors = _divisors(similar, present, counts, sums)
            values = np.divide(values, divisors, out=np.full(values.shape, np.nan), where=divisors != 0.0)
        values = np.where((counts < sums.fewest) | (counts == 0), np.nan, values)
        return values.transpose(0, 2, 1) if self.stages.by_items else values


def _divisors(similar: FloatArray, present: FloatArray, counts: FloatArray, sums: Sums) -> FloatArray:
    match sums.divide:
        case "count":
            divisors = counts
        case "absolute":
            divisors = np.abs(similar) @ present.T
        case _:
            divisors = similar @ present.T
    return divisors + sums.added


def _bytes(*arrays: Any) -> Hashable:
    return tuple(np.asarray(array).tobytes() for array in arrays)


def staged(make: type[Setting], by_items: bool) -> StagedDefinitions:
    """The stages of item-knn, or of user-knn."""
    return StagedDefinitions(GROUPS, partial(StagedNeighbours, make, by_items), "items" if by_items else "users")
