"""Gradients and exact solutions against sums over all pairs, by differences of the plain objective."""

import numpy as np
import pytest

from repro.definitions.optimality.equations import Factors
from repro.definitions.optimality.hypotheses import Data, factor, implicit, nonnegative, ratings
from repro.definitions.optimality.terms import Rows, combined, half_step
from repro.definitions.optimality.training_sets import in_order
from repro.definitions.training_sets import rows_of
from tests.definitions.optimality import planted

RNG = np.random.default_rng(5)
TABLE = RNG.integers(1, 6, (7, 5)) * np.where(RNG.random((7, 5)) < 0.5, 1.0, np.nan)
TABLE[np.arange(7), np.arange(7) % 5] = 3.0
TRAIN = rows_of(TABLE)
ROWS = Rows.of(TRAIN)
X, Y = RNG.uniform(0.1, 0.9, (7, 2)), RNG.uniform(0.1, 0.9, (5, 2))
STEP = 1e-5


def squares_of(matrices):
    """The objective of dense matrices, as a function of both factors."""
    weights, targets, of_users, of_items = matrices

    def objective(x, y):
        total = 0.0
        for user, item in np.ndindex(weights.shape):
            total += weights[user, item] * (targets[user, item] - x[user] @ y[item]) ** 2
        return total + sum(p * row @ row for p, row in zip([*of_users, *of_items], [*x, *y], strict=True))

    return objective


def slope(objective, side, index):
    moved = []
    for change in (STEP, -STEP):
        x, y = X.copy(), Y.copy()
        (x if side == "users" else y)[index] += change
        moved.append(objective(x, y))
    return (moved[0] - moved[1]) / (2 * STEP)


def gradients(hypothesis, numbers, side, offsets=None):
    own, fixed = (X, Y) if side == "users" else (Y, X)
    total = 0.0
    for name, term in hypothesis.terms(Data(ROWS, offsets)).items():
        lower, upper = term.gradient(ROWS.side(side), side, own, fixed)
        total = total + factor(name, numbers) * (lower - upper)
    return total


def check(hypothesis, numbers, objective, times=2.0, offsets=None):
    for side, shape in (("users", X.shape), ("items", Y.shape)):
        gradient = gradients(hypothesis, numbers, side, offsets)
        for index in ((0, 0), (shape[0] - 1, 1), (2, 1)):
            assert times * gradient[index] == pytest.approx(slope(objective, side, index), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("hypothesis", list(implicit((0.4,), (1.0, 0.5))), ids=str)
def test_gradients_and_solutions_of_implicit_feedback(hypothesis):
    setting = {"power": 1.0, "epsilon": 0.4, **hypothesis.setting}
    numbers = {"alpha": 1.7, "regularisation": 0.6, "unobserved": 1.0}
    if setting["confidence"] == "one":
        numbers["unobserved"] = 0.3
    numbers |= {"user_regularisation": 0.6, "item_regularisation": 0.6}
    if setting["penalty"] == "count-and-zeros" and setting["confidence"] == "one" and setting["power"] != 1.0:
        numbers["unobserved"] = 1.0  # for other powers, the scale of the penalty is that of a weight of 1
    matrices = planted.implicit_matrices(setting, numbers, TABLE)
    check(hypothesis, numbers, squares_of(matrices))
    total = combined([(factor(name, numbers), term) for name, term in hypothesis.terms(Data(ROWS)).items()])
    weights, targets, of_users, of_items = matrices
    exact = planted.exact(weights, targets, of_users, Y)
    np.testing.assert_allclose(half_step(total, ROWS.side("users"), "users", Y), exact, rtol=1e-9)
    exact = planted.exact(weights.T, targets.T, of_items, X)
    np.testing.assert_allclose(half_step(total, ROWS.side("items"), "items", X), exact, rtol=1e-9)


@pytest.mark.parametrize(
    "hypothesis", list(ratings("explicit-als", ("none", "mean", "user-mean", "item-mean"))), ids=str
)
def test_gradients_of_ratings(hypothesis):
    numbers = {"regularisation": 0.6, "user_regularisation": 0.6, "item_regularisation": 0.6}
    check(hypothesis, numbers, squares_of(planted.rating_matrices(hypothesis.setting, numbers, TABLE)))


def test_gradients_with_biases():
    factors = Factors(X, Y, RNG.normal(size=7), RNG.normal(size=5), 3.1)
    hypothesis = next(iter(ratings("explicit-als", ("biases",))))
    numbers = {"user_regularisation": 0.2, "item_regularisation": 0.7}
    added = 3.1 + factors.user_bias[:, None] + factors.item_bias
    present = ~np.isnan(TABLE)

    def objective(x, y):
        errors = (TABLE - added - x @ y.T)[present]
        of_users = (present.sum(axis=1) * (x**2).sum(axis=1)).sum()
        of_items = (present.sum(axis=0) * (y**2).sum(axis=1)).sum()
        return (errors**2).sum() + 0.2 * of_users + 0.7 * of_items

    check(hypothesis, numbers, objective, offsets=factors.offsets(ROWS))


@pytest.mark.parametrize("hypothesis", list(nonnegative()), ids=str)
def test_gradients_of_factors_that_are_not_negative(hypothesis):
    setting = hypothesis.setting
    numbers = {"user_regularisation": 0.3, "item_regularisation": 0.5, "user_absolute": 0.7, "item_absolute": 0.2}
    present = ~np.isnan(TABLE)
    values = np.where(present, TABLE, 0.0) if setting["values"] == "ratings" else present.astype(float)
    frobenius = setting["loss"] == "frobenius"

    def objective(x, y):
        total = 0.0
        for user, item in np.ndindex(TABLE.shape):
            product, value = x[user] @ y[item], values[user, item]
            if setting["missing"] == "zero" or present[user, item]:
                divergence = product - (value * np.log(product) if value else 0.0)
                total += 0.5 * (value - product) ** 2 if frobenius else divergence
        for factors, axis, side in ((x, 1, "user"), (y, 0, "item")):
            count = present.sum(axis=axis)
            scale = {"constant": 1.0 + 0 * count, "count": count, "others": 0.0 * count + TABLE.shape[axis]}
            for row, weight in zip(factors, scale[setting["penalty"]], strict=True):
                if setting["norm"] != "absolute":
                    total += weight * numbers[f"{side}_regularisation"] * row @ row / 2
                if setting["norm"] != "squares":
                    total += weight * numbers[f"{side}_absolute"] * np.abs(row).sum()
        return total

    check(hypothesis, numbers, objective, times=1.0)


def test_rows_are_numbered_as_they_occur():
    rows = in_order(TRAIN.select(np.random.default_rng(1).permutation(len(TRAIN))))
    assert rows.items[np.sort(np.unique(rows.items, return_index=True)[1])].tolist() == list(range(rows.n_items))
    assert np.array_equal(np.unique(rows.users, return_index=True)[0], np.arange(rows.n_users))
    assert len(rows) == len(TRAIN)
    assert sorted(rows.ratings) == sorted(TRAIN.ratings)
    assert sorted(rows.item_counts()) == sorted(TRAIN.item_counts())
