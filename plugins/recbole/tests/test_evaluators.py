"""RecBole's evaluators: numbers worked by hand, RecBole called directly, and what it does at the edges."""

import json
import subprocess

import numpy as np
import pytest

import repro
from repro.errors import PluginError
from repro.plugin import Case, plugins
from repro.testing import answer
from repro.testing import case_of_rows as case_of

NAN, INFINITE = float("nan"), float("inf")


@pytest.fixture(scope="module")
def ask(python):
    """The average of an evaluator; RecBole has no values of users."""

    def average(name, *question):
        value, per_user = answer(f"recbole/{name}", *question)
        assert per_user is None
        return value

    return average


# Three users with lists of five of twelve items; the others have -infinity. Users 8 and 9 are not tested.
TWELVE = list(range(1, 13))
HALVES = [(8, item) for item in TWELVE[:6]] + [(9, item) for item in TWELVE[6:]]


def listed(*items):
    return [1 - 0.05 * items.index(item) if item in items else -INFINITE for item in TWELVE]


LISTS = case_of(
    HALVES,
    [(1, 2), (1, 4), (1, 9), *((5, item) for item in range(6, 13)), (6, 8)],
    {1: listed(1, 2, 3, 4, 5), 5: listed(6, 7, 8, 9, 10), 6: listed(1, 2, 3, 4, 5), 8: TWELVE, 9: TWELVE},
    TWELVE,
)
LOG3 = float(np.log2(3))
IDEAL_3 = 1 + 1 / LOG3 + 1 / 2


@pytest.mark.parametrize(
    ("measure", "k", "expected"),
    [
        ("Hit", 3, 2 / 3),
        ("MRR", 3, (1 / 2 + 1 + 0) / 3),
        ("Precision", 3, (1 / 3 + 1 + 0) / 3),
        ("Recall", 3, (1 / 3 + 3 / 7 + 0) / 3),
        ("MAP", 3, (1 / 2 / 3 + 1 + 0) / 3),
        ("NDCG", 3, (1 / LOG3 / IDEAL_3 + 1 + 0) / 3),
        ("Precision", 5, (2 / 5 + 1 + 0) / 3),
        ("Recall", 5, (2 / 3 + 5 / 7 + 0) / 3),
        ("MAP", 5, ((1 / 2 + 2 / 4) / 3 + 1 + 0) / 3),
        ("NDCG", 5, ((1 / LOG3 + 1 / np.log2(5)) / IDEAL_3 + 1 + 0) / 3),
        # Items 1, 2 and 3 have two of nine places each, and 6, 7 and 8 one; divided by the number of these six.
        ("ShannonEntropy", 3, -(3 * 2 / 9 * np.log(2 / 9) + 3 * 1 / 9 * np.log(1 / 9)) / 6),
    ],
)
def test_lists_worked_by_hand(ask, measure, k, expected):
    assert ask("full-unrounded", LISTS, measure, k) == pytest.approx(expected, abs=1e-12)
    assert ask("full", LISTS, measure, k) == round(expected, 4)
    assert ask("full-single", LISTS, measure, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # Six items, but RecBole's padding counts as a seventh.
        ("ItemCoverage", 6 / 13),
        # Weights 2j - 13 - 1 of places j = 8 to 13, the rarest item first, with 1, 1, 1, 2, 2 and 2 of nine.
        ("GiniIndex", ((2 + 4 + 6) + 2 * (8 + 10 + 12)) / 9 / 13),
    ],
)
def test_counts_worked_by_hand(ask, measure, expected):
    assert ask("full-counted", LISTS, measure, 3) == pytest.approx(expected, abs=1e-12)


# User 1 has five ties, of which one is held out; user 5 has the second and third of six, and nobody has all items.
TIED = [0.5, 0.9, 0.5, 0.5, 0.5, 0.1]
FALLING = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
SIX = [33, 2, 10, 4, 51, 8]
OTHERS = [(9, 33), (9, 2), (9, 10), (9, 4), (9, 51), (7, 8)]


def six(first, second, train=(), test=((1, 4), (5, 2), (5, 10))):
    return case_of([*OTHERS, *train], test, {1: first, 5: second, 7: FALLING, 9: FALLING}, SIX)


def test_areas_count_ties_half_and_users_by_their_relevant_items(ask):
    """User 1: 1 of five below, three ties; user 5: each of two above three of four. The second has two relevant."""
    areas = (1 + 3 / 2) / 5, 6 / 8
    expected = (areas[0] + 2 * areas[1]) / 3
    assert ask("full-unrounded", six(TIED, FALLING), "GAUC") == pytest.approx(expected, abs=1e-12)
    # RecBole's models score in single precision, and so the area is computed in it.
    single = ask("full-single", six(TIED, FALLING), "GAUC")
    assert single == pytest.approx(expected, abs=1e-7) and abs(single - expected) > 1e-9


