"""Cross-validation: parts of the rows or of the users, each held out once; sizes differ by at most one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import Interactions, RowArray
from repro.protocol import Option, Protocol
from repro.split.order import random_order
from repro.split.per_user import draw_folds_per_user
from repro.split.plan import TEST, TRAIN, PartArray, Plan, Planner, Strategy, draws
from repro.split.ratio import rounding_impact
from repro.split.sampling import random_ranks
from repro.split.share import CountArray, shares_of


def plan_kfold(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """All rows, in random order, dealt to ``split.folds`` parts."""
    (key,) = draws(protocol, seed)
    return Plan(_dealt(random_order(interactions, key), protocol))


def plan_kfold_per_user(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """Every user's rows, in random order, dealt to ``split.folds`` parts.

    The dealing goes on from one user to the next (users in random order), so that the parts are even both
    within each user and overall: users with few rows do not all fall into the first parts.
    """
    (users_key,), (key,) = draws(protocol, seed, "users"), draws(protocol, seed)
    turn = random_ranks(interactions.user_keys, users_key)[interactions.users]
    return Plan(_dealt(random_order(interactions, key, turn), protocol))


def plan_kfold_users(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """The users, in random order, dealt to ``split.folds`` parts; of a test user's rows some are held out.

    ``split.holdout`` says how many. Users with too few rows are dealt to no part: the parts are even in
    users that can be tested. The rows of users outside the part are all in training.
    """
    (users_key,) = draws(protocol, seed, "users")
    count = protocol.count("split.folds")
    test, impacts = _held_out_of_users(interactions, protocol)
    (parts,), more, short = draw_folds_per_user(interactions, protocol, seed, test)
    pieces = np.full(interactions.n_users, -1)
    pieces[~short] = random_ranks(interactions.user_keys[~short], users_key) % count
    row_pieces = pieces[interactions.users]
    folds = (np.where((parts == TEST) & (row_pieces != piece), TRAIN, parts) for piece in range(count))
    return Plan(folds, [*impacts, *more])


def _dealt(order: RowArray, protocol: Protocol) -> Iterator[PartArray]:
    """The rows dealt in turn to ``split.folds`` parts, each of which is the test once."""
    count = protocol.count("split.folds")
    pieces = np.empty(len(order), dtype=np.int32)
    pieces[order] = np.arange(len(order)) % count
    return (np.where(pieces == piece, TEST, TRAIN) for piece in range(count))


def _held_out_of_users(interactions: Interactions, protocol: Protocol) -> tuple[CountArray, list[Impact]]:
    """The number of rows that ``split.holdout`` takes of each user, were they a test user."""
    counts = interactions.user_counts()
    match protocol["split.holdout"]:
        case "all-but-n":
            return np.full_like(counts, protocol.count("split.holdout_n")), []
        case "given-n":
            return np.maximum(counts - protocol.count("split.holdout_n"), 0), []
    ratio = protocol.number("split.holdout_ratio")
    test = shares_of(counts, ratio, protocol.text("split.rounding"))
    return test, [rounding_impact(interactions, protocol, ratio)]


def _cross_validation(name: str, nouns: tuple[str, str], plan: Planner, variant: str, used_by: str) -> Strategy:
    """Rows dealt to parts; ``nouns`` name them in the meaning and in the methods section."""
    meaning = f"{nouns[0]} in k parts, each held out once"
    text = (
        f"We divided {nouns[1]} at random into {{split.folds:fold}}, each of which was the test set once ({variant})."
    )
    return Strategy(Option(name, meaning, text, used_by=(used_by,)), plan, "lower split.folds", reads=("split.folds",))


KFOLD = _cross_validation("kfold", ("all rows", "all interactions"), plan_kfold, "cross-validation", "surprise")
KFOLD_PER_USER = _cross_validation(
    "kfold-per-user",
    ("every user's rows", "every user's interactions"),
    plan_kfold_per_user,
    "cross-validation by user",
    "rival",
)
KFOLD_USERS = Strategy(
    Option(
        "kfold-users",
        "the users in k parts; of a test user's rows some are held out",
        "We divided the users at random into {split.folds:fold}; the users of each fold were "
        "the test users once, and {split.holdout} held out.",
        used_by=("lenskit",),
    ),
    plan_kfold_users,
    "lower split.folds, or change what split.holdout takes of a user",
    reads=("split.order", "split.holdout", "split.folds", "split.short_users"),
    leaves_users=True,
)
