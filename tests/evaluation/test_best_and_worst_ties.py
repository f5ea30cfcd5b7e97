"""``ties.break = "best"`` and ``"worst"``: evaluate, studies, kept scores and audits give the same, extreme numbers."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import repro
from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import Space
from repro.audits.questions.question import Question, User
from repro.errors import ProtocolError
from repro.evaluation.metrics import metric_named
from repro.lists import default_protocol
from repro.protocol import Protocol
from tests.evaluation.metrics.test_ties import all_orders

# Equal scores in braces: user 1 has {2 3 4} 1 5, user 2 has 6 {1 3} 2 5.
SCORES = {
    1: {2: 2.0, 3: 2.0, 4: 2.0, 1: 1.5, 5: 1.0},
    2: {6: 3.0, 1: 2.0, 3: 2.0, 2: 1.0, 5: 0.5},
}
TRUTH = [(1, 2, 5.0), (1, 3, 4.0), (1, 4, 1.0), (1, 5, 4.0), (2, 1, 2.0), (2, 3, 5.0), (2, 5, 3.0), (2, 7, 4.0)]
TRAIN = [(3, 1), (3, 2), (4, 1), (4, 3), (5, 1), (5, 6), (1, 6), (2, 4), (3, 5), (4, 5), (5, 4)]
AFFECTED = [
    "ndcg@2",
    "ndcg[gain=exp2]@2",
    "ndcg[ideal=listed]@2",
    "precision@2",
    "hit@1",
    "ap@3",
    "ap[denominator=hits]@2",
    "rr",
    "arhr@2",
    "arc",
    "rbp",
    "f1[average=means]@2",
    "bpref@3",
    "infap@3",
    "half-life",
    "mpr",
    "mpr[weight=rating]",
    "fallout@2",
    "fallout[negatives=judged]@2",
    "specificity@2",
    "auc[ties=order]",
    "croc",
    "pr-auc[join=users,interpolation=trapezoid]",
    "ndpm[ties=order]",
    "kendall[ties=order]",
    "spearman[ties=order]",
    "novelty@2",
    "epc@2",
    "epc[discount=log2]@3",
    "epc[relevance=relevant]@2",
    "serendipity@2",
    "unexpectedness@2",
    "practical-accuracy@2",
]
REFUSED = ["gini@2", "entropy@2", "catalogue-coverage@2", "inter-list-diversity@2", "intra-list-diversity@2", "arc@2"]


def frames():
    rows = [(user, item, score) for user, recommended in SCORES.items() for item, score in recommended.items()]
    truth = pd.DataFrame(TRUTH, columns=["user", "item", "rating"])
    train = pd.DataFrame(TRAIN, columns=["user", "item"]).assign(rating=3.0)
    return pd.DataFrame(rows, columns=["user", "item", "score"]), truth, train


def values(recommendations, truth, train, rule, names):
    changes = {"ties.break": rule, "average.no_list": "skip", "relevance.rule": "threshold"}
    changes |= {"relevance.threshold": 4.0, "relevance.inclusive": True}
    protocol = default_protocol(True).replace(changes, "test")
    return repro.evaluate(recommendations, truth, metrics=names, protocol=protocol, train=train)["value"].to_numpy()


def direction(name):
    return -1.0 if metric_named(name.partition("[")[0].partition("@")[0]).better == "lower" else 1.0


def test_evaluate_gives_the_extremes_over_all_orders():
    recommended, truth, train = frames()
    every = []
    for both in itertools.product(*map(all_orders, SCORES.values())):
        rows = [(u, item, -float(n)) for u, order in zip(SCORES, both, strict=True) for n, item in enumerate(order)]
        ordered = pd.DataFrame(rows, columns=["user", "item", "score"])
        every.append(values(ordered, truth, train, "item-asc", AFFECTED))
    signs = np.array([direction(name) for name in AFFECTED])
    reached = signs * np.array(every)
    same = reached.max(axis=0) - reached.min(axis=0) < 1e-9
    assert [name for name, unmoved in zip(AFFECTED, same, strict=True) if unmoved] == []
    best, worst = (signs * values(recommended, truth, train, rule, AFFECTED) for rule in ("best", "worst"))
    for number, name in enumerate(AFFECTED):
        assert best[number] == pytest.approx(reached[:, number].max(), abs=1e-12), name
        assert worst[number] == pytest.approx(reached[:, number].min(), abs=1e-12), name


@pytest.mark.parametrize("rule", ["best", "worst"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_extreme_is_refused_by_name_everywhere(name, rule):
    recommended, truth, train = frames()
    refusal = rf'metric {name} has no ties.break = "{rule}": '
    with pytest.raises(ProtocolError, match=refusal):
        values(recommended, truth, train, rule, [name])
    with pytest.raises(ProtocolError, match=refusal):
        repro.Study(train, Protocol.load("random-5fold", ties__break=rule), ["reference/popularity"], [name])


@pytest.mark.parametrize("rule", ["best", "worst"])
@pytest.mark.parametrize("name", ["ndcg", "mpr", "fallout", "novelty", "epc", "unexpectedness", "user-coverage", "auc"])
def test_an_audit_predicts_what_evaluate_gives(name, rule):
    recommended, truth, train = frames()
    users = tuple(
        User(
            user,
            SCORES.get(user, {}),
            tuple((i, r) for u, i, r in TRUTH if u == user),
            tuple((i, 3.0) for u, i in TRAIN if u == user),
        )
        for user in range(1, 6)
    )
    space = Space(metric_named(name))
    question = Question(users, (1, 2, 3, 4, 5, 6, 7), 2)
    decided = {"ties.break": rule, "relevance.threshold": 4.0, "candidates.exclude_train": "none"}
    decided["missing.rank"] = "drop"  # what is not listed
    variants = {"metric.novelty.denominator": "k"} if name == "novelty" else {}
    [hypothesis, *_] = space.with_changes(space.start, decided | variants)
    outcome = Simulation(question, space).outcome(hypothesis)
    variant = "[denominator=k]" if name == "novelty" else ""
    (expected,) = values(recommended, truth, train, rule, [f"{name}{variant}@2" if name != "mpr" else name])
    assert outcome.value == pytest.approx(expected, abs=1e-12) and not math.isnan(expected), outcome


@pytest.mark.parametrize("rule", ["best", "worst"])
def test_an_audit_does_not_suppose_what_is_refused(rule):
    for name in ("gini", "catalogue-coverage", "intra-list-diversity"):
        space = Space(metric_named(name))
        assert space.with_changes(space.start, {"ties.break": rule}) == []
    assert Space(metric_named("ndcg")).with_changes(Space(metric_named("ndcg")).start, {"ties.break": rule})
