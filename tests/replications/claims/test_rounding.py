"""Rounding and truncation: the values that digits stand for, and one rule for a whole table."""

import math
import random
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.replications import replicate
from repro.replications.claims.printed import Rounding, infer_rounding, read_printed

places = st.integers(0, 6)


def shown(exact, decimals, how):
    return str(exact.quantize(Decimal(1).scaleb(-decimals), rounding=how))


@st.composite
def exact_and_noisy(draw):
    """A decimal number, and a double that computation may make of it: a few units in the last place off."""
    exact = Decimal(draw(st.integers(-(10**9), 10**9))).scaleb(-draw(st.integers(2, 9)))
    value = float(exact)
    for _ in range(draw(st.integers(0, 3))):
        value = math.nextafter(value, draw(st.sampled_from((-math.inf, math.inf))))
    return exact, value


@given(exact_and_noisy(), places, st.sampled_from((ROUND_HALF_EVEN, ROUND_HALF_UP)))
def test_what_rounds_to_the_digits_rounds_from_the_value_whatever_noise_does(pair, decimals, how):
    exact, value = pair
    assert read_printed(shown(exact, decimals, how)).matches_rounded(value)


@given(exact_and_noisy(), places, st.integers(-3, 3))
def test_what_does_not_round_to_the_digits_does_not(pair, decimals, steps):
    exact, value = pair
    unit = Decimal(1).scaleb(-decimals)
    other = exact.quantize(unit, rounding=ROUND_HALF_EVEN) + steps * unit
    rounds = abs(exact - other) * 2 <= unit  # a half may go either way
    assert read_printed(str(other)).matches_rounded(value) == rounds


@given(exact_and_noisy(), places, st.integers(-2, 2))
def test_digits_are_cut_off_as_in_exact_arithmetic(pair, decimals, steps):
    exact, value = pair
    cut = exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_DOWN)
    other = cut + steps * Decimal(1).scaleb(-decimals)
    if other:  # 0.0 has two sides
        assert read_printed(str(other)).matches_truncated(value) == (other == cut)


def test_exactly_49_10_percent_is_never_printed_49_09():
    for value in (0.491, math.nextafter(0.491, 0), math.nextafter(0.491, 1)):
        assert not read_printed("49.09%").matches_rounded(value) and not read_printed("49.09%").matches_truncated(value)
        assert read_printed("49.10%").matches_rounded(value) and read_printed("49.1%").matches_truncated(value)


def test_digits_of_scientific_notation_are_those_that_are_written():
    printed = read_printed("1.2e3")
    assert printed.matches_rounded(1249.0) and printed.matches_rounded(1150.0) and not printed.matches_rounded(1251.0)
    assert printed.shown(1234.0) == "1,234"


def table(values, decimals, how):
    return [(read_printed(shown(Decimal(repr(value)), decimals, how)), value) for value in values]


def all_within(rounding, pairs):
    intervals = [(*rounding.interval(printed), value) for printed, value in pairs]
    return all(low <= value <= high for low, high, value in intervals)


@given(st.lists(st.floats(0.0001, 1.0, allow_nan=False), max_size=60), st.integers(2, 4))
def test_a_table_that_rounds_never_cuts(values, decimals):
    result = infer_rounding(table(values, decimals, ROUND_HALF_EVEN))
    assert result.rule != "truncated" and result.truncated == 0
    assert all_within(result, table(values, decimals, ROUND_HALF_EVEN))


@given(st.lists(st.floats(0.0001, 1.0, allow_nan=False), max_size=60), st.integers(2, 4))
def test_a_table_that_cuts_never_rounds(values, decimals):
    pairs = table(values, decimals, ROUND_DOWN)
    result = infer_rounding(pairs)
    assert result.rule != "rounded"
    assert all_within(result, pairs)


def test_how_often_a_cutting_table_is_recognised_and_how_many_numbers_it_takes():
    draws = random.Random(4)
    tables = [table([draws.random() for _ in range(20)], 3, ROUND_DOWN) for _ in range(300)]
    assert sum(infer_rounding(printed_table).rule == "truncated" for printed_table in tables) > 290
    # 2^-6 is more than one in a hundred: six numbers never show it, whatever they are
    assert not any(infer_rounding(printed_table[:6]).rule == "truncated" for printed_table in tables)


