"""Sampled test users, and a sampled number of rows of each (Gunawardana & Shani 2009, section 4.2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import Interactions
from repro.errors import ProtocolError
from repro.protocol import Option, Protocol
from repro.rng import KeyArray, child_keys, uniform
from repro.split.order import hold_out_last, random_order
from repro.split.plan import Plan, Strategy, draws
from repro.split.share import CountArray

UserMask = npt.NDArray[np.bool_]


def plan_random_n(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """Draws a number n_a, uniform on 1 .. rows - 1, for each test user a, and then n_a rows to hold out.

    Users with one row are never sampled: nothing would be left of them.
    """
    counts = interactions.user_counts()
    eligible = counts >= 2
    folds, impacts = [], [sampled_users_impact(protocol, eligible, "users with at least two rows")]
    keys = [draws(protocol, seed, purpose) for purpose in ("users", "counts", "rows")]
    for users_key, counts_key, key in zip(*keys, strict=True):
        tested = sampled_users(interactions, protocol, eligible, users_key)
        test = np.where(tested, _sampled_counts(interactions, counts, counts_key), 0)
        order = random_order(interactions, key, interactions.users)
        folds.append(hold_out_last(order, test, groups=interactions.users))
    return Plan(folds, impacts)


def _sampled_counts(interactions: Interactions, counts: CountArray, key: np.uint64) -> CountArray:
    """A number for each user, uniform on 1 .. count - 1."""
    shares = uniform(child_keys(key, interactions.user_keys))
    return 1 + (shares * (counts - 1)).astype(np.int64)


def sampled_users(interactions: Interactions, protocol: Protocol, eligible: UserMask, key: np.uint64) -> UserMask:
    """``split.test_users`` of the eligible users, drawn at random, or all of them."""
    available = int(eligible.sum())
    if protocol["split.test_users"] == "all":
        return eligible
    size = protocol.count("split.test_users")
    if size > available:
        raise ProtocolError(
            f"split.test_users = {size} asks for more users than can be tested: the data set has "
            f'{available:,} of them; lower it, or use "all"'
        )
    ranks = np.full(len(eligible), available, dtype=np.int64)
    ranks[eligible] = random_ranks(interactions.user_keys[eligible], key)
    return ranks < size


def random_ranks(id_keys: KeyArray, key: np.uint64) -> npt.NDArray[np.int64]:
    """The place of each id in a random order of them."""
    ranks = np.empty(len(id_keys), dtype=np.int64)
    ranks[np.argsort(child_keys(key, id_keys), kind="stable")] = np.arange(len(id_keys))
    return ranks


def sampled_users_impact(protocol: Protocol, eligible: UserMask, unit: str) -> Impact:
    total = int(eligible.sum())
    chosen = total if protocol["split.test_users"] == "all" else protocol.count("split.test_users")
    return Impact.of(protocol, "split.test_users", chosen, total, unit, "are chosen for testing")


RANDOM_N = Strategy(
    Option(
        "random-n",
        "of sampled users, a number of rows drawn for each user is held out",
        "Of each test user, we held out a random choice of interactions, their number drawn at random as well.",
        cite="Gunawardana & Shani 2009, section 4.2",
    ),
    plan_random_n,
    "use data in which users have at least two rows",
    reads=("split.repeats", "split.test_users"),
    leaves_users=True,
)
