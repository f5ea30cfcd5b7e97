"""Study files: what is refused, and with which sentence."""

import pandas as pd
import pytest

from repro import Study
from repro.data import synthetic_interactions
from repro.errors import PluginError, ProtocolError, ReproError, StudyError
from repro.protocol import Protocol

GOOD = """
question = "Which?"
metrics = ["ndcg@10"]
[data]
name = "synthetic"
users = 30
items = 20
ratings = 200
[protocol]
base = "random-5fold"
[[algorithms]]
use = "reference/popularity"
"""


def load(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return Study.load(path)


def test_a_good_study_reads(tmp_path):
    study = load(tmp_path, GOOD)
    assert study.question == "Which?"
    assert [entry.use for entry in study.entries] == ["reference/popularity"]
    assert study.data_options == {"users": 30, "items": 20, "ratings": 200}


@pytest.mark.parametrize(
    ("old", "new", "error", "sentence"),
    [
        ("question", "qestion", StudyError, "unknown key 'qestion'; did you mean 'question'"),
        ('metrics = ["ndcg@10"]', "", StudyError, "has no 'metrics'"),
        ('["ndcg@10"]', "[]", StudyError, "at least one metric"),
        ('["ndcg@10"]', '"ndcg@10"', StudyError, "metrics must be a list"),
        ('["ndcg@10"]', '["ndcg"]\nseed = -1', StudyError, "seed = -1 must be a whole number"),
        ("ndcg@10", "ndgc@10", ProtocolError, "there is no metric 'ndgc'; did you mean 'ndcg'"),
        ("ndcg@10", "ndcg@ten", ProtocolError, "the cut-off 'ten' must be a whole number"),
        ("ndcg@10", "ndcg@0", ProtocolError, "the cut-off '0' must be a whole number"),
        ("ndcg@10", "hit", ProtocolError, "needs a cut-off, such as hit@10"),
        ("ndcg@10", "rmse@10", ProtocolError, "rmse takes no cut-off"),
        ("ndcg@10", "ndcg[gian=exp2]@10", ProtocolError, "no variant 'gian'; did you mean 'gain'"),
        ("ndcg@10", "ndcg[gain=exp3]@10", ProtocolError, "did you mean 'exp2'"),
        ('["ndcg@10"]', '["ndcg@10", "ndcg[gain=binary]@10"]', StudyError, "asked for twice"),
        ("random-5fold", "random-4fold", ProtocolError, "did you mean 'random-5fold'"),
        ('"random-5fold"', '"random-5fold"\nties.brake = "random"', ProtocolError, "did you mean 'ties.break'"),
        ("popularity", "popularty", PluginError, "did you mean 'popularity'"),
        ("reference/", "refrence/", PluginError, "did you mean 'reference'"),
        ('use = "reference/popularity"', 'label = "x"', StudyError, 'an algorithm needs "use"'),
        (
            'popularity"',
            'popularity"\nlable = "x"',
            StudyError,
            "unknown key 'lable' in an algorithm; did you mean 'label'",
        ),
        ('popularity"', 'popularity"\nlabel = "a/b"', StudyError, "without '/'"),
        ('popularity"', 'popularity"\nparameters = { k = 3 }', PluginError, "popularity has no parameter 'k'"),
    ],
)
def test_what_is_refused(tmp_path, old, new, error, sentence):
    assert old in GOOD
    with pytest.raises(error) as caught:
        load(tmp_path, GOOD.replace(old, new))
    assert sentence in str(caught.value)


def test_two_algorithms_need_two_labels(tmp_path):
    with pytest.raises(StudyError, match="two algorithms are labelled 'reference popularity'"):
        load(tmp_path, GOOD + '[[algorithms]]\nuse = "reference/popularity"\n')


@pytest.mark.parametrize(
    ("metric", "instead"), [("recall@10", "ask for hit"), ("ap@10", "ask for rr")], ids=["recall", "ap"]
)
def test_a_metric_of_all_relevant_items_contradicts_1r(tmp_path, metric, instead):
    text = GOOD.replace("ndcg@10", metric).replace("random-5fold", "bellogin-1r-ti-nn")
    with pytest.raises(ProtocolError, match=r'contradicts candidates.relevant = "one" \(1R\)') as caught:
        load(tmp_path, text)
    assert instead in str(caught.value)


def test_decisions_of_a_study_are_on_top_of_its_base(tmp_path):
    study = load(tmp_path, GOOD.replace('"random-5fold"', '"random-5fold"\nsplit.folds = 3'))
    assert study.protocol["split.folds"] == 3
    assert study.protocol.origins["split.folds"].endswith("study.toml")


def frame(**columns):
    rows = {"user": ["a", "a", "b", "b"], "item": [1, 2, 1, 2], "rating": [5, 4, 3, 5]}
    return pd.DataFrame(rows | columns)


@pytest.mark.parametrize(
    ("data", "protocol", "sentence"),
    [
        (frame(rating=[5, None, 3, 4]), "random-5fold", "rating is missing (NaN) in row 2"),
        (frame(rating=[5, "good", 3, 4]), "random-5fold", "rating is 'good', not a finite number in row 2"),
        (frame(item=[1, 1, 1, 2]), "random-5fold", "data.duplicates"),
        (frame().drop(columns="item"), "random-5fold", "has no column 'item'"),
        (frame().iloc[:0], "random-5fold", "has no rows"),
        (frame(), "gunawardana-time", "timestamps"),
    ],
)
def test_data_that_does_not_fit_is_told_before_anything_is_fitted(tmp_path, data, protocol, sentence):
    with pytest.raises(ReproError) as caught:
        Study(data, protocol, ["reference/popularity"], ["ndcg@10"]).run(tmp_path / "run")
    assert sentence in str(caught.value)
    assert not (tmp_path / "run").exists(), "a study that cannot be planned leaves nothing behind"


def test_percentiles_smaller_than_a_target_set_are_told_before_anything_is_fitted(tmp_path):
    data = synthetic_interactions(users=60, items=50, ratings=900, alpha=1.0, seed=1)
    with pytest.raises(ProtocolError, match=r"percentile|stratum|strata") as caught:
        Study(data, "bellogin-p1r", ["reference/popularity"], ["ndcg@10"]).run(tmp_path / "run")
    assert "candidates.sample_size" in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_pooled_folds_average_all_lists_together(tmp_path):
    data = synthetic_interactions(users=60, items=50, ratings=900, alpha=1.0, seed=1)
    protocol = Protocol.load("random-5fold", average__folds="pooled", average__over="lists")
    results = Study(data, protocol, ["reference/item-mean"], ["precision@5", "rmse"]).run(tmp_path / "run")
    lists = results.per_list()
    assert results.table()["precision@5"].iloc[0] == pytest.approx(lists["value"].mean(), abs=1e-15)
    errors = []
    for path in (tmp_path / "run" / "artifacts").iterdir():
        stored = pd.read_parquet(path)
        if "error" in stored:
            errors.append(stored["error"])
    expected = (pd.concat(errors) ** 2).mean() ** 0.5
    assert results.table()["rmse"].iloc[0] == pytest.approx(expected, abs=1e-12)