def test_numbers_that_are_a_little_off_for_another_reason_pass_for_cut_digits_in_no_more_than_one_table_of_a_hundred():
    """Values up to one unit away from what is printed, to either side: the verdict must not call that cutting."""
    draws = random.Random(7)
    result = 0
    for _ in range(2000):
        printed = [read_printed(f"{draws.random():.3f}") for _ in range(8)]
        result += (
            infer_rounding([(number, number.value + draws.uniform(-1, 1) * 1e-3) for number in printed]).rule
            == "truncated"
        )
    assert result <= 20


def test_one_number_that_is_rounded_up_decides_for_the_whole_table():
    cut = table([0.12347, 0.56789, 0.34567, 0.98765, 0.45678, 0.23458, 0.87659, 0.65438], 4, ROUND_DOWN)
    assert infer_rounding(cut).rule == "truncated"
    rounded = table([0.77778], 4, ROUND_HALF_UP)
    result = infer_rounding([*cut, *rounded])
    assert result.rule == "rounded" and not result.gives(*cut[0])
    assert "the table rounds (1 number can only come from rounding)" in result.doubt(*cut[0])


def test_numbers_far_off_or_exactly_on_the_digits_tell_nothing():
    exact = [(read_printed("0.25"), 0.25)] * 20
    assert infer_rounding(exact) == Rounding("unknown")
    assert infer_rounding([(read_printed("0.25"), 0.9)] * 20) == Rounding("unknown")


# -- verdicts -------------------------------------------------------------------------------------------------------

HEAD = """
title = "Hit rates"
source = "a table"
[examples]
truth = "truth.csv"
"""


@pytest.fixture
def precisions(tmp_path):
    """A claim about P@7 of each of nine users, who have 1 to 9 hits in their lists: h / 7, or 1 / 7 for the last."""
    hits = {f"u{number}": number for number in range(1, 7)} | {"v1": 1, "v2": 2, "v3": 3}
    truth = "".join(f"{user},{item}\n" for user, number in hits.items() for item in range(number))
    lists = "".join(f"{user},{item},{item + 1}\n" for user in hits for item in range(7))
    (tmp_path / "truth.csv").write_text("user,item\n" + truth)
    (tmp_path / "lists.csv").write_text("user,item,rank\n" + lists)

    def judged(how, **other):
        text = HEAD + '[[systems]]\nlabel = "lists"\nrun = "lists.csv"\n'
        for user, number in hits.items():
            value = other.get(user, shown(Decimal(number) / 7, 3, how))
            text += f'[[cells]]\nsystem = "lists"\nmetric = "precision@7"\nuser = "{user}"\nvalue = "{value}"\n'
        (tmp_path / "claim.toml").write_text(text)
        return {judgement.user: judgement for judgement in replicate(tmp_path / "claim.toml").judgements}

    return judged


def test_a_table_that_rounds_has_no_digits_cut_off(precisions):
    # 1 / 7 = 0.14286, 2 / 7 = 0.28571 and 3 / 7 = 0.42857 are rounded up, 4, 5 and 6 / 7 are not
    result = precisions(ROUND_HALF_EVEN, u2="0.285")  # 2 / 7 = 0.285714
    assert [judgement.verdict for user, judgement in result.items() if user != "u2"] == ["exact"] * 8
    assert result["u2"].verdict == "erratum"
    assert "0.28571 truncated is 0.285, but the table rounds (5 numbers" in result["u2"].why


def test_a_table_that_cuts_is_within_and_says_what_shows_it(precisions):
    # 1, 2 and 3 / 7 would be rounded up: six numbers of nine
    result = precisions(ROUND_DOWN)
    up = [judgement for user, judgement in result.items() if user not in ("u4", "u5", "u6")]
    assert {judgement.verdict for judgement in up} == {"within"} and len(up) == 6
    assert {result[user].verdict for user in ("u4", "u5", "u6")} == {"exact"}
    assert "the table truncates: all 9 informative numbers" in up[0].why
    assert "6 of them would be rounded up" in up[0].why and "1 in 512" in up[0].why
