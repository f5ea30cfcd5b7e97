"""Policies that hold for small questions only are never stated: each function here is right in all but a corner."""

from __future__ import annotations

import ast
import hashlib
import inspect
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from repro.audits import audit
from repro.audits.confirmation import adversary
from repro.audits.confirmation.adversary import TRAITS, Adversary, Goal, traits_of
from repro.audits.examination.thresholds import Interval
from repro.audits.questions.answers import Answer, contradicts
from repro.audits.questions.aspects import RANKING
from repro.errors import ProtocolError
from repro.plugin import FEATURES

# What the functions here cannot be given: everything but plain lists; and the same, but for graded ratings.
ONLY = frozenset(
    {
        "ties",
        "missing_scores",
        "infinite_scores",
        "zero_scores",
        "partial_lists",
        "empty_lists",
        "short_lists",
        "duplicates",
        "unknown_items",
        "training_rows",
        "graded_ratings",
    }
)
GRADED = ONLY - {"graded_ratings"}


def mean_of_users(of_user: Callable[[pd.DataFrame, pd.DataFrame], float | None]) -> Callable[..., float]:
    """A function to be audited: the mean of a number of each user, who is left out where it is None."""

    def mean(scores, truth, train, k):
        values = [of_user(scores[scores.user == user], mine) for user, mine in truth.groupby("user")]
        counted = [value for value in values if value is not None]
        return float(np.mean(counted)) if counted else math.nan

    return mean


def stable_if_short(mine: pd.DataFrame, held_out: pd.DataFrame) -> float:
    """A hit among the best three by a sort that is stable for up to 16 items only, as many are."""
    rows = list(mine.itertuples())
    if len(rows) > 16:
        rows = rows[7:] + rows[:7]
    best = [row.item for row in sorted(rows, key=lambda row: -row.score)[:3]]
    return float(np.isin(best, held_out.item).any())


def hashed_ties(mine: pd.DataFrame, held_out: pd.DataFrame) -> float:
    """A hit among the best three, equal scores in the order of a hash of the user and the item."""

    def key(row):
        return -row.score, hashlib.sha256(f"{row.user} {row.item}".encode()).digest()

    best = [row.item for row in sorted(mine.itertuples(), key=key)[:3]]
    return float(any(item in set(held_out.item) for item in best))


def recall_above(threshold: float, *, inclusive: bool) -> Callable[[pd.DataFrame, pd.DataFrame], float | None]:
    def recall(mine: pd.DataFrame, held_out: pd.DataFrame) -> float | None:
        liked = held_out.rating >= threshold if inclusive else held_out.rating > threshold
        relevant = set(held_out.item[liked])
        best = mine.sort_values("score", ascending=False).item[:3]
        return len(relevant.intersection(best)) / len(relevant) if relevant else None

    return recall


def test_ties_that_a_sort_leaves_stable_in_short_lists_only_follow_no_rule():
    """Infinite scores, of which several are equal as well, are not blamed for it."""
    cannot = ONLY - {"ties", "infinite_scores"}
    inference = audit(mean_of_users(stable_if_short), "hit", k=3, evidence=False, cannot=cannot)
    assert inference.verdict == "explained but for ties"
    assert "infinite scores" in inference.holds
    [ties] = inference.unexplained
    assert "as the sort happens" in ties.note
    [longest] = [max(len(user.scores) for user in ties.question.tested)]
    assert longest == 17
    assert not any(key.startswith("ties.") for key in inference.policy)
    assert inference.summary == "mean is hit@k, but for ties"


def test_who_refuses_users_without_a_list_may_still_average_nobody():
    def hit(mine, held_out):
        if not len(mine):
            raise ValueError("a user has no list")
        return float(np.isin(mine.sort_values("score").item[-3:], held_out.item[held_out.rating >= 3]).any())

    cannot = ONLY - {"graded_ratings", "empty_lists"}
    inference = audit(mean_of_users(hit), "hit", k=3, evidence=False, cannot=cannot)
    assert inference.status == "explained", inference.to_text()
    assert inference.policy["average.no_relevant"] == "zero"
    assert "average.nobody" not in inference.policy
    assert {refusal.aspect for refusal in inference.refused} >= {"users without a list"}


