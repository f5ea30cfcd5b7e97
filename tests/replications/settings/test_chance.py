"""Settings are judged on all numbers of a table, and against chance."""

import numpy as np
import pytest

from repro.replications import Budget, replicate
from repro.replications.settings.chance import DRAWS, LEVEL, SettingsTable, chance


def judged_table(values, printed, half, own=0):
    gives = np.abs(values - printed) <= half
    held = gives[own]
    order = [(abs(row - own), str(row)) for row in range(len(values))]
    return SettingsTable(values, printed, np.full(values.shape[1], half), gives, held, order, str)


def test_the_probability_that_one_of_two_settings_gives_one_number():
    """Two values, 0 and 1: the range is the middle 90%, from 0.05 to 0.95, and 0.01 to either side of a number."""
    values = np.array([[0.0], [1.0]])
    result = chance(values, np.array([0.2]))
    # random numbers from -0.15 to 1.15, met when below 0.2 or above 0.8: 2 * 0.35 / 1.3
    assert result.probability(1) == pytest.approx(0.7 / 1.3, abs=0.05) and result.probability(0) == 1.0
    assert result.expected == pytest.approx(0.35 / 1.3)
    assert result.probability(2) == pytest.approx(1 / (1 + DRAWS))


def test_settings_of_random_numbers_are_hardly_ever_an_explanation():
    """Tables of random numbers under random settings: at most LEVEL of them are explained, as the test promises."""
    draws = np.random.default_rng(3)
    result, tables = 0, 300
    for _ in range(tables):
        values = draws.uniform(0.2, 0.4, (40, 6))
        table = judged_table(values, draws.uniform(0.2, 0.4, 6), 0.005)
        result += any(table.best(column).holds for column in range(6) if not table.held[column])
    assert result / tables <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / tables)


def test_the_right_setting_is_found_among_many():
    draws = np.random.default_rng(5)
    values = draws.uniform(0.2, 0.4, (200, 6))
    table = judged_table(values, np.round(values[17], 3), 0.0005)
    for column in range(6):
        result = table.best(column)
        assert result.holds and result.row == 17 and result.met == int((~table.held).sum()) and result.broken == 0


def test_a_setting_that_breaks_an_exact_number_explains_nothing():
    values = np.array([[0.111, 0.222, 0.333], [0.999, 0.444, 0.555]])
    table = judged_table(values, np.array([0.111, 0.444, 0.555]), 0.0005)
    result = table.best(1)
    assert not result.holds and result.broken == 1 and result.giving == 1
    message = result.sentence("x = y", "settings of the open decisions")
    assert message == (
        "1 of 2 settings of the open decisions give it, but each breaks a number that the claim's own setting gives: "
        "x = y breaks 1 of 1"
    )


def test_few_digits_and_many_settings_are_chance():
    """Two digits and a hundred settings between 0.2 and 0.4: some setting gives any number."""
    values = np.linspace(0.2, 0.4, 100)[:, None]
    result = judged_table(values, np.array([0.33]), 0.005).best(0)
    assert result.giving >= 4 and result.chance > 0.9 and not result.holds
    assert "but chance explains it" in result.sentence("x = y", "settings of the open decisions")


def test_the_same_input_gives_the_same_probability():
    values = np.random.default_rng(1).random((30, 4))
    first, second = (chance(values, np.full(4, 0.01)) for _ in range(2))
    assert np.array_equal(first.best, second.best) and first.expected == second.expected


def test_a_setting_of_little_effect_does_not_explain_a_wrong_digit():
    """Ten settings move a number by at most 0.003; a last digit that is off by two is among their numbers."""
    values = np.array([[0.300 + step / 3000, 0.5] for step in range(10)])
    table = judged_table(values, np.array([0.302, 0.5]), 0.0005)
    result = table.best(0)
    assert result.giving and not result.broken and not result.holds and result.chance > 0.3


# -- verdicts -------------------------------------------------------------------------------------------------------

CELL = '[[cells]]\nalgorithm = "{}"\nmetric = "{}"\nvalue = "{}"\n'
OPEN = 'split.folds = 2\nopen = ["relevance.threshold=2|3|4|5"]'


def opened(path):
    path.write_text(path.read_text().replace("split.folds = 2", OPEN))
    return path


def test_a_setting_that_breaks_exact_numbers_is_no_explanation(write, measured):
    """One number of another threshold, in a table whose other numbers are those of the claim's own."""
    own, other = measured(), measured(relevance__threshold=3.0)
    rows = [(label, name, f"{own.loc[label, name]:.5f}") for label in ("Pop", "Bias") for name in ("ndcg@10", "hit@10")]
    wrong = f"{other.loc['Bias', 'precision@10']:.5f}"
    path = opened(write("".join(CELL.format(*row) for row in [*rows, ("Bias", "precision@10", wrong)])))
    result = replicate(path, budget=Budget(search=10)).judgements
    assert [judgement.verdict for judgement in result] == ["exact"] * 4 + ["differs"]
    assert "1 of 4 settings of the open decisions give it, but each breaks a number" in result[-1].why
    assert result[-1].giving == 1 and result[-1].settings == 4


def test_a_setting_that_gives_the_whole_table_is_one(write, measured):
    other = measured(relevance__threshold=3.0)
    names = ("ndcg@10", "hit@10", "precision@10")
    rows = [(label, name, f"{other.loc[label, name]:.4f}") for label in ("Pop", "Bias") for name in names]
    result = replicate(opened(write("".join(CELL.format(*row) for row in rows))), budget=Budget(search=10)).judgements
    assert {judgement.verdict for judgement in result} == {"underspecified"}
    assert all(judgement.met == 6 and judgement.chance < 0.01 for judgement in result)
    assert "which gives 6 of the 6 numbers that the claim's own setting does not give" in result[0].why


def test_one_number_with_few_digits_is_met_by_chance(write, measured):
    """To one decimal nearly every setting gives some number, so that one of them says nothing about the source."""
    other = measured(relevance__threshold=2.0).loc["Pop", "hit@10"]
    own = measured().loc["Pop", "hit@10"]
    printed = f"{other:.1f}"
    assert abs(float(printed) - own) > 0.05
    result = replicate(opened(write(CELL.format("Pop", "hit@10", printed))), budget=Budget(search=10)).judgements[0]
    assert result.verdict == "differs" and "but chance explains it" in result.why and result.chance > LEVEL