def test_areas_are_without_the_items_of_training(ask):
    """User 5 has 51 and 8: the two relevant items are each above one of two others."""
    case = six(TIED, FALLING, train=[(5, 51), (5, 8)], test=[(5, 2), (5, 10)])
    assert ask("full-unrounded", case, "GAUC") == pytest.approx(2 / 4, abs=1e-12)


def test_missing_scores_are_first(ask):
    """Item 4, then 33."""
    case = six([0.9, 0.8, 0.7, NAN, 0.5, 0.4], FALLING, test=[(1, 33)])
    assert ask("full-unrounded", case, "MRR", 3) == 1 / 2


def test_items_of_training_are_left_out_and_come_back_where_there_are_too_few_others(ask):
    """User 1 has two of six items: four candidates. With seven places all six are covered, and so is the padding."""
    case = six(FALLING, FALLING, train=[(1, 33), (1, 10)], test=[(1, 4)])
    assert ask("full-unrounded", case, "MRR", 3) == 1 / 2
    assert ask("full-counted", case, "ItemCoverage", 4) == pytest.approx(4 / 7, abs=1e-12)
    assert ask("full-counted", case, "ItemCoverage", 7) == 1


def test_an_item_of_no_training_row_is_a_candidate(ask):
    case = case_of(OTHERS[:-1], [(1, 8)], {1: [*FALLING[:-1], 1], 9: FALLING}, SIX)
    assert ask("full-unrounded", case, "MRR", 3) == 1


def test_whatever_is_held_out_is_relevant_and_counts_once(ask):
    case = six(FALLING, FALLING, test=[(1, 10, 0), (1, 10, 0.5), (1, 8, 5)])
    assert ask("full-unrounded", case, "Recall", 3) == 1 / 2


def test_a_cut_off_beyond_all_items_is_an_error(ask):
    with pytest.raises(PluginError, match="selected index k out of range"):
        ask("full-unrounded", six(FALLING, FALLING), "MRR", 8)


def test_a_user_who_has_all_items_is_an_error(ask):
    with pytest.raises(PluginError, match="Some users have interacted with all items"):
        ask("full-unrounded", six(FALLING, FALLING, train=[(7, item) for item in SIX[:-1]]), "MRR", 3)


RATED = [(1, 33, 4), (1, 2, 2), (1, 10, 5), (5, 33, 1), (7, 2, 3), (7, 10, 4)]


def predicted(first=3.5):
    scores = {1: [first, 2.5, 6, 0, 0, 0], 5: [3, 0, 0, 0, 0, 0], 7: [0, 3, 2, 0, 0, 0], 9: FALLING}
    return case_of(OTHERS, RATED, scores, SIX)


def test_predictions_are_neither_clipped_nor_averaged_by_user(ask):
    """Errors of 0.5, 0.5, 1, 2, 0 and 2."""
    assert ask("labeled-unrounded", predicted(), "RMSE") == pytest.approx((9.5 / 6) ** 0.5, abs=1e-12)
    assert ask("labeled-unrounded", predicted(), "MAE") == pytest.approx(1, abs=1e-12)
    assert ask("labeled", predicted(), "RMSE") == 1.2583


def test_the_area_of_labelled_rows_is_of_all_users_together(ask):
    """Rated 3 and more: predicted 3.5 and 6, above both others; 3, above 2.5 and tied with 3; and 2, below both."""
    pairs = (2 + 2 + (1 + 1 / 2) + 0) / 8
    assert ask("labeled-unrounded", predicted(), "AUC") == pytest.approx(pairs, abs=1e-12)


def test_a_missing_prediction_is_an_error(ask):
    with pytest.raises(PluginError, match="Input contains NaN"):
        ask("labeled", predicted(NAN), "RMSE")


