"""Cornac's evaluators: numbers worked by hand, Cornac called directly, what it does at the edges, and its README."""

import json
import subprocess

import numpy as np
import pytest

import repro
from repro.audits.pipelines.rescoring import ScoredFold, rescore
from repro.errors import PluginError
from repro.plugin import Case, plugins
from repro.protocol import Protocol
from repro.testing import answer
from repro.testing import case_of_rows as case_of

NAN = float("nan")
# Two users, eight items in the order of presentation; 70 and 9 have no training rows.
ITEMS = [33, 2, 10, 4, 51, 8, 70, 9]
TRAIN = [(1, 33, 5), (1, 2, 1), (5, 10, 4), (5, 4, 4), (5, 51, 4), (5, 8, 4)]
TEST = [(1, 10, 5), (1, 70, 5), (5, 33, 2), (5, 9, 5)]
SCORES = {1: [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0, 0], 5: [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0, 0]}
# Predictions of a 6 that is clipped to the highest training rating, of three users.
RATED_TRAIN = [(1, 9, 1), (2, 9, 5), (3, 1, 3), (3, 9, 2), (1, 4, 2), (2, 2, 4), (1, 3, 3)]
RATED_TEST = [(1, 1, 4), (1, 2, 2), (1, 3, 5), (2, 1, 1), (3, 2, 3), (3, 3, 4)]
PREDICTED = {1: [3.5, 2.5, 6, 0, 0], 2: [3, 0, 0, 0, 0], 3: [0, 3, 2, 0, 0]}


@pytest.fixture(scope="module")
def ask(python):
    """The answer of an evaluator: its average, and the values of the users by id."""
    return lambda name, *question: answer(f"cornac/{name}", *question)


def ranked(**changed):
    return case_of(**({"train": TRAIN, "test": TEST, "scores": SCORES, "items": ITEMS} | changed))


def log(rank):
    return 1 / np.log2(rank + 1)


@pytest.mark.parametrize(
    ("evaluator", "measure", "k", "expected"),
    [
        # Without unknown items each user's one relevant item is first of those not liked in training.
        ("ranking_eval", "MAP", None, {1: 1, 5: 1}),
        ("ranking_eval", "MRR", None, {1: 1, 5: 1}),
        ("ranking_eval", "AUC", None, {1: 1, 5: 1}),
        ("ranking_eval", "NDCG", 2, {1: 1, 5: 1}),
        ("ranking_eval", "Precision", 2, {1: 1 / 2, 5: 1 / 2}),
        ("ranking_eval", "Precision@-1", None, {1: 1 / 4, 5: 1 / 2}),
        # With them each has a second one, with the lowest score: the last of six (of four) that share it.
        ("ranking_eval-unknowns", "NDCG", 3, {1: 1 / (1 + log(2)), 5: 1 / (1 + log(2))}),
        ("ranking_eval-unknowns", "Recall", 3, {1: 1 / 2, 5: 1 / 2}),
        ("ranking_eval-unknowns", "Precision", 3, {1: 1 / 3, 5: 1 / 3}),
        ("ranking_eval-unknowns", "F1", 3, {1: 0.4, 5: 0.4}),
        ("ranking_eval-unknowns", "HitRatio", 3, {1: 1, 5: 1}),
        ("ranking_eval-unknowns", "MAP", None, {1: (1 + 2 / 6) / 2, 5: (1 + 2 / 4) / 2}),
        ("ranking_eval-unknowns", "AUC", None, {1: 4 / 8, 5: 2 / 4}),
        ("ranking_eval-unknowns", "MRR", None, {1: 1, 5: 1}),
        # From a rating of 4: the item that user 1 rated 1 is back, and user 5 has no relevant item left.
        ("Experiment", "MAP", None, {1: 1 / 2}),
        ("Experiment", "NDCG", 3, {1: log(2)}),
    ],
)
def test_rankings_worked_by_hand(ask, evaluator, measure, k, expected):
    value, per_user = ask(evaluator, ranked(), measure, k)
    assert per_user == pytest.approx(expected, abs=1e-9)
    assert value == pytest.approx(sum(expected.values()) / len(expected), abs=1e-9)


@pytest.mark.parametrize(
    ("evaluator", "measure", "expected", "per_user"),
    [
        # Errors 0.5, 0.5 and, clipped to 5, 0 of user 1; 2 of user 2; 0 and 2 of user 3.
        ("rating_eval", "MAE", 5 / 6, None),
        ("rating_eval", "MSE", 8.5 / 6, None),
        ("rating_eval", "RMSE", (8.5 / 6) ** 0.5, None),
        ("rating_eval-user_based", "MAE", (1 / 3 + 2 + 1) / 3, {1: 1 / 3, 2: 2, 3: 1}),
        ("rating_eval-user_based", "RMSE", ((1 / 6) ** 0.5 + 2 + 2**0.5) / 3, {1: (1 / 6) ** 0.5, 2: 2, 3: 2**0.5}),
    ],
)
def test_predictions_worked_by_hand(ask, evaluator, measure, expected, per_user):
    value, by_user = ask(evaluator, case_of(RATED_TRAIN, RATED_TEST, PREDICTED, [1, 2, 3, 4, 9]), measure)
    assert value == pytest.approx(expected, abs=1e-9)
    assert by_user == (None if per_user is None else pytest.approx(per_user, abs=1e-9))


