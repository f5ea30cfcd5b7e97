"""RecTools' evaluators: the examples of its documentation, RecTools called directly, and what it does at the edges."""

import json
import subprocess

import numpy as np
import pytest

import repro
from repro.errors import PluginError
from repro.plugin import plugins
from repro.testing import answer, check_pipeline_fold
from repro.testing import case_of_rows as case_of

NAN, INFINITE = float("nan"), float("inf")


def of_lists(train, test, lists, items):
    """A case of lists, the best item first."""
    scores = {user: {item: -float(rank) for rank, item in enumerate(items)} for user, items in lists.items()}
    return case_of(train, test, scores, items)


@pytest.fixture(scope="module")
def ask(framework):
    """The answer of an evaluator: its average, and the values of the users by id."""
    return lambda name, *question: answer(f"rectools/{name}", *question)


# The tables of the docstrings of NDCG and MAP, of MRR, of PartialAUC and PAP, and of MeanInvUserFreq.
LISTS = {1: [7, 8], 2: [1, 2], 3: [1, 2, 3, 4], 4: [1, 2, 3]}
HELD_OUT = [(1, 1), (1, 2), (2, 1), (3, 1), (3, 3), (3, 4), (4, 1), (4, 2), (4, 3)]
RANKED = of_lists([(1, 1)], HELD_OUT, LISTS, [1, 2, 3, 4, 7, 8])
LATE = of_lists([(1, 1)], HELD_OUT, LISTS | {3: [2, 1, 3, 4], 4: [7, 8, 3]}, [1, 2, 3, 4, 7, 8])
AREA = of_lists(
    [(1, 1)], [(1, 1), (1, 2), (2, 1), (2, 3), (3, 1), (3, 2)], {1: [1, 2], 2: [3, 1, 2], 3: [3, 2]}, [1, 2, 3]
)
KNOWN = of_lists(
    [(1, 1), (1, 2), (2, 1), (3, 1)], [(u, 1) for u in (1, 2, 3)], {1: [3], 2: [2, 3], 3: [1, 2]}, [1, 2, 3]
)


@pytest.mark.parametrize(
    ("case", "measure", "k", "expected"),
    [
        (RANKED, "NDCG", 1, [0, 1, 1, 1]),
        (RANKED, "NDCG", 3, [0, 0.46927873, 0.70391809, 1]),
        (RANKED, "MAP", 1, [0, 1, 1 / 3, 1 / 3]),
        (RANKED, "MAP", 3, [0, 1, 0.55555556, 1]),
        (LATE, "MRR", 1, [0, 1, 0, 0]),
        (LATE, "MRR", 3, [0, 1, 1 / 2, 1 / 3]),
        (AREA, "PartialAUC", 1, [1, 1, 0]),
        (AREA, "PartialAUC", 3, [1, 1, 1 / 3]),
        (AREA, "PAP", 3, [1, 1, 1 / 3]),
        (KNOWN, "MeanInvUserFreq", 1, [1.5849625, 1.5849625, 0]),
        (KNOWN, "MeanInvUserFreq", 3, [1.5849625, 1.5849625, 0.79248125]),
    ],
)
def test_examples_of_the_documentation(ask, case, measure, k, expected):
    value, per_user = ask("calc_metrics-lists", case, measure, k)
    assert list(per_user.values()) == pytest.approx(expected, abs=5e-9)
    assert value == pytest.approx(sum(expected) / len(expected), abs=5e-9)


# Three users; user 1 has item 33 in training, no user has item 8, and user 9 has the others.
ITEMS = [33, 2, 10, 4, 51, 8]
TRAIN = [(9, 33), (9, 2), (9, 10), (9, 4), (9, 51), (1, 33), (5, 2), (5, 4)]
TEST = [(1, 10), (1, 8), (5, 51)]
BEST_FIRST = dict(zip(ITEMS, [6, 5, 4, 3, 2, 1], strict=True))


def case_with(scores, test=TEST, items=ITEMS):
    """User 1 has these scores, and user 5 those that fall with the order of presentation."""
    return case_of(TRAIN, test, {1: dict(zip(items, scores, strict=True)), 5: BEST_FIRST, 9: BEST_FIRST}, items)


# User 1 gets 2, 10, 4, 51 and user 5 gets 33, 10, 51: no training items, and no items without training rows.
PLAIN = case_with([6, 5, 4, 3, 2, 1])
FULL = 1 + 1 / np.log2(3) + 1 / 2


