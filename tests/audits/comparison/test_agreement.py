"""Agreement of evaluators: the comparison distinguishes tiny evaluators that differ in one known thing, by a case."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from dataclasses import replace

import pytest

from repro.audits.black_boxes.black_box import CUTOFFS, BlackBox
from repro.audits.comparison.agreement import Agreement, share_of
from repro.audits.comparison.pairwise import by_metric, compare_boxes, compare_evaluators
from repro.audits.questions.answers import Answer
from repro.audits.questions.question import Question, User
from repro.errors import PluginError, ProtocolError
from repro.evaluation.metrics import metric_named
from repro.plugin import Evaluator, Observed, plugins
from repro.protocol import Protocol


def precision(
    *,
    rising: bool = True,
    short: bool = False,
    least: float = 0.0,
    digits: int | None = None,
    wrong_k: int | None = None,
) -> Callable[[Question], Observed]:
    """Precision in plain Python: ties by item id, rising or falling; missing scores last.

    short    hits are divided by the length of the list, if that is below k
    least    the rating from which an item is relevant
    digits   to which the answer is rounded
    wrong_k  this cut-off in place of the one asked for
    """

    def of_user(user: User, k: int) -> float:
        sign = 1 if rising else -1
        known = [item for item, score in user.scores.items() if not math.isnan(score)]
        listed = sorted(known, key=lambda item: (-user.scores[item], sign * item))
        listed += sorted((item for item in user.scores if item not in known), key=lambda item: sign * item)
        wanted = {item for item, rating in user.test if rating >= least}
        hits = sum(item in wanted for item in listed[:k])
        return hits / (min(k, len(listed)) or 1 if short else k)

    def respond(question: Question) -> Observed:
        assert question.k is not None
        values = [of_user(user, wrong_k or question.k) for user in question.tested]
        value = sum(values) / len(values)
        return Observed(value if digits is None else round(value, digits))

    return respond


NO_TRAINING = dict.fromkeys(("training", "unknown-items", "fallback"), "lists only")


def box(name: str, respond: Callable[[Question], Observed], cutoffs=CUTOFFS, **cannot: str) -> BlackBox:
    barred = {key.replace("_", "-"): why for key, why in cannot.items()}
    return BlackBox(name, metric_named("precision"), respond, cutoffs, NO_TRAINING | barred)


def compare(*boxes: BlackBox, **options) -> Agreement:
    return compare_boxes(boxes, **options)


def only(agreement: Agreement):
    [pair] = agreement.pairs
    return pair


def test_the_same_function_twice_agrees_in_everything():
    agreement = compare(box("a", precision()), box("b", precision()))
    assert only(agreement).verdict == "agree"
    assert (agreement.agreeing, agreement.compared, agreement.share) == (1, 1, 1.0)
    assert agreement.frame().loc["a", "b"] == "agree"
    assert only(agreement).case is None and not agreement.cases
    assert set(only(agreement).compared.values()) == {60}
    assert {"plain lists", "ratings", "short lists", "ties", "missing scores"} <= set(agreement.kinds)


def test_the_order_of_ties_is_seen_on_two_items():
    pair = only(compare(box("low first", precision()), box("high first", precision(rising=False))))
    assert (pair.verdict, pair.case.kind) == ("differ", "ties")
    question = pair.case.question
    # Two items with the same score, one of them held out, on both sides of the last place: nothing smaller has a tie
    # that counts.
    [user] = question.tested
    [(held_out, _)] = user.test
    ranked = sorted(user.scores.values(), reverse=True)
    assert len(question.items) == question.k + 1 and ranked[-1] == ranked[-2]
    tied = [item for item, score in user.scores.items() if score == ranked[-1]]
    assert held_out in tied and len(tied) == 2
    hit = {"low first": held_out == min(tied), "high first": held_out == max(tied)}
    assert {name: answer.value for name, answer in pair.case.answers.items()} == {
        name: is_hit / question.k for name, is_hit in hit.items()
    }
    assert not {"plain lists", "ratings", "short lists"} & set(pair.gaps)


def test_the_length_of_the_list_is_seen_on_one_item():
    pair = only(compare(box("k", precision()), box("length", precision(short=True))))
    assert pair.case.kind == "short lists"
    question = pair.case.question
    [user] = question.tested
    # One item, which is a hit, and two places: a half of the places, or all of the list.
    assert (question.k, len(question.items), len(user.test)) == (2, 1, 1)
    assert {name: answer.value for name, answer in pair.case.answers.items()} == {"k": 0.5, "length": 1.0}
    assert "plain lists" not in pair.gaps


def test_a_threshold_is_seen_on_one_low_rating():
    pair = only(compare(box("any", precision()), box("from 3.5", precision(least=3.5))))
    assert pair.case.kind == "ratings"
    [user] = pair.case.question.tested
    assert sorted(answer.value for answer in pair.case.answers.values()) == [0.0, 1.0]
    listed_first = max(user.scores, key=user.scores.get)
    assert dict(user.test)[listed_first] < 3.5


def test_the_average_is_seen_on_two_users():
    def pooled(question: Question) -> Observed:
        """The longest lists count most: hits of all users over places of all lists, of k or fewer."""
        alone = [replace(question, users=(user,)) for user in question.tested]
        lengths = [min(len(user.scores), question.k) for user in question.tested]
        hits = [precision(short=True)(question).value * length for question, length in zip(alone, lengths, strict=True)]
        return Observed(sum(hits) / (sum(lengths) or 1))

    pair = only(compare(box("users", precision(short=True)), box("pooled", pooled)))
    # The lists of two users must be of different lengths, one of them with a hit.
    assert pair.case.kind in ("partial lists", "users without a list")
    assert len(pair.case.question.tested) == 2
    assert "one user" in pair.compared and not {"one user", "plain lists", "ties"} & set(pair.gaps)


def test_each_pair_has_a_case_and_cases_are_shared():
    agreement = compare(
        box("a", precision()), box("b", precision()), box("falling", precision(rising=False)), box("c", precision())
    )
    assert [pair.verdict for pair in agreement.pairs] == ["agree", "differ", "agree", "differ", "agree", "differ"]
    assert agreement.share == 0.5
    assert len(agreement.cases) == 1  # one case tells the odd one from all others
    assert set(agreement.cases[0].answers) == {"a", "b", "falling", "c"}
    assert agreement.marks()[2] == ["a", "a", ".", "a"] and agreement.marks()[0] == [".", "=", "a", "="]
    assert "a: ties" in agreement.legend
    text = agreement.to_text()
    assert text.startswith("precision@k: 3 of 6 pairs agree (50%)")
    assert ": a, b, c" in text


def test_a_refusal_is_neither_agreement_nor_disagreement():
    def refusing(question: Question) -> Observed:
        if any(math.isnan(score) for user in question.tested for score in user.scores.values()):
            raise PluginError("there are scores that are not numbers")
        return precision()(question)

    agreement = compare(box("takes all", precision()), box("refuses", refusing))
    assert only(agreement).verdict == "agree"
    assert only(agreement).compared["missing scores"] < 60 == only(agreement).compared["plain lists"]
    assert {refusal.kind for refusal in agreement.refusals} <= {"missing scores", "scores of zero and below"}
    first = agreement.refusals[0]
    assert (first.name, first.message) == ("refuses", "there are scores that are not numbers")
    assert "refuses: missing scores" in agreement.to_text()

    def mute(question: Question) -> Observed:
        raise PluginError("no")

    agreement = compare(box("takes all", precision()), box("mute", mute))
    assert only(agreement).verdict == "not compared"
    assert (agreement.compared, math.isnan(agreement.share)) == (0, True)
    assert agreement.marks()[0] == [".", "-"]


def test_what_a_black_box_cannot_be_given_is_not_asked():
    seen = []

    def watched(question: Question) -> Observed:
        seen.append(question)
        return precision()(question)

    agreement = compare(box("a", precision()), box("b", watched, ties="no ties", graded="ratings of 1", missing="none"))
    pair = only(agreement)
    assert not any("ties" in kind or "missing" in kind for kind in pair.compared)
    assert all(kind.endswith("ratings of 1") for kind in pair.compared)
    ratings = {rating for question in seen for user in question.tested for _, rating in user.test}
    assert ratings == {1.0}


def test_numbers_for_all_and_numbers_for_each_are_not_compared():
    def each(question: Question) -> Observed:
        codes = {user: code for code, user in enumerate(question.case.test.user_ids.tolist())}
        alone = {codes[user.id]: precision()(Question((user,), question.items, question.k)) for user in question.tested}
        return Observed(None, {code: answer.value for code, answer in alone.items()})

    assert only(compare(box("all", precision()), box("each", each))).verdict == "not compared"
    assert only(compare(box("each", each), box("each too", each))).verdict == "agree"


def test_chance_is_told_from_policy():
    draws = itertools.count()

    def moody(question: Question) -> Observed:
        tied = any(len(set(user.scores.values())) < len(user.scores) for user in question.tested)
        return precision(rising=not tied or next(draws) % 2 == 0)(question)

    pair = only(compare(box("a", precision()), box("moody", moody)))
    assert (pair.case.kind, pair.random) == ("ties", ("moody",))
    assert "Random\n    moody: ties" in compare(box("a", precision()), box("moody", moody)).to_text()


def test_rounding_does_not_hide_what_is_behind_it():
    rounded = only(compare(box("a", precision()), box("rounds", precision(digits=4))))
    assert rounded.verdict == "differ"
    assert max(rounded.gaps.values()) <= 0.5e-4  # nothing but rounding: thirds, and several users
    both = only(compare(box("a", precision()), box("rounds, falling", precision(rising=False, digits=4))))
    assert both.case.kind == "ties"


def test_policies_explain_a_case_by_the_decision_that_matters():
    base = Protocol.load("random-5fold").replace(
        {"relevance.rule": "any", "candidates.base": "all-items", "metric.precision.denominator": "k"}
    )
    policies = {
        "low first": base.replace({"ties.break": "item-asc", "average.no_relevant": "skip"}),
        "high first": base.replace({"ties.break": "item-desc", "average.no_relevant": "zero"}),
    }
    boxes = box("low first", precision()), box("high first", precision(rising=False))
    agreement = compare(*boxes, policies=policies)
    [choice] = only(agreement).choices
    assert (choice.decision, choice.first, choice.second) == ("ties.break", "item-asc", "item-desc")
    assert 'ties.break = "item-asc" (low first); "item-desc" (high first)' in agreement.to_text()
    # A policy that does not give the answer explains nothing.
    wrong = policies | {"high first": policies["low first"]}
    assert only(compare(*boxes, policies=wrong)).choices == ()


def test_the_same_seed_gives_the_same_and_questions_are_plain_data():
    boxes = box("a", precision()), box("b", precision(short=True)), box("c", precision(rising=False))
    first, again = (compare(*boxes, seed=3).to_dict() for _ in range(2))
    assert first == again
    assert first["pairs"][0]["verdict"] == "differ" and first["share"] == 0.0
    assert first["cases"][first["pairs"][0]["case"]]["kind"] == "short lists"
    assert compare(*boxes, seed=4).to_dict()["cases"] != first["cases"]


def test_black_boxes_without_a_common_cutoff_are_refused():
    with pytest.raises(ProtocolError, match=r"no cut-off in common.*a \(1, 2\), b \(5\)"):
        compare(box("a", precision(), cutoffs=(1, 2)), box("b", precision(), cutoffs=(5,)))


def test_progress_is_told():
    calls = []
    compare(box("a", precision()), box("b", precision()), progress=lambda *call: calls.append(call))
    assert {metric for metric, _, _ in calls} == {"precision@k"}
    assert [done for _, done, _ in calls] == list(range(len(calls))) and calls[-1][1] == calls[-1][2]


def test_the_share_is_that_of_all_pairs_that_were_compared():
    two = compare(box("a", precision()), box("b", precision()))
    three = compare(box("a", precision()), box("b", precision(short=True)), box("c", precision(rising=False)))
    assert (two.agreeing, two.compared, three.agreeing, three.compared) == (1, 1, 0, 3)
    assert share_of([two, three]) == 0.25


def evaluator(name: str, **measures: str) -> Evaluator:
    return Evaluator(name, "", lambda case, measure, k: Observed(0.0), measures)


def test_measures_are_compared_with_those_that_are_taken_for_the_same():
    groups = by_metric([evaluator("x/one", NDCG="ndcg@k", whole="ndcg"), evaluator("x/two", map="ap@k", n="ndcg@k")])
    assert {label: [box.name for box in boxes] for label, boxes in groups.items()} == {
        "ap@k": ["x/two map"],
        "ndcg": ["x/one whole"],
        "ndcg@k": ["x/one NDCG", "x/two n"],
    }


def test_scikit_learn_and_trec_eval_agree_on_ndcg_but_for_ties():
    # scikit-learn's ndcg_score averages over the orders of ties unless it is told to ignore them, trec_eval orders them
    # by id, and both have linear gains and a discount of log2(rank + 1).
    known = plugins().evaluators()
    names = ["sklearn/ndcg_score", "sklearn/ndcg_score_ignore_ties", "pytrec_eval/RelevanceEvaluator"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about scores that are not numbers
        [agreement] = compare_evaluators([known[name] for name in names], metrics=["ndcg@k"])
    assert agreement.names == (
        "sklearn/ndcg_score ndcg_at_k",
        "sklearn/ndcg_score_ignore_ties ndcg_at_k",
        "pytrec_eval/RelevanceEvaluator ndcg_cut",
    )
    assert {pair.case.kind for pair in agreement.pairs} == {"ties"}
    [tied] = [
        case for case in agreement.cases if all(len(set(user.scores.values())) == 1 for user in case.question.tested)
    ]
    assert tied.answers["sklearn/ndcg_score ndcg_at_k"] == Answer(pytest.approx(0.5))
    assert any("NaN" in refusal.message for refusal in agreement.refusals if refusal.name.startswith("sklearn"))