def test_an_experiment_averages_errors_over_users(ask):
    """The same predictions; that there are relevant items, rated 4 and more, is what the other metrics need."""
    value, per_user = ask("Experiment", case_of(RATED_TRAIN, RATED_TEST, PREDICTED, [1, 2, 3, 4, 9]), "MAE")
    assert value == pytest.approx((1 / 3 + 2 + 1) / 3, abs=1e-9)
    assert per_user == pytest.approx({1: 1 / 3, 2: 2, 3: 1}, abs=1e-9)


def test_an_unknown_item_is_predicted_with_the_mean_of_training(ask):
    """Item 7 is nobody's in training, whose mean is 20 / 7."""
    case = case_of(RATED_TRAIN, [(2, 7, 4)], {user: [*row, 1] for user, row in PREDICTED.items()}, [1, 2, 3, 4, 9, 7])
    assert ask("rating_eval-unknowns", case, "MAE")[0] == pytest.approx(4 - 20 / 7, abs=1e-9)
    with pytest.raises(PluginError, match="data is empty after being filtered"):
        ask("rating_eval", case, "MAE")


def test_a_missing_score_is_ranked_first_and_spoils_predictions(ask):
    scores = {1: [0.9, 0.8, 0.7, NAN, 0.5, 0.4, 0, 0], 5: SCORES[5]}
    assert ask("ranking_eval", ranked(scores=scores), "MRR")[1] == {1: 1 / 2, 5: 1}
    predicted = {1: [NAN, 2.5, 6, 0, 0], 2: PREDICTED[2], 3: PREDICTED[3]}
    case = case_of(RATED_TRAIN, RATED_TEST, predicted, [1, 2, 3, 4, 9])
    assert np.isnan(ask("rating_eval", case, "MAE")[0])


def test_ties_count_nothing_in_auc_and_have_the_worst_rank_in_map(ask):
    """Four candidates of user 1 with one score, of which one is relevant."""
    case = ranked(scores={1: [1] * 8, 5: SCORES[5]})
    assert ask("ranking_eval", case, "AUC")[1][1] == 0
    assert ask("ranking_eval", case, "MAP")[1][1] == 1 / 4


def test_an_item_rated_below_the_threshold_in_training_stays_a_candidate(ask):
    """User 1 rated item 2 with half a star: before the relevant item now, as its score is higher."""
    low = [(1, 33, 5), (1, 2, 0.5), *TRAIN[2:]]
    assert ask("ranking_eval", ranked(train=low), "MRR")[1] == {1: 1 / 2, 5: 1}


def test_a_user_without_relevant_items_is_left_out(ask):
    assert ask("ranking_eval", ranked(test=[*TEST[:2], (5, 33, 0.5)]), "MAP")[1] == {1: 1}


def test_nobody_with_relevant_items_is_an_error(ask):
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        ask("ranking_eval", ranked(test=[(1, 10, 0.5)]), "MAP")


def test_fewer_candidates_than_the_cut_off_are_an_error(ask):
    with pytest.raises(PluginError, match=r"ValueError: kth\(=-1\) out of bounds"):
        ask("ranking_eval", ranked(), "NDCG", 3)


def test_a_pair_that_is_there_twice_counts_once(ask):
    assert ask("ranking_eval", ranked(test=[*TEST, TEST[0]]), "MAP") == ask("ranking_eval", ranked(), "MAP")


