"""Whole evaluations held against the core: numbers worked out by hand, and two frameworks that report the core's."""

import math

import numpy as np
import pandas as pd
import pytest

from repro.audits import Inference, audit_pipeline
from repro.audits.examination.inference import Unexplained, Unstable
from repro.audits.questions.answers import Answer
from repro.audits.questions.question import Question, User
from repro.data import Interactions, synthetic_interactions
from repro.errors import PluginError
from repro.plugin import Pipeline, PipelineFold, Scores, plugins
from repro.protocol import Protocol

POLICY = Protocol.load("random-5fold").replace(
    {
        "relevance.rule": "any",
        "candidates.base": "all-items",
        "candidates.exclude_train": "all",
        "metric.precision.denominator": "k",
        "ties.break": "item-asc",
    }
)

ROWS = [(1, 1, 5), (1, 2, 3), (2, 2, 4), (2, 3, 2), (3, 3, 5), (3, 4, 4), (2, 4, 1)]
TRAIN, TEST = np.array([0, 2, 4, 6]), np.array([1, 3, 5])
# Users by items. Without the items of training, what was held out is first for everybody; with them it is second.
SCORES = np.array([[4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]])


def interactions(rows):
    return Interactions.from_frame(pd.DataFrame(rows, columns=["user", "item", "rating"]))


def pipeline(evaluator, k=None, scores=SCORES, train=TRAIN, test=TEST, quirks=None, **reported):
    """One fold with these scores, of which these numbers are reported."""

    def run(rows, seed):
        return [PipelineFold(train, test, Scores(scores), reported)]

    return Pipeline("tests/tiny", "numbers by hand", run, evaluator, k, quirks or {})


def audit(native, policy, rows=ROWS, **options):
    audited = audit_pipeline(native, interactions(rows), lambda measure: policy, **options)
    return audited.measures[0], audited


def inference(protocol=POLICY, **fields):
    start = {"name": "x", "metric": "precision", "status": "unexplained", "policy": {}, "measure": "precision@k"}
    return Inference(**start, protocol=protocol, holds=("plain lists",), **fields)


def test_errors_of_predictions():
    # Predicted are 3, 3 and 3; held out are 3, 2 and 4: errors of 0, 1 and 1.
    native = pipeline(
        "sklearn/regression", mean_absolute_error=2 / 3, mean_squared_error=2 / 3, root_mean_squared_error=1
    )
    _, audited = audit(native, POLICY)
    mae, mse, rmse = audited.measures
    assert (mae.equal, mse.equal, rmse.equal, audited.equal) == (True, True, False, False)
    assert mae.metric == "mae[average=ratings]" and mae.folds[0].users == 3
    assert rmse.folds[0].measured == pytest.approx(math.sqrt(2 / 3))
    assert rmse.folds[0].difference == pytest.approx(1 - math.sqrt(2 / 3))
    frame = audited.frame()
    assert frame["measure"].tolist() == ["mean_absolute_error", "mean_squared_error", "root_mean_squared_error"]
    assert frame["equal"].tolist() == [True, True, False]
    text = audited.to_text()
    assert "2 of 3 measures have the numbers" in text
    assert "mean_absolute_error: equal on 1 fold, as mae[average=ratings]" in text
    assert "root_mean_squared_error: differs from rmse[average=ratings] on 1 of 1 fold, by up to 0.184" in text
    assert audited.to_dict()["measures"][0]["folds"][0]["reported"] == 2 / 3


def test_lists_without_the_items_of_training():
    measure, _ = audit(pipeline("pytrec_eval/RelevanceEvaluator", 1, P=1.0), POLICY)
    assert measure.equal and measure.folds[0].measured == 1.0
    assert measure.metric == "precision[denominator=k]@1"


def test_the_decision_that_makes_the_difference_is_named():
    measure, _ = audit(
        pipeline("pytrec_eval/RelevanceEvaluator", 1, P=1.0), POLICY.replace({"candidates.exclude_train": "none"})
    )
    assert (measure.equal, measure.folds[0].measured) == (False, 0.0)
    # Every training item is relevant here, so both leave out the same.
    wanted = 'With candidates.exclude_train = "all" or "relevant" in place of "none" the numbers are those reported.'
    assert wanted in measure.explanations


def test_a_number_within_what_ties_can_make_of_it():
    # Six users, each with two items on top with the same score, the first of them held out: 1 of 6 can be had by a
    # particular order only.
    rows = [(user, item, 5) for user in range(1, 7) for item in (1, 3)]
    train, test = np.arange(1, 12, 2), np.arange(0, 12, 2)
    rows += [(7, 2, 4), (7, 1, 4)]
    scores = np.tile([2.0, 2.0, 1.0], (7, 1))
    tied = pipeline("pytrec_eval/RelevanceEvaluator", 1, scores, np.append(train, [12, 13]), test, P=1 / 6)
    measure, _ = audit(tied, POLICY, rows)
    assert (measure.equal, measure.folds[0].measured) == (False, 1.0)
    wanted = "between what the worst and the best order of equal scores give, which make a difference to 6 of 6 lists"
    assert wanted in measure.explanations[0]


