"""The items of each list, for every base and exclusion: sets worked out by hand and by brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repro.errors import DataError
from repro.evaluation.candidates import plan_candidates

EVERYTHING = set(range(1, 9))


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        (
            'base = "all-items"',
            {"a": {3, 4, 5, 6, 7, 8}, "b": {1, 4, 5, 6, 7, 8}, "c": {1, 2, 3, 6, 7, 8}},
        ),
        ('base = "train-items"', {"a": {3, 4, 5, 7}, "b": {1, 4, 5, 7}, "c": {1, 2, 3, 7}}),
        ('base = "test-items"', {"a": {3, 4, 5, 6, 7}, "b": {4, 5, 6, 7}, "c": {2, 3, 6, 7}}),
        ('base = "user-test-items"', {"a": {3, 4, 5}, "b": {2, 6}, "c": {7}}),
        (
            'base = "all-items"\nexclude_train = "relevant"',
            {"a": EVERYTHING - {1}, "b": EVERYTHING - {2}, "c": EVERYTHING - {4}},
        ),
        ('base = "all-items"\nexclude_train = "none"', dict.fromkeys("abc", EVERYTHING)),
        (
            'base = "all-items"\nrated_negatives = "exclude"',
            {"a": {3, 4, 6, 7, 8}, "b": {1, 4, 5, 6, 7, 8}, "c": {1, 2, 3, 6, 8}},
        ),
        (
            'base = "all-items"\nrelevant = "one"',
            {
                ("a", 3): {3, 5, 6, 7, 8},
                ("a", 4): {4, 5, 6, 7, 8},
                ("b", 2): {1, 4, 5, 7, 8},
                ("b", 6): {1, 4, 5, 6, 7, 8},
            },
        ),
        (
            'base = "train-items"\nrelevant = "one"\nexclude_train = "none"',
            {
                ("a", 3): {1, 2, 3, 5, 7},
                ("a", 4): {1, 2, 4, 5, 7},
                ("b", 2): {1, 2, 3, 4, 5, 7},
                ("b", 6): {1, 3, 4, 5, 7},
            },
        ),
        (
            'base = "test-items"\nrelevant = "one"\nrated_negatives = "exclude"',
            {("a", 3): {3, 6, 7}, ("a", 4): {4, 6, 7}, ("b", 2): {4, 5, 7}, ("b", 6): {4, 5, 6, 7}},
        ),
    ],
)
def test_lists_by_hand(plan, fold, lists_of, decisions, expected):
    candidates = plan(decisions)
    block = candidates.block(candidates.users)
    assert lists_of(block, fold) == expected
    assert candidates.n_lists == len(block) == len(expected)
    # As many negatives as there are is the same as all of them.
    if "user-test" not in decisions:
        sampled = plan(decisions + '\nnegatives = "sampled"\nsample_size = 8')
        assert lists_of(sampled.block(sampled.users), fold) == expected
        weighted = plan(decisions + '\nnegatives = "sampled"\nsample_size = 8\nsample_weight = "popularity"')
        assert lists_of(weighted.block(weighted.users), fold) == expected


def test_the_head_is_taken_out_of_every_base(plan, fold, lists_of):
    head = fold.whole.item_codes([3, 7])
    candidates = plan('base = "all-items"', removed_items=head)
    assert lists_of(candidates.block(candidates.users), fold)["a"] == {4, 5, 6, 8}
    assert [i.touched for i in candidates.impacts() if i.decision == "split.head"] == [2]


@pytest.mark.parametrize(
    ("excluded", "expected"),
    [
        ("yes", {"a": {3, 4, 5, 6, 7}, "b": {1, 4, 5, 7, 8}}),
        ("no", {"a": {3, 4, 5, 6, 7, 8}, "b": {1, 4, 5, 6, 7, 8}}),
    ],
)
def test_validation_items_are_kept_out_or_not(fold, protocol_of, lists_of, excluded, expected):
    # As validation items a has 8, and b has 6, which is also a relevant test item of b.
    ids = fold.whole.user_codes(["a", "b"]), fold.whole.item_codes([8, 6])
    validation = replace(fold.whole.select(np.arange(2)), users=ids[0], items=ids[1])
    decisions = f'base = "all-items"\nexclude_validation = "{excluded}"\n'
    split = "validation_ratio = 0.1"
    for more in ("", 'negatives = "sampled"\nsample_size = 8'):
        protocol = protocol_of(decisions + more, split=split)
        candidates = plan_candidates(replace(fold, validation=validation), protocol, 7)
        assert lists_of(candidates.block(np.array([0, 1])), fold) == expected
        impacts = [i for i in candidates.impacts() if i.decision == "candidates.exclude_validation"]
        counts = [(1, 4), (2, 24)] if excluded == "yes" else []
        assert [(i.touched, i.total) for i in impacts] == counts


def test_a_base_of_nothing_is_refused(plan, fold):
    with pytest.raises(DataError, match="there are no candidates"):
        plan('base = "all-items"', removed_items=np.arange(fold.whole.n_items))


@pytest.mark.parametrize("more", ["", 'relevant = "one"\n', 'negatives = "sampled"\nsample_size = 2\n'])
def test_a_fold_without_test_rows_has_no_lists(fold, protocol_of, more):
    nothing = fold.test.select(np.arange(0))
    candidates = plan_candidates(replace(fold, test=nothing), protocol_of('base = "all-items"\n' + more), 7)
    assert candidates.n_lists == len(candidates.users) == len(candidates.block(candidates.users)) == 0
    assert all(impact.touched == 0 for impact in candidates.impacts())


def test_users_without_relevant_items_have_a_list_in_ar_only(plan):
    assert plan('base = "all-items"').users.tolist() == [0, 1, 2]
    assert plan('base = "all-items"\nrelevant = "one"').users.tolist() == [0, 1]


def test_judged_items_of_ar_are_all_held_out_items(plan, fold):
    block = plan('base = "train-items"').block(np.array([0, 1, 2]))
    assert block.judged_offsets.tolist() == [0, 3, 5, 6]
    assert fold.whole.item_ids[block.judged_items].tolist() == [3, 4, 5, 2, 6, 7]
    assert block.judged_columns.tolist() == [2, 3, 4, 1, -1, 5]  # of 1 2 3 4 5 7
    assert block.judged_relevant.tolist() == [1, 1, 0, 1, 1, 0]
    assert block.judged_grades.tolist() == [4, 5, 0, 5, 5, 0]


def test_judged_items_of_1r_are_the_target_and_the_non_relevant_ones(plan, fold):
    block = plan('base = "all-items"\nrelevant = "one"').block(np.array([0, 1]))
    assert block.rows.tolist() == [0, 0, 1, 1]
    assert block.judged_offsets.tolist() == [0, 2, 4, 5, 6]
    assert fold.whole.item_ids[block.judged_items].tolist() == [3, 5, 4, 5, 2, 6]
    assert block.judged_relevant.tolist() == [1, 0, 1, 0, 1, 1]
    assert block.judged_grades.tolist() == [4, 0, 5, 0, 5, 5]


def test_impacts_count_what_cannot_be_found(plan):
    impacts = {(i.decision, i.unit): i for i in plan('base = "train-items"').impacts()}
    lost = impacts["candidates.base", "relevant test items"]
    assert (lost.touched, lost.total) == (1, 4)  # item 6 of b
    trained = impacts["candidates.exclude_train", "relevant test items"]
    assert (trained.touched, trained.total) == (1, 4)  # item 2 of b
    excluded = impacts["candidates.exclude_train", "pairs of a test user and a candidate"]
    assert (excluded.touched, excluded.total) == (6, 3 * 6)
    rated = impacts["candidates.rated_negatives", "test items"]
    assert (rated.touched, rated.total) == (2, 6)  # 5 of a and 7 of c


def test_impacts_count_users_without_a_list_in_1r(plan):
    impact = plan('base = "all-items"\nrelevant = "one"').impacts()[0]
    assert (impact.decision, impact.touched, impact.total) == ("candidates.relevant", 1, 3)


def test_impacts_of_a_users_own_test_items_count_certain_lists(plan):
    (impact,) = plan('base = "user-test-items"').impacts()
    assert (impact.touched, impact.total) == (1, 3)  # b: both items are relevant


PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 7)),
    st.tuples(st.integers(1, 5), st.sampled_from([("train",), ("test",), ("train", "test")])),
    min_size=2,
)


def brute_force(fold, base, exclude, relevant, rated):
    """Table 4.2 of Bellogín 2012, read with sets: the negatives and the relevant items of each list."""
    train = list(fold.train.to_frame().itertuples(index=False, name=None))
    test = list(fold.test.to_frame().itertuples(index=False, name=None))
    anyone = {
        "all-items": set(fold.whole.item_ids),
        "train-items": {item for _, item, _ in train},
        "test-items": {item for _, item, _ in test},
    }[base]
    lists = {}
    for user in {user for user, _, _ in test}:
        positive = {i for u, i, rating in test if u == user and rating >= 4}
        negative = {i for u, i, rating in test if u == user and rating < 4}
        lowest = {"all": 0, "relevant": 4, "none": 9}[exclude]
        barred = {i for u, i, rating in train if u == user and rating >= lowest}
        listed = (positive & anyone) - barred
        negatives = anyone - positive - barred - (negative if rated == "exclude" else set())
        if relevant == "all":
            lists[user] = (negatives, listed)
        else:
            lists |= {(user, target): (negatives, {target} & listed) for target in positive}
    return lists


@settings(deadline=None)  # the first example may wait for the compiler
@given(
    PAIRS,
    st.sampled_from(["all-items", "train-items", "test-items"]),
    st.sampled_from(["all", "relevant", "none"]),
    st.sampled_from(["all", "one"]),
    st.sampled_from(["include", "exclude"]),
    st.integers(1, 4),
    st.sampled_from(["uniform", "popularity"]),
    st.booleans(),
)
def test_lists_agree_with_sets(
    fold_of, protocol_of, lists_of, pairs, base, exclude, relevant, rated, size, weight, replacement
):
    rows = [(*pair, rating, part) for pair, (rating, parts) in pairs.items() for part in parts]
    assume({part for *_, part in rows} == {"train", "test"})
    fold = fold_of(rows)
    expected = brute_force(fold, base, exclude, relevant, rated)
    decisions = f'base = "{base}"\nexclude_train = "{exclude}"\nrelevant = "{relevant}"\nrated_negatives = "{rated}"\n'
    candidates = plan_candidates(fold, protocol_of(decisions), 1)
    lists = lists_of(candidates.block(candidates.users), fold)
    assert lists == {key: negatives | positives for key, (negatives, positives) in expected.items()}

    decisions += f'negatives = "sampled"\nsample_size = {size}\nsample_weight = "{weight}"\n'
    decisions += f"replacement = {str(replacement).lower()}\n"
    candidates = plan_candidates(fold, protocol_of(decisions), 1)
    lists = lists_of(candidates.block(candidates.users), fold)
    assert lists.keys() == expected.keys()
    for key, (negatives, positives) in expected.items():
        drawn = lists[key] - positives
        assert lists[key] >= positives
        assert drawn <= negatives
        if replacement:
            assert min(1, len(negatives)) <= len(drawn) <= size
        else:
            assert len(drawn) == min(size, len(negatives))
