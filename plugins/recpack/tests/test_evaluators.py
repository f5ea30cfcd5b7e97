"""RecPack's evaluators: numbers worked by hand, RecPack called directly, and what it does at the edges."""

import json
import subprocess

import numpy as np
import pytest

import repro
from repro.plugin import SCORED, Case, plugins
from repro.testing import answer
from repro.testing import case_of_rows as case_of

pytestmark = pytest.mark.slow

NAN, INFINITE = float("nan"), float("inf")
LOG3 = float(np.log2(3))


@pytest.fixture(scope="module")
def ask(python):
    """The answer of an evaluator: its average, and the values of the users by id."""
    return lambda name, *question: answer(f"recpack/{name}", *question)


# Items in the order of presentation. User 1 has 33 from training, user 5 has 2 and 4, and user 9 has no held-out rows.
ITEMS = [33, 2, 10, 4, 51, 8]
TRAIN = [(9, 33), (9, 2), (9, 10), (9, 4), (9, 51), (1, 33), (5, 2), (5, 4)]
TEST = [(1, 10, 4), (1, 8, 2), (5, 51, 3)]
FALLING = dict(zip(ITEMS, [6, 5, 4, 3, 2, 1], strict=True))


def asked_of(*scores, test=TEST):
    """User 1 has these scores, the others those that fall with the order of presentation."""
    return case_of(TRAIN, test, {1: dict(zip(ITEMS, scores, strict=True)), 5: FALLING, 9: FALLING}, ITEMS)


PLAIN = asked_of(6, 5, 4, 3, 2, 1)


@pytest.mark.parametrize(
    ("evaluator", "measure", "expected"),
    [
        # Nobody's training items are left out: 33, 2, 10 for both, and user 5's item 51 is fifth.
        ("metrics", "NDCGK", {1: 0.5 / (1 + 1 / LOG3), 5: 0}),
        ("metrics", "PrecisionK", {1: 1 / 3, 5: 0}),
        ("metrics", "RecallK", {1: 1 / 2, 5: 0}),
        ("metrics", "ReciprocalRankK", {1: 1 / 3, 5: 0}),
        # 2, 10, 4 for user 1, and 33, 10, 51 for user 5.
        ("Pipeline", "NDCGK", {1: 1 / LOG3 / (1 + 1 / LOG3), 5: 1 / 2}),
        ("Pipeline", "PrecisionK", {1: 1 / 3, 5: 1 / 3}),
        ("Pipeline", "RecallK", {1: 1 / 2, 5: 1}),
        ("Pipeline", "CalibratedRecallK", {1: 1 / 2, 5: 1}),
        ("Pipeline", "ReciprocalRankK", {1: 1 / 2, 5: 1 / 3}),
        # Given ratings, recall is a hit in their sum, and the reciprocal rank is divided by the rating.
        ("metrics-ratings", "RecallK", {1: 1 / 6, 5: 0}),
        ("metrics-ratings", "ReciprocalRankK", {1: 1 / 12, 5: 0}),
        # 33 and 2 are two users', one of them in common, and 10 is that one's.
        ("metrics-fitted", "IntraListDiversityK", {1: (2 / 3 + 1 / 2 + 1 / 2) / 3, 5: (2 / 3 + 1 / 2 + 1 / 2) / 3}),
    ],
)
def test_numbers_worked_by_hand(ask, evaluator, measure, expected):
    value, per_user = ask(evaluator, PLAIN, measure, 3)
    assert per_user == pytest.approx(expected, abs=1e-9)
    assert value == pytest.approx(sum(expected.values()) / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("evaluator", "measure", "k", "expected"),
    [
        # The number of hits, and not whether there are any: 10 and 8 of user 1, 51 of user 5.
        ("metrics", "HitK", 6, 1.5),
        ("Pipeline", "HitK", 5, 1.5),
        # 33, 2 and 10 for both; without training items, 51 and 4 as well.
        ("metrics", "CoverageK", 3, 3 / 6),
        ("Pipeline", "CoverageK", 3, 5 / 6),
        # Ranks 3, 6 and 5 of six, from 0 on, in percent; without training items ranks 2, 5 and 3.
        ("metrics", "PercentileRanking", None, 100 * (2 + 5 + 4) / 6 / 3),
        ("Pipeline", "PercentileRanking", None, 100 * (1 + 4 + 2) / 6 / 3),
    ],
)
def test_numbers_of_all_users_together_worked_by_hand(ask, evaluator, measure, k, expected):
    assert ask(evaluator, PLAIN, measure, k) == (pytest.approx(expected, abs=1e-9), None)


