"""The same number of test rows for every target item: UAR and U1R (Bellogín 2012, section 4.6.2)."""

from __future__ import annotations

from math import ceil

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, Interactions
from repro.errors import ProtocolError
from repro.protocol import Option, Protocol
from repro.split.order import hold_out_last, random_order
from repro.split.plan import Plan, Strategy, draws
from repro.split.share import CountArray, by_popularity, exact


def plan_uniform_items(interactions: Interactions, protocol: Protocol, seed: int) -> Plan:
    """eta random rows of each target item are the test.

    sigma is the share of the test (``split.test_ratio``), epsilon the share of a target item's rows that must
    stay in training (``split.train_floor``), r the number of rows, T the targets of :func:`target_items`.

    The source takes eta = (1 - epsilon) r(i_zeta) and also asks that ``|T| eta / r = sigma``, which is less
    in general. eta = floor(sigma r / ``|T|``) keeps to both, for by the choice of zeta it is never above
    (1 - epsilon) r(i_zeta).
    """
    counts = interactions.item_counts()
    sigma, epsilon = exact(protocol.number("split.test_ratio")), exact(protocol.number("split.train_floor"))
    targets = target_items(counts, protocol)
    per_target = sigma * len(interactions) / len(targets)
    if per_target < 1:
        raise ProtocolError(
            f"split.test_ratio = {float(sigma):g} is {float(sigma * len(interactions)):g} rows, less than one for "
            f"each of the {len(targets):,} target items; raise it"
        )
    test = np.zeros(interactions.n_items, dtype=np.int64)
    test[targets] = int(per_target)
    folds = [
        hold_out_last(random_order(interactions, key, interactions.items), test, groups=interactions.items)
        for key in draws(protocol, seed)
    ]
    most = (1 - epsilon) * int(counts[targets].min())
    note = (
        f"are targets: eta = {int(per_target):,} test rows of each, as sigma r / |T| = {float(per_target):.6g}, "
        f"rounded down, where the source has (1 - epsilon) r(i_zeta) = {float(most):.6g}"
    )
    impact = Impact.of(protocol, "split.train_floor", len(targets), int((counts > 0).sum()), "items", note)
    return Plan(folds, [impact], target_items=targets)


def target_items(counts: CountArray, protocol: Protocol) -> CodeArray:
    """T: as many of the most popular items as can each give an equal part of the test. Ascending codes.

    With r(i_k) the rows of the k-th most popular item (ties by code) and r all rows::

        zeta = max { k | (1 - epsilon) r(i_k) k / r >= sigma },   T = { i_1, ..., i_zeta }
    """
    sigma, epsilon = exact(protocol.number("split.test_ratio")), exact(protocol.number("split.train_floor"))
    rows = int(counts.sum())
    ranked = by_popularity(counts)
    ranked = ranked[counts[ranked] > 0]
    # whole numbers: (1 - epsilon) r(i_k) k >= sigma r is r(i_k) k >= needed, rounded up
    supply = counts[ranked] * np.arange(1, len(ranked) + 1)
    needed = ceil(sigma * rows / (1 - epsilon)) if epsilon < 1 else int(supply.max()) + 1
    enough = np.flatnonzero(supply >= needed)
    if not len(enough):
        best = float((1 - epsilon) * int(supply.max()) / rows)
        raise ProtocolError(
            f"split.test_ratio = {float(sigma):g} cannot be reached with the same number of test rows for every "
            f"target item while split.train_floor = {float(epsilon):g} of its rows stay in training: at most "
            f"{best:.4g} can; lower split.test_ratio to that, or lower split.train_floor"
        )
    return np.sort(ranked[: enough[-1] + 1]).astype(np.int32)


UNIFORM_ITEMS = Strategy(
    Option(
        "uniform-items",
        "the same number of rows of every target item (UAR, U1R)",
        "We held out the same number of interactions of every target item, "
        "{split.test_ratio:%} of all interactions together, such that at least "
        "{split.train_floor:%} of a target item's interactions stayed in training.",
        cite="Bellogín 2012, section 4.6.2",
    ),
    plan_uniform_items,
    "raise split.test_ratio",
    reads=("split.test_ratio", "split.repeats", "split.train_floor"),
)
