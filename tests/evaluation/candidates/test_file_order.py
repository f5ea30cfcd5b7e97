"""Ties in the order of the file of candidates, as programs that read such files rank them."""

import heapq
from itertools import product

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.evaluation.candidates import plan_candidates
from repro.evaluation.ranking import RankingRules, rank
from repro.plugin import Scores
from repro.protocol import read_protocol

FILE = 'base = "file"\nfile = "negatives.txt"\n'
# Relevant are 3 and 4 of a, 2 and 6 of b. The order is neither that of ids nor the same for all lists.
PAIRS = "(a,3)\t8\t1\t7\n(a,4)\t7\t8\t4\n(b,2)\t8\t7\n(b,6)\t1\t8\n"
LINES = {("a", 3): [8, 1, 7], ("a", 4): [7, 8, 4], ("b", 2): [8, 7], ("b", 6): [1, 8]}


@pytest.fixture
def ranked(tmp_path, fold, protocol_of):
    """The items of each list in their order, for scores by user and item."""

    def make(text, scores, decisions="", ties="file", relevant="last"):
        (tmp_path / "negatives.txt").write_text(text)
        protocol = protocol_of(FILE + decisions, folder=tmp_path)
        protocol = protocol.replace({"ties.break": ties, "ties.file_relevant": relevant}, folder=tmp_path)
        protocol = protocol.replace({"candidates.file": "negatives.txt"}, folder=tmp_path)
        candidates = plan_candidates(fold, protocol, 1)
        block = candidates.block(candidates.users)
        rules = RankingRules.from_protocol(protocol, fold.whole, train=fold.train, data_items=None, seed=1)
        users, items = (fold.whole.user_ids[block.users], fold.whole.item_ids[block.items])
        values = np.array([[scores(user, item) for item in items] for user in users], dtype=float)
        lists, _ = rank(Scores(values), block, rules, depth=None)
        return {
            (users[row], fold.whole.item_ids[target] if target >= 0 else None): [
                int(fold.whole.item_ids[item]) for item in own if item >= 0
            ]
            for row, target, own in zip(block.rows, block.targets, lists.items, strict=True)
        }

    return make


def test_the_negatives_then_the_relevant_item(ranked):
    lists = ranked(PAIRS, lambda user, item: 0.0, 'relevant = "one"')
    assert lists == {("a", 3): [8, 1, 7, 3], ("a", 4): [7, 8, 4], ("b", 2): [8, 7, 2], ("b", 6): [1, 8, 6]}


def test_the_relevant_item_then_the_negatives(ranked):
    lists = ranked(PAIRS, lambda user, item: 0.0, 'relevant = "one"', relevant="first")
    assert lists == {("a", 3): [3, 8, 1, 7], ("a", 4): [7, 8, 4], ("b", 2): [2, 8, 7], ("b", 6): [6, 1, 8]}


def test_the_reverse(ranked):
    lists = ranked(PAIRS, lambda user, item: 0.0, 'relevant = "one"', ties="file-desc")
    assert lists == {("a", 3): [3, 7, 1, 8], ("a", 4): [4, 8, 7], ("b", 2): [2, 7, 8], ("b", 6): [6, 8, 1]}


def test_lines_of_users_in_ar(ranked):
    lists = ranked("a 8 7\nb 8 1\nc 2 1\n", lambda user, item: 0.0)
    assert lists == {("a", None): [8, 7, 3, 4], ("b", None): [8, 1, 2, 6], ("c", None): [2, 1]}
    lists = ranked("a 8 7\nb 8 1\nc 2 1\n", lambda user, item: 0.0, relevant="first")
    assert lists == {("a", None): [3, 4, 8, 7], ("b", None): [2, 6, 8, 1], ("c", None): [2, 1]}


@pytest.mark.parametrize(("relevant", "seed"), product(("last", "first"), range(20)))
def test_as_a_stable_sort_of_the_lines_gives_it(ranked, relevant, seed):
    """``heapq.nlargest`` keeps the order of equal elements, as programs with these files use it."""
    draws = np.random.default_rng(seed).integers(0, 3, (3, 9))

    def score(user, item):
        return float(draws["abc".index(user), item])

    for key, own in ranked(PAIRS, score, 'relevant = "one"', relevant=relevant).items():
        target = [] if key[1] in LINES[key] else [key[1]]
        written = [*LINES[key], *target] if relevant == "last" else [*target, *LINES[key]]
        assert own == heapq.nlargest(len(written), written, key=lambda item, user=key[0]: score(user, item))


def test_it_is_refused_where_candidates_come_from_no_file():
    with pytest.raises(ProtocolError, match=r'applies when candidates.base is "file"; use "data"'):
        read_protocol("random-5fold").replace({"ties.break": "file"})