def list_of(ask, evaluator, case, k):
    """User 1's list down to k, from the reciprocal ranks of each item where it alone is held out."""
    scores = case.scores.values[0, [sorted(ITEMS).index(item) for item in ITEMS]].tolist()
    actual = {item: ask(evaluator, asked_of(*scores, test=[(1, item)]), "ReciprocalRankK", k)[0] for item in ITEMS}
    return sorted((item for item in actual if actual[item]), key=lambda item: -actual[item])


def test_missing_scores_are_first(ask):
    assert list_of(ask, "metrics", asked_of(6, 5, 4, NAN, 2, 1), 3) == [4, 33, 2]
    assert list_of(ask, "Pipeline", asked_of(6, 5, 4, NAN, 2, 1), 3) == [4, 2, 10]


def test_a_pipeline_keeps_a_training_item_whose_score_is_missing_or_infinite(ask):
    assert list_of(ask, "Pipeline", asked_of(NAN, 5, 4, 3, 2, 1), 2) == [33, 2]
    assert list_of(ask, "Pipeline", asked_of(-INFINITE, 5, 4, 3, 2, 1), 2) == [33, 2]


def test_a_pipeline_ranks_an_infinitely_low_score_first(ask):
    """As 0 times infinity, which is what is taken out for an item that is not of training, is not a number."""
    assert list_of(ask, "metrics", asked_of(6, 5, -INFINITE, 3, 2, 1), 2) == [33, 2]
    assert list_of(ask, "Pipeline", asked_of(6, 5, -INFINITE, 3, 2, 1), 2) == [10, 2]


def test_a_score_of_zero_is_ranked_by_metrics_and_gone_from_a_pipeline(ask):
    zero = asked_of(6, 0, 1, -1, 0.5, -2)
    assert list_of(ask, "metrics", zero, 6) == [33, 10, 51, 2, 4, 8]
    assert list_of(ask, "Pipeline", zero, 6) == [10, 51, 4, 8]


def test_a_short_list_counts_as_if_it_had_k_items(ask):
    assert ask("metrics", case_of(TRAIN, TEST, {1: {10: 1}, 5: {51: 1}, 9: {}}, ITEMS), "PrecisionK", 4)[0] == 1 / 4


def test_a_user_without_a_list_counts_0_and_the_item_not_listed_is_halfway_below(ask):
    """User 5 has no list, and so the middle of all six places; 8 is after the two of user 1's list, halfway to the end:
    RecPack takes the last rank for that, from 0 on."""
    case = case_of(TRAIN, TEST, {1: {10: 2, 4: 1}, 5: {}, 9: {}}, ITEMS)
    assert ask("metrics", case, "RecallK", 3) == (1 / 4, {1: 1 / 2, 5: 0})
    percents = 100 * (0 + (1 / 6 + 1) / 2 + 1 / 2) / 3
    assert ask("metrics", case, "PercentileRanking")[0] == pytest.approx(percents, abs=1e-9)


def test_a_user_without_training_rows_has_no_list_in_a_pipeline(ask):
    case = case_of(TRAIN[:6], TEST, {1: FALLING, 5: FALLING, 9: FALLING}, ITEMS)
    assert ask("Pipeline", case, "ReciprocalRankK", 3)[1] == {1: 1 / 2, 5: 0}


def test_whatever_is_held_out_is_relevant_and_counts_once_but_for_ratings_of_0(ask):
    case = asked_of(6, 5, 4, 3, 2, 1, test=[(1, 2, 0), (1, 2, 0), (5, 51, 3)])
    assert ask("metrics", case, "RecallK", 3)[1] == {1: 1, 5: 0}
    assert ask("metrics-ratings", case, "RecallK", 3)[1] == {5: 0}


