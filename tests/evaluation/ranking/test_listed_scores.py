"""The score that each listed item is ranked by."""

from dataclasses import replace

import numpy as np
import pytest

from repro.evaluation.ranking import GivenLists, RankingRules, given_scores, listed_scores, rank, rank_lists
from repro.plugin import Scores

RULES = [
    {},
    {"missing.rank": "first"},
    {"missing.rank": "drop", "ties.precision": "single"},
    {"missing.rank": "constant", "missing.zero": "missing"},
    {"missing.rank": "user-mean", "missing.fallback": "missing"},
    {"missing.rank": "item-mean", "ties.precision": "decimals", "missing.infinite": "missing"},
    {"missing.rank": "global-mean", "ties.break": "expected", "missing.zero": "missing-or-below"},
]


@pytest.mark.parametrize("changes", RULES)
@pytest.mark.parametrize("listed", [True, False])
def test_lists_descend_and_equal_scores_are_those_that_tie(room, changes, listed):
    rng = np.random.default_rng(4)
    block = room.block(6, 30, listed, rng)
    scores = room.scores((6, 30), True, True, rng)
    train = room.train(8, 33, rng)
    rules = RankingRules.from_protocol(room.protocol(changes), train, train=train, data_items=train.items, seed=1)
    ranked, _ = rank(scores, block, rules, depth=None)
    listed = listed_scores(ranked, scores, block, rules)
    assert (np.isnan(listed) == (ranked.items < 0)).all()
    for n in range(len(ranked)):
        row = listed[n, : ranked.lengths[n]]
        assert (row[1:] <= row[:-1]).all()
        for hit in range(ranked.offsets[n], ranked.offsets[n + 1]):
            if ranked.position[hit]:
                score = row[ranked.position[hit] - 1]
                assert ((row > score).sum(), (row == score).sum()) == (ranked.above[hit], ranked.tied[hit])


def test_scores_of_their_own_and_scores_in_place_of_missing_ones(room):
    train = room.train(2, 4, np.random.default_rng(0))
    given = GivenLists(
        users=np.array([0, 1], dtype=np.int32),
        strata=np.zeros(2, dtype=np.int32),
        offsets=np.array([0, 3, 5]),
        items=np.array([2, 0, 1, 3, 2], dtype=np.int32),
        scores=np.array([0.5, np.nan, -0.0, np.inf, 7.26]),
        judged_offsets=np.array([0, 0, 0]),
        judged_items=np.empty(0, dtype=np.int32),
        judged_relevant=np.empty(0, dtype=np.uint8),
        judged_grades=np.empty(0),
    )
    largest = np.finfo(np.float64).max
    for changes, expected in (
        ({}, [[0.5, 0.0, -np.inf], [largest, 7.26, np.nan]]),
        ({"missing.rank": "constant", "missing.constant": 3.0}, [[3.0, 0.5, 0.0], [largest, 7.26, np.nan]]),
        ({"ties.precision": "decimals", "ties.decimals": 1}, [[0.5, 0.0, -np.inf], [largest, 7.3, np.nan]]),
    ):
        rules = RankingRules.from_protocol(room.protocol(changes), train, train=train, data_items=train.items, seed=1)
        ranked, _ = rank_lists(given, rules, depth=3)
        np.testing.assert_array_equal(given_scores(ranked, given, rules), expected)
        top, _ = rank_lists(given, rules, depth=1)
        np.testing.assert_array_equal(given_scores(top, given, rules), np.array(expected)[:, :1])


def test_nothing_to_score(room):
    rng = np.random.default_rng(4)
    train = room.train(8, 33, rng)
    rules = RankingRules.from_protocol(room.protocol(), train, train=train, data_items=train.items, seed=1)
    block = room.block(2, 5, True, rng)
    none = replace(block, offsets=np.zeros_like(block.offsets), columns=block.columns[:0])
    ranked, _ = rank(Scores(np.ones((2, 5))), none, rules, depth=None)
    assert np.isnan(listed_scores(ranked, Scores(np.ones((2, 5))), none, rules)).all()
