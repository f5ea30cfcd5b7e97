"""A number of rows of every user: given n, all but n (Breese, Heckerman & Kadie 1998)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import Interactions
from repro.protocol import Option, Protocol
from repro.split.order import draw_folds
from repro.split.plan import LEFT_OUT, PartArray, Plan, Strategy
from repro.split.share import CountArray

UserMask = npt.NDArray[np.bool_]


def plan_given_n(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """``split.n`` rows of every user stay in training, the rest is the test."""
    test = np.maximum(interactions.user_counts() - protocol.count("split.n"), 0)
    folds, impacts, _ = draw_folds_per_user(interactions, protocol, seed, test)
    return Plan(folds, impacts)


def plan_all_but_n(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """``split.n`` rows of every user are the test, ``split.validation_n`` more are validation.

    In order of time, the latest rows are the test and those just before them validation.
    """
    counts = interactions.user_counts()
    test = np.full_like(counts, protocol.count("split.n"))
    validation = np.full_like(counts, protocol.count("split.validation_n"))
    folds, impacts, _ = draw_folds_per_user(interactions, protocol, seed, test, validation)
    return Plan(folds, impacts, bool(validation.any()))


def draw_folds_per_user(
    interactions: Interactions, protocol: Protocol, seed: int, test: CountArray, validation: CountArray | None = None
) -> tuple[list[PartArray], list[Impact], UserMask]:
    """The parts of each draw with these numbers of rows of every user; and the short users.

    Short users have too few rows to hold out as many and keep one. They stay in training, or are left out, as
    ``split.short_users`` says.
    """
    counts = interactions.user_counts()
    validation = np.zeros_like(test) if validation is None else validation
    short = (test == 0) | (counts <= test + validation)
    test, validation = np.where(short, 0, test), np.where(short, 0, validation)
    folds, ties = draw_folds(interactions, protocol, seed, test, validation, interactions.users)
    if protocol["split.short_users"] == "drop":
        folds = [np.where(short[interactions.users], LEFT_OUT, parts) for parts in folds]
    present, note = counts > 0, "have too few rows to be tested"
    touched, users = int((short & present).sum()), int(present.sum())
    return folds, [Impact.of(protocol, "split.short_users", touched, users, "users", note), *ties], short


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
