"""Small lists worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from repro.data.interactions import Interactions
from repro.errors import DataError, StudyError
from repro.evaluation.candidates.lists import ListBlock
from repro.evaluation.ranking import GivenLists, RankingRules, rank, rank_lists
from repro.plugin import FALLBACK, SCORED, UNSCORED, Scores

NAN, INF, LARGEST = np.nan, np.inf, float(np.finfo(float).max)
# Items 2, 9, 10, 11: as text they are 10, 11, 2, 9. In the training rows, 10 comes first, then 2.
TRAIN = Interactions(
    np.array([0, 0, 1], dtype=np.int32),
    np.array([2, 0, 2], dtype=np.int32),
    np.array([4.0, 1.0, 1.0]),
    None,
    np.array(["ann", "bob", "eve"], dtype=object),
    np.array([2, 9, 10, 11]),
)
IDS = TRAIN.item_ids


def block_of(n_users, judged=(), relevant=(), grades=(), excluded=()):
    """One list of all four items for each user; ``judged`` are item codes of the first."""
    return ListBlock(
        users=np.arange(n_users, dtype=np.int32),
        items=np.arange(4, dtype=np.int32),
        rows=np.arange(n_users, dtype=np.int32),
        targets=np.full(n_users, -1, dtype=np.int32),
        strata=np.zeros(n_users, dtype=np.int32),
        listed=False,
        offsets=np.array([0] + [len(excluded)] * n_users),
        columns=np.array(excluded, dtype=np.int32),
        judged_offsets=np.array([0] + [len(judged)] * n_users),
        judged_items=np.array(judged, dtype=np.int32),
        judged_columns=np.array(judged, dtype=np.int32),
        judged_relevant=np.array(relevant or [1] * len(judged), dtype=np.uint8),
        judged_grades=np.array(grades or [1.0] * len(judged)),
    )


@pytest.fixture
def shown(room):
    """The item ids of one user's list."""

    def shown(values, state=None, block=None, depth=4, **changes):
        protocol = room.protocol({key.replace("__", "."): value for key, value in changes.items()})
        rules = RankingRules.from_protocol(protocol, TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
        states = None if state is None else np.array([state], dtype=np.uint8)
        ranked, _ = rank(Scores(np.array([values]), states), block or block_of(1), rules, depth=depth)
        return [int(IDS[i]) for i in ranked.items[0] if i >= 0]

    return shown


@pytest.mark.parametrize(
    ("rule", "order", "items"),
    [
        ("item-asc", "number", [11, 2, 9, 10]),
        ("item-desc", "number", [11, 10, 9, 2]),
        ("item-asc", "text", [11, 10, 2, 9]),
        ("item-desc", "text", [11, 9, 2, 10]),
        ("data", None, [11, 10, 2, 9]),
        ("data-desc", None, [11, 9, 2, 10]),
        ("expected", None, [11, 2, 9, 10]),
    ],
)
def test_three_equal_scores(shown, rule, order, items):
    changes = {"ties__break": rule} | ({"ties__id_order": order} if order else {})
    assert shown([0.5, 0.5, 0.5, 0.9], **changes) == items


def test_trec_order_is_single_precision_and_text_descending(shown):
    # 0.1 + 1e-12 and 0.1 are one number in single precision: 9, 2, 10 by text, whatever their scores
    assert shown([0.1 + 1e-12, 0.1, 0.1 - 1e-12, 0.9], ties__break="trec") == [11, 9, 2, 10]


def test_decimals(shown):
    values = [0.14, 0.11, 0.16, 0.9]  # to one decimal: 0.1, 0.1, 0.2, 0.9
    assert shown(values) == [11, 10, 2, 9]
    assert shown(values, ties__precision="decimals", ties__decimals=1, ties__break="item-desc") == [11, 10, 9, 2]


def test_rules_without_one_order_show_items_by_id(shown):
    # Each metric has a best order of its own, so that lists are shown as under "expected".
    block = block_of(1, judged=[0, 1, 2], relevant=[1, 0, 1], grades=[4.0, 2.0, 5.0])
    for rule in ("best", "worst", "expected", "shared-mean"):
        assert shown([1.0, 1.0, 1.0, 1.0], block=block, ties__break=rule) == [2, 9, 10, 11]


def test_random_order_depends_on_user_and_seed_alone(room):
    protocol = room.protocol({"ties.break": "random"})
    scores = Scores(np.zeros((3, 4)))
    first = RankingRules.from_protocol(protocol, TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
    lists = rank(scores, block_of(3), first, depth=4)[0].items
    alone = replace(block_of(1), users=np.array([2], dtype=np.int32))
    assert rank(Scores(np.zeros((1, 4))), alone, first, depth=4)[0].items[0].tolist() == lists[2].tolist()
    others = [
        rank(
            scores,
            block_of(3),
            RankingRules.from_protocol(protocol, TRAIN, train=TRAIN, data_items=TRAIN.items, seed=s),
            depth=4,
        )[0].items
        for s in range(1, 200)
    ]
    firsts = np.bincount(np.stack(others)[:, :, 0].ravel(), minlength=4)
    assert firsts.sum() == 597 and firsts.min() > 110  # 149 expected of each, standard deviation 10.6


@pytest.mark.parametrize(
    ("rule", "items"),
    [
        ("last", [11, 9, 2, 10]),
        ("first", [10, 11, 9, 2]),
        ("drop", [11, 9, 2]),
        ("user-mean", [11, 10, 9, 2]),  # ann's mean is 2.5: between 3 and 2
        ("item-mean", [11, 10, 9, 2]),  # that of item 10 is 2.5 as well
        ("global-mean", [11, 9, 10, 2]),  # 2: a tie with item 9, which has the lower id
    ],
)
def test_a_missing_score(shown, rule, items):
    assert shown([1.0, 2.0, NAN, 3.0], missing__rank=rule) == items


def test_a_missing_score_by_a_constant(shown):
    assert shown([1.0, 2.0, NAN, 3.0], missing__rank="constant", missing__constant=1.5) == [11, 9, 10, 2]
    assert shown([1.0, INF, NAN, -INF], missing__rank="constant", missing__constant=-LARGEST) == [9, 2, 10, 11]


def test_an_unscored_value_is_ignored_and_a_fallback_is_a_decision(shown):
    values, state = [5.0, 9.0, 7.0, 3.0], [SCORED, UNSCORED, FALLBACK, SCORED]
    assert shown(values, state) == [2, 11, 9, 10]
    assert shown(values, state, missing__fallback="accept") == [10, 2, 11, 9]


@pytest.mark.parametrize(
    ("zero", "items"),
    [("scored", [11, 2, 10, 9]), ("missing", [11, 9, 2, 10]), ("missing-or-below", [11, 2, 9, 10])],
)
def test_a_score_of_zero(shown, zero, items):
    assert shown([0.0, -1.0, -0.0, 1.0], missing__zero=zero) == items


@pytest.mark.parametrize(("infinite", "items"), [("scored", [10, 9, 11, 2]), ("missing", [9, 11, 2, 10])])
def test_an_infinite_score(shown, infinite, items):
    assert shown([-INF, 2.0, INF, 1.0], missing__infinite=infinite) == items


def test_real_infinities_stay_inside_those_of_missing_scores(shown):
    assert shown([-INF, NAN, INF, 1.0]) == [10, 11, 2, 9]
    assert shown([-INF, NAN, INF, 1.0], missing__rank="first") == [9, 10, 11, 2]


def test_a_tie_across_the_depth_has_its_full_size(room):
    rules = RankingRules.from_protocol(
        room.protocol({"ties.break": "expected"}), TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0
    )
    block = block_of(1, judged=[0, 2, 3])
    ranked, tally = rank(Scores(np.array([[1.0, 2.0, 1.0, 1.0]])), block, rules, depth=2, cutoffs=[1, 2])
    # item 9 is first; 2, 10 and 11 share ranks 2 to 4, and all of them may come second
    assert ranked.ties == "expected"
    assert ranked.items.tolist() == [[1, 0]]
    assert (ranked.position.tolist(), ranked.above.tolist(), ranked.tied.tolist()) == ([2, 3, 4], [1] * 3, [3] * 3)
    assert tally.users_tied.tolist() == [0, 1]


def test_hits_beyond_the_depth_or_outside_the_list_are_unranked(room):
    rules = RankingRules.from_protocol(room.protocol(), TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
    block = block_of(1, judged=[0, 1, 3], excluded=[1])
    ranked, _ = rank(Scores(np.array([[1.0, 9.0, 3.0, 2.0]])), block, rules, depth=2)
    assert ranked.lengths.tolist() == [3]
    assert ranked.n_relevant.tolist() == [3]
    assert ranked.hit_items.tolist() == [3, 0, 1]
    assert ranked.position.tolist() == [2, 0, 0]
    assert ranked.above.tolist() == [1, -1, -1]


def test_what_each_decision_touched(room):
    protocol = room.protocol({"missing.zero": "missing"})
    rules = RankingRules.from_protocol(protocol, TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
    values = np.array([[1.0, 1.0, NAN, 0.0], [INF, 2.0, 3.0, 4.0], [5.0, 5.0, 2.0, 1.0]])
    state = np.array([[0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]], dtype=np.uint8)
    _, tally = rank(Scores(values, state), block_of(3), rules, depth=3, cutoffs=[1, 3])
    # ann has a NaN, a zero (both missing, tied across rank 3) and a tie across rank 1; eve a tie across rank 1
    assert [impact.sentence for impact in tally.impacts(protocol)] == [
        "missing.rank=last: 3 of 12 scores had no score that counts",
        "missing.rank=last: 2 of 3 users had a candidate without a score that counts",
        "missing.fallback=missing: 1 of 12 scores were fallback scores of the framework",
        "missing.zero=missing: 1 of 12 scores were zero",
        "missing.infinite=scored: 1 of 12 scores were infinite",
        "ties.break=item-asc: 2 of 3 users had a tie across rank 1",
        "ties.break=item-asc: 1 of 3 users had a tie across rank 3",
    ]
    assert tally.unscored == 1


def test_users_with_several_lists_count_once_as_users(room):
    protocol = room.protocol()
    rules = RankingRules.from_protocol(protocol, TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
    block = replace(block_of(3), users=np.arange(2, dtype=np.int32), rows=np.array([0, 0, 1], dtype=np.int32))
    _, tally = rank(Scores(np.array([[1.0, 1.0, 0.0, 0.0], [4.0, 3.0, 2.0, 1.0]])), block, rules, depth=1, cutoffs=[1])
    ties = [impact.sentence for impact in tally.impacts(protocol) if impact.decision == "ties.break"]
    assert ties == [
        "ties.break=item-asc: 1 of 2 users had a tie across rank 1",
        "ties.break=item-asc: 2 of 3 lists had a tie across rank 1",
    ]


def test_scores_left_out_of_the_list_are_not_counted(room):
    rules = RankingRules.from_protocol(room.protocol(), TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
    _, tally = rank(Scores(np.array([[NAN, 0.0, NAN, INF]])), block_of(1, excluded=[0, 1, 3]), rules, depth=1)
    assert (tally.candidates, tally.unscored, tally.scores.tolist()) == (1, 1, [1, 1, 0, 0, 0, 0, 0, 0])


def test_the_run_stops_where_it_is_told_to(room):
    rules = RankingRules.from_protocol(
        room.protocol({"missing.rank": "fail"}), TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0
    )
    values = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, NAN, 3.0, NAN]])
    with pytest.raises(StudyError, match=r"user bob for item 9 is missing \(2 such scores here\)"):
        rank(Scores(values), block_of(2), rules, depth=2)
    rank(Scores(values[:1]), block_of(1), rules, depth=2)
    rules = RankingRules.from_protocol(
        room.protocol({"missing.infinite": "fail"}), TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0
    )
    with pytest.raises(StudyError, match="user ann for item 10 is infinite"):
        rank(Scores(np.array([[1.0, 2.0, -INF, 4.0]])), block_of(1), rules, depth=2)


def test_means_need_training_rows(room):
    with pytest.raises(StudyError, match=r'missing\.rank = "user-mean" needs training rows'):
        RankingRules.from_protocol(
            room.protocol({"missing.rank": "user-mean"}), TRAIN, train=None, data_items=None, seed=0
        )


def given_lists(items, scores):
    return GivenLists(
        users=np.array([1], dtype=np.int32),
        strata=np.zeros(1, dtype=np.int32),
        offsets=np.array([0, len(items)]),
        items=np.array(items, dtype=np.int32),
        scores=np.array(scores),
        judged_offsets=np.array([0, 2]),
        judged_items=np.array([0, 3], dtype=np.int32),
        judged_relevant=np.ones(2, dtype=np.uint8),
        judged_grades=np.ones(2),
    )


def test_given_lists(room):
    rules = RankingRules.from_protocol(room.protocol(), TRAIN, train=None, data_items=None, seed=0)
    ranked, _ = rank_lists(given_lists([3, 1, 2], [0.1, 0.7, 0.3]), rules, depth=10)
    assert ranked.items[0, :4].tolist() == [1, 2, 3, -1]
    assert ranked.hit_items.tolist() == [3, 0]
    assert ranked.position.tolist() == [3, 0]
    by_rank, _ = rank_lists(given_lists([3, 1, 2], -np.array([1.0, 2.0, 3.0])), rules, depth=None)
    assert by_rank.items.tolist() == [[3, 1, 2]]


def test_rows_of_given_lists_are_the_order_they_are_given_in(room):
    rules = RankingRules.from_protocol(
        room.protocol({"ties.break": "rows"}), TRAIN, train=None, data_items=None, seed=0
    )
    ranked, _ = rank_lists(given_lists([3, 0, 2, 1], [0.5, 0.5, 0.9, 0.5]), rules, depth=4)
    assert ranked.items.tolist() == [[2, 3, 0, 1]]
    rules = RankingRules.from_protocol(
        room.protocol({"ties.break": "rows-desc"}), TRAIN, train=None, data_items=None, seed=0
    )
    ranked, _ = rank_lists(given_lists([3, 0, 2, 1], [0.5, 0.5, 0.9, 0.5]), rules, depth=4)
    assert ranked.items.tolist() == [[2, 1, 0, 3]]


def test_an_item_given_twice_is_named(room):
    rules = RankingRules.from_protocol(room.protocol(), TRAIN, train=None, data_items=None, seed=0)
    with pytest.raises(DataError, match="the list of user bob has item 11 twice"):
        rank_lists(given_lists([3, 1, 3], [0.5, 0.4, 0.3]), rules, depth=4)


def test_no_lists_and_empty_lists(room):
    rules = RankingRules.from_protocol(room.protocol(), TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
    ranked, tally = rank(Scores(np.empty((0, 4))), block_of(0), rules, depth=3, cutoffs=[3])
    assert (len(ranked), ranked.items.shape, tally.users) == (0, (0, 3), 0)
    ranked, _ = rank(Scores(np.ones((1, 4))), block_of(1, excluded=[0, 1, 2, 3]), rules, depth=3)
    assert (ranked.items.tolist(), ranked.lengths.tolist()) == ([[-1, -1, -1]], [0])


def test_misuse_is_refused(room):
    rules = RankingRules.from_protocol(room.protocol(), TRAIN, train=TRAIN, data_items=TRAIN.items, seed=0)
    with pytest.raises(ValueError, match=r"scores of shape \(1, 3\) for 1 users by 4 items"):
        rank(Scores(np.ones((1, 3))), block_of(1), rules, depth=3)
    with pytest.raises(ValueError, match="must lie between 1 and the depth"):
        rank(Scores(np.ones((1, 4))), block_of(1), rules, depth=3, cutoffs=[4])