# RecBole by its own means, on files written by hand: the loaders of ``data_preparation`` and its trainer.
DIRECT = """
import json, sys
from pathlib import Path

import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.model.abstract_recommender import GeneralRecommender
from recbole.trainer import Trainer
from recbole.utils import InputType

class Table(GeneralRecommender):
    input_type = InputType.PAIRWISE

    def __init__(self, config, dataset, scores):
        super().__init__(config, dataset)
        self.weight = torch.nn.Parameter(torch.zeros(1))
        tokens = [dataset.field2id_token[field] for field in ("user_id", "item_id")]
        self.table = torch.tensor([[scores.get(u, {}).get(i, 0.0) for i in tokens[1]] for u in tokens[0]]).double()

    def predict(self, interaction):
        return self.table[interaction["user_id"], interaction["item_id"]]

    def full_sort_predict(self, interaction):
        return self.table[interaction["user_id"]].flatten()

def evaluated(name, asked, settings):
    config = Config(model=Table, dataset=name, config_dict={
        "data_path": ".", "benchmark_filename": ["a", "b", "c"], "metric_decimal_place": 15, "use_gpu": False,
        "load_col": {"inter": ["user_id", "item_id", "rating"]}, "gpu_id": "", **settings,
    })
    dataset = create_dataset(config)
    train, _, test = data_preparation(config, dataset)
    trainer = Trainer(config, Table(config, dataset, asked["scores"]))
    if "ItemCoverage" in settings["metrics"]:
        trainer.eval_collector.data_collect(train)
    return dict(trainer.evaluate(test, load_best_model=False))

sys.argv = sys.argv[:1]
answers = []
for number, asked in enumerate(json.load(sys.stdin)):
    name = f"data{number}"
    Path(name).mkdir()
    for part in "abc":
        lines = ["user_id:token\\titem_id:token\\trating:float"] + ["\\t".join(map(str, row)) for row in asked[part]]
        Path(name, f"{name}.{part}.inter").write_text("\\n".join(lines) + "\\n")
    ranked = ["Recall", "MRR", "NDCG", "Hit", "Precision", "MAP", "GAUC", "ShannonEntropy"]
    found = evaluated(name, asked, {"metrics": ranked, "topk": [3], "valid_metric": "MRR@3"})
    rows = {"eval_args": {"mode": "labeled"}, "train_neg_sample_args": None}
    rated = {"metrics": ["RMSE", "MAE"], "valid_metric": "MAE", "LABEL_FIELD": "rating"}
    found |= evaluated(name, asked, rated | rows)
    found |= evaluated(name, asked, {"metrics": ["AUC"], "valid_metric": "AUC", "threshold": {"rating": 3}, **rows})
    try:
        evaluated(name, asked, {"metrics": ["ItemCoverage"], "topk": [3], "valid_metric": "MRR@3"})
    except AttributeError as error:
        found["refused"] = str(error)
    answers.append(found)
print(json.dumps(answers))
"""


def drawn(seed):
    """Six users and ten items with ratings from 0 to 5 in halves, and scores without ties; the last is not tested, but
    has all of its rows but the first for validation."""
    rng = np.random.default_rng(seed)
    items = [33, 2, 10, 4, 51, 8, 70, 9, 100, 12]
    kinds = {(user, item): rng.choice(list("ac."), p=[0.3, 0.3, 0.4]) for item in items for user in range(5)}
    rows = {kind: [(*pair, rng.integers(0, 11) / 2) for pair in kinds if kinds[pair] == kind] for kind in "ac"}
    rows["a"].append((5, 33, 1.0))
    rows["b"] = [(5, item, 2.5) for item in items[1:4]]
    return rows, {user: (rng.permutation(10) / 2 - 1).tolist() for user in range(6)}, items


def measures(name):
    return plugins().evaluators()[f"recbole/{name}"].measures


@pytest.mark.slow
def test_the_answers_are_those_of_recbole_called_directly(ask, python, tmp_path):
    """RecBole's validation part is training data for the test; its collector fails to count items."""
    cases = [drawn(seed) for seed in range(4)]
    request = [
        rows | {"scores": {user: dict(zip(map(str, items), row, strict=True)) for user, row in scores.items()}}
        for rows, scores, items in cases
    ]
    done = subprocess.run(
        [python, "-c", DIRECT], input=json.dumps(request), capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    names = {
        measure.lower(): (box, measure) for box in ("full-unrounded", "labeled-unrounded") for measure in measures(box)
    }
    for (rows, scores, items), answers in zip(cases, json.loads(done.stdout.splitlines()[-1]), strict=True):
        assert answers.pop("refused") == "'int' object has no attribute 'cpu'"
        case = case_of(rows["a"] + rows["b"], rows["c"], scores, items)
        for name, expected in answers.items():
            measure, _, k = name.partition("@")
            evaluator, own = names[measure]
            assert ask(evaluator, case, own, int(k) if k else None) == pytest.approx(expected, abs=1e-12), name


@pytest.mark.slow
def test_the_evaluator_says_of_the_pipelines_scores_what_the_pipeline_reports(ask):
    """But for the area, which RecBole computes in single precision."""
    rows = repro.load_dataset("ml-100k")
    (fold,) = plugins().run_pipeline(plugins().pipelines()["recbole/run_recbole"], rows, 7)
    assert np.array_equal(np.sort(np.concatenate([fold.train, fold.test])), np.arange(len(rows)))
    train, test = rows.select(fold.train), rows.select(fold.test)
    assert (np.abs(test.user_counts() - rows.user_counts() / 10) < 1).all()
    case = Case(fold.scores, train, test, np.arange(rows.n_items, dtype=np.int32))
    actual = {name: ask("full", case, name, None if name == "GAUC" else 10) for name in fold.reported}
    assert actual.pop("GAUC") == pytest.approx(fold.reported["GAUC"], abs=1e-7)
    assert actual == {name: value for name, value in fold.reported.items() if name != "GAUC"}
