"""A validation part held out of the training rows of a fold, whatever the strategy that made the fold."""

from __future__ import annotations

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import Interactions
from repro.protocol import Protocol
from repro.rng import stream
from repro.split.order import hold_out_last, holdout_order, tied_borders, tied_borders_impact
from repro.split.plan import TEST, TRAIN, VALIDATION, PartArray, timestamps_for
from repro.split.share import broken_shares, share_of, shares_of
from repro.split.sorting import Groups

SHARE, OF, ORDER = "split.validation_share", "split.validation_of", "split.validation_order"


class ValidationShare:
    """Applies ``split.validation_share`` to one fold after the other; other parts than training stay as they are.

    The share is one of all training rows (to the nearest whole number, halves up), or of every user's (as
    ``split.rounding`` says). A user whose training rows are all held out is an unseen user.
    """

    def __init__(self, interactions: Interactions, protocol: Protocol, seed: int) -> None:
        self.active = SHARE in protocol and protocol.number(SHARE) > 0
        self._interactions = interactions
        self._protocol = protocol
        self._seed = seed
        self._folds = self._train = self._held_out = 0
        self._users = self._broken = self._tied = self._borders = 0

    def apply(self, parts: PartArray) -> PartArray:
        """The parts of the next fold with some of its training rows held out; counts what was touched."""
        if not self.active:
            return parts
        protocol, interactions = self._protocol, self._interactions
        share = protocol.number(SHARE)
        train = parts == TRAIN
        key = stream(self._seed, "split", protocol.text("split.strategy"), "validation", self._folds)
        groups: Groups
        if protocol[OF] == "users":
            groups = interactions.users
            counts = np.bincount(groups[train], minlength=interactions.n_users)
            sizes = shares_of(counts, share, protocol.text("split.rounding"))
            self._users += int((counts > 0).sum())
            self._broken += broken_shares(counts, share)
        else:
            groups = np.zeros(len(interactions), dtype=np.int8)
            sizes = np.array([share_of(int(train.sum()), share)])
        order = holdout_order(interactions, protocol, key, groups, ORDER)
        order = order[train[order]]
        held_out = hold_out_last(order, sizes, groups=groups) == TEST
        parts = np.where(held_out, VALIDATION, parts)
        if protocol[ORDER] == "time":
            tied, borders = tied_borders(timestamps_for(interactions, protocol, ORDER), order, parts, groups)
            self._tied += tied
            self._borders += borders
        self._folds += 1
        self._train += int(train.sum())
        self._held_out += int(held_out.sum())
        return parts

    def impacts(self) -> list[Impact]:
        """The effects of the decisions on the validation part, over all folds."""
        if not self.active:
            return []
        protocol = self._protocol
        over = f", over {self._folds:,} folds" if self._folds > 1 else ""
        note = f"are set apart for validation{over}"
        impacts = [Impact.of(protocol, SHARE, self._held_out, self._train, "training rows", note)]
        if protocol[OF] == "users":
            note = f"have a validation share that is no whole number of rows{over}"
            impacts.append(Impact.of(protocol, "split.rounding", self._broken, self._users, "users", note))
        if protocol[ORDER] == "time":
            impacts.append(tied_borders_impact(protocol, self._tied, self._borders))
        return impacts
