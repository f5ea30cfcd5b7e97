"""Item-to-item probabilities and expected utility, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.testing import queries_of
from repro_reference.expected_utility import ExpectedUtility
from repro_reference.item_conditional import ItemConditional
from repro_reference.item_mean import ItemMean
from repro_reference.knn import UserKNN

Table = Callable[[Any], Interactions]
# Items 1 to 4 have 3, 2, 2 and 1 users; together: 1 and 2 twice, 1 and 3 once, 2 and 3 once, 3 and 4 once.
BASKETS = [[4, 2, 0, 0], [2, 1, 5, 0], [3, 0, 0, 0], [0, 0, 3, 10], [0, 0, 0, 0]]


def block(recommender: Any, users: int, items: int) -> np.ndarray:
    return recommender.score(queries_of(np.arange(users, dtype=np.int32)), np.arange(items, dtype=np.int32)).values


def test_the_most_telling_of_the_users_items_counts(table: Table) -> None:
    """For user 1 with items 1 and 2: item 3 is max(1/3, 1/2); item 1 is pr(1 | 2) = 1, item 2 pr(2 | 1) = 2/3."""
    recommender = ItemConditional()
    recommender.fit(table(BASKETS), seed=1)
    nan = np.nan
    expected = [
        [1, 2 / 3, 1 / 2, 0],
        [1, 2 / 3, 1 / 2, 1 / 2],
        [0, 2 / 3, 1 / 3, 0],
        [1 / 2, 1 / 2, 1, 1 / 2],
        [nan, nan, nan, nan],
    ]
    np.testing.assert_allclose(block(recommender, 5, 4), expected)


def test_expected_utility_is_probability_times_mean_rating(table: Table) -> None:
    """Item means 3, 1.5, 4, 10: item 4 is worth more to user 2 (10 x 1/2) than item 1 (3 x 1)."""
    recommender = ExpectedUtility()
    recommender.fit(table(BASKETS), seed=1)
    np.testing.assert_allclose(block(recommender, 5, 4)[1], [3, 1, 2, 5])
    assert np.isnan(block(recommender, 5, 4)[4]).all()


@pytest.mark.parametrize("probability", ["item-conditional", "prediction"])
@pytest.mark.parametrize("utility", ["item-mean", "prediction"])
def test_estimates_can_be_exchanged(train: Interactions, probability: str, utility: str) -> None:
    users, items = train.n_users, train.n_items
    conditional, mean, knn = ItemConditional(), ItemMean(), UserKNN(k=9, similarity="pearson", center="mean")
    for part in (conditional, mean, knn):
        part.fit(train, seed=1)
    predicted = block(knn, users, items)
    chance = block(conditional, users, items)
    if probability == "prediction":
        chance = np.minimum(1.0, np.maximum(0.0, predicted / 5))
    worth = predicted if utility == "prediction" else block(mean, users, items)
    recommender = ExpectedUtility(probability=probability, utility=utility, k=9)
    recommender.fit(train, seed=1)
    np.testing.assert_allclose(block(recommender, users, items), chance * worth)
