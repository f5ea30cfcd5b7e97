"""Metric names as people write them: which metric each is, and that none is read as another definition."""

import numpy as np
import pytest

import repro
from repro.errors import ProtocolError
from repro.evaluation.metrics import metric_named, metrics, own_name, parse_measure, reading_notes
from repro.lists import default_protocol

PROTOCOL = default_protocol(True)

WRITTEN = {
    "P@10": "precision@10",
    "p@10": "precision@10",
    "Prec@5": "precision@5",
    "Precision@10": "precision@10",
    "R@10": "recall@10",
    "Recall@20": "recall@20",
    "NDCG": "ndcg",
    "nDCG@10": "ndcg@10",
    "NDCG@10": "ndcg@10",
    "nDCG[gain=exp2]@10": "ndcg[gain=exp2]@10",
    "MRR": "rr",
    "MRR@5": "rr@5",
    "ReciprocalRank": "rr",
    "MAP@10": "ap@10",
    "MAP": "ap",
    "MeanAveragePrecision@10": "ap@10",
    "HR@10": "hit@10",
    "Hit@10": "hit@10",
    "HitRate@10": "hit@10",
    "hit_rate@10": "hit@10",
    "hit-ratio@10": "hit@10",
    "Hit Rate @ 10": "hit@10",
    "F1@10": "f1@10",
    "f1_score@10": "f1@10",
    "AUC": "auc",
    "GAUC": "auc[weight=positives]",
    "RMSE": "rmse",
    "uRMSE": "rmse[average=users]",
    "Mean Absolute Error": "mae",
    "ILD@10": "intra-list-diversity@10",
    "IntraListDiversity@10": "intra-list-diversity@10",
    "item_coverage@10": "catalogue-coverage@10",
    "GiniIndex@10": "gini@10",
    # trec_eval's, and those of functions
    "P_10": "precision@10",
    "ndcg_cut_10": "ndcg@10",
    "map_cut_100": "ap@100",
    "recall_5": "recall@5",
    "recip_rank": "rr",
    "success_1": "hit@1",
    "precision_at_10": "precision@10",
}


@pytest.mark.parametrize("written", WRITTEN)
def test_a_name_as_people_write_it(written):
    assert own_name(written) == WRITTEN[written]
    measure = parse_measure(written, PROTOCOL, metrics())
    assert measure == parse_measure(WRITTEN[written], PROTOCOL, metrics())
    assert own_name(measure.full_name) == measure.full_name


@pytest.mark.parametrize("name", list(metrics()))
def test_a_metric_keeps_its_own_name_and_every_alias_leads_to_it_alone(name):
    metric = metrics()[name]
    for alias in (name, *metric.aliases):
        for written in (alias, alias.upper(), alias.replace("-", "_"), alias.replace("-", ""), alias.title()):
            assert metric_named(written) is metric, written


@pytest.mark.parametrize(
    "written",
    ["coverage@10", "Diversity@10", "R-precision", "Rprec", "ShannonEntropy@10", "hits@10", "accuracy", "q@5"],
)
def test_a_word_that_may_mean_something_else_is_refused(written):
    """Coverage of items, users or predictions; R-precision is no recall; RecBole divides its entropy by the items."""
    with pytest.raises(ProtocolError, match="there is no metric"):
        own_name(written)


def test_words_for_several_metrics_name_all_of_them():
    with pytest.raises(ProtocolError, match=r"`repro metrics show catalogue-coverage`, .*user-cov.*prediction-cov"):
        own_name("Coverage@10")


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("P@0", "must be a whole number from 1"),
        ("ndcg_cut_k", "there is no metric"),
        ("HR", "needs a cut-off, such as hit@10"),
        ("RMSE@10", "takes no cut-off"),
        ("P_10@5", "there is no metric"),
        ("@10", "is not a metric name"),
        ("GAUC[weight=users]", "states weight twice: its name means weight=positives"),
    ],
)
def test_what_is_wrong_with_a_name_is_still_refused(written, problem):
    with pytest.raises(ProtocolError, match=problem):
        parse_measure(written, PROTOCOL, metrics())


def test_names_with_several_definitions_are_explained_and_others_are_not():
    (mean_ap,) = reading_notes(["MAP@10", "ndcg@10", "P@10", "ap@10", "rr", "no-such-metric", "MAP@10"])
    assert mean_ap.startswith("MAP@10 is read as ap@10: ") and "min-relevant" in mean_ap
    assert "arhr" in reading_notes(["MRR@5"])[0]
    assert "recall" in reading_notes(["HR@10"])[0]


def test_the_notes_are_true():
    """One user has items 1 and 3 as relevant ones, and gets 1, 2, 3: AP@2 is (1/1) / 2, divided by min(2, 2) too; with
    a third relevant item that is not listed, (1/1) / 3 and (1/1) / 2. MRR is 1, ARHR is 1 + 1/3, the hit rate 1 and
    recall 2/3."""
    lists = {"user": [1, 1, 1], "item": [1, 2, 3], "score": [3.0, 2.0, 1.0]}
    truth = {"user": [1, 1, 1], "item": [1, 3, 9]}
    import pandas as pd

    names = ["MAP@2", "map[denominator=min-relevant]@2", "MRR@3", "ARHR@3", "HR@3", "R@3"]
    values = repro.evaluate(pd.DataFrame(lists), pd.DataFrame(truth), metrics=names)["value"]
    np.testing.assert_allclose(list(values), [1 / 3, 1 / 2, 1.0, 4 / 3, 1.0, 2 / 3])