# Cornac's own calls, with a model and data sets written by hand.
DIRECT = """
import json, sys
from collections import OrderedDict
import numpy as np
from cornac.data import Dataset
from cornac.eval_methods import ranking_eval, rating_eval
from cornac.metrics import AUC, MAE, MAP, MRR, MSE, NDCG, RMSE, FMeasure, HitRatio, Precision, Recall
from cornac.models import Recommender

class Table(Recommender):
    def score(self, user_idx, item_idx=None):
        row = self.scores[list(self.uid_map)[user_idx]]
        known = np.array([row[item] for item in list(self.iid_map)[:self.num_items]])
        return known if item_idx is None else known[item_idx]

metrics = {
    "NDCG": NDCG(k=2), "Precision": Precision(k=2), "Recall": Recall(k=2), "F1": FMeasure(k=2),
    "HitRatio": HitRatio(k=2), "NDCG@-1": NDCG(), "Precision@-1": Precision(), "Recall@-1": Recall(),
    "F1@-1": FMeasure(), "MAP": MAP(), "MRR": MRR(), "AUC": AUC(),
}
answers = []
for asked in json.load(sys.stdin):
    users, items = OrderedDict(), OrderedDict()
    train = Dataset.build([tuple(row) for row in asked["train"]], global_uid_map=users, global_iid_map=items)
    test = Dataset.build(
        [tuple(row) for row in asked["test"]], global_uid_map=users, global_iid_map=items, exclude_unknowns=True
    )
    model = Table("table").fit(train)
    model.scores = asked["scores"]
    found = {}
    for name, metric in metrics.items():
        found["ranking_eval " + name] = float(ranking_eval(model, [metric], train, test)[0][0])
    for name, metric in {"MAE": MAE(), "RMSE": RMSE(), "MSE": MSE()}.items():
        found["rating_eval " + name] = float(rating_eval(model, [metric], test)[0][0])
        found["rating_eval-user_based " + name] = float(rating_eval(model, [metric], test, user_based=True)[0][0])
    answers.append(found)
print(json.dumps(answers))
"""


def drawn(seed):
    """Six users and twelve items with ratings from 0 to 5 in halves, and scores without ties.

    The rows are in the order of presentation, as they would be if written by hand.
    """
    rng = np.random.default_rng(seed)
    items = [33, 2, 10, 4, 51, 8, 70, 9, 100, 12, 3, 41]
    kinds = {(user, item): rng.choice(["train", "test", ""], p=[0.3, 0.4, 0.3]) for item in items for user in range(6)}
    train, test = (
        [(*pair, rng.integers(0, 11) / 2) for pair, kind in kinds.items() if kind == part] for part in ("train", "test")
    )
    return train, test, {user: (rng.permutation(12) / 2 - 1).tolist() for user in range(6)}, items


def as_text(train, test, scores, items):
    rows = {"train": train, "test": test}
    return {part: [(str(u), str(i), r) for u, i, r in triples] for part, triples in rows.items()} | {
        "scores": {str(user): dict(zip(map(str, items), row, strict=True)) for user, row in scores.items()}
    }


def test_the_answers_are_those_of_cornac_called_directly(ask, python):
    cases = [drawn(seed) for seed in range(4)]
    request = json.dumps([as_text(*case) for case in cases])
    done = subprocess.run([python, "-c", DIRECT], input=request, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    evaluators = plugins().evaluators()
    for case, answers in zip(cases, json.loads(done.stdout), strict=True):
        for name, expected in answers.items():
            evaluator, measure = name.split()
            k = 2 if evaluators[f"cornac/{evaluator}"].measures[measure].endswith("@k") else None
            assert ask(evaluator, case_of(*case), measure, k)[0] == pytest.approx(expected, abs=1e-12), name


@pytest.fixture(scope="module")
def fold(python):
    """The experiment of the README on MovieLens 100K, with its seed."""
    rows = repro.load_dataset("ml-100k")
    (fold,) = plugins().run_pipeline(plugins().pipelines()["cornac/Experiment"], rows, 123)
    return rows, fold


@pytest.mark.slow
def test_the_pipeline_reports_the_table_of_the_readme(fold):
    table = {"MAE": 0.7430, "RMSE": 0.8998, "AUC": 0.7445, "MAP": 0.0548}
    table |= {"NDCG": 0.0761, "Precision": 0.0675, "Recall": 0.0463}
    assert {name: round(fold[1].reported[name], 4) for name in table} == table


@pytest.mark.slow
def test_the_evaluator_says_of_the_pipelines_scores_what_the_pipeline_reports(ask, fold):
    """But for MRR, which beside metrics with a cut-off Cornac tells from lists in disorder after it."""
    rows, fold = fold
    case = Case(fold.scores, rows.select(fold.train), rows.select(fold.test), np.arange(rows.n_items, dtype=np.int32))
    measures = plugins().evaluators()["cornac/Experiment"].measures
    actual = {
        name: ask("Experiment", case, name, 10 if measures[name].endswith("@k") else None)[0] for name in fold.reported
    }
    mrr = {name: entry.pop("MRR") for name, entry in (("alone", actual), ("beside", dict(fold.reported)))}
    assert mrr["alone"] != mrr["beside"]
    policy = Protocol.load("inferred/cornac-Experiment-MRR")
    assert rescore(ScoredFold.of(fold, rows, "cornac"), "rr", policy).value == pytest.approx(mrr["alone"], abs=1e-12)
    assert actual == pytest.approx({name: value for name, value in fold.reported.items() if name != "MRR"}, abs=1e-12)