@pytest.mark.parametrize(
    ("evaluator", "measure", "expected"),
    [
        ("calc_metrics", "Precision", {1: 1 / 3, 5: 1 / 3}),
        ("calc_metrics", "Recall", {1: 1 / 2, 5: 1}),
        ("calc_metrics", "F1Beta", {1: 2 / 5, 5: 1 / 2}),
        ("calc_metrics", "HitRate", {1: 1, 5: 1}),
        ("calc_metrics", "MAP", {1: 1 / 4, 5: 1 / 3}),
        # By default the best list is one of k relevant items, however few there are.
        ("calc_metrics", "NDCG", {1: 1 / np.log2(3) / FULL, 5: 1 / 2 / FULL}),
        ("calc_metrics", "MRR", {1: 1 / 2, 5: 1 / 3}),
        # Of three negatives, the relevant item 10 is above two, and 8 is never seen; 51 of user 5 is above one.
        ("calc_metrics", "PartialAUC", {1: 2 / 6, 5: 1 / 3}),
        # Items 2 and 4 are two users', of three, and so is 33; 10 and 51 are one's.
        ("calc_metrics", "MeanInvUserFreq", {1: np.log2(3) - 2 / 3, 5: np.log2(3) - 1 / 3}),
        # 2 and 4 have the same users, 10 one of these two; 10 and 51 the same, 33 one of its two.
        ("calc_metrics", "IntraListDiversity", {1: 2 / 3 * (1 - 0.5**0.5), 5: 2 / 3 * (1 - 0.5**0.5)}),
        ("calc_metrics", "CoveredUsers", {1: 1, 5: 1}),
        ("calc_metrics-options", "Precision(r_precision=True)", {1: 1 / 2, 5: 1}),
        ("calc_metrics-options", "MAP(divide_by_k=True)", {1: 1 / 6, 5: 1 / 9}),
        ("calc_metrics-options", "NDCG(divide_by_achievable=True)", {1: 1 / (np.log2(3) + 1), 5: 1 / 2}),
    ],
)
def test_numbers_worked_by_hand(ask, evaluator, measure, expected):
    value, per_user = ask(evaluator, PLAIN, measure, 3)
    assert per_user == pytest.approx(expected, abs=1e-9)
    assert value == pytest.approx(sum(expected.values()) / len(expected), abs=1e-9)


def test_coverage_is_a_number_of_items_by_default(ask):
    """2, 10 and 4 for user 1, and 33, 10 and 51 for user 5: all five items of training."""
    assert ask("calc_metrics", PLAIN, "CatalogCoverage", 3) == (5, None)
    assert ask("calc_metrics-options", PLAIN, "CatalogCoverage(normalize=True)", 3) == (1, None)
    assert ask("calc_metrics-options", PLAIN, "CatalogCoverage(normalize=True)", 1) == (2 / 5, None)


def test_serendipity_is_rank_against_popularity(ask):
    """Item 10 is first for user 1, of five items, and in the second of two steps of popularity: 5/5 - 4/5 of three."""
    per_user = ask("calc_metrics", case_with([6, 4, 5, 3, 2, 1]), "Serendipity", 3)[1]
    assert per_user == pytest.approx({1: 1 / 15, 5: 0}, abs=1e-9)


def first_of(ask, case, k):
    """User 1's list down to k, from the reciprocal ranks of each item where it alone is held out."""
    ranks = {}
    for item in ITEMS:
        alone = case_of(
            TRAIN,
            [(1, item)],
            {
                int(user): dict(zip(case.test.item_ids.tolist(), row.tolist(), strict=True))
                for user, row in zip(case.test.user_ids, case.scores.values, strict=True)
            },
            ITEMS,
        )
        ranks[item] = ask("calc_metrics", alone, "MRR", k)[0]
    return sorted((item for item in ranks if ranks[item]), key=lambda item: -ranks[item])


def test_of_tied_items_the_first_k_are_taken_and_ranked_backwards(ask):
    tied = case_with([1, 1, 1, 1, 1, 1])
    assert first_of(ask, tied, 2) == [10, 2]
    assert first_of(ask, tied, 4) == [51, 4, 10, 2]


def test_scores_are_compared_in_single_precision(ask):
    assert first_of(ask, case_with([6, 1, 1 + 1e-9, 1 + 2e-9, 0, 0]), 3) == [4, 10, 2]


def test_an_item_scored_minus_infinity_is_not_recommended(ask):
    assert first_of(ask, case_with([6, -INFINITE, 1, INFINITE, 2, 0]), 5) == [4, 51, 10]


def test_a_missing_score_stays_where_the_search_left_it(ask):
    """Seen in the place that it had when it came, with the rest in order around it."""
    assert first_of(ask, case_with([6, 5, 4, NAN, 2, 1]), 2) == [2, 10]
    assert first_of(ask, case_with([6, 5, 4, NAN, 2, 1]), 4) == [4, 2, 10, 51]
    assert first_of(ask, case_with([6, 1, NAN, 3, 4, 0]), 4) == [51, 4, 10, 2]


def test_a_short_list_counts_as_if_it_had_k_items(ask):
    """User 5 has three candidates, of which one is relevant."""
    assert ask("calc_metrics", PLAIN, "Precision", 5)[1][5] == pytest.approx(1 / 5)


