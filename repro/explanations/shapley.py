"""Shapley values and interactions: the share of each switch in a difference.

A game is a function of sets of players: the number when these players are switched and the others are not. A player's
share is the effect of switching it, averaged over all orders in which the players are switched one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

EXACT_PLAYERS = 10  # the largest number of players for which all sets are evaluated

Player = TypeVar("Player", bound=Hashable)
Vector = npt.NDArray[np.float64]
# The numbers of a set of players in several games at once.
Game = Callable[[frozenset[Player]], Vector]


@dataclass(frozen=True, eq=False)
class Shares(Generic[Player]):
    """The share of each player, in several games at once (the last axis of every array).

    values        players x games; they add up to the difference
    errors        the standard errors of the values, 0 if all orders were used
    interactions  for pairs of players, the additional effect of one after the other, and its standard error; without
                  pairs that are not adjacent in at least two sampled orders
    orders        the number of sampled orders; None if all orders were used
    """

    players: tuple[Player, ...]
    values: Vector
    errors: Vector
    interactions: dict[tuple[Player, Player], tuple[Vector, Vector]]
    orders: int | None


def exact_shares(players: Sequence[Player], game: Game[Player]) -> Shares[Player]:
    """Shares over all orders, from the numbers of all sets of players."""
    n = len(players)
    numbers = {subset: game(subset) for subset in _subsets(players)}
    values = []
    for player in players:
        terms = [
            _weight(len(subset), n) * (numbers[subset | {player}] - numbers[subset])
            for subset in _subsets([other for other in players if other != player])
        ]
        values.append(_sum(terms))
    interactions = {}
    for first, second in combinations(players, 2):
        terms = [
            _weight(len(subset), n - 1)
            * (
                numbers[subset | {first, second}]
                - numbers[subset | {first}]
                - numbers[subset | {second}]
                + numbers[subset]
            )
            for subset in _subsets([other for other in players if other not in (first, second)])
        ]
        interaction = _sum(terms)
        interactions[first, second] = interaction, np.zeros_like(interaction)
    shares = np.array(values).reshape(n, len(numbers[frozenset()]))
    return Shares(tuple(players), shares, np.zeros_like(shares), interactions, None)


def sampled_shares(players: Sequence[Player], game: Game[Player], orders: int, seed: int) -> Shares[Player]:
    """Shares over a sample of orders, each with its reverse, which reduces the variance (antithetic sampling).

    The interaction of two players is estimated from the orders in which they are adjacent.
    """
    numbers: dict[frozenset[Player], Vector] = {}

    def value(chosen: Iterable[Player]) -> Vector:
        key = frozenset(chosen)
        if key not in numbers:
            numbers[key] = game(key)
        return numbers[key]

    index = {player: number for number, player in enumerate(players)}
    draws = np.random.default_rng(seed)
    sampled: list[Vector] = []
    pairs: dict[tuple[Player, Player], list[Vector]] = {pair: [] for pair in combinations(players, 2)}
    for _ in range(max(2, orders // 2)):
        forward = draws.permutation(len(players)).tolist()
        gains = []
        for order in (forward, forward[::-1]):
            chosen: list[Player] = []
            gained: list[Vector] = [np.empty(0)] * len(players)
            for number in order:
                before = value(chosen)
                chosen.append(players[number])
                gained[number] = value(chosen) - before
            gains.append(np.array(gained))
        sampled.append((gains[0] + gains[1]) / 2)
        for position in range(len(players) - 1):
            first, second = (players[number] for number in forward[position : position + 2])
            preceding = [players[number] for number in forward[:position]]
            interaction = (
                value([*preceding, first, second])
                - value([*preceding, first])
                - value([*preceding, second])
                + value(preceding)
            )
            pairs[(first, second) if index[first] < index[second] else (second, first)].append(interaction)
    samples = np.array(sampled)
    means = np.apply_along_axis(math.fsum, 0, samples) / len(samples)
    errors = _mean_and_error(samples)[1]
    interactions = {pair: _mean_and_error(np.array(values)) for pair, values in pairs.items() if len(values) > 1}
    return Shares(tuple(players), means, errors, interactions, 2 * len(samples))


def _mean_and_error(samples: Vector) -> tuple[Vector, Vector]:
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / math.sqrt(len(samples))


def _subsets(players: Sequence[Player]) -> Iterator[frozenset[Player]]:
    for size in range(len(players) + 1):
        yield from map(frozenset, combinations(players, size))


def _weight(before: int, n: int) -> float:
    """The share of orders of ``n`` players in which a given set of ``before`` players precedes a given player."""
    return 1 / (n * math.comb(n - 1, before))


def _sum(terms: Sequence[Vector]) -> Vector:
    """The sum, rounded once."""
    return np.array([math.fsum(column) for column in zip(*terms, strict=True)])
