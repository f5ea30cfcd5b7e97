"""The spread of recommendations over items and users: Gini, entropy, coverage and practical accuracy."""

import math
import re

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from repro.errors import ProtocolError
from repro.evaluation.metrics import simple_measures
from repro.lists import measure_given

# Down to 2: item 1 is in three lists, item 2 in two, item 4 in one; one list is short and one is empty.
LISTS = [{1: 3.0, 2: 2.0, 5: 1.0}, {2: 2.0, 1: 1.0}, {1: 2.0, 4: 1.0, 3: 0.5}, {}]
COUNTS = [0, 3, 2, 0, 1, 0]


@pytest.fixture
def of_lists(measure, ranked, background):
    """The number of a collection, and the same from two blocks."""

    def computed(name, scores, n_items, **changes):
        parsed = measure(name, **changes)
        known = background([{}] * len(scores), n_items)
        blocks = [parsed.of_lists(ranked([by_item], [{}], users=[n]), known) for n, by_item in enumerate(scores)]
        together = parsed.of_collection([parsed.of_lists(ranked(scores, [{}] * len(scores)), known)], known)
        assert parsed.of_collection(blocks, known) == pytest.approx(together, nan_ok=True, rel=0, abs=0)
        return together

    return computed


def gini_by_pairs(counts):
    """Half the relative mean difference over all pairs of different items."""
    n = len(counts)
    return sum(abs(a - b) for a in counts for b in counts) / (2 * n * sum(counts))


def test_gini(of_lists):
    n = len(COUNTS)
    assert of_lists("gini[divisor=n]@2", LISTS, n) == pytest.approx(gini_by_pairs(COUNTS), abs=1e-12)
    # Shani & Gunawardana: ascending 0 0 0 1 2 3, weights -5 -3 -1 1 3 5, over (n - 1) times the total of 6.
    assert of_lists("gini@2", LISTS, n) == pytest.approx((1 + 6 + 15) / (5 * 6), abs=1e-12)
    # Of 1, 2, 3: weights -2, 0, 2.
    assert of_lists("gini[over=recommended]@2", LISTS, n) == pytest.approx((-2 + 6) / (2 * 6), abs=1e-12)


def test_gini_of_the_even_and_of_the_uneven(of_lists):
    assert of_lists("gini@1", [{0: 1.0}, {1: 1.0}, {2: 1.0}], 3) == 0
    assert of_lists("gini@1", [{0: 1.0}, {0: 1.0}], 5) == pytest.approx(1.0)
    assert math.isnan(of_lists("gini@1", [{}, {}], 5))
    assert math.isnan(of_lists("gini[over=recommended]@1", [{0: 1.0}], 5))
    assert of_lists("gini[over=recommended,divisor=n]@1", [{0: 1.0}], 5) == 0


def test_entropy(of_lists):
    n = len(COUNTS)
    assert of_lists("entropy@2", LISTS, n) == pytest.approx(scipy.stats.entropy(COUNTS, base=2), abs=1e-12)
    assert of_lists("entropy[base=e]@2", LISTS, n) == pytest.approx(scipy.stats.entropy(COUNTS), abs=1e-12)
    for name, items in (("entropy[base=catalogue]@2", 6), ("entropy[base=recommended]@2", 3)):
        assert of_lists(name, LISTS, n) == pytest.approx(scipy.stats.entropy(COUNTS, base=items), abs=1e-12)


def test_entropy_of_the_even_and_of_the_uneven(of_lists):
    assert of_lists("entropy@1", [{i: 1.0} for i in range(8)], 9) == 3.0
    assert of_lists("entropy[base=recommended]@1", [{i: 1.0} for i in range(8)], 9) == 1.0
    assert of_lists("entropy@1", [{0: 1.0}, {0: 1.0}], 9) == 0.0
    assert math.isnan(of_lists("entropy[base=recommended]@1", [{0: 1.0}], 9))
    assert math.isnan(of_lists("entropy@1", [{}], 9))


