"""From a data set and a protocol to its folds."""

from __future__ import annotations

import numpy as np

from repro.data.impact import Impact
from repro.data.interactions import Interactions, RowArray
from repro.errors import DataError, ProtocolError
from repro.protocol import Protocol
from repro.split.exclusions import Exclusions
from repro.split.files import FILES
from repro.split.fold_table import FOLD_TABLE
from repro.split.kfold import KFOLD, KFOLD_PER_USER, KFOLD_USERS
from repro.split.moments import TIME_POINT, TIME_USERS
from repro.split.per_user import ALL_BUT_N, GIVEN_N
from repro.split.plan import TEST, TRAIN, VALIDATION, Fold, PartArray, Split, Strategy
from repro.split.ratio import RATIO, USER_RATIO
from repro.split.sampling import RANDOM_N
from repro.split.splitters import splitter_strategy
from repro.split.uniform_items import UNIFORM_ITEMS
from repro.split.validation import SHARE, ValidationShare

OWN = (
    *(RATIO, USER_RATIO, KFOLD, KFOLD_PER_USER, KFOLD_USERS, GIVEN_N, ALL_BUT_N, RANDOM_N),
    *(TIME_POINT, TIME_USERS, UNIFORM_ITEMS, FILES, FOLD_TABLE),
)
STRATEGIES = {strategy.option.value: strategy for strategy in OWN}


def make_folds(interactions: Interactions, protocol: Protocol, seed: int) -> Split:
    """The folds of ``interactions`` under the ``split.*`` decisions of ``protocol``.

    Every draw depends on the seed and the external ids alone: the same rows are held out whatever their order
    (except under ``split.equal_times = "source"``). Folds are named "1", "2" and so on.
    """
    name = protocol.text("split.strategy")
    if not len(interactions) and name != "files":
        raise DataError("the data set has no rows left to split; loosen the data.* filters of the protocol")
    plan = strategy_named(name).plan(interactions, protocol, seed)
    interactions = interactions if plan.interactions is None else plan.interactions
    validation = ValidationShare(interactions, protocol, seed)
    exclusions = Exclusions(interactions, protocol)
    folds: list[Fold] = []
    for number, parts in enumerate(plan.folds):
        planned = validation.apply(parts)
        rows = None if plan.given_rows is None else plan.given_rows[number]
        name_of_fold = str(len(folds) + 1) if plan.names is None else plan.names[number]
        fold = _fold(name_of_fold, exclusions.apply(planned), plan.validation or validation.active, rows)
        if len(fold.test) or not plan.skip_empty:
            _refuse_empty(fold, planned, protocol)
            folds.append(fold)
    if not folds:
        raise ProtocolError(_nothing_left("no fold has test rows", protocol))
    note = "are held out for testing" + (f", over {len(folds):,} folds" if len(folds) > 1 else "")
    tested, rows_of_folds = sum(len(fold.test) for fold in folds), len(interactions) * len(folds)
    strategy = Impact("split.strategy", name, tested, rows_of_folds, "rows", note)
    impacts = [strategy, *plan.impacts, *validation.impacts(), *exclusions.impacts()]
    return Split(interactions, tuple(folds), exclusions.head, plan.target_items, impacts, plan.rated)


def strategy_named(name: str) -> Strategy:
    """The strategy of that name; one with a framework's name before a slash is a plug-in's."""
    return STRATEGIES.get(name) or splitter_strategy(name)


def _fold(name: str, parts: PartArray, with_validation: bool, rows: tuple[RowArray, RowArray] | None) -> Fold:
    return Fold(
        name,
        np.flatnonzero(parts == TRAIN),
        np.flatnonzero(parts == TEST),
        np.flatnonzero(parts == VALIDATION) if with_validation else None,
        None if rows is None else (rows[0][parts[rows[0]] == TRAIN], rows[1][parts[rows[1]] == TEST]),
    )


def _refuse_empty(fold: Fold, planned: PartArray, protocol: Protocol) -> None:
    """Each part that the protocol asks for must have rows."""
    for rows, part, noun in (
        (fold.train, TRAIN, "training"),
        (fold.test, TEST, "test"),
        (fold.validation, VALIDATION, "validation"),
    ):
        if rows is None or len(rows):
            continue
        before = int((planned == part).sum())
        if before:
            raise ProtocolError(_nothing_left(f"fold {fold.name} loses all its {before:,} {noun} rows", protocol))
        strategy = protocol.text("split.strategy")
        blamed, remedy = f'split.strategy = "{strategy}"', strategy_named(strategy).remedy
        if SHARE in protocol and (noun == "validation" or (noun == "training" and (planned == VALIDATION).any())):
            blamed, remedy = f"{SHARE} = {protocol[SHARE]}", f"{'raise' if noun == 'validation' else 'lower'} it"
        raise ProtocolError(
            f"{blamed} leaves fold {fold.name} without any {noun} row (the data has {len(planned):,}); {remedy}"
        )


def _nothing_left(problem: str, protocol: Protocol) -> str:
    keys = ("split.head", "split.unseen_users", "split.unseen_items")
    rules = ", ".join(f"{key} = {protocol[key]}" for key in keys if key in protocol)
    return f"{problem} to the rules on held-out rows ({rules}); lower split.head, or keep unseen users and items"
