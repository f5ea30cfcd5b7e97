"""Splits by time: hold out rows after a point in time, or after sampled moments of sampled users."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import Interactions
from repro.errors import ProtocolError
from repro.protocol import Option, Protocol
from repro.split.order import random_order, row_keys
from repro.split.plan import LEFT_OUT, TEST, TRAIN, PartArray, Plan, Strategy, Times, draws, timestamps_for
from repro.split.sampling import UserMask, sampled_users, sampled_users_impact

RowMask = npt.NDArray[np.bool_]

# clock = "each" gives every test user a training set of its own; 500 million row numbers are 4 GB
MOST_ROW_NUMBERS = 500_000_000
NEVER = np.iinfo(np.int64).max


def plan_time_point(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """Rows up to and at ``split.time`` are training, later ones the test."""
    times = timestamps_for(interactions, protocol, "split.strategy")
    moment = protocol.number("split.time")
    note = "are at this very time, and in training"
    impact = Impact("split.time", moment, int((times == moment).sum()), len(times), "rows", note)
    return Plan([np.where(times > moment, TEST, TRAIN)], [impact])


def plan_time_users(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """Holds out all rows of sampled users from a sampled moment on (Gunawardana & Shani 2009, section 4.2).

    A moment lies just before an action: rows at its very timestamp or later come after it. It is drawn from
    the actions later than the first timestamp of the data set, as nothing is known before that one. What comes
    after it is treated as ``split.clock`` says:

    shared  one moment, just before an action of a test user, for all test users: their rows after it are the
            test. The other users' rows are all in training, also those after the moment.
    own     a moment for each test user, just before one of the user's own actions; the user's rows after it are
            the test. The other users' rows, and the other test users' rows before their own moments, are in
            training, whatever their time: time is consistent within a user, not across users.
    each    a moment for each test user, drawn as in own, and a fold for each: the user's rows after the moment
            are the test, and all users' rows before it are training. What the other users did after the moment is
            in neither part.

    The moment may lie before the user's first action: such a user is unseen in training, and tested or left
    out as ``split.unseen_users`` says.
    """
    times = timestamps_for(interactions, protocol, "split.strategy")
    (users_key,), (key,) = draws(protocol, seed, "users"), draws(protocol, seed, "moments")
    has_past = times > times.min()
    eligible = np.bincount(interactions.users[has_past], minlength=interactions.n_users) > 0
    tested = sampled_users(interactions, protocol, eligible, users_key)
    impacts = [sampled_users_impact(protocol, eligible, "users with an action after the first moment")]
    if not tested.any():
        raise ProtocolError(
            'split.strategy = "time-users" finds no user to test: all rows of the data set have the same '
            "timestamp; use a strategy without time, such as random-n"
        )
    actions = has_past & tested[interactions.users]
    clock = protocol.text("split.clock")
    if clock == "shared":
        moments = np.where(tested, _shared_moment(interactions, times, actions, key), NEVER)
    else:
        moments = _own_moments(interactions, times, actions, key)
    hidden = times >= moments[interactions.users]
    if clock == "each":
        impacts.append(_left_out_impact(protocol, times, moments[tested], hidden))
        return Plan(_one_fold_each(interactions, times, moments, tested), impacts, skip_empty=True)
    impacts.append(_later_training_impact(protocol, times, moments[tested], hidden))
    return Plan([np.where(hidden, TEST, TRAIN)], impacts)


def _shared_moment(interactions: Interactions, times: Times, actions: RowMask, key: np.uint64) -> np.int64:
    """The time of one of the actions, drawn at random."""
    keys = row_keys(interactions, key)[actions]
    return times[actions][keys == keys.min()].min()


def _own_moments(interactions: Interactions, times: Times, actions: RowMask, key: np.uint64) -> Times:
    """For each user the time of one of the user's actions, drawn at random; never, for users without any."""
    order = random_order(interactions, key, interactions.users)
    order = order[actions[order]]
    users, first = np.unique(interactions.users[order], return_index=True)
    moments = np.full(interactions.n_users, NEVER)
    moments[users] = times[order[first]]
    return moments


def _one_fold_each(interactions: Interactions, times: Times, moments: Times, tested: UserMask) -> Iterator[PartArray]:
    for user in np.flatnonzero(tested):
        later = times >= moments[user]
        yield np.where(later, np.where(interactions.users == user, TEST, LEFT_OUT), TRAIN)


def _left_out_impact(protocol: Protocol, times: Times, moments: Times, hidden: RowMask) -> Impact:
    """The number of rows of other users that come after the moment of a fold, and are in neither part of it."""
    known = int(np.searchsorted(np.sort(times), moments).sum())
    if known > MOST_ROW_NUMBERS:
        raise ProtocolError(
            f'split.clock = "each" makes a training set for each of {len(moments):,} test users, together '
            f"{known:,} rows, and the most is {MOST_ROW_NUMBERS:,}; lower split.test_users to about "
            f'{len(moments) * MOST_ROW_NUMBERS // known:,}, or use split.clock = "own"'
        )
    total = len(moments) * len(times)
    note = f"are of other users after the moment, and left out, over {len(moments):,} folds"
    return Impact.of(protocol, "split.clock", total - known - int(hidden.sum()), total, "rows", note)


def _later_training_impact(protocol: Protocol, times: Times, moments: Times, hidden: RowMask) -> Impact:
    """The number of training rows that are later than a test user's moment: those after the earliest one."""
    earliest, latest = int(moments.min()), int(moments.max())
    moment = f"{earliest}" if earliest == latest else f"{earliest}; the latest is {latest}"
    later, total = int((~hidden & (times >= earliest)).sum()), int((~hidden).sum())
    note = f"come after the earliest moment of a test user ({moment})"
    return Impact.of(protocol, "split.clock", later, total, "training rows", note)


TIME_POINT = Strategy(
    Option(
        "time-point",
        "everything after one point in time",
        "We held out all interactions after the timestamp {split.time} for testing.",
    ),
    plan_time_point,
    "move split.time into the time span of the data",
    reads=("split.time",),
)


TIME_USERS = Strategy(
    Option(
        "time-users",
        "of sampled users, everything after a sampled moment",
        "Of each test user, we held out all interactions after a sampled moment.",
        cite="Gunawardana & Shani 2009, section 4.2",
    ),
    plan_time_users,
    "change split.test_users or split.clock",
    reads=("split.test_users", "split.clock"),
)
