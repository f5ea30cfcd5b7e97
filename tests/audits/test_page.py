"""The audit in docs/how-to/audit.md does what it says."""

import pandas as pd
import pytest


@pytest.mark.xdist_group("inferred")
def test_the_code_prints_what_is_shown(page, ran):
    assert ran.printed == page.printed


def test_the_code_is_ten_lines(page):
    lines = [line for line in page.code.splitlines() if line]
    assert len(lines) <= 10


def test_the_case_rejects_what_it_says(page):
    # The user's four items by falling score are 40, 63, 91 and 76; 40 is of training, and 76 was held out.
    scores = pd.DataFrame({"user": 87, "item": [40, 63, 76, 91], "score": [4.0, 3.0, 1.0, 2.0]})
    truth = pd.DataFrame({"user": [87], "item": [76], "rating": [5.0]})
    train = pd.DataFrame({"user": [87, 112, 112, 112], "item": [40, 63, 76, 91], "rating": [1.0, 5.0, 1.0, 4.0]})
    assert "scores {40: 4, 63: 3, 76: 1, 91: 2}; held out {76: 5}; trained on {40: 1}" in page.case
    assert page.case.startswith('said 0; with candidates.exclude_train = "all" it would be 1\n')
    assert page.hit_rate(scores, truth, train, 3) == 0
    assert page.hit_rate(scores[scores.item != 40], truth, train, 3) == 1


def test_the_function_is_as_odd_as_is_said(page):
    # Two users with two items of the same score each; nothing of the second user's is liked.
    scores = pd.DataFrame({"user": [1, 1, 2, 2], "item": [9, 10, 9, 10], "score": 1.0})
    truth = pd.DataFrame({"user": [1, 2], "item": [10, 9], "rating": [3.5, 3.0]})
    assert page.hit_rate(scores, truth, None, 1) == 0.5  # the higher id comes first, and the second user counts 0
    assert page.hit_rate(scores, truth.assign(item=9), None, 1) == 0
