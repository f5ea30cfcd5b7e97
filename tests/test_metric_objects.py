"""Every function that takes the name of a metric takes the object in its place, with the same result."""

import numpy as np
import pandas as pd
import pytest

import repro
from repro.errors import ProtocolError, StudyError

ROWS = [(user, item, 1 + (user * item) % 5) for user in range(12) for item in range(8) if (user + item) % 3]
RATINGS = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
LISTS = RATINGS.assign(score=RATINGS["item"] / 8)[["user", "item", "score"]]
NAMES = ["ndcg[gain=exp2]@5", "MAP@3", "rr"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("objects")
    RATINGS.to_csv(folder / "ratings.csv", index=False)
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    study = repro.Study(
        folder / "ratings.csv",
        protocol,
        ["reference/popularity", "reference/ease"],
        [repro.Metric("ndcg@5"), {"names": [repro.Metric("precision"), "recall"], "at": [2, 5]}],
    )
    return study.run(folder / "run", keep_scores=True, report=False)


def test_measures_of_lists_and_studies(run):
    objects = [repro.Metric(name) for name in NAMES]
    pd.testing.assert_frame_equal(
        repro.evaluate(LISTS, RATINGS, metrics=objects), repro.evaluate(LISTS, RATINGS, metrics=NAMES)
    )
    alone = repro.evaluate(LISTS, RATINGS, metrics=repro.Metric("rr"))
    assert alone["metric"].tolist() == ["rr"]
    assert list(run.table().columns) == ["ndcg@5", "precision@2", "precision@5", "recall@2", "recall@5"]
    tune = {"metric": repro.Metric("ndcg@5"), "trials": 2, "space": {"ease": {"regularisation": [1.0, 2.0]}}}
    protocol = repro.Protocol.load("random-5fold", split__strategy="user-ratio", split__validation_ratio=0.25)
    assert (
        repro.Study(RATINGS, protocol, ["reference/ease"], repro.Metric("rr"), tune=tune).tune.measure.name == "ndcg@5"
    )


def test_an_option_that_is_the_default_stays_stated():
    """ndcg[gain=binary] is ndcg by default, and still another metric under a protocol with another gain."""
    protocol = repro.lists.default_protocol(True).replace({"metric.ndcg.gain": "exp2"})
    by_default = str(repro.lists.default_protocol(True)["metric.ndcg.gain"])
    names = [f"ndcg[gain={by_default}]@5", "ndcg@5"]
    objects = repro.evaluate(LISTS, RATINGS, protocol, metrics=[repro.Metric(name) for name in names])
    assert np.array_equal(objects["value"], repro.evaluate(LISTS, RATINGS, protocol, metrics=names)["value"])
    assert objects["value"].nunique() == 2


def test_results_of_a_run(run):
    metric = repro.Metric("P@5")
    assert run.per_user(metric).equals(run.per_user("precision@5"))
    assert repro.compare(run, metric).pairs.equals(run.compare("precision@5").pairs)
    assert run.plot(metric).to_dict() == run.plot("precision@5").to_dict()
    by_object = repro.explain(run, "said-bellogin-ut", repro.Metric("recall@5"))
    assert by_object.to_frame().equals(repro.explain(run, "said-bellogin-ut", "recall@5").to_frame())
    multiverse = repro.multiverse(run, ["ties"], metrics=[repro.Metric("recall@5")])
    assert multiverse.metrics == ("recall@5",)
    assert multiverse.of(repro.Metric("recall@5")).values.shape[1] == 2
    with pytest.raises(StudyError, match=r"no metric 'recal@5'; did you mean 'recall@5'"):
        multiverse.of("recal@5")
    numbers = {repro.Metric("recall@5"): {"reference ease": "0.5"}}
    assert [cell.metric for cell in repro.find_protocols(run, numbers, ["ties"], budget=3).cells] == ["recall@5"]
    settings = repro.metric_study.Settings((repro.Metric("ndcg"), "recall"), (2, 5), repro.Metric("ndcg"), 2, 50)
    assert (settings.metrics, settings.cutoff_metric) == (("ndcg", "recall"), "ndcg")


def test_audits():
    def hit(scores, truth, train, k):
        return float(len(scores.merge(truth, on=["user", "item"])) > 0)

    inferred = repro.audit(hit, repro.Metric("hit"), k=3, cannot=["ties"], evidence=False)
    assert inferred.summary == repro.audit(hit, "hit", k=3, cannot=["ties"], evidence=False).summary
    chosen = ["surprise", "sklearn"]
    by_object, by_name = (repro.audits.compare([metric], only=chosen) for metric in (repro.Metric("rmse"), "rmse"))
    assert [agreement.summary for agreement in by_object] == [agreement.summary for agreement in by_name]


@pytest.mark.parametrize("wrong", [5, None, ["ndcg@5"], object()])
def test_what_is_no_metric(wrong):
    with pytest.raises(ProtocolError, match=r"a metric is .* give a name such as \"ndcg@10\", or repro.Metric"):
        repro.evaluate(LISTS, RATINGS, metrics=[wrong])
    with pytest.raises(StudyError, match=r"a metric is text such as ndcg@10, or repro.Metric in Python; not "):
        repro.Study(RATINGS, "random-5fold", ["reference/popularity"], [wrong])
