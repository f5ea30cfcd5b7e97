"""What leaves the held-out parts, whatever the strategy: head items, and users and items unseen in training."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, Interactions
from repro.errors import ProtocolError
from repro.protocol import Protocol
from repro.split.plan import LEFT_OUT, TEST, TRAIN, VALIDATION, PartArray

RowMask = npt.NDArray[np.bool_]


class Exclusions:
    """Applies ``split.head``, ``split.unseen_users`` and ``split.unseen_items`` to one fold after the other.

    Head items leave test and validation, and their rows are then in no part. Whether a user or item is unseen is
    judged by the training part of the fold, both for the rows that the head leaves.
    """

    def __init__(self, interactions: Interactions, protocol: Protocol, head: CodeArray) -> None:
        self._interactions = interactions
        self._protocol = protocol
        self._head = head
        self._in_head = np.zeros(interactions.n_items, dtype=bool)
        self._in_head[head] = True
        self._held_out = self._head_rows = self._left = self._unseen_users = self._unseen_items = 0

    def apply(self, parts: PartArray) -> PartArray:
        """The parts of a fold without what is excluded; counts what was touched."""
        users, items = self._interactions.users, self._interactions.items
        held_out = np.flatnonzero((parts == TEST) | (parts == VALIDATION))
        from_head = self._in_head[items[held_out]]
        left = held_out[~from_head]
        train = parts == TRAIN
        new_user = ~_present(users, train, self._interactions.n_users)[users[left]]
        new_item = ~_present(items, train, self._interactions.n_items)[items[left]]
        self._held_out += len(held_out)
        self._head_rows += len(held_out) - len(left)
        self._left += len(left)
        self._unseen_users += int(new_user.sum())
        self._unseen_items += int(new_item.sum())

        parts = parts.copy()
        parts[held_out[from_head]] = LEFT_OUT
        if self._protocol.get("split.unseen_users") == "drop":
            parts[left[new_user]] = LEFT_OUT
        if self._protocol.get("split.unseen_items") == "drop":
            parts[left[new_item]] = LEFT_OUT
        return parts

    def impacts(self) -> list[Impact]:
        """What was touched, over all folds."""
        head, users, items = "split.head", "split.unseen_users", "split.unseen_items"
        protocol = self._protocol
        fate = {"keep": "tested", "drop": "left out"}
        found = [
            Impact(
                head,
                protocol[head],
                len(self._head),
                self._interactions.n_items,
                "items",
                f"are left out of the test ({self._head_rows:,} of {self._held_out:,} held-out rows)",
            ),
        ]
        for key, noun, count in ((users, "users", self._unseen_users), (items, "items", self._unseen_items)):
            if key in protocol:
                note = f"are of {noun} without training rows, and {fate[protocol.text(key)]}"
                found.append(Impact(key, protocol[key], count, self._left, "held-out rows", note))
        return found


def without_unseen(test: Interactions, train: Interactions, protocol: Protocol) -> Interactions:
    """The held-out rows of one fold that ``split.unseen_users`` and ``split.unseen_items`` leave in it."""
    stays = np.ones(len(test), dtype=bool)
    if protocol.get("split.unseen_users") == "drop":
        stays &= train.user_counts()[test.users] > 0
    if protocol.get("split.unseen_items") == "drop":
        stays &= train.item_counts()[test.items] > 0
    if len(test) and not stays.any():
        raise ProtocolError(
            "no held-out row is of a user and an item that the training part has; keep unseen users and items "
            "(split.unseen_users, split.unseen_items)"
        )
    return test if stays.all() else test.select(np.flatnonzero(stays))


def _present(codes: CodeArray, rows: RowMask, size: int) -> RowMask:
    """Which codes occur in some of the rows."""
    found = np.zeros(size, dtype=bool)
    found[codes[rows]] = True
    return found
