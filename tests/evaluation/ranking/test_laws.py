"""Differences that must not matter: the form of candidates, the blocks of lists, the number of threads."""

from dataclasses import replace

import numpy as np
import pytest

from repro.evaluation.ranking import GivenLists, RankingRules, Tally, rank, rank_lists
from repro.plugin import Scores

ARRAYS = ("users", "items", "scored", "lengths", "n_relevant", "offsets", "hit_items", "relevant", "grades")
PLACES = ("position", "above", "tied")


def same(first, second):
    for name in (*ARRAYS, *PLACES):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


def some(block, first, last):
    """The users ``first`` up to ``last`` of a block, and their lists."""
    lists = np.flatnonzero((block.rows >= first) & (block.rows < last))
    low, high = int(lists[0]), int(lists[-1]) + 1
    part = slice(block.offsets[low], block.offsets[high])
    judged = slice(block.judged_offsets[low], block.judged_offsets[high])
    return replace(
        block,
        users=block.users[first:last],
        rows=block.rows[low:high] - np.int32(first),
        targets=block.targets[low:high],
        strata=block.strata[low:high],
        offsets=block.offsets[low : high + 1] - block.offsets[low],
        columns=block.columns[part],
        judged_offsets=block.judged_offsets[low : high + 1] - block.judged_offsets[low],
        judged_items=block.judged_items[judged],
        judged_columns=block.judged_columns[judged],
        judged_relevant=block.judged_relevant[judged],
        judged_grades=block.judged_grades[judged],
    )


def as_listed(block):
    """The same candidates, named one by one instead of by what is left out."""
    columns = [
        np.setdiff1d(np.arange(len(block.items)), block.columns[block.offsets[n] : block.offsets[n + 1]])
        for n in range(len(block))
    ]
    offsets = np.cumsum([0, *map(len, columns)])
    return replace(block, listed=True, offsets=offsets, columns=np.concatenate(columns).astype(np.int32))


def as_given(block, scores, rng):
    """The same lists with scores of their own, each in some order."""
    listed = as_listed(block)
    parts = [rng.permutation(listed.columns[listed.offsets[n] : listed.offsets[n + 1]]) for n in range(len(block))]
    values = np.concatenate([scores.values[r, part] for r, part in zip(block.rows, parts, strict=True)])
    return GivenLists(
        users=block.users[block.rows],
        strata=block.strata,
        offsets=listed.offsets,
        items=block.items[np.concatenate(parts)],
        scores=values,
        judged_offsets=block.judged_offsets,
        judged_items=block.judged_items,
        judged_relevant=block.judged_relevant,
        judged_grades=block.judged_grades,
    )


@pytest.fixture(params=["item-asc", "item-desc", "data", "data-desc", "random", "best", "worst", "shared-mean"])
def case(room, request):
    rng = np.random.default_rng(11)
    block = room.block(9, 180, False, rng)
    scores = room.scores((9, 180), True, False, rng)
    train = room.train(11, 183, rng)
    protocol = room.protocol({"ties.break": request.param, "missing.rank": "item-mean"})
    return block, scores, RankingRules.from_protocol(protocol, train, train=train, data_items=train.items, seed=1)


def test_dense_listed_and_given_lists_agree(case):
    block, scores, rules = case
    dense, counted = rank(scores, block, rules, depth=20, cutoffs=[5, 20])
    listed, counted_listed = rank(scores, as_listed(block), rules, depth=20, cutoffs=[5, 20])
    given = as_given(block, scores, np.random.default_rng(5))
    ranked, counted_given = rank_lists(given, rules, depth=20, cutoffs=[5, 20])
    same(dense, listed)
    same(dense, ranked)
    for other in (counted_listed, counted_given):
        assert other.candidates == counted.candidates
        assert other.scores.tolist() == counted.scores.tolist()
        assert other.users_tied.tolist() == counted.users_tied.tolist()


