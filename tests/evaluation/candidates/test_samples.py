"""Sampled candidates: what a sample depends on, what lists share, and popularity percentiles."""

import numpy as np
import pytest

from repro.errors import ProtocolError
from repro.evaluation.candidates import plan_candidates

SAMPLED = 'base = "all-items"\nnegatives = "sampled"\nsample_size = 10\n'
ONE = SAMPLED + 'relevant = "one"\n'


def random_rows(seed=3, n_users=30, n_items=60):
    rng = np.random.default_rng(seed)
    popularity = rng.random(n_items) ** 2
    return [
        (f"u{user}", f"i{item}", float(rng.integers(1, 6)), "test" if rng.random() < 0.4 else "train")
        for user in range(n_users)
        for item in range(n_items)
        if rng.random() < popularity[item]
    ]


@pytest.fixture(scope="module")
def crowd(fold_of):
    return fold_of(random_rows())


@pytest.fixture(scope="module")
def lists_for(crowd, protocol_of, lists_of):
    def make(decisions, seed=7, fold=crowd):
        protocol = protocol_of(decisions)
        candidates = plan_candidates(fold, protocol, seed)
        return lists_of(candidates.block(candidates.users), fold)

    return make


VARIANTS = [
    SAMPLED,
    ONE,
    ONE + 'sample_weight = "popularity"\n',
    ONE + "replacement = true\n",
    ONE + 'sample_per = "user"\n',
    ONE.replace("10", "4") + 'strata = "popularity"\n',
    'base = "all-items"\nrelevant = "one"\n',
]


@pytest.mark.parametrize("decisions", VARIANTS)
def test_lists_do_not_depend_on_the_block(crowd, protocol_of, lists_of, lists_for, decisions):
    candidates = plan_candidates(crowd, protocol_of(decisions), 7)
    together = lists_for(decisions)
    alone = {}
    for start in range(0, len(candidates.users), 7):
        alone |= lists_of(candidates.block(candidates.users[start : start + 7]), crowd)
    assert alone == together
    backwards = candidates.block(candidates.users[::-1])
    assert backwards.users.tolist() == candidates.users.tolist()
    assert lists_of(backwards, crowd) == together


@pytest.mark.parametrize("decisions", VARIANTS)
def test_lists_do_not_depend_on_the_order_of_the_rows(fold_of, lists_for, decisions):
    rows = random_rows()
    shuffled = [rows[n] for n in np.random.default_rng(0).permutation(len(rows))]
    assert lists_for(decisions, fold=fold_of(shuffled)) == lists_for(decisions)


def test_another_seed_gives_other_samples(lists_for):
    assert lists_for(ONE, seed=8) != lists_for(ONE)
    assert lists_for(ONE, seed=7) == lists_for(ONE)


def test_each_list_has_a_sample_of_its_own_or_all_lists_of_a_user_share_one(lists_for):
    own, shared = lists_for(ONE), lists_for(ONE + 'sample_per = "user"')
    users = {user for user, _ in own}
    samples = {user: {frozenset(x - {t}) for (u, t), x in own.items() if u == user} for user in users}
    assert sum(len(sample) for sample in samples.values()) == len(own)
    samples = {user: {frozenset(x - {t}) for (u, t), x in shared.items() if u == user} for user in users}
    assert all(len(sample) == 1 for sample in samples.values())


def test_one_precision_is_bound_by_all_precision(crowd, lists_for):
    """Equation 4.2 of Bellogín 2012, user by user: with the same negatives in all lists, the hits of 1R at n lie
    between those of AR at n and those of AR at n + pr_test(u) - 1."""
    all_relevant, one_relevant = lists_for(SAMPLED), lists_for(ONE + 'sample_per = "user"')
    scores = dict(zip(crowd.whole.item_ids, np.random.default_rng(5).random(60), strict=False))
    lower = between = upper = 0
    for user, items in all_relevant.items():
        targets = {target for u, target in one_relevant if u == user}
        order = sorted(items, key=scores.__getitem__, reverse=True)
        for n in (1, 3, 5):
            hits = sum(
                target in sorted(one_relevant[user, target], key=scores.__getitem__, reverse=True)[:n]
                for target in targets
            )
            least = len(targets & set(order[:n]))
            most = len(targets & set(order[: n + len(targets) - 1])) if targets else 0
            assert least <= hits <= most
            lower, between, upper = lower + least, between + hits, upper + most
    assert lower < between < upper


