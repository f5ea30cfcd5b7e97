"""Cases for evaluators, written by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.plugin import FALLBACK, Case, Scores

Numbers = Mapping[int, Mapping[int, float]]
EXTRA_USER = 99


def case_of(
    scores: Numbers,
    test: Numbers,
    train: Numbers | None = None,
    *,
    order: Sequence[int] | None = None,
    scale: tuple[float, float] = (1.0, 5.0),
    fallback: Collection[tuple[int, int]] = (),
) -> Case:
    """A case from scores and held-out ratings, each by user and item.

    An item without a score is not in the user's list; an item with the score NaN is listed without a score. Without
    training rows there is one more user, who is not tested and rated every item with 3. ``order`` has the items
    as they are presented, ascending by default; ``fallback`` has the pairs whose score is a fallback.
    """
    parts: list[Numbers] = [scores, test, *([] if train is None else [train])]
    items = np.array(sorted({item for part in parts for row in part.values() for item in row}))
    if train is None:
        train = {EXTRA_USER: {int(item): 3.0 for item in items}}
    users = np.array(sorted({*scores, *test, *train}))
    values = np.full((len(users), len(items)), np.nan)
    listed = np.zeros(values.shape, dtype=bool)
    state = np.zeros(values.shape, dtype=np.uint8)
    for user, row in scores.items():
        for item, score in row.items():
            cell = np.searchsorted(users, user), np.searchsorted(items, item)
            values[cell], listed[cell] = score, True
            state[cell] = FALLBACK if (user, item) in fallback else 0
    tested = np.searchsorted(users, sorted(test))
    return Case(
        scores=Scores(values, state if fallback else None),
        train=_rows(train, users, items),
        test=_rows(test, users, items),
        order=np.searchsorted(items, items if order is None else np.array(order)).astype(np.int32),
        scale=scale,
        listed=None if listed[tested].all() else listed,
    )


def case_of_rows(
    train: Iterable[Sequence[float]],
    test: Iterable[Sequence[float]],
    scores: Mapping[int, Mapping[int, float] | Sequence[float]],
    items: Sequence[int],
) -> Case:
    """A case from rows of user, item and rating (1 if there is none), which may repeat a pair.

    ``items`` has all items as they are presented. ``scores`` has those of each user, by item or in the order of
    ``items``; an item without a score is not in the user's list.
    """
    users, known = np.array(sorted(scores)), np.array(sorted(items))
    by_item = {
        user: row if isinstance(row, Mapping) else dict(zip(items, row, strict=True)) for user, row in scores.items()
    }
    values = np.array(
        [[by_item[user].get(item, 0.0) for item in known.tolist()] for user in users.tolist()], dtype=float
    )
    listed = np.array([[item in by_item[user] for item in known.tolist()] for user in users.tolist()])
    return Case(
        Scores(values),
        _interactions([(*row, 1.0)[:3] for row in train], users, known),
        _interactions([(*row, 1.0)[:3] for row in test], users, known),
        np.searchsorted(known, np.array(items)).astype(np.int32),
        listed=None if listed.all() else listed,
    )


def two_users() -> Case:
    """Users 3 and 20 with lists of 4 and 2 of four items, with tied scores, for comparisons with direct calls.

    As a run: 3 has 33 and 7 and 2 with 0.3 and 10 with 0.9; 20 has 10 with 0.1 and 7 with 0.4. As judgements: 3 has 10
    with 0, 2 with 4 and 7 with 1; 20 has 33 with 3 and 7 with 2.
    """
    return case_of(
        {3: {33: 0.3, 10: 0.9, 7: 0.3, 2: 0.3}, 20: {10: 0.1, 7: 0.4}},
        {3: {10: 0.0, 2: 4.0, 7: 1.0}, 20: {33: 3.0, 7: 2.0}},
        order=[33, 10, 7, 2],
    )


# The lists and the held-out ratings of :func:`five_users`.
FIVE_LISTS: Mapping[int, Sequence[int]] = {
    1: (1, 2, 3, 4, 5),
    2: (3, 1),
    4: (),
    5: (6, 7, 8, 9, 10),
    6: (1, 2, 3, 4, 5),
}
FIVE_TESTS: Numbers = {
    1: {2: 3.0, 4: 5.0, 9: 1.0},
    2: {1: 4.0},
    4: {5: 2.0, 6: 4.0},
    5: {6: 1.0, 7: 5.0, 8: 2.0, 9: 3.0, 10: 4.0, 11: 5.0, 12: 5.0},
    6: {8: 5.0},
}


def five_users() -> Case:
    """Users 1, 2, 4, 5 and 6 with lists of 5, 2, 0, 5 and 5 of twelve items, for which numbers of several evaluators
    are known.

    Held out are three items of user 1, of which two are listed, second and fourth; one of user 2, second; two of user
    4; seven of user 5, of which the first five are listed; and one of user 6, which is not in the list.
    """
    scores = {user: {item: 1 - n / 20 for n, item in enumerate(row)} for user, row in FIVE_LISTS.items()}
    return case_of(scores, FIVE_TESTS)


def _rows(numbers: Numbers, users: npt.NDArray[Any], items: npt.NDArray[Any]) -> Interactions:
    rows = [(user, item, rating) for user, row in numbers.items() for item, rating in row.items()]
    return _interactions(rows, users, items)


def _interactions(rows: Sequence[Sequence[float]], users: npt.NDArray[Any], items: npt.NDArray[Any]) -> Interactions:
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return Interactions(
        np.searchsorted(users, table[:, 0]).astype(np.int32),
        np.searchsorted(items, table[:, 1]).astype(np.int32),
        table[:, 2].copy(),
        None,
        users,
        items,
    )
