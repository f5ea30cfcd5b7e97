"""Shapley values: by hand, by brute force over all orders, and by their axioms."""

import itertools
import math

import numpy as np
import pytest

from repro.explanations.shapley import exact_shares, sampled_shares


def table_game(numbers):
    return lambda chosen: np.array([numbers["".join(sorted(chosen))]])


def test_two_switches_by_hand():
    # Alone a adds 0.3 and b 0.1; together they add 0.6: each has half of what comes on top.
    shares = exact_shares("ab", table_game({"": 0.2, "a": 0.5, "b": 0.3, "ab": 0.8}))
    assert shares.values[:, 0].tolist() == pytest.approx([0.4, 0.2])
    assert shares.interactions["a", "b"][0].tolist() == pytest.approx([0.2])
    assert shares.orders is None and not shares.errors.any()


def random_game(players, seed):
    draws = np.random.default_rng(seed)
    numbers = {
        frozenset(chosen): draws.random(3)
        for size in range(len(players) + 1)
        for chosen in itertools.combinations(players, size)
    }
    return numbers.__getitem__


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 6])
def test_equals_the_mean_over_all_orders(n):
    players = "abcdefgh"[:n]
    game = random_game(players, n)
    totals = {player: np.zeros(3) for player in players}
    for order in itertools.permutations(players):
        for place, player in enumerate(order):
            totals[player] += game(frozenset(order[: place + 1])) - game(frozenset(order[:place]))
    shares = exact_shares(players, game)
    for place, player in enumerate(players):
        assert np.allclose(shares.values[place], totals[player] / math.factorial(n), atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_parts_add_up_whatever_the_order_of_players(seed):
    game = random_game("abcdefg", seed)
    gap = game(frozenset("abcdefg")) - game(frozenset())
    shares = exact_shares("abcdefg", game)
    assert np.abs(shares.values.sum(axis=0) - gap).max() < 1e-12
    turned = exact_shares("gcfeadb", game)
    for place, player in enumerate(turned.players):
        assert np.abs(turned.values[place] - shares.values["abcdefg".index(player)]).max() < 1e-14
    sampled = sampled_shares("abcdefg", game, 60, seed)
    assert np.abs(sampled.values.sum(axis=0) - gap).max() < 1e-12


def test_a_player_that_changes_nothing_has_nothing():
    game = random_game("abc", 9)
    shares = exact_shares("abcd", lambda chosen: game(chosen - {"d"}))
    assert np.abs(shares.values[3]).max() < 1e-15
    assert all(np.abs(shares.interactions[player, "d"][0]).max() < 1e-15 for player in "abc")


def test_interactions_are_those_of_the_definition():
    game = random_game("abcd", 4)
    expected = np.zeros(3)
    for size in range(3):
        for rest in itertools.combinations("cd", size):
            weight = math.factorial(size) * math.factorial(2 - size) / math.factorial(3)
            of = lambda more, rest=rest: game(frozenset((*rest, *more)))  # noqa: E731
            expected += weight * (of("ab") - of("a") - of("b") + of(""))
    assert np.allclose(exact_shares("abcd", game).interactions["a", "b"][0], expected, atol=1e-14)


def test_samples_are_near_the_exact_shares_as_their_errors_say():
    players = "abcdefgh"
    game = random_game(players, 3)
    exact, sampled = exact_shares(players, game), sampled_shares(players, game, 2000, 1)
    off = np.abs(sampled.values - exact.values) / sampled.errors
    assert sampled.orders == 2000
    assert (off < 4).all() and np.median(off) < 1.5
    for pair, (value, _) in exact.interactions.items():
        result, error = sampled.interactions[pair]
        assert (np.abs(result - value) < 5 * error).all()


def test_more_samples_have_smaller_errors():
    game = random_game("abcdefgh", 3)
    few, many = (sampled_shares("abcdefgh", game, orders, 1).errors.mean() for orders in (50, 5000))
    assert many < few / 5
