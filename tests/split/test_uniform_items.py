"""Uniform test rows per target item (UAR, U1R)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ProtocolError
from repro.split import make_folds
from repro.split.uniform_items import target_items

USERS = "abcdefghij"


def popular(rows, counts):
    """Item k has counts[k] rows."""
    return rows(" ".join(f"{user}{item}" for item, count in counts.items() for user in USERS[:count]))


def test_a_case_worked_by_hand(protocol, rows):
    """Items 4, 2, 1, 3 have 10, 6, 3, 1 rows: r = 20. For sigma = 0.3, epsilon = 0.2, (1 - epsilon) r(i_k) k / r
    is 0.4, 0.48, 0.36, 0.16: three items reach 0.3. eta = 0.3 * 20 / 3 = 2, where (1 - epsilon) r(i_3) = 2.4."""
    data = popular(rows, {4: 10, 2: 6, 1: 3, 3: 1})
    split = make_folds(data, protocol("uniform-items", test_ratio=0.3, train_floor=0.2), 1)
    assert data.item_ids[split.target_items].tolist() == [1, 2, 4]
    (fold,) = split.folds
    assert np.bincount(data.items[fold.test], minlength=4).tolist() == [2, 2, 0, 2]
    (impact,) = [impact for impact in split.impacts if impact.decision == "split.train_floor"]
    assert (impact.touched, impact.total) == (3, 4)
    assert "eta = 2 test rows of each" in impact.note
    assert "= 2.4" in impact.note


def test_eta_is_rounded_down(protocol, rows):
    """Items of 10, 6 and 4 rows: sigma = 0.25 takes all three, as 0.8 * 4 * 3 / 20 = 0.48; 5 / 3 is 1.67."""
    data = popular(rows, {1: 10, 2: 6, 3: 4})
    (fold,) = make_folds(data, protocol("uniform-items", test_ratio=0.25), 1).folds
    assert np.bincount(data.items[fold.test]).tolist() == [1, 1, 1]


def test_a_bound_met_exactly_counts(protocol):
    """0.8 * 5 * 2 / 10 is 0.8 exactly; in floating point it could fall on either side."""
    assert target_items(np.array([5, 5]), protocol("uniform-items", test_ratio=0.8)).tolist() == [0, 1]


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(0, 60), min_size=1, max_size=25).filter(any),
    sigma=st.integers(1, 60),
    epsilon=st.integers(0, 90),
)
def test_targets_agree_with_the_definition(counts, sigma, epsilon, protocol):
    """In hundredths and whole numbers: the largest k with (100 - eps) r(i_k) k >= sigma r."""
    ranked = sorted(range(len(counts)), key=lambda item: (-counts[item], item))
    reached = [
        k
        for k, item in enumerate(ranked, 1)
        if counts[item] and (100 - epsilon) * counts[item] * k >= sigma * sum(counts)
    ]
    stated = protocol("uniform-items", test_ratio=sigma / 100, train_floor=epsilon / 100)
    if not reached:
        with pytest.raises(ProtocolError, match=r"cannot be reached"):
            target_items(np.array(counts), stated)
        return
    targets = target_items(np.array(counts), stated).tolist()
    assert targets == sorted(ranked[: max(reached)])
    eta = sigma * sum(counts) // (100 * len(targets))
    assert all(100 * eta <= (100 - epsilon) * counts[item] for item in targets)


def test_a_share_out_of_reach_is_refused_with_the_most_there_is(protocol, rows):
    """Of 10, 6, 3, 1 rows the most is 0.8 * 6 * 2 / 20 = 0.48."""
    data = popular(rows, {1: 10, 2: 6, 3: 3, 4: 1})
    with pytest.raises(ProtocolError, match=r"split.test_ratio = 0.5 cannot be reached .* at most 0.48 can; lower"):
        make_folds(data, protocol("uniform-items", test_ratio=0.5), 1)
    with pytest.raises(ProtocolError, match=r"at most 0 can"):
        make_folds(data, protocol("uniform-items", train_floor=1), 1)


def test_less_than_a_row_for_each_target_is_refused(protocol, rows):
    with pytest.raises(ProtocolError, match=r"is 0.9 rows, less than one for each of the 3 target items; raise it"):
        make_folds(popular(rows, {1: 3, 2: 3, 3: 3}), protocol("uniform-items", test_ratio=0.1), 1)


def test_the_figures_of_movielens_1m(protocol):
    """Any 1,000,209 rows of which the 1,703rd item has 147, and later items k at most 250,051 / k - 1, have
    1,703 targets: 0.8 * 147 * 1,703 = 200,272.8 reaches 0.2 * 1,000,209 = 200,041.8, and no later item does."""
    tail = 250_051 // np.arange(1704, 3707) - 1
    head = np.full(1702, (1_000_209 - 147 - tail.sum()) // 1702)
    head[: 1_000_209 - 147 - tail.sum() - head.sum()] += 1
    counts = np.concatenate([head, [147], tail])
    assert counts.sum() == 1_000_209
    assert len(target_items(counts, protocol("uniform-items", test_ratio=0.2, train_floor=0.2))) == 1703
