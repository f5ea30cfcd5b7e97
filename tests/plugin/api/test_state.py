"""The state of recommenders: values by code, and what is refused."""

import numpy as np
import pytest

from repro.errors import PluginError
from repro.plugin import STATE, CheckedRecommender, by_code
from repro.plugin.api.state import checked_state
from repro.testing import small_ratings

USERS, ITEMS, FACTORS = 4, 3, 2
SIZES = {"users": USERS, "items": ITEMS, "factors": FACTORS}
WHOLE = {name: np.ones(tuple(SIZES[kind] for kind in kinds)) for name, kinds in STATE.items()}


def test_values_are_placed_by_code_and_missing_ones_are_nan():
    placed = by_code(np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32), np.array([1, -1, 0], dtype=np.int32))
    assert placed.dtype == np.float64
    np.testing.assert_array_equal(placed, [[3.0, 4.0], [np.nan, np.nan], [1.0, 2.0]])
    np.testing.assert_array_equal(by_code([5, 7], np.array([-1, 1])), [np.nan, 7.0])


@pytest.mark.parametrize("name", STATE)
def test_each_array_is_passed_on_in_double_precision(name):
    checked = checked_state("mine", {name: WHOLE[name].astype(np.float32)}, USERS, ITEMS)
    assert list(checked) == [name]
    assert checked[name].dtype == np.float64
    np.testing.assert_array_equal(checked[name], WHOLE[name])


@pytest.mark.parametrize("name", STATE)
def test_an_array_of_another_shape_is_refused(name):
    with pytest.raises(PluginError, match=rf"mine returned {name} of shape .* from state; expected "):
        checked_state("mine", {name: np.ones((*WHOLE[name].shape, 1))}, USERS, ITEMS)
    for axis, kind in enumerate(STATE[name]):
        if kind != "factors":
            with pytest.raises(PluginError, match=rf"{name} of shape .*; expected .*{SIZES[kind]} {kind}"):
                checked_state("mine", {name: np.repeat(WHOLE[name], 2, axis)}, USERS, ITEMS)


def test_both_sides_have_as_many_factors():
    with pytest.raises(PluginError, match=r"item_factors of shape .* expected 3 items by 2 factors"):
        checked_state("mine", WHOLE | {"item_factors": np.ones((ITEMS, FACTORS + 1))}, USERS, ITEMS)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ([1.0], r"returned list from state; expected a mapping of some of user_factors, "),
        ({"P": np.ones((USERS, 2))}, r"returned \['P'\] from state; expected a mapping of some of user_factors, "),
        ({"user_bias": ["a"] * USERS}, "returned user_bias from state that are not numbers: <U1"),
    ],
)
def test_what_is_no_state_is_refused(state, message):
    with pytest.raises(PluginError, match=message):
        checked_state("mine", state, USERS, ITEMS)


def test_a_recommender_without_a_state_has_an_empty_one():
    class Plain:
        def fit(self, train, *, seed):
            pass

    recommender = CheckedRecommender(Plain(), "mine", predicts=False)
    recommender.fit(small_ratings(), seed=1)
    assert recommender.state() == {}


def test_an_error_of_a_state_has_the_name_of_the_recommender():
    class Broken:
        def fit(self, train, *, seed):
            pass

        def state(self):
            raise ValueError("not kept")

    recommender = CheckedRecommender(Broken(), "mine", predicts=False)
    recommender.fit(small_ratings(), seed=1)
    with pytest.raises(PluginError, match="mine failed in state: ValueError: not kept"):
        recommender.state()