def test_single_precision_is_named():
    measure, _ = audit(pipeline("sklearn/regression", mean_absolute_error=float(np.float32(2 / 3))), POLICY)
    assert not measure.equal
    assert measure.explanations[0] == (
        "The numbers differ by 2e-08 at most, as those do that were added up in single precision."
    )


def test_rounded_numbers_are_equal_to_their_decimals():
    rounded = pipeline("sklearn/regression", mean_absolute_error=0.6667)
    assert not audit(rounded, POLICY)[0].equal
    measure, _ = audit(rounded, inference(decimals=4))
    assert measure.equal and measure.summary.endswith("as mae[average=ratings], rounded to 4 decimals")


def test_what_the_policy_does_not_explain_is_counted():
    question, answer, predicted = Question((), (), 3), Answer(1.0), Answer(0.5)
    doubtful = inference(
        unexplained=(Unexplained("short lists", {}, 0.5, 1, 2, question, answer, predicted),),
        unstable=(Unstable("random", "ties", question, (answer, predicted)),),
    )
    measure, _ = audit(pipeline("pytrec_eval/RelevanceEvaluator", 3, P=0.9), doubtful)
    # Each has 1 hit in 3 places. The second user has two items of training, and so two others of four.
    assert measure.folds[0].measured == pytest.approx(1 / 3)
    assert measure.explanations == (
        "No other choice in one decision, and no other order of ties, gives the numbers reported.",
        "The policy does not explain short lists (1 of 3 lists are).",
        "The policy does not explain ties (nothing of the kind is counted here).",
    )


def test_what_a_plugin_knows_of_a_number_explains_it_where_it_differs():
    quirks = {"P": "It counts hits on Sundays only."}
    measure, _ = audit(pipeline("pytrec_eval/RelevanceEvaluator", 3, quirks=quirks, P=0.9), POLICY)
    assert measure.explanations == ("It counts hits on Sundays only.",)
    assert audit(pipeline("pytrec_eval/RelevanceEvaluator", 1, quirks=quirks, P=1.0), POLICY)[0].explanations == ()


def test_without_a_policy_there_is_nothing_to_hold_numbers_against():
    measure, audited = audit(pipeline("sklearn/regression", mean_absolute_error=0.5), None)
    assert (measure.equal, measure.summary) == (False, "mean_absolute_error: no policy is known for it")
    assert audited.frame().empty
    question = Question((User(1, {2: 3.0}, ((2, 5.0),)),), (2,), None)
    twice = Unstable("random", "plain lists", question, (Answer(0.0), Answer(1.0)))
    random = Inference("x", "mae", "unexplained", {}, None, "mae", unstable=(twice,))
    assert (
        "gives different numbers to the same question"
        in audit(pipeline("sklearn/regression", mean_absolute_error=0.5), random)[0].why
    )


def test_only_some_measures():
    two = pipeline("sklearn/regression", mean_absolute_error=2 / 3, mean_squared_error=2 / 3)
    evaluated = []

    def policy_of(measure):
        evaluated.append(measure)
        return POLICY

    audited = audit_pipeline(two, interactions(ROWS), policy_of, measures=["mean_squared_error"])
    assert evaluated == [measure.measure for measure in audited.measures] == ["mean_squared_error"]
    with pytest.raises(
        PluginError, match=r"tests/tiny reports no 'mse'.*It reports: mean_absolute_error, mean_squared"
    ):
        audit(two, POLICY, measures=["mse"])
    with pytest.raises(PluginError, match=r"the evaluator sklearn/regresion, which no plug-in has.*sklearn/regression"):
        audit(pipeline("sklearn/regresion", mean_absolute_error=1.0), POLICY)


@pytest.fixture(scope="module")
def ratings():
    return synthetic_interactions(users=60, items=40, ratings=900)


def test_surprise_reports_what_the_core_gives(ratings):
    # Predictions are clipped to the scale, impossible ones are replaced and counted; pairs are counted for each user,
    # and the two means of the counts divided (accuracy.fcp).
    clipped = POLICY.replace({"predict.clip": "scale", "predict.fallback": "accept"})
    policy = clipped.replace({"metric.fcp.join": "mean-counts"})
    surprise = plugins().pipelines()["surprise/cross_validate"]
    audited = audit_pipeline(surprise, ratings, lambda measure: policy)
    assert [measure.measure for measure in audited.measures] == ["rmse", "mae", "mse", "fcp"]
    assert [len(measure.folds) for measure in audited.measures] == [5, 5, 5, 5]
    assert audited.equal, audited.to_text()
    [fcp] = audit_pipeline(surprise, ratings, lambda measure: clipped, measures=["fcp"]).measures
    assert fcp.explanations == (
        'With metric.fcp.join = "mean-counts" in place of "pooled" the numbers are those reported.',
    )


def test_implicit_reports_what_the_core_gives(ratings):
    audited = audit_pipeline(
        plugins().pipelines()["implicit/train_test_split"], ratings, lambda measure: POLICY, measures=["ndcg"], seed=1
    )
    assert audited.equal, audited.to_text()
    assert audited.measures[0].metric == "ndcg[discount=log2,gain=binary,ideal=min]@10"
