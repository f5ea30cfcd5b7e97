"""Exclusions from the held-out parts, whatever the strategy: head items, and users and items unseen in training."""

from __future__ import annotations

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, Interactions
from repro.errors import ProtocolError
from repro.protocol import Protocol
from repro.split.plan import LEFT_OUT, TEST, TRAIN, VALIDATION, PartArray
from repro.split.share import by_popularity, share_of


class Exclusions:
    """Applies ``split.head``, ``split.unseen_users`` and ``split.unseen_items`` to one fold after the other.

    Head items leave test and validation, and their rows are then in no part. Of the other rows, users and items without
    a row in the training part of the fold are unseen.
    """

    def __init__(self, interactions: Interactions, protocol: Protocol) -> None:
        self._interactions = interactions
        self._protocol = protocol
        self.head = head_items(interactions, protocol)
        self._held_out = self._remaining = self._unseen_users = self._unseen_items = 0

    def apply(self, parts: PartArray) -> PartArray:
        """The parts of a fold without what is excluded; counts what was touched."""
        data = self._interactions
        held_out = np.flatnonzero((parts == TEST) | (parts == VALIDATION))
        in_head = np.isin(data.items[held_out], self.head)
        remaining = held_out[~in_head]
        train = parts == TRAIN
        new_user = np.bincount(data.users[train], minlength=data.n_users)[data.users[remaining]] == 0
        new_item = np.bincount(data.items[train], minlength=data.n_items)[data.items[remaining]] == 0
        self._held_out += len(held_out)
        self._remaining += len(remaining)
        self._unseen_users += int(new_user.sum())
        self._unseen_items += int(new_item.sum())

        parts = parts.copy()
        parts[held_out[in_head]] = LEFT_OUT
        if self._protocol.get("split.unseen_users") == "drop":
            parts[remaining[new_user]] = LEFT_OUT
        if self._protocol.get("split.unseen_items") == "drop":
            parts[remaining[new_item]] = LEFT_OUT
        return parts

    def impacts(self) -> list[Impact]:
        """The effects of the exclusions on rows, users and items, over all folds."""
        removed = f"{self._held_out - self._remaining:,} of {self._held_out:,} held-out rows"
        note = f"are left out of the test ({removed})"
        impacts = [Impact.of(self._protocol, "split.head", len(self.head), self._interactions.n_items, "items", note)]
        for noun, count in (("users", self._unseen_users), ("items", self._unseen_items)):
            if (key := f"split.unseen_{noun}") in self._protocol:
                outcome = "tested" if self._protocol[key] == "keep" else "left out"
                note = f"are of {noun} without training rows, and {outcome}"
                impacts.append(Impact.of(self._protocol, key, count, self._remaining, "held-out rows", note))
        return impacts


def head_items(interactions: Interactions, protocol: Protocol) -> CodeArray:
    """The ``split.head`` most popular share of the items (rounded up) by all rows, as ascending codes.

    Cremonesi, Koren & Turrin 2010 leave the head out of the test, as it makes trivial hits.
    """
    size = share_of(interactions.n_items, protocol.number("split.head"), "ceil")
    return np.sort(by_popularity(interactions.item_counts())[:size]).astype(np.int32)


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
