"""Study files: what is refused, and with which sentence."""

import math

import numpy as np
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
        ("ndcg@10", "ndcg@99999999999", ProtocolError, "must be a whole number from 1 to"),
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


BASELINES = """
[[algorithms]]
use = "reference/item-knn"
label = "few neighbours"
parameters = { k = 5 }
[[algorithms]]
use = "reference/item-knn"
label = "many neighbours"
parameters = { k = 50 }
"""


@pytest.mark.parametrize("name", ["reference popularity", "reference/popularity", "popularity"])
def test_a_baseline_has_a_label_or_a_name_and_is_part_of_the_question(tmp_path, name):
    text = f'baseline = "{name}"{GOOD}{BASELINES}'
    study = load(tmp_path, text)
    assert study.baseline == "reference popularity"
    assert study.digest != load(tmp_path, GOOD + BASELINES).digest
    (tmp_path / "protocol.toml").write_text(study.protocol.to_toml())
    assert load(tmp_path, study.to_toml()).digest == study.digest
    assert study.with_protocol(Protocol.load("random-5fold")).baseline == study.baseline
    assert study.only(["few neighbours"]).baseline is None
    assert study.only(["reference popularity"]).baseline == study.baseline


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ('"item-knn"', "could be 'few neighbours' or 'many neighbours'; give one of these labels"),
        ('"poplarity"', "is not an algorithm of the study.*Algorithms: reference popularity, few neighbours"),
        ("3", "the baseline 3 is not an algorithm of the study"),
    ],
)
def test_a_baseline_is_one_algorithm_of_the_study(tmp_path, name, sentence):
    with pytest.raises(StudyError, match=sentence):
        load(tmp_path, f"baseline = {name}{GOOD}{BASELINES}")


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
    assert study.protocol.origins["split.folds"] == f"{tmp_path / 'study.toml'}:11"


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
        if "resolved" in stored:
            errors.append(stored["resolved"] - stored["rating"])
    expected = (pd.concat(errors) ** 2).mean() ** 0.5
    assert results.table()["rmse"].iloc[0] == pytest.approx(expected, abs=1e-12)


def test_pooled_folds_keep_what_was_predicted_and_what_was_not(tmp_path):
    data = synthetic_interactions(users=60, items=50, ratings=500, alpha=1.0, seed=1)
    scale = {"data__scale": "stated", "data__scale_min": 1, "data__scale_max": 9}
    missing = {"predict__missing": "constant", "predict__constant": 3}
    protocol = Protocol.load("random-5fold", average__folds="pooled", **scale, **missing)
    requested = ["prediction-coverage", "nmae", "imae", "fcp[ties=half]"]
    table = Study(data, protocol, ["reference/user-knn"], requested).run(tmp_path / "run").table().iloc[0]
    stored = [pd.read_parquet(path) for path in (tmp_path / "run" / "artifacts").iterdir()]
    pairs = pd.concat(frame for frame in stored if "prediction" in frame)
    known = pairs["prediction"].notna()
    assert 0 < known.mean() < 1
    assert table["prediction-coverage"] == pytest.approx(known.mean(), abs=1e-12)
    errors = (pairs["prediction"].fillna(3) - pairs["rating"]).abs()
    assert table["nmae"] == pytest.approx(errors.mean() / 8, abs=1e-12)
    assert table["mae[average=items]"] == pytest.approx(errors.groupby(pairs["item"]).mean().mean(), abs=1e-12)
    of_users = pairs.assign(prediction=pairs["prediction"].fillna(3)).merge(pairs.fillna(3), on="user")
    ordered = of_users[of_users["rating_x"] > of_users["rating_y"]]
    gained = np.sign(ordered["prediction_x"] - ordered["prediction_y"])
    assert table["fcp[ties=half]"] == pytest.approx(((gained + 1) / 2).mean(), abs=1e-12)


def study(data, **changes):
    stated = {"protocol": "random-5fold", "algorithms": ["reference/popularity"], "metrics": ["hit@5"], **changes}
    return Study(data, **stated)


def test_one_algorithm_and_one_metric_need_no_list(data):
    single = study(data, algorithms="reference/popularity", metrics="hit@5")
    assert single.digest == study(data).digest
    assert study(data, algorithms={"use": "reference/popularity"}).digest == study(data).digest


def test_whole_numbers_of_numpy_are_seeds(data):
    assert study(data, seed=np.int64(7)).seed == 7
    for wrong in (-1, True, 1.5, "7"):
        with pytest.raises(StudyError, match="must be a whole number of at least 0"):
            study(data, seed=wrong)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"algorithms": [3]}, 'an algorithm is "framework/algorithm", a table'),
        ({"algorithms": [{"use": "reference/popularity", "parameters": 3}]}, "parameters = 3 must be a table"),
        ({"metrics": [5]}, r"a metric is text such as ndcg@10.*; not 5"),
    ],
)
def test_what_is_of_the_wrong_kind_is_told(data, stated, message):
    with pytest.raises(StudyError, match=message):
        study(data, **stated)


@pytest.mark.parametrize("data", [None, 7])
def test_data_that_is_no_data(data):
    with pytest.raises(ReproError, match="the data frame is of type"):
        study(data).run()


def test_the_form_of_a_number_does_not_make_another_study(data):
    def ease(regularisation):
        return study(data, algorithms=[{"use": "reference/ease", "parameters": {"regularisation": regularisation}}])

    assert ease(500).digest == ease(500.0).digest
    with pytest.raises(PluginError, match="must be float"):
        ease(math.inf)


def test_lists_that_nobody_has_give_no_number(data):
    nothing_relevant = Protocol.load(
        "bellogin-1r-ti-nn", relevance__threshold=9, candidates__sample_size=10, split__folds=2
    )
    results = study(data, protocol=nothing_relevant, metrics=["hit@5", "rr", "user-coverage@5"]).run()
    assert np.isnan(results.table()[["hit@5", "rr"]].to_numpy()).all()
    assert results.results.query("metric == 'hit@5'")["users"].tolist() == [0, 0, 0]
    assert len(results.per_list()) == 0


def test_no_lists_no_values_of_lists(data):
    results = study(data, algorithms=["reference/item-mean"], metrics=["rmse"]).run()
    assert results.per_list().empty


def test_infinite_decisions_are_refused():
    for changes in ({"relevance__threshold": math.inf}, {"split__folds": math.inf}, {"split__folds": math.nan}):
        with pytest.raises(ProtocolError, match="is not allowed"):
            Protocol.load("random-5fold", **changes)
