"""Shapley values and interactions: the share of each switch in a difference.

A game is a function of sets of players: the number when these players are switched and the others are not. A player's
share is the effect of switching it, averaged over all orders in which the players are switched one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
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
    numbers = {chosen: game(frozenset(chosen)) for chosen in _subsets(players)}
    values = [
        _weighted(
            (_weight(len(others), n), numbers[_with(players, others, player)] - numbers[others])
            for others in _subsets([other for other in players if other != player])
        )
        for player in players
    ]
    interactions = {
        (first, second): _weighted(
            (
                _weight(len(others), n - 1),
                numbers[_with(players, others, first, second)]
                - numbers[_with(players, others, first)]
                - numbers[_with(players, others, second)]
                + numbers[others],
            )
            for others in _subsets([other for other in players if other not in (first, second)])
        )
        for first, second in combinations(players, 2)
    }
    shares = np.array(values).reshape(n, len(numbers[()]))
    without_error = {pair: (value, np.zeros_like(value)) for pair, value in interactions.items()}
    return Shares(tuple(players), shares, np.zeros_like(shares), without_error, None)


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
    interactions = {
        pair: _mean_and_error(np.array(sampled_values))
        for pair, sampled_values in pairs.items()
        if len(sampled_values) > 1
    }
    return Shares(tuple(players), means, errors, interactions, 2 * len(samples))


def _mean_and_error(samples: Vector) -> tuple[Vector, Vector]:
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / math.sqrt(len(samples))


def _subsets(players: Sequence[Player]) -> Iterable[tuple[Player, ...]]:
    for size in range(len(players) + 1):
        yield from combinations(players, size)


def _with(players: Sequence[Player], subset: tuple[Player, ...], *more: Player) -> tuple[Player, ...]:
    """A subset with further players, in the order of ``players``."""
    chosen = {*subset, *more}
    return tuple(player for player in players if player in chosen)


def _weight(before: int, n: int) -> float:
    """The share of orders of ``n`` players in which a given set of ``before`` players precedes a given player."""
    return 1 / (n * math.comb(n - 1, before))


def _weighted(terms: Iterable[tuple[float, Vector]]) -> Vector:
    """The weighted sum, rounded once."""
    products = [weight * number for weight, number in terms]
    return np.array([math.fsum(column) for column in zip(*products, strict=True)])