def test_a_user_without_a_list_counts_nothing_but_is_not_new_or_diverse(ask):
    """Metrics of what is relevant count the user with 0, those of lists leave the user out."""
    case = case_of(TRAIN, TEST, {1: {}, 5: BEST_FIRST, 9: BEST_FIRST}, ITEMS)
    assert ask("calc_metrics", case, "MRR", 3) == (pytest.approx(1 / 6), {1: 0, 5: pytest.approx(1 / 3)})
    assert ask("calc_metrics", case, "CoveredUsers", 3) == (1 / 2, {1: 0, 5: 1})
    assert set(ask("calc_metrics", case, "MeanInvUserFreq", 3)[1]) == {5}


def test_a_pair_that_is_held_out_twice_counts_twice(ask):
    case = case_with([6, 5, 4, 3, 2, 1], test=[(1, 10), (1, 10), (5, 51)])
    assert ask("calc_metrics", case, "Precision", 3)[1][1] == pytest.approx(2 / 3)
    assert ask("calc_metrics", case, "Precision", 1)[1][1] == 0


def test_a_user_without_training_rows_is_refused(ask):
    case = case_of(TRAIN[:6], TEST, {1: BEST_FIRST, 5: BEST_FIRST, 9: BEST_FIRST}, ITEMS)
    with pytest.raises(PluginError, match="doesn't support recommendations for cold users"):
        ask("calc_metrics", case, "MRR", 3)


# RecTools' own calls: lists from a model with vectors set by hand, and tables written by hand.
DIRECT = """
import json, sys
import numpy as np
import pandas as pd
from rectools import Columns
from rectools.dataset import Dataset
from rectools.metrics import *
from rectools.models import PureSVDModel

K = 3
metrics = {
    "Precision": Precision(k=K), "Recall": Recall(k=K), "F1Beta": F1Beta(k=K), "HitRate": HitRate(k=K), "MAP": MAP(k=K),
    "NDCG": NDCG(k=K), "MRR": MRR(k=K), "MeanInvUserFreq": MeanInvUserFreq(k=K), "Serendipity": Serendipity(k=K),
    "CatalogCoverage": CatalogCoverage(k=K), "CoveredUsers": CoveredUsers(k=K),
}
answers = []
for request in json.load(sys.stdin):
    train = pd.DataFrame(request["train"], columns=[Columns.User, Columns.Item])
    train = train.assign(**{Columns.Weight: 1, Columns.Datetime: "2024-01-01"})
    test = pd.DataFrame(request["test"], columns=[Columns.User, Columns.Item])
    dataset = Dataset.construct(train)
    model = PureSVDModel(recommend_n_threads=1)
    users, items = dataset.user_id_map.external_ids, dataset.item_id_map.external_ids
    model.user_factors = np.array([[request["scores"][str(u)][str(i)] for i in items] for u in users])
    model.item_factors = np.eye(len(items))
    model.is_fitted = True
    reco = model.recommend(test[Columns.User].unique(), dataset, k=K, filter_viewed=True)
    answers.append(calc_metrics(metrics, reco, test, train, items))
print(json.dumps(answers))
"""


def drawn(seed):
    """Five users and ten items, with scores that tie now and then; every user has a training row."""
    rng = np.random.default_rng(seed)
    items = [33, 2, 10, 4, 51, 8, 70, 9, 100, 12]
    kinds = {(user, item): rng.choice(["train", "test", ""], p=[0.3, 0.4, 0.3]) for item in items for user in range(5)}
    train = [(user, 33) for user in range(5)] + [pair for pair in kinds if kinds[pair] == "train" and pair[1] != 33]
    test = [pair for pair in kinds if kinds[pair] == "test" and pair[1] != 33]
    scores = {user: dict(zip(items, rng.integers(-3, 9, 10).tolist(), strict=True)) for user in range(5)}
    return train, test, scores, items


def test_the_answers_are_those_of_rectools_called_directly(ask, framework):
    cases = [drawn(seed) for seed in range(4)]
    requests = json.dumps([dict(zip(("train", "test", "scores"), case, strict=False)) for case in cases])
    done = subprocess.run([framework.python, "-c", DIRECT], input=requests, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for case, answers in zip(cases, json.loads(done.stdout), strict=True):
        for measure, expected in answers.items():
            assert ask("calc_metrics", case_of(*case), measure, 3)[0] == pytest.approx(expected, abs=1e-12), measure


def test_the_evaluator_gives_the_numbers_that_the_pipeline_reports(ask):
    rows = repro.load_dataset("ml-100k")
    folds = plugins().run_pipeline(plugins().pipelines()["rectools/cross_validate"], rows, 7)
    assert len(folds) == 3
    assert len(np.unique(np.concatenate([fold.test for fold in folds]))) == sum(len(fold.test) for fold in folds)
    for fold in folds:
        assert not np.intersect1d(fold.train, fold.test).size
        check_pipeline_fold("rectools/cross_validate", rows, fold)
