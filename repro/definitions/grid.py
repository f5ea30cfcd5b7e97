"""All settings of a space as a grid: combinations of parts, which are eliminated together where they agree.

A space may have hundreds of millions of settings. Its algorithm computes scores in stages, each of which depends on a
group of parameters (:class:`repro.plugin.StagedDefinitions`); a part is a choice of the parameters of a group. Parts
with the same intermediate result on a training set are continued together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from repro.data.interactions import FloatArray, Interactions
from repro.definitions.comparison import Answer, Comparison, Level
from repro.definitions.space import Setting, Space, TooMany, is_rejected
from repro.errors import PluginError
from repro.plugin import ParameterValue, TrainingData

# Results of a stage that are scored at once; and of one training set, the most scores that are compared, and the most
# results of a stage.
AT_ONCE, MOST, RESULTS = 20_000, 30_000_000, 150_000
Parts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Block:
    """Settings: each combination of one part of each group; ``parts`` are their numbers."""

    parts: Parts

    @property
    def size(self) -> int:
        return prod(map(len, self.parts))


@dataclass(frozen=True, eq=False)
class Left:
    """The settings that are left, and how far those of each block agree with the answers so far."""

    blocks: Sequence[Block]
    comparison: Comparison

    @property
    def size(self) -> int:
        """The number of settings."""
        return sum(block.size for block in self.blocks)

    @property
    def best(self) -> Level:
        """The highest level of agreement."""
        return Level(int(self.comparison.levels.max()))

    def at_best_level(self) -> Left:
        """Those that agree best."""
        chosen = np.flatnonzero(self.comparison.levels == self.best)
        return Left([self.blocks[int(n)] for n in chosen], self.comparison.take(chosen))


class Grid:
    """The settings of a space with some values of its numbers."""

    def __init__(self, space: Space, numbers: Mapping[str, Sequence[ParameterValue]]) -> None:
        self.space = space
        stages = space.algorithm.stages
        names = [parameter.name for parameter in space.algorithm.parameters]
        self.groups = (tuple(names),) if stages is None else stages.groups
        self.compared = "" if stages is None else stages.compared
        if set(names) != {name for group in self.groups for name in group}:
            raise PluginError(f"the stages of {space.label} do not have the parameters of its declaration")
        self.options = [space.parts(group, numbers) for group in self.groups]

    def all(self) -> Left:
        """All settings."""
        block = Block(tuple(tuple(range(len(options))) for options in self.options))
        return Left([block], Comparison.start(1))

    def settings(self, blocks: Sequence[Block]) -> Iterator[Setting]:
        """The settings of blocks, one after the other."""
        for block in blocks:
            for chosen in product(*block.parts):
                yield self._setting(chosen)

    def simplest(self, block: Block) -> tuple[tuple[int, int], Setting]:
        """The setting with the fewest parameters that are not the default, and how far it is from the defaults."""
        chosen = [
            min(numbers, key=lambda number: self.space.complexity(options[number]))
            for options, numbers in zip(self.options, block.parts, strict=True)
        ]
        setting = self._setting(chosen)
        return self.space.complexity(setting), setting

    def values(self, blocks: Sequence[Block]) -> dict[str, tuple[ParameterValue, ...]]:
        """The values of each parameter in the settings of blocks."""
        values: dict[str, dict[ParameterValue, None]] = {}
        for stage, options in enumerate(self.options):
            for number in sorted({number for block in blocks for number in block.parts[stage]}):
                for name, value in options[number].items():
                    values.setdefault(name, {})[value] = None
        return {name: tuple(values[name]) for name in self._names}

    def smallest(self, name: str) -> int:
        """The smallest value of a number in all settings; 0 where there is none."""
        values = [part[name] for options in self.options for part in options if name in part]
        return min((int(value) for value in values), default=0)

    @property
    def _names(self) -> list[str]:
        return [parameter.name for parameter in self.space.algorithm.parameters]

    def _setting(self, chosen: Sequence[int]) -> Setting:
        together: dict[str, ParameterValue] = {}
        for options, number in zip(self.options, chosen, strict=True):
            together |= options[number]
        return {name: together[name] for name in self._names}

    def scores(self, block: Block, train: Interactions) -> Iterator[tuple[list[list[Parts]], list[int], FloatArray]]:
        """The scores of the settings of a block: parts of all groups but the last, by their result; the numbers of
        parts of the last group; and the scores, results by users by items."""
        stages = self.space.algorithm.stages
        last = block.parts[-1]
        if stages is None:
            for number, scores in zip(last, self.space.scores([self.options[-1][n] for n in last], train), strict=True):
                yield [[()]], [number], scores[None]
            return
        computed = stages.on(TrainingData.of(train))
        results: list[tuple[Any, list[Parts]]] = [(None, [()])]
        for stage in range(len(self.groups) - 1):
            parts = {number: self.options[stage][number] for number in block.parts[stage]}
            merged: dict[Any, tuple[Any, list[Parts]]] = {}
            for before, members in results:
                for key, after, numbers in computed.step(stage, before, parts):
                    known = merged.setdefault(key, (after, []))[1]
                    known.extend((*member, tuple(numbers)) for member in members)
                if len(merged) > RESULTS:
                    break
            results = list(merged.values())
            if len(results) > RESULTS:
                raise TooMany(f"more than {RESULTS:,} definitions of {self.space.label} give different scores")
        if len(results) * len(last) > MOST:
            raise TooMany(f"{len(results) * len(last):,} definitions of {self.space.label} give different scores")
        for start in range(0, len(results), AT_ONCE):
            some = results[start : start + AT_ONCE]
            values, members_of = [value for value, _ in some], [members for _, members in some]
            for numbers, scores in computed.scores(values, {number: self.options[-1][number] for number in last}):
                yield members_of, numbers, scores

    def after(self, left: Left, train: Interactions, answer: Answer, lowest: Level) -> Left:
        """The settings that agree with one more answer, at least to the level ``lowest``; all, if all reject the
        training set."""
        found: dict[tuple[int, bytes], list[Parts]] = {}
        accepted = False
        for n, block in enumerate(left.blocks):
            before = left.comparison.take(np.array([n]))
            alive: dict[tuple[int, bytes], dict[Parts, list[int]]] = {}
            for members, numbers, scores in self.scores(block, train):
                accepted = accepted or not is_rejected(scores)
                compared = before.repeated(len(scores)).after(scores, answer, lowest)
                for result in np.flatnonzero(compared.levels >= lowest):
                    state = int(compared.levels[result]), compared.fillers[result].tobytes()
                    parts = alive.setdefault(state, {})
                    for member in members[result]:
                        parts.setdefault(member, []).extend(numbers)
            for state, parts in alive.items():
                found.setdefault(state, []).extend((*member, tuple(sorted(last))) for member, last in parts.items())
        if not accepted:
            return left
        blocks: list[Block] = []
        levels, fillers = [], []
        for (level, filler), same in found.items():
            merged = _merged(same)
            blocks += map(Block, merged)
            levels += [level] * len(merged)
            fillers += [np.frombuffer(filler, dtype=bool)] * len(merged)
        width = left.comparison.fillers.shape[1]
        states = np.array(fillers, dtype=bool).reshape(len(blocks), width)
        return Left(blocks, Comparison(np.array(levels, dtype=np.int8), states))

    def differ(self, left: Left, train: Interactions) -> bool:
        """Whether two settings give different scores on a training set."""
        first: FloatArray | None = None
        for block in left.blocks:
            for _, _, scores in self.scores(block, train):
                first = scores[0] if first is None else first
                if not np.allclose(scores, first, rtol=1e-9, atol=1e-12, equal_nan=True):
                    return True
        return False

    def nearest(self, left: Left, train: Interactions, answer: Answer, most: int) -> list[tuple[Setting, Comparison]]:
        """The settings that agree on most pairs, one of each block of equal scores, with their agreement before."""
        shares: list[tuple[float, int, Parts, int]] = []
        for n, block in enumerate(left.blocks):
            for members, numbers, scores in self.scores(block, train):
                share = _shares_of_equal_pairs(scores, answer)
                lowest = shares[-1][0] if len(shares) >= most else -1.0
                better = np.flatnonzero(share > lowest)
                shares += [(float(share[r]), n, members[r][0], numbers[0]) for r in better]
                shares = sorted(shares, key=lambda entry: -entry[0])[:most]
        return [
            (self.simplest(Block((*parts, (number,))))[1], left.comparison.take(np.array([n])))
            for _, n, parts, number in shares
        ]


def _shares_of_equal_pairs(defined: FloatArray, answer: Answer) -> FloatArray:
    both = np.isfinite(defined) & answer.scored
    with np.errstate(invalid="ignore"):
        close = np.abs(defined - answer.values) <= answer.precision * np.maximum(np.abs(answer.values), 1e-300)
    counts: FloatArray = both.sum(axis=(1, 2)).astype(np.float64)
    return np.divide((close & both).sum(axis=(1, 2)), counts, out=np.zeros(len(defined)), where=counts > 0)


def _merged(members: list[Parts]) -> list[Parts]:
    """Blocks that differ in one group alone, as one block."""
    for group in range(len(members[0]) if members else 0):
        together: dict[tuple[Any, ...], set[int]] = {}
        for parts in members:
            together.setdefault((parts[:group], parts[group + 1 :]), set()).update(parts[group])
        members = [(*before, tuple(sorted(numbers)), *after) for (before, after), numbers in together.items()]
    return members
