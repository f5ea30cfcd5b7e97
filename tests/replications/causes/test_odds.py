"""The odds of chance, and which of several causes is named, on numbers without a study."""

import numpy as np
import pytest

from repro.replications.causes.arrangement import rearranged
from repro.replications.causes.cause import Cause, PrintedNumbers, fit, ordered
from repro.replications.causes.odds import LEVEL, probability
from repro.replications.causes.search import explain


def table(printed, values, half):
    printed, values = np.asarray(printed, dtype=float), np.asarray(values, dtype=float)
    held = np.abs(printed - values) <= half
    return PrintedNumbers(printed, values, np.full(len(values), half), held, ~held)


def whole(name, values, kind="mistake"):
    return Cause(name, kind, np.arange(len(values)), np.asarray(values, dtype=float))


def test_random_tables_are_hardly_ever_explained():
    """Tables that are all a little stronger or weaker than each of many causes, coarse and fine."""
    draws, explained, tables = np.random.default_rng(2), 0, 200
    for _ in range(tables):
        values = draws.uniform(0.1, 0.3, 12)
        causes = [whole(str(number), values * draws.uniform(0.8, 1.2)) for number in range(30)]
        rows, columns = [str(cell // 3) for cell in range(12)], [str(cell % 3) for cell in range(12)]
        causes += rearranged(rows, columns, values)
        half = 0.5 * 10.0 ** -draws.integers(2, 5)
        printed = np.round(values * draws.uniform(0.8, 1.2), 6)
        explained += explain(causes, table(printed, values, half)) is not None
    assert explained / tables <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / tables)


def test_a_cause_that_breaks_a_number_that_holds_explains_nothing():
    values = np.array([0.1111, 0.2222, 0.3333, 0.4444])
    printed = np.array([0.1111, 0.25, 0.35, 0.45])
    breaking, keeping = whole("breaks", [0.2, 0.25, 0.35, 0.45]), whole("keeps", [0.1111, 0.25, 0.35, 0.45])
    assert not fit(breaking, table(printed, values, 5e-5)).explains
    assert explain([breaking, keeping], table(printed, values, 5e-5)).cause.name == "keeps"


def test_most_of_what_a_cause_concerns_must_be_given():
    values, printed = np.linspace(0.1, 0.2, 10), np.linspace(0.1, 0.2, 10) + 0.05
    three_missed = np.where(np.arange(10) < 7, printed, 0.9)
    assert not fit(whole("most", three_missed), table(printed, values, 5e-5)).explains
    two_missed = np.where(np.arange(10) < 8, printed, 0.9)
    assert fit(whole("nearly all", two_missed), table(printed, values, 5e-5)).explains


def test_a_leak_is_named_only_where_nothing_else_gives_as_many():
    values, printed = np.linspace(0.1, 0.2, 6), np.linspace(0.1, 0.2, 6) * 1.3
    leak, mistake = whole("a leak", printed, "leak"), whole("b mistake", printed)
    names = [
        each.cause.name for each in ordered([fit(cause, table(printed, values, 5e-5)) for cause in (leak, mistake)])
    ]
    assert names == ["b mistake", "a leak"]
    explanation = explain([leak, mistake], table(printed, values, 5e-5))
    assert explanation.cause is mistake and explanation.alternatives == ("a leak",)
    worse = whole("b mistake", np.where(np.arange(6) < 5, printed, 0.9))
    assert explain([leak, worse], table(printed, values, 5e-5)).cause is leak


def test_many_causes_near_each_other_are_chance():
    """Fifty causes in small steps, and two digits: one of them gives any table nearby."""
    values = np.linspace(0.20, 0.24, 6)
    causes = [whole(str(step), values + step / 1000) for step in range(50)]
    printed = np.round(values + 0.0205, 2)
    assert fit(causes[20], table(printed, values, 0.005)).explains
    assert explain(causes, table(printed, values, 0.005)) is None


def test_the_probability_of_one_cause_and_two_numbers():
    """One cause, numbers from its value -0.1 to the measured one + 0.1: each is met with probability 0.2 / 1.1."""
    causes, numbers = [whole("one", [1.0, 1.0])], table([1.0, 1.0], [0.0, 0.0], 0.1)
    # The range is the middle 90% of 0 and 1, and 0.1 to either side: from -0.05 to 1.05. Of these 0.9 to 1.05 match.
    expected = (0.15 / 1.1) ** 2
    similar = 0.15  # of the third way, more: strengths near 1
    assert expected <= probability(causes, numbers, causes[0]) <= similar


def test_swaps_and_copies_of_a_table():
    causes = list(rearranged(["a", "a", "b", "b"], ["x", "y", "x", "y"], np.array([1.0, 2.0, 3.0, 4.0])))
    given = {cause.name: dict(zip(cause.cells.tolist(), cause.values.tolist(), strict=True)) for cause in causes}
    assert given == {
        "swapped rows: the numbers of a and b are exchanged": {0: 3.0, 1: 4.0, 2: 1.0, 3: 2.0},
        "copied row: a has the numbers of b": {0: 3.0, 1: 4.0},
        "copied row: b has the numbers of a": {2: 1.0, 3: 2.0},
        "swapped columns: the numbers of x and y are exchanged": {0: 2.0, 2: 4.0, 1: 1.0, 3: 3.0},
        "copied column: x has the numbers of y": {0: 2.0, 2: 4.0},
        "copied column: y has the numbers of x": {1: 1.0, 3: 3.0},
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_input_gives_the_same_odds(seed):
    draws = np.random.default_rng(seed)
    values, printed = draws.random(8), draws.random(8)
    causes = [whole(str(number), draws.random(8)) for number in range(5)]
    first, second = (probability(causes, table(printed, values, 0.1), causes[0]) for _ in range(2))
    assert first == second
