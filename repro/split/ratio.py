"""A share of the rows: of all of them, or of every user's."""

from __future__ import annotations

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import Interactions
from repro.protocol import Option, Protocol
from repro.split.order import draw_folds
from repro.split.plan import Plan, Strategy
from repro.split.share import broken_shares, share_of, shares_of


def plan_ratio(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """``split.test_ratio`` of all rows to the test, ``split.validation_ratio`` of them to validation.

    Both are rounded to the nearest whole number, halves up; validation gets at most what the test leaves.
    """
    rows, validation_ratio = len(interactions), protocol.number("split.validation_ratio")
    test = share_of(rows, protocol.number("split.test_ratio"))
    validation = min(share_of(rows, validation_ratio), rows - test)
    folds, impacts = draw_folds(interactions, protocol, seed, np.array([test]), np.array([validation]))
    return Plan(folds, impacts, validation_ratio > 0)


def plan_user_ratio(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The same shares of every user's rows, each rounded as ``split.rounding`` says.

    Validation gets at most what the test leaves. A user whose rows are all held out is an unseen user.
    """
    counts, rounding = interactions.user_counts(), protocol.text("split.rounding")
    test_ratio, validation_ratio = protocol.number("split.test_ratio"), protocol.number("split.validation_ratio")
    test = shares_of(counts, test_ratio, rounding)
    validation = np.minimum(shares_of(counts, validation_ratio, rounding), counts - test)
    folds, impacts = draw_folds(interactions, protocol, seed, test, validation, interactions.users)
    return Plan(folds, [rounding_impact(interactions, protocol, test_ratio), *impacts], validation_ratio > 0)


def rounding_impact(interactions: Interactions, protocol: Protocol, ratio: float) -> Impact:
    """For how many users the test share of their rows is not a whole number."""
    counts = interactions.user_counts()
    broken, users = broken_shares(counts, ratio), int((counts > 0).sum())
    note = "have a test share that is no whole number of rows"
    return Impact.of(protocol, "split.rounding", broken, users, "users", note)


RATIO = Strategy(
    Option(
        "ratio",
        "a share of all rows, whoever they belong to",
        "We held out {split.order} {split.test_ratio:%} of all interactions for testing.",
    ),
    plan_ratio,
    "change split.test_ratio or split.validation_ratio",
    reads=("split.order", "split.test_ratio", "split.repeats", "split.validation_ratio"),
    validation="split.validation_ratio",
)


USER_RATIO = Strategy(
    Option(
        "user-ratio",
        "the same share of every user's rows",
        "We held out {split.order} {split.test_ratio:%} of every user's interactions for testing, rounded "
        "{split.rounding}.",
    ),
    plan_user_ratio,
    'change the ratios, or use split.rounding = "ceil"',
    reads=("split.order", "split.test_ratio", "split.repeats", "split.rounding", "split.validation_ratio"),
    validation="split.validation_ratio",
)