# RecPack's own calls, on matrices and data written by hand.
DIRECT = """
import json, sys
import numpy as np
import pandas as pd
from recpack import metrics
from recpack.algorithms.base import Algorithm
from recpack.matrix import InteractionMatrix
from recpack.pipelines import ALGORITHM_REGISTRY, PipelineBuilder
from scipy.sparse import csr_matrix

class Table(Algorithm):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def _fit(self, X):
        self.table_ = csr_matrix(cases[self.number]["scores"])

    def _predict(self, X):
        return self.table_

def matrix(rows, shape):
    return InteractionMatrix(pd.DataFrame(rows, columns=["u", "i"]), item_ix="i", user_ix="u", shape=shape)

ALGORITHM_REGISTRY.register("Table", Table)
names = ["NDCGK", "PrecisionK", "RecallK", "CalibratedRecallK", "ReciprocalRankK", "HitK", "CoverageK"]
cases = json.load(sys.stdin)
answers = []
for number, asked in enumerate(cases):
    scores = csr_matrix(asked["scores"])
    train, test = matrix(asked["train"], scores.shape), matrix(asked["test"], scores.shape)
    builder = PipelineBuilder()
    builder.set_full_training_data(train)
    builder.set_test_data((train, test))
    builder.add_algorithm("Table", params={"number": number})
    found = {}
    for name in names:
        builder.add_metric(name, 3)
        metric = getattr(metrics, name)(3)
        metric.calculate(test.binary_values, scores)
        found["metrics " + name] = float(metric.value)
    builder.add_metric("PercentileRanking")
    pipeline = builder.build()
    pipeline.run()
    (told,) = pipeline.get_metrics().to_dict("records")
    answers.append(found | {"Pipeline " + name.split("_")[0]: float(value) for name, value in told.items()})
print(json.dumps(answers))
"""


def drawn(seed):
    """Six users and nine items by number, with scores that tie now and then; every user has a training row."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(3, p=[0.3, 0.4, 0.3], size=(6, 9))
    kinds[:, 0] = 0
    train, test = ([tuple(map(int, pair)) for pair in np.argwhere(kinds == kind)] for kind in (0, 1))
    return {"train": train, "test": test, "scores": rng.integers(1, 12, (6, 9)).tolist()}


def test_the_answers_are_those_of_recpack_called_directly(ask, python):
    cases = [drawn(seed) for seed in range(4)]
    done = subprocess.run([python, "-c", DIRECT], input=json.dumps(cases), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for request, answers in zip(cases, json.loads(done.stdout.splitlines()[-1]), strict=True):
        scores = {user: dict(enumerate(row)) for user, row in enumerate(request["scores"])}
        case = case_of(request["train"], request["test"], scores, range(9))
        for name, expected in answers.items():
            evaluator, measure = name.split()
            k = None if measure == "PercentileRanking" else 3
            assert ask(evaluator, case, measure, k)[0] == pytest.approx(expected, abs=1e-12), name


def test_the_evaluator_says_of_the_pipelines_scores_what_the_pipeline_reports(ask):
    rows = repro.load_dataset("ml-100k")
    (fold,) = plugins().run_pipeline(plugins().pipelines()["recpack/WeakGeneralization"], rows, 7)
    assert np.array_equal(np.sort(np.concatenate([fold.train, fold.test])), np.arange(len(rows)))
    train, test = rows.select(fold.train), rows.select(fold.test)
    assert (train.user_counts() == np.ceil(0.8 * rows.user_counts())).all()
    listed = fold.scores.state == SCORED
    case = Case(fold.scores, train, test, np.arange(rows.n_items, dtype=np.int32), listed=listed)
    actual = {
        name: ask("Pipeline", case, name, None if name == "PercentileRanking" else 10)[0] for name in fold.reported
    }
    assert actual == pytest.approx(dict(fold.reported), abs=1e-12)
    scores = np.where(listed, fold.scores.values, -np.inf)
    scores[train.users, train.items] = -np.inf
    best, worst = (percentiles(scores, test, above).mean() for above in (0, 1))  # of equal scores
    assert best <= fold.reported["PercentileRanking"] <= worst < best + 1e-3


def percentiles(scores, test, above_equals):
    """The percentile ranking of RecPack, as it documents it: the share of all items that are above an item, in percent;
    of what is not listed, the mean of the last place and the end."""
    mine = scores[test.users]
    own = mine[np.arange(len(test)), test.items][:, None]
    equal = (mine == own).sum(axis=1) - 1
    above = np.where(np.isfinite(own[:, 0]), (mine > own).sum(axis=1) + above_equals * equal, np.nan)
    last = np.isfinite(mine).sum(axis=1) - 1
    positions = np.where(np.isnan(above), (last + mine.shape[1]) / 2, above)
    return 100 * positions / mine.shape[1]