@settings(max_examples=30, deadline=None)
@given(counts=st.lists(st.integers(0, 6), min_size=2, max_size=8).filter(any))
def test_gini_and_entropy_of_any_counts(counts, measure, ranked, background):
    lists = [{item: 1.0} for item, count in enumerate(counts) for _ in range(count)]
    known = background([{}] * len(lists), len(counts))

    def value(name):
        parsed = measure(name)
        return parsed.of_collection([parsed.of_lists(ranked(lists, [{}] * len(lists)), known)], known)

    assert value("gini[divisor=n]@1") == pytest.approx(gini_by_pairs(counts), abs=1e-12)
    n = len(counts)
    assert value("gini@1") == pytest.approx(gini_by_pairs(counts) * n / (n - 1), abs=1e-12)
    assert value("entropy@1") == pytest.approx(scipy.stats.entropy(counts, base=2), abs=1e-12)


@pytest.mark.parametrize(
    "name", ["gini@5", "entropy@5", "novelty@5", "epc@5", "inter-list-diversity@5", "temporal-diversity@5"]
)
def test_what_counts_all_items_needs_one_order(name, measure):
    with pytest.raises(ProtocolError, match=r'a list has no first k items; use .* "item-asc"'):
        measure(name, ties__break="expected")


# Practical accuracy. Users 0 and 1 have lists and relevant items, user 2 has no list, user 3 has a list and
# nothing relevant, user 4 has neither.
SCORES = [{1: 2.0, 2: 1.0}, {3: 2.0, 1: 1.0}, {}, {1: 1.0}, {}]
TRUTH = [{1: 1}, {1: 1, 5: 1}, {2: 1}, {}, {}]


def practical(name, measure, ranked, background, protocol, **changes):
    changes = {"average__no_list": "skip", **changes}
    parsed = measure(name, **changes)
    known = background(TRUTH, 6)
    averages = measure_given(ranked(SCORES, TRUTH), simple_measures([parsed]), known, protocol(**changes))
    return parsed.joined({key: (averaged.value, averaged.users_counted) for key, averaged in averages.items()})


@pytest.mark.parametrize(
    ("name", "covered"),
    [
        ("practical-accuracy@2", (1 + (1 / math.log2(3)) / (1 + 1 / math.log2(3))) / 2),
        ("practical-accuracy[of=precision]@2", (1 / 2 + 1 / 2) / 2),
        ("practical-accuracy[of=recall]@2", (1 + 1 / 2) / 2),
        ("practical-accuracy[of=ap]@2", (1 + (1 / 2) / 2) / 2),
        ("practical-accuracy[of=hit]@2", 1.0),
        ("practical-accuracy[of=rr]@2", (1 + 1 / 2) / 2),
    ],
)
def test_practical_accuracy_is_that_of_covered_users_times_coverage(
    name, covered, measure, ranked, background, protocol
):
    value, users = practical(name, measure, ranked, background, protocol)
    assert value == pytest.approx(covered * 3 / 5, abs=1e-12)  # three of five test users have a list
    assert users == 2


def test_practical_accuracy_does_not_count_coverage_twice(measure):
    with pytest.raises(ProtocolError, match=re.escape('ask for rr itself, or use average.no_list = "skip"')):
        measure("practical-accuracy[of=rr]@5")


def test_practical_accuracy_under_the_other_rule_is_the_accuracy(measure, ranked, background, protocol):
    # Where every test user has relevant items, accuracy with empty lists as 0 is the practical accuracy.
    scores, truth = [{1: 2.0, 2: 1.0}, {3: 2.0, 1: 1.0}, {}], [{1: 1}, {1: 1, 5: 1}, {2: 1}]
    known, lists = background(truth, 6), ranked(scores, truth)
    parsed = measure("practical-accuracy@2", average__no_list="skip")
    averages = measure_given(lists, simple_measures([parsed]), known, protocol(average__no_list="skip"))
    value, _ = parsed.joined({key: (averaged.value, averaged.users_counted) for key, averaged in averages.items()})
    (zero,) = measure_given(lists, [measure("ndcg@2")], known, protocol()).values()
    assert value == pytest.approx(zero.value, abs=1e-12)


def test_practical_accuracy_says_its_name(measure):
    parsed = measure("practical-accuracy[of=hit]@5", average__no_list="skip")
    assert parsed.full_name == "practical-accuracy[of=hit]@5"
    assert [part.full_name for part in parsed.parts] == ["hit@5", "user-coverage[counts=listed]@5"]
    assert not parsed.per_user
    assert np.isclose(parsed.joined({"hit@5": (0.5, 4), "user-coverage[counts=listed]@5": (0.5, 8)})[0], 0.25)
