"""A number of rows of every user: given n, all but n (Breese, Heckerman & Kadie 1998)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import Interactions
from repro.protocol import Option, Protocol
from repro.split.order import equal_times_impact, hold_out_last, kept_order
from repro.split.plan import LEFT_OUT, PartArray, Plan, Strategy, draws
from repro.split.share import CountArray

UserMask = npt.NDArray[np.bool_]


def plan_given_n(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """``split.n`` rows of every user stay in training, the rest is the test."""
    counts = interactions.user_counts()
    test = np.maximum(counts - protocol.count("split.n"), 0)
    return _plan(interactions, protocol, seed, test, np.zeros_like(test))


def plan_all_but_n(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """``split.n`` rows of every user are the test, ``split.validation_n`` more are validation.

    In order of time, the latest rows are the test and those just before them validation.
    """
    counts = interactions.user_counts()
    test = np.full_like(counts, protocol.count("split.n"))
    validation = np.full_like(counts, protocol.count("split.validation_n"))
    return _plan(interactions, protocol, seed, test, validation)


def _plan(interactions: Interactions, protocol: Protocol, seed: int, test: CountArray, validation: CountArray) -> Plan:
    short = short_users(interactions, test, validation)
    test, validation = np.where(short, 0, test), np.where(short, 0, validation)
    folds, impacts = [], [short_users_impact(interactions, protocol, short)]
    for key in draws(protocol, seed):
        order = kept_order(interactions, protocol, key, interactions.users)
        parts = hold_out_last(order, test, validation, interactions.users)
        impacts += equal_times_impact(interactions, protocol, order, parts, interactions.users)
        folds.append(without_short_users(interactions, protocol, parts, short))
    asked = "split.validation_n" in protocol and protocol.count("split.validation_n") > 0
    return Plan(folds, impacts, asked)


def short_users(interactions: Interactions, test: CountArray, validation: CountArray) -> UserMask:
    """The users with too few rows to hold something out as asked and keep one."""
    return (test == 0) | (interactions.user_counts() <= test + validation)


def without_short_users(interactions: Interactions, protocol: Protocol, parts: PartArray, short: UserMask) -> PartArray:
    """Short users stay in training, or are left out, as ``split.short_users`` has it."""
    if protocol.text("split.short_users") == "train":
        return parts
    return np.where(short[interactions.users], LEFT_OUT, parts)


def short_users_impact(interactions: Interactions, protocol: Protocol, short: UserMask) -> Impact:
    present = interactions.user_counts() > 0
    return Impact(
        "split.short_users",
        protocol["split.short_users"],
        int((short & present).sum()),
        int(present.sum()),
        "users",
        "have too few rows to be tested",
    )


GIVEN_N = Strategy(
    Option(
        "given-n",
        "n rows of every user are known, the rest is held out",
        "We gave the algorithms {split.n:interaction} of every user and held out the others for testing (given-n).",
        cite="Breese et al. 1998",
    ),
    plan_given_n,
    "lower split.n",
    reads=("split.order", "split.n", "split.repeats", "split.short_users"),
    leaves_users=True,
)


ALL_BUT_N = Strategy(
    Option(
        "all-but-n",
        "n rows of every user are held out",
        "We held out {split.n:interaction} of every user for testing (all-but-n).",
        cite="Breese et al. 1998",
    ),
    plan_all_but_n,
    "lower split.n or split.validation_n",
    reads=("split.order", "split.n", "split.repeats", "split.short_users", "split.validation_n"),
    validation="split.validation_n",
    leaves_users=True,
)
