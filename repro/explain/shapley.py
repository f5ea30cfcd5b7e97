"""How much of a difference each of several switches accounts for: Shapley values and interactions.

A game is a function of sets of players: the number that is had when these are switched and the others are not. A
player's share is what switching it changes, averaged over all orders in which all are switched one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

EXACT_PLAYERS = 10  # up to which all sets are tried

Player = TypeVar("Player", bound=Hashable)
Vector = npt.NDArray[np.float64]
# The numbers of one set of players, of several games at once.
Game = Callable[[frozenset[Player]], Vector]


@dataclass(frozen=True, eq=False)
class Shares(Generic[Player]):
    """What each player accounts for, in several games at once (the last axis of every array).

    values        players by games; they add up to the difference
    errors        the standard error of each, 0 where all orders were counted
    interactions  of pairs of players: how much more (or less) switching one changes once the other is switched, and
                  the standard error of that; pairs that no sample had next to each other are not there
    orders        how many orders were sampled; None where all were counted
    """

    players: tuple[Player, ...]
    values: Vector
    errors: Vector
    interactions: dict[tuple[Player, Player], tuple[Vector, Vector]]
    orders: int | None


def exact_shares(players: Sequence[Player], game: Game[Player]) -> Shares[Player]:
    """Over all orders, from the numbers of all sets of players."""
    n = len(players)
    numbers = {chosen: game(frozenset(chosen)) for chosen in _subsets(players)}
    values = [
        _weighted(
            (_weight(len(rest), n), numbers[_with(players, rest, player)] - numbers[rest])
            for rest in _subsets([other for other in players if other != player])
        )
        for player in players
    ]
    interactions = {
        (one, two): _weighted(
            (
                _weight(len(rest), n - 1),
                numbers[_with(players, rest, one, two)]
                - numbers[_with(players, rest, one)]
                - numbers[_with(players, rest, two)]
                + numbers[rest],
            )
            for rest in _subsets([other for other in players if other not in (one, two)])
        )
        for one, two in combinations(players, 2)
    }
    shares = np.array(values).reshape(n, len(numbers[()]))
    without_error = {pair: (found, np.zeros_like(found)) for pair, found in interactions.items()}
    return Shares(tuple(players), shares, np.zeros_like(shares), without_error, None)


def sampled_shares(players: Sequence[Player], game: Game[Player], orders: int, seed: int) -> Shares[Player]:
    """Over a sample of orders, each with its reverse: what one overrates, the other underrates.

    A pair of players is looked at where both are next to each other in an order.
    """
    numbers: dict[frozenset[Player], Vector] = {}

    def value(chosen: Iterable[Player]) -> Vector:
        key = frozenset(chosen)
        if key not in numbers:
            numbers[key] = game(key)
        return numbers[key]

    place = {player: number for number, player in enumerate(players)}
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
        for at in range(len(players) - 1):
            one, two = (players[number] for number in forward[at : at + 2])
            rest = [players[number] for number in forward[:at]]
            beside = value([*rest, one, two]) - value([*rest, one]) - value([*rest, two]) + value(rest)
            pairs[(one, two) if place[one] < place[two] else (two, one)].append(beside)
    every = np.array(sampled)
    means = np.apply_along_axis(math.fsum, 0, every) / len(every)
    errors = _mean_and_error(every)[1]
    interactions = {pair: _mean_and_error(np.array(found)) for pair, found in pairs.items() if len(found) > 1}
    return Shares(tuple(players), means, errors, interactions, 2 * len(every))


def _mean_and_error(samples: Vector) -> tuple[Vector, Vector]:
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / math.sqrt(len(samples))


def _subsets(players: Sequence[Player]) -> Iterable[tuple[Player, ...]]:
    for size in range(len(players) + 1):
        yield from combinations(players, size)


def _with(players: Sequence[Player], rest: tuple[Player, ...], *more: Player) -> tuple[Player, ...]:
    """A set with further players, in the order of all of them."""
    chosen = {*rest, *more}
    return tuple(player for player in players if player in chosen)


def _weight(before: int, n: int) -> float:
    """The share of orders of ``n`` players in which a given set of that size comes just before a given player."""
    return 1 / (n * math.comb(n - 1, before))


def _weighted(terms: Iterable[tuple[float, Vector]]) -> Vector:
    """The sum of weighted numbers, rounded once."""
    products = [weight * number for weight, number in terms]
    return np.array([math.fsum(column) for column in zip(*products, strict=True)])
