"""Printed digits: what rounds to them, and what they leave out."""

import pytest

from repro.errors import StudyError
from repro.replications.claims.printed import read_printed


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("0.934", 0.934, 3),
        (".75", 0.75, 2),
        ("2.00", 2.0, 2),
        ("-0.5", -0.5, 1),
        ("118", 118.0, 0),
        ("6,040", 6040.0, 0),
        ("1,000,209", 1000209.0, 0),
        ("4.468%", 0.04468, 5),
        ("25 %", 0.25, 2),
    ],
)
def test_what_is_printed_is_read_with_its_digits(text, value, decimals):
    printed = read_printed(text)
    assert printed.value == pytest.approx(value, abs=1e-15) and printed.decimals == decimals


@pytest.mark.parametrize("text", ["0,934", "1,0", "nan", "", "n/a", "0.9.3", "1,0000"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(StudyError, match="is not a number; write it as it is printed"):
        read_printed(text)


def test_a_value_rounds_to_its_digits():
    printed = read_printed("0.934")
    assert printed.matches_rounded(0.93351) and printed.matches_rounded(0.93449)
    assert not printed.matches_rounded(0.93349) and not printed.matches_rounded(0.93451)


def test_halves_go_either_way():
    # 0.125 is a half in binary too: some print 0.12 (to even), some 0.13 (up).
    assert read_printed("0.12").matches_rounded(0.125) and read_printed("0.13").matches_rounded(0.125)
    # 2.675 is 2.67499999999999982 in binary: both are what people print.
    assert read_printed("2.68").matches_rounded(2.675) and read_printed("2.67").matches_rounded(2.675)


def test_zeros_that_were_cut_off_count():
    assert read_printed("0.98").matches_rounded(0.9836)
    assert not read_printed("0.98", decimals=3).matches_rounded(0.9836)
    assert read_printed("0.98", decimals=3).matches_rounded(0.9797)
    with pytest.raises(StudyError, match="has 3 decimals, and decimals = 2 is fewer"):
        read_printed("0.934", decimals=2)


def test_truncated_digits_differ_from_rounded_ones():
    printed = read_printed("0.70")
    assert not printed.matches_rounded(0.7071) and printed.matches_truncated(0.7071)
    assert not printed.matches_truncated(0.6999) and not printed.matches_truncated(0.7101)
    assert read_printed("-0.70").matches_truncated(-0.7071) and not read_printed("-0.70").matches_truncated(-0.6999)


def test_numbers_are_shown_in_the_same_form():
    assert read_printed("0.934").shown(0.93441) == "0.9344"
    assert read_printed("4.468%").shown(0.044684) == "4.4684%"
    assert read_printed("6,040").shown(6039.0) == "6,039.0"
