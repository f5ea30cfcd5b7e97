"""The protocols that were inferred give the numbers that the evaluators themselves gave on cases made by hand.

None of these cases was asked when the protocols were inferred; the numbers are outputs of the libraries (lenskit
2025.8.1, implicit 0.7.3, ranx 0.3.21, pytrec-eval-terrier 0.5.11, ir-measures 0.4.3, cornac 3.0.1, recbole 1.2.1,
scikit-surprise 1.1.5).
"""

from __future__ import annotations

import pytest

from repro.audits.hypotheses.simulation import Simulation
from repro.audits.hypotheses.space import Space
from repro.audits.policies import hypothesis_of
from repro.audits.questions.question import Question, User
from repro.evaluation.metrics import metric_named
from repro.protocol import Protocol, read_protocol

# Five users: one with hits at ranks 2 and 4, one with a list of two, one without a list, one with more held-out items
# than the list is long, one without a hit.
_FIRST = {1: 1.0, 2: 0.95, 3: 0.9, 4: 0.85, 5: 0.8}
LISTS = (
    User(1, _FIRST, ((2, 3.0), (4, 5.0), (9, 1.0))),
    User(2, {3: 1.0, 1: 0.95}, ((1, 4.0),)),
    User(4, {}, ((5, 2.0), (6, 4.0))),
    User(
        5,
        {6: 1.0, 7: 0.95, 8: 0.9, 9: 0.85, 10: 0.8},
        ((6, 1.0), (7, 5.0), (8, 2.0), (9, 3.0), (10, 4.0), (11, 5.0), (12, 5.0)),
    ),
    User(6, _FIRST, ((8, 5.0),)),
)
# Six predictions, one off the scale.
PREDICTED = (
    User(1, {1: 3.5, 2: 2.5, 3: 6.0}, ((1, 4.0), (2, 2.0), (3, 5.0))),
    User(2, {1: 3.0}, ((1, 1.0),)),
    User(3, {2: 3.0, 3: 2.0}, ((2, 3.0), (3, 4.0))),
)


def simulated(protocol: str, metric: str, users: tuple[User, ...], k: int | None) -> float:
    """The core's number for the case under an inferred protocol."""
    items = tuple(sorted({item for user in users for item in (*user.scores, *(tested for tested, _ in user.test))}))
    stranger = User(99, train=tuple((item, 3.0) for item in items))  # everything is known from training
    space = Space(metric_named(metric))
    simulated = Simulation(Question((*users, stranger), items, k), space).outcome(
        hypothesis_of(inferred(protocol), space)
    )
    assert simulated.value is not None, simulated.refusal
    return simulated.value


def inferred(name: str) -> Protocol:
    return read_protocol(f"inferred/{name}")


GRADED_3, GRADED_5, BURGES_3 = 0.27415099421602396, 0.3537479030250645, 0.21756453859496663
BINARY_3, BINARY_5 = 0.38540233290746456, 0.4258238022075741
RECALL_3, RECALL_5, AP_3, AP = 0.35238095238095235, 0.47619047619047616, 0.21904761904761902, 0.3095238095238095