def test_a_question_that_the_core_cannot_evaluate_refutes_nothing():
    stopped = Answer(None, refusal="there are no candidates")
    by_decision = replace(stopped, by_decision=True)
    assert not contradicts(Answer(0.5), stopped)
    assert contradicts(Answer(0.5), by_decision)
    assert not contradicts(Answer(None, refusal="no"), by_decision)
    assert contradicts(Answer(0.5), Answer(0.25)) and not contradicts(Answer(0.5), Answer(0.5))


def test_ties_by_a_hash_are_pseudo_random():
    inference = audit(mean_of_users(hashed_ties), "hit", k=3, evidence=False, cannot=ONLY - {"ties"})
    assert inference.verdict == "explained but for ties"
    [ties] = inference.unexplained
    assert "pseudo-random" in ties.note
    assert not inference.unstable


@pytest.mark.parametrize(
    ("threshold", "inclusive", "below"),
    [(0.0, False, 0.0), (0.5, True, 0.5), (3.7, True, 3.7), (3.7, False, 3.7)],
)
def test_a_threshold_is_an_interval_that_answers_allow(threshold, inclusive, below):
    function = mean_of_users(recall_above(threshold, inclusive=inclusive))
    inference = audit(function, "recall", k=3, evidence=False, cannot=GRADED)
    assert inference.status == "explained", inference.to_text()
    interval = inference.threshold
    assert interval.not_relevant < interval.relevant < interval.not_relevant + 2e-6
    exact = interval.relevant if inclusive else interval.not_relevant
    assert exact == pytest.approx(below, abs=1e-12)
    assert (inference.policy["relevance.threshold"], inference.policy["relevance.inclusive"]) == (threshold, inclusive)


def test_a_threshold_between_whole_ratings_stays_an_interval():
    function = mean_of_users(recall_above(3.2, inclusive=True))
    inference = audit(function, "recall", k=3, evidence=False, cannot=GRADED | {"fractional_ratings"})
    assert (inference.threshold.not_relevant, inference.threshold.relevant) == (3.0, 4.0)
    assert not {"relevance.threshold", "relevance.inclusive"} & inference.policy.keys()
    assert "ratings from 4 on are relevant, ratings up to 3 are not" in inference.to_text()


@pytest.mark.parametrize(
    ("interval", "simplest"),
    [
        (Interval(3.9999991, 4.0), (4.0, True)),
        (Interval(0.0, 9e-7), (0.0, False)),
        (Interval(3.6999998, 3.7000007), (3.7, False)),
        (Interval(-math.inf, 1.0), (1.0, True)),
    ],
)
def test_the_simplest_threshold_of_an_interval(interval, simplest):
    assert interval.simplest == (pytest.approx(simplest[0]), simplest[1])


def test_a_denominator_that_looks_at_the_length_of_the_list():
    """min(k, length, relevant) is min(k, relevant) unless lists are shorter than what is relevant."""

    def ap(mine, held_out):
        best = mine.sort_values("score", ascending=False).item[:3]
        hits = np.isin(best, held_out.item)
        precisions = np.cumsum(hits) / np.arange(1, len(best) + 1)
        return float((precisions * hits).sum() / max(1, min(3, len(best), held_out.item.nunique())))

    cannot = ONLY - {"partial_lists", "short_lists"}
    inference = audit(mean_of_users(ap), "ap", k=3, evidence=False, cannot=cannot)
    assert inference.policy["metric.ap.denominator"] == "min-list", inference.to_text()
    assert inference.measure == "ap[denominator=min-list]@k"