def test_a_list_shorter_than_asked_is_counted(plan):
    # Left to draw from: for a (both lists) 5, 6, 7, 8; for b 1, 4, 5, 7, 8.
    sampled = 'base = "all-items"\nrelevant = "one"\nnegatives = "sampled"\nsample_size = '
    counts = [plan(sampled + size).impacts()[-1] for size in ("4", "5", "6")]
    assert [(i.decision, i.touched, i.total) for i in counts] == [
        ("candidates.sample_size", 0, 4),
        ("candidates.sample_size", 2, 4),
        ("candidates.sample_size", 4, 4),
    ]


def test_repeated_draws_are_counted(plan, fold, lists_of):
    candidates = plan(
        'base = "all-items"\nrelevant = "one"\nnegatives = "sampled"\nsample_size = 5\nreplacement = true'
    )
    lists = lists_of(candidates.block(candidates.users), fold)
    negatives = sum(len(items - {target}) for (_, target), items in lists.items())
    impact = candidates.impacts()[-1]
    assert (impact.decision, impact.touched, impact.total) == ("candidates.replacement", 20 - negatives, 20)


@pytest.mark.parametrize("by", ["all", "train"])
def test_percentiles_have_equal_sizes_and_lists_stay_inside_one(crowd, protocol_of, lists_of, by):
    decisions = ONE.replace("10", "4") + f'strata = "popularity"\nstrata_count = 7\nstrata_by = "{by}"\n'
    candidates = plan_candidates(crowd, protocol_of(decisions), 7)
    rows = crowd.whole if by == "all" else crowd.train
    ids = rows.item_ids
    order = sorted(range(len(ids)), key=lambda item: (int((rows.items == item).sum()), item))
    stratum = {ids[item]: place * 7 // len(order) for place, item in enumerate(order)}
    sizes = np.bincount(list(stratum.values()))
    assert sizes.max() - sizes.min() <= 1
    block = candidates.block(candidates.users)
    for (key, items), listed in zip(lists_of(block, crowd).items(), block.strata, strict=True):
        assert {stratum[item] for item in items} == {stratum[key[1]]} == {listed}
    assert len(set(block.strata.tolist())) == 7


def test_one_sample_for_each_user_and_percentile(lists_for):
    decisions = ONE.replace("10", "3") + 'strata = "popularity"\nstrata_count = 2\nsample_per = "user"\n'
    lists = lists_for(decisions)
    for user in {user for user, _ in lists}:
        assert len({frozenset(items - {t}) for (u, t), items in lists.items() if u == user}) <= 2


def test_a_target_set_larger_than_a_percentile_is_refused(crowd, protocol_of):
    smallest = crowd.whole.n_items // 10
    decisions = ONE.replace("10", str(smallest)) + 'strata = "popularity"\n'
    with pytest.raises(ProtocolError, match=f"larger than a percentile.* make {smallest + 1} items.*10 percentiles"):
        plan_candidates(crowd, protocol_of(decisions), 7)
    fits = decisions.replace(f"sample_size = {smallest}", f"sample_size = {smallest - 1}")
    assert plan_candidates(crowd, protocol_of(fits), 7).n_lists


def test_popular_items_are_drawn_more_often_by_weight(crowd, lists_for):
    counts = dict(zip(crowd.train.item_ids, crowd.train.item_counts(), strict=True))

    def mean_popularity(decisions):
        lists = lists_for(decisions)
        return np.mean([counts[item] for (_, target), items in lists.items() for item in items - {target}])

    assert mean_popularity(ONE + 'sample_weight = "popularity"') > mean_popularity(ONE) + 1
