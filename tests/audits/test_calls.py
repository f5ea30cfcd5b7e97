"""Audits by name, in Python: what is chosen, and what is refused."""

import pytest

import repro
from repro.audits.calls import steps_as_stage
from repro.errors import PluginError, ProtocolError


def hit(scores, truth, train, k):
    best = scores.sort_values("score", ascending=False).groupby("user").head(k)
    return best.merge(truth, on=["user", "item"]).groupby("user").size().gt(0).sum() / truth["user"].nunique()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: repro.audit("implicit/ranking_metrics"), "did you mean 'implicit/ranking_metrics_at_k'"),
        (lambda: repro.audit("implicit/ranking_metrics_at_k"), "has several measures: .*; name one of them as metric"),
        (lambda: repro.audit("implicit/ranking_metrics_at_k", "rmse"), "has no measure 'rmse'"),
        (lambda: repro.audit("implicit/ranking_metrics_at_k", "ndcg", k=3), "are for functions"),
        (lambda: repro.audit(hit, k=3, cannot="ties"), "write cannot=\\['ties'\\]"),
        (lambda: repro.audit(lambda *given: 1.0, k=3), "name the metric of <lambda>"),
        (lambda: repro.audits.compare(only=["implicitly"]), "did you mean 'implicit'"),
        (lambda: repro.audits.check_pipeline("surprise/crossvalidate"), "did you mean 'surprise/cross_validate'"),
        (
            lambda: repro.audits.check_pipeline("surprise/cross_validate", protocol="random-5fold", policies="x"),
            "exclude each other",
        ),
    ],
)
def test_what_cannot_be_audited_is_refused_with_a_sentence(ask, sentence):
    with pytest.raises(PluginError, match=sentence):
        ask()


def test_an_unknown_word_for_input_gets_the_nearest():
    with pytest.raises(ProtocolError, match="'missing_score'; did you mean 'missing_scores'"):
        repro.audit(hit, k=3, cannot=["missing_score"])


def test_an_examination_ends_as_a_full_stage():
    calls = []
    box = repro.audits.BlackBox("box", repro.evaluation.metrics.metric_named("hit"), lambda question: None)
    with steps_as_stage(box, lambda *event: calls.append(event)) as step:
        for number in range(100):  # more than there are aspects
            step(str(number))
    assert {name for name, _, _ in calls} == {"box"}
    assert all(done < total for _, done, total in calls[:-1]) and calls[-1][1] == calls[-1][2]


def test_evaluators_of_two_frameworks_are_compared():
    (agreement,) = repro.audits.compare(["mae"], only=["surprise/accuracy", "sklearn"], progress=False)
    assert agreement.metric == "mae" and agreement.compared >= 1