def test_a_variant_that_no_question_determines_is_not_in_the_headline():
    """Of one place, every discount is the same."""

    def first(mine, held_out):
        return float(mine.sort_values("score", ascending=False).item.iloc[0] in set(held_out.item))

    inference = audit(mean_of_users(first), "ndcg", k=1, evidence=False, cannot=ONLY)
    assert "gain" not in inference.measure and "discount" not in inference.measure
    left = {key: group for group in inference.undetermined for key in group.decisions}
    assert len(left["metric.ndcg.discount"].of("metric.ndcg.discount")) > 1
    assert "questions distinguishes them" in left["metric.ndcg.discount"].why
    assert "metric.ndcg.discount" in inference.protocol.open


def test_who_always_raises_is_left_alone_after_a_few_questions():
    def broken(scores, truth, train, k):
        raise KeyError("no such column")

    inference = audit(broken, "ndcg", k=3)
    assert inference.status == "unexplained" and inference.asked <= 12
    assert inference.summary == "broken refuses plain lists: KeyError: 'no such column'"


@pytest.mark.parametrize("k", [7, (2, 9)])
def test_a_function_gets_the_cutoffs_that_were_given_and_no_others(k):
    seen = set()

    def precision(scores, truth, train, k):
        seen.add(k)
        hits = scores.sort_values("score", ascending=False).groupby("user").head(k).merge(truth, on=["user", "item"])
        return len(hits) / k / truth.user.nunique()

    inference = audit(precision, "precision", k=k, cannot=ONLY)
    assert inference.status == "explained" and inference.evidence
    assert seen == ({k} if isinstance(k, int) else set(k))
    assert ("other cut-offs" in inference.not_asked) and "Not asked" in inference.to_text()
    with pytest.raises(ProtocolError, match="at least 1"):
        audit(precision, "precision", k=(3, 0))


def test_the_page_says_what_was_never_asked():
    inference = audit(mean_of_users(recall_above(0.0, inclusive=True)), "recall", k=2, evidence=False, cannot=ONLY)
    page = inference.to_text()
    assert "as it is called here" in page
    assert "equal scores: as its author says" in page


def test_the_adversary_shares_no_code_with_the_questions_of_inference():
    imported = {
        node.module for node in ast.walk(ast.parse(inspect.getsource(adversary))) if isinstance(node, ast.ImportFrom)
    }
    assert imported & {name for name in imported if name and name.startswith("repro.")} == {
        "repro.audits.questions.question"
    }


@pytest.fixture(scope="module")
def everything() -> list[tuple[Goal, object]]:
    """A question for each goal, where all can be asked."""
    every = Adversary(frozenset(FEATURES), cutoffs=(1, 2, 3, 5), any_cutoff=True)
    rng = np.random.default_rng(0)
    return [(goal, every.question(goal, rng)) for goal in every.goals(frozenset(aspect.needs) for aspect in RANKING)]


def test_every_pair_of_aspects_occurs_together(everything):
    unmet = [goal for goal, question in everything if not goal.is_met_by(question)]
    impossible = [goal for goal in unmet if "nobody" in goal.features or "no-list" in goal.features]
    assert len(unmet) - len(impossible) <= 0.02 * len(everything), [goal for goal in unmet if goal not in impossible]


def test_questions_are_large_and_mean(everything):
    questions = [question for _, question in everything]
    sizes = {len(user.scores) for question in questions for user in question.tested}
    assert {0, 1, 2, 16, 17} <= sizes and max(sizes) > 150
    assert {1, 2, 3, 5, 10, 50} <= {question.k for question in questions}
    assert max(len(question.tested) for question in questions) > 15
    assert set().union(*map(traits_of, questions)) == set(TRAITS)
    assert any(question.k > len(question.items) for question in questions)


def test_questions_have_nothing_that_is_not_allowed():
    rng = np.random.default_rng(1)
    for feature in ("ties", "missing", "no-list", "partial-lists", "duplicates", "unknown-items", "training"):
        allowed = frozenset(FEATURES) - {feature, "neither", "nobody", "no-negatives"}
        some = Adversary(allowed, cutoffs=(1, 2, 3, 5), any_cutoff=True)
        goals = some.goals(frozenset(aspect.needs) for aspect in RANKING if set(aspect.needs) <= allowed)
        for goal in goals[::5]:
            assert feature not in some.question(goal, rng).shown, (feature, goal)
