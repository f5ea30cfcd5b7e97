"""Folds: how a strategy plans them, and what the split of a data set is in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from repro.data.impact import Impact
from repro.data.interactions import CodeArray, Interactions, RowArray
from repro.errors import ProtocolError
from repro.protocol import Decision, Option, Protocol
from repro.rng import stream

PartArray = npt.NDArray[np.uint8]
Times = npt.NDArray[np.int64]

TRAIN, VALIDATION, TEST, LEFT_OUT = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(3)


@dataclass(frozen=True, eq=False)
class Plan:
    """The part of every row, one array for each fold, before the rules on head and unseen items.

    validation     whether rows are set apart for validation
    target_items   the target set of a strategy that has one
    interactions   the rows of a strategy that brings its own (files)
    skip_empty     whether a fold that later rules leave without test rows is passed over, not refused
    rated          whether held-out rows have ratings where training rows have them
    names          the names of the folds, by default "1", "2" and so on
    given_rows     training and test rows of each fold in the order in which a framework's splitter, or files, have them
    """

    folds: Iterable[PartArray]
    impacts: list[Impact] = field(default_factory=list)
    validation: bool = False
    target_items: CodeArray | None = None
    interactions: Interactions | None = None
    skip_empty: bool = False
    rated: bool = True
    names: Sequence[str] | None = None
    given_rows: Sequence[tuple[RowArray, RowArray]] | None = None


@dataclass(frozen=True, eq=False)
class Fold:
    """One training and test part of a data set, as ascending row numbers of its interactions.

    ``given_rows`` are the training and the test rows in the order in which a framework's own splitter, or the files of
    this fold, have them.
    """

    name: str
    train: RowArray
    test: RowArray
    validation: RowArray | None = None
    given_rows: tuple[RowArray, RowArray] | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """A data set and its folds.

    interactions   the rows that the folds' row numbers are about
    folds          one or more training and test parts
    removed_items  the head items taken out of the test and of the candidates (ascending codes)
    target_items   the target set T of UAR and U1R (ascending codes); None in other strategies
    impacts        what each decision of the split touched
    rated          whether held-out rows have ratings where training rows have them; without, theirs are 1
    """

    interactions: Interactions
    folds: tuple[Fold, ...]
    removed_items: CodeArray
    target_items: CodeArray | None = None
    impacts: list[Impact] = field(default_factory=list)
    rated: bool = True


Planner = Callable[[Interactions, Protocol, int], Plan]


@dataclass(frozen=True)
class Strategy:
    """An option of ``split.strategy``, declared where its folds are planned.

    option        its name, what it means, and the sentence of a methods section
    plan          plans the folds of a data set
    remedy        what helps when a fold comes out empty
    reads         the decisions of the split that it reads, of those in ``repro/split/decisions.py``
    decisions     further decisions, of this strategy alone
    validation    the decision that sets rows apart for validation
    leaves_users  whether each test user keeps a training row
    """

    option: Option
    plan: Planner
    remedy: str
    reads: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    validation: str = "split.validation_share"
    leaves_users: bool = False


def timestamps_for(interactions: Interactions, protocol: Protocol, decision: str) -> Times:
    """The timestamps that the value of ``decision`` needs; an error where the data set has none."""
    if interactions.timestamps is None:
        raise ProtocolError(
            f'{decision} = "{protocol[decision]}" needs timestamps, and the data set has none; name the column '
            'that has them (columns = {timestamp = "NAME"}), or hold rows out at random, as the protocols random-80-20 '
            "and implicit-default do"
        )
    return interactions.timestamps


def draws(protocol: Protocol, seed: int, purpose: str = "rows") -> list[np.uint64]:
    """The key of each drawing of the split: as many as ``split.repeats``, one where nothing is repeated."""
    repeats = protocol.count("split.repeats") if "split.repeats" in protocol else 1
    return [stream(seed, "split", protocol.text("split.strategy"), purpose, repeat) for repeat in range(repeats)]