def test_a_ranking_to_some_depth_is_the_top_of_the_whole_ranking(case):
    block, scores, rules = case
    whole, _ = rank(scores, block, rules, depth=None)
    top, _ = rank(scores, block, rules, depth=7)
    assert whole.depth == len(block.items)
    np.testing.assert_array_equal(top.items, whole.items[:, :7])
    ranked = (whole.above >= 0) & (whole.above < 7)
    assert ((top.above >= 0).sum(), (top.position > 7).sum()) == (ranked.sum(), (whole.position[ranked] > 7).sum())
    for name in PLACES:
        np.testing.assert_array_equal(getattr(top, name)[top.above >= 0], getattr(whole, name)[ranked])


@pytest.mark.parametrize("size", [1, 2, 4, 9])
def test_blocks_of_any_size_give_the_same(case, size):
    block, scores, rules = case
    whole, counted = rank(scores, block, rules, depth=10, cutoffs=[10])
    tally = Tally.none([10])
    at = 0
    for first in range(0, len(block.users), size):
        part = some(block, first, min(first + size, len(block.users)))
        ranked, part_tally = rank(Scores(scores.values[first : first + size]), part, rules, depth=10, cutoffs=[10])
        tally += part_tally
        for name in ("items", "scored", "lengths", "n_relevant"):
            np.testing.assert_array_equal(getattr(ranked, name), getattr(whole, name)[at : at + len(part)])
        begin, end = whole.offsets[at], whole.offsets[at + len(part)]
        for name in ("hit_items", *PLACES):
            np.testing.assert_array_equal(getattr(ranked, name), getattr(whole, name)[begin:end])
        at += len(part)
    assert (tally.users, tally.lists, tally.candidates) == (counted.users, counted.lists, counted.candidates)
    assert tally.users_with.tolist() == counted.users_with.tolist()
    assert tally.users_tied.tolist() == counted.users_tied.tolist()


def test_any_number_of_threads_gives_the_same(room):
    rng = np.random.default_rng(2)
    block, scores = room.block(400, 1500, False, rng, max_lists=1), room.scores((400, 1500), False, False, rng)
    train = room.train(402, 1503, rng)
    rules = RankingRules.from_protocol(room.protocol(), train, train=train, data_items=train.items, seed=1)
    single, counted = rank(scores, block, rules, depth=50, cutoffs=[10], threads=1)
    for threads in (2, 5):
        several, again = rank(scores, block, rules, depth=50, cutoffs=[10], threads=threads)
        same(single, several)
        assert again.scores.tolist() == counted.scores.tolist()


@pytest.mark.parametrize("crowd", ["last bits", "outliers", "tiny", "few values", "descending"])
def test_awkward_distributions_are_sorted(room, crowd):
    """NumPy's stable sort orders 5,000 scores the same way, whatever their distribution."""
    rng = np.random.default_rng(4)
    scores = {
        "last bits": 3.5 + rng.integers(0, 40, 5000) * np.spacing(3.5),
        "outliers": np.append(rng.normal(size=4998), [1e308, -1e308]),
        "tiny": rng.normal(size=5000) * 10.0 ** -rng.integers(0, 320, 5000),
        "few values": rng.integers(0, 7, 5000).astype(float),
        "descending": np.arange(5000, 0, -1).astype(float),
    }[crowd]
    block = some(room.block(2, 5000, True, rng, max_lists=1), 0, 1)
    block = replace(block, offsets=np.array([0, 5000]), columns=np.arange(5000, dtype=np.int32))
    train = room.train(4, 5003, rng)
    rules = RankingRules.from_protocol(room.protocol(), train, train=train, data_items=train.items, seed=1)
    expected = block.items[np.argsort(-scores, kind="stable")]
    for depth in (None, 10, 600, 4000):
        ranked, _ = rank(Scores(scores[np.newaxis]), block, rules, depth=depth)
        np.testing.assert_array_equal(ranked.items[0], expected[:depth])


def test_read_only_and_noncontiguous_scores_are_ranked_alike(case):
    block, scores, rules = case
    expected, _ = rank(scores, block, rules, depth=5)
    frozen = scores.values.copy()
    frozen.flags.writeable = False
    for values in (frozen, np.asfortranarray(scores.values)):
        ranked, _ = rank(Scores(values), block, rules, depth=5)
        same(expected, ranked)
