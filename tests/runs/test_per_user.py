"""The numbers of each user of a run: those the protocol averages, each user once."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from repro import Study
from repro.errors import StudyError
from repro.protocol import Protocol
from repro.runs.journal import read_journal
from repro.runs.run import Run

METRICS = ["ndcg@10", "precision@5", "user-coverage@10", "rmse", "nmae"]
ALGORITHMS = [
    "reference/popularity",
    "reference/item-mean",
    {"use": "reference/item-knn", "label": "narrow", "parameters": {"k": 3}},
    {"use": "reference/item-knn", "label": "wide", "parameters": {"k": 40}},
]


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    study = Study(data, Protocol.load("random-5fold", split__folds=2), ALGORITHMS, METRICS, seed=5)
    return study.run(tmp_path_factory.mktemp("compare") / "run")


@pytest.fixture(scope="module")
def one_fold(data, tmp_path_factory):
    study = Study(data, "valcarce-2018-allitems", ALGORITHMS[:2], ["ndcg@10", "precision@5"], seed=5)
    return study.run(tmp_path_factory.mktemp("compare") / "run")


def test_their_mean_is_the_number_in_the_table(one_fold):
    table = one_fold.table()
    means = one_fold.per_user().groupby(["algorithm", "metric"])["value"].mean()
    for label in table.index:
        for metric in table.columns:
            assert means[label, metric] == pytest.approx(table.loc[label, metric], abs=1e-12)


def test_a_user_of_several_folds_counts_once_with_the_mean_of_the_folds(run):
    lists = run.per_list()
    lists = lists[lists["metric"].str.startswith("ndcg") & (lists["algorithm"] == "narrow")]
    expected = lists.groupby("user")["value"].mean().dropna()
    actual = run.per_user("ndcg@10")
    actual = actual[actual["algorithm"] == "narrow"].set_index("user")["value"]
    assert actual.index.is_unique
    pd.testing.assert_series_equal(actual.sort_index(), expected.sort_index(), check_names=False, rtol=1e-12)


def test_errors_of_predicted_ratings_by_user(run):
    actual = run.per_user("rmse")
    assert set(actual["algorithm"]) == {"reference item-mean", "narrow", "wide"}, "popularity predicts no ratings"
    assert (actual["value"] >= 0).all()
    both = run.per_user("nmae")
    assert len(both) == len(actual) and (both["value"] <= 1).all()


def test_all_metrics_with_numbers_of_users(run):
    actual = run.per_user()
    assert list(actual.columns) == ["algorithm", "user", "metric", "value"]
    assert set(actual["metric"]) == {"ndcg@10", "precision@5", "rmse", "nmae"}


def test_long_names_are_known_too(run):
    full = run.results.query("metric == 'ndcg@10'")["measure"].iloc[0]
    assert run.per_user(full).equals(run.per_user("ndcg@10"))


def test_compare_is_the_test_of_these_numbers(run):
    actual = run.compare("ndcg@10", test="wilcoxon", correct="bonferroni").pairs
    wide = run.per_user("ndcg@10").pivot(index="user", columns="algorithm", values="value")
    row = actual[(actual["a"].isin(["narrow", "wide"])) & actual["b"].isin(["narrow", "wide"])].iloc[0]
    difference = np.round(wide[row["a"]] - wide[row["b"]], 12)
    expected = stats.wilcoxon(difference[difference != 0], method="approx").pvalue
    assert row["p"] == pytest.approx(expected, abs=1e-12)
    assert row["p_corrected"] == pytest.approx(min(1, 6 * expected), abs=1e-12)
    assert len(actual) == 6


def test_the_first_metric_is_compared_by_default_and_the_direction_is_the_metrics(run):
    assert run.compare(test="t").pairs.equals(run.compare("ndcg@10", test="t").pairs)
    lower = run.compare("rmse", test="t").pairs
    assert (lower["mean_a"] <= lower["mean_b"]).all()


def test_selection_chooses_one_setting_of_each_algorithm(run):
    actual = run.compare("ndcg@10", test="t", select_on=0.5).pairs
    labels = set(actual["a"]) | set(actual["b"])
    assert len(labels) == 3 and len(labels & {"narrow", "wide"}) == 1
    assert (actual["users"] <= 60).all()


def test_the_scale_is_that_of_the_data_set_not_of_the_held_out_ratings(data, tmp_path):
    """One rating is 10, the others end at 5: whether or not it is held out, the range is 1 to 10."""
    split = {"split__strategy": "ratio", "split__test_ratio": 0.2}
    frame = data.to_frame()
    shown = set()
    for row in range(8):
        rows = frame.assign(rating=frame["rating"].where(frame.index != row, 10.0))
        study = Study(rows, Protocol.load("random-5fold", **split), ["reference/item-mean"], ["nmae", "mae"], seed=5)
        results = study.run(tmp_path / f"{row}")
        nmae, mae = (results.per_user(name)["value"] for name in ("nmae", "mae"))
        assert np.allclose(nmae, mae / 9, rtol=1e-12)
        held_out = results.folder / "artifacts" / f"{_test_artifact(results)}.parquet"
        shown.add(bool(pd.read_parquet(held_out)["rating"].max() == 10))
    assert shown == {True, False}


def _test_artifact(results):
    return read_journal(results.folder / "journal.jsonl").events("fold.made")[0].artifacts["test"]


def test_what_was_not_measured_is_told(run, tmp_path):
    with pytest.raises(StudyError, match="did not measure 'ndcg@1O'; did you mean 'ndcg@10'"):
        run.per_user("ndcg@1O")
    with pytest.raises(StudyError, match="user-coverage@10 is a number about all users together"):
        run.compare("user-coverage@10")
    with pytest.raises(StudyError, match="is not a run folder"):
        Run(tmp_path)
    (tmp_path / "journal.jsonl").write_text("")
    with pytest.raises(StudyError, match="is not finished"):
        Run(tmp_path)


def test_users_that_the_protocol_skips_are_no_users_here(data, tmp_path):
    protocol = Protocol.load("valcarce-2018-allitems", relevance__threshold=5)
    run = Study(data, protocol, ALGORITHMS[:1], ["precision@5"], seed=5).run(tmp_path / "run")
    counted = run.results.query("fold == 'all'")["users"].iloc[0]
    actual = run.per_user()
    assert len(actual) == counted < len(run.per_list())
    assert not math.isnan(actual["value"].sum())