@pytest.mark.parametrize(
    ("protocol", "metric", "k", "given"),
    [
        ("ranx-evaluate-comparable-ndcg@k", "ndcg", 3, GRADED_3),
        ("ranx-evaluate-comparable-ndcg@k", "ndcg", 5, GRADED_5),
        ("ranx-evaluate-comparable-ndcg_burges@k", "ndcg", 3, BURGES_3),
        ("ranx-evaluate-comparable-map@k", "ap", 3, AP_3),
        ("ranx-evaluate-comparable-map", "ap", None, AP),
        ("ranx-evaluate-comparable-precision@k", "precision", 5, 0.32),
        ("ranx-evaluate-comparable-recall@k", "recall", 3, RECALL_3),
        ("ranx-evaluate-comparable-f1@k", "f1", 3, 0.2866666666666666),
        ("ranx-evaluate-comparable-hit_rate@k", "hit", 3, 0.6),
        ("ranx-evaluate-comparable-mrr@k", "rr", 3, 0.4),
        ("ir_measures-calc-nDCG@k", "ndcg", 3, GRADED_3),
        ("ir_measures-calc-nDCG@k", "ndcg", 5, GRADED_5),
        ("ir_measures-calc-AP@k", "ap", 3, AP_3),
        ("ir_measures-calc-AP", "ap", None, AP),
        ("ir_measures-calc-P@k", "precision", 3, 1 / 3),
        ("ir_measures-calc-R@k", "recall", 5, RECALL_5),
        ("ir_measures-calc-RR@k", "rr", 1, 0.2),
        ("ir_measures-calc-RR", "rr", None, 0.4),
        ("ir_measures-calc-Success@k", "hit", 3, 0.6),
        ("implicit-ranking_metrics_at_k-ndcg", "ndcg", 3, BINARY_3),
        ("implicit-ranking_metrics_at_k-ndcg", "ndcg", 5, BINARY_5),
        ("implicit-ranking_metrics_at_k-map", "ap", 3, 1 / 3),
        ("implicit-ranking_metrics_at_k-map", "ap", 5, 0.36666666666666664),
        ("implicit-ranking_metrics_at_k-precision", "precision", 3, 0.5),
        ("implicit-ranking_metrics_at_k-precision", "precision", 5, 2 / 3),
        # LensKit says nothing of a user who has no list: the mean of the other four.
        ("lenskit-RunAnalysis-NDCG", "ndcg", 3, (0.3800937667159343 + 1 + 1 + 0) / 4),
        ("lenskit-RunAnalysis-NDCG", "ndcg", 5, (0.5701406500739015 + 1 + 1 + 0) / 4),
        ("lenskit-RunAnalysis-NDCG_rating", "ndcg", 3, (0.3475871181501167 + 1 + 0.5520375066863737 + 0) / 4),
        ("lenskit-RunAnalysis-Recall", "recall", 3, (1 / 3 + 1 + 1 + 0) / 4),
        ("lenskit-RunAnalysis-Precision", "precision", 3, (1 / 3 + 0.5 + 1 + 0) / 4),
        ("lenskit-RunAnalysis-RecipRank", "rr", 3, (0.5 + 0.5 + 1 + 0) / 4),
        ("lenskit-RunAnalysis-Hit", "hit", 3, 0.75),
        ("lenskit-RunAnalysis-RBP", "rbp", 5, (0.21961875 + 0.1275 + 0.5562946875 + 0) / 4),
    ],
)
def test_lists(protocol, metric, k, given):
    assert simulated(protocol, metric, LISTS, k) == pytest.approx(given, abs=1e-9)


@pytest.mark.parametrize(
    ("protocol", "metric", "given"),
    [
        ("cornac-ranking_eval-NDCG", "ndcg", (0.2960819109658652 + 1 + 0) / 3),
        ("cornac-ranking_eval-Precision", "precision", (1 / 3 + 1 + 0) / 3),
        ("cornac-ranking_eval-Recall", "recall", (1 / 3 + 3 / 7 + 0) / 3),
        ("cornac-ranking_eval-F1", "f1", (1 / 3 + 0.6 + 0) / 3),
        ("recbole-full-unrounded-NDCG", "ndcg", 0.4320273036552884),
        ("recbole-full-unrounded-MAP", "ap", 0.38888888888888895),
        ("recbole-full-unrounded-Recall", "recall", 0.25396825396825395),
        ("recbole-full-unrounded-Precision", "precision", 4 / 9),
        ("recbole-full-unrounded-MRR", "rr", 0.5),
        ("recbole-full-unrounded-Hit", "hit", 2 / 3),
        ("pytrec_eval-RelevanceEvaluator-ndcg_cut", "ndcg", (0.25603181613369436 + 0.48379340137496785 + 0) / 3),
        ("pytrec_eval-RelevanceEvaluator-P", "precision", (1 / 3 + 1 + 0) / 3),
    ],
)
def test_lists_of_evaluators_that_score_every_item(protocol, metric, given):
    """Users 1, 5 and 6; what is not in their lists comes after it, in no order that matters at rank 3."""
    every = range(1, 13)
    whole = tuple(
        User(user.id, {item: user.scores.get(item, -float(item)) + 20.0 for item in every}, user.test)
        for user in LISTS
        if len(user.scores) == 5
    )
    assert simulated(protocol, metric, whole, 3) == pytest.approx(given, abs=1e-6 if "recbole" in protocol else 1e-9)


@pytest.mark.parametrize(
    ("protocol", "metric", "given"),
    [
        ("surprise-accuracy-rmse", "rmse", 1.2583057392117916),
        ("surprise-accuracy-mae", "mae", 1.0),
        ("surprise-accuracy-mse", "mse", 1.5833333333333333),
    ],
)
def test_predictions(protocol, metric, given):
    assert simulated(protocol, metric, PREDICTED, None) == pytest.approx(given, abs=1e-9)


def test_single_precision_decides_a_tie_as_trec_eval_does():
    """0.50000001 and 0.5 are one number in single precision: the higher id, as text, comes first."""
    users = (User(1, {1: 0.50000001, 2: 0.5}, ((1, 1.0),)),)
    assert simulated("pytrec_eval-RelevanceEvaluator-recip_rank", "rr", users, None) == 0.5
