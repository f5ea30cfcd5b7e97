"""Policies that are inferred of functions and evaluators."""

import math
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from repro.audits import audit
from repro.audits.black_boxes.black_box import box_of_evaluator
from repro.audits.hypotheses.space import Space
from repro.audits.questions.answers import agree
from repro.errors import PluginError, ProtocolError
from repro.evaluation.metrics import metric_named
from repro.plugin import Evaluator, Observed

once = pytest.mark.xdist_group("inferred")  # what takes long to find out is found out by one process


@pytest.fixture(scope="module")
def of_ndcg(functions):
    return audit(functions.ndcg, "ndcg", k=3, cannot=["duplicates"])


@pytest.fixture(scope="module", params=["page", pytest.param("ndcg", marks=pytest.mark.slow)])
def audited(request):
    """A function and what was found out about it."""
    if request.param == "page":
        return request.getfixturevalue("page").hit_rate, request.getfixturevalue("ran").found
    return request.getfixturevalue("functions").ndcg, request.getfixturevalue("of_ndcg")


@once
def test_the_whole_policy_of_a_function_is_found(ran):
    inference = ran.found
    assert inference.status == "explained"
    assert (inference.confirmed, inference.tried) == (200, 200)
    assert inference.measure == "hit@k"
    assert inference.policy == {
        "relevance.rule": "threshold",
        "relevance.threshold": 3.0,
        "relevance.inclusive": False,
        "split.unseen_items": "keep",
        "candidates.base": "all-items",
        "candidates.exclude_train": "none",
        "candidates.relevant": "all",
        "candidates.rated_negatives": "include",
        "missing.rank": "last",
        "missing.zero": "scored",
        "missing.infinite": "scored",
        "ties.break": "item-desc",
        "ties.id_order": "number",
        "ties.precision": "double",
        "average.over": "users",
        "average.no_relevant": "zero",
        "average.no_list": "zero",
    }


@pytest.mark.slow
@once
def test_the_policy_of_a_function_with_variants_is_found(of_ndcg):
    assert of_ndcg.status == "explained"
    assert (of_ndcg.confirmed, of_ndcg.tried) == (200, 200)
    assert of_ndcg.measure == "ndcg[discount=log2,gain=binary,ideal=min]@k"
    assert of_ndcg.policy == {
        "relevance.rule": "threshold",
        "relevance.threshold": 4.0,
        "relevance.inclusive": True,
        "split.unseen_items": "keep",
        "candidates.base": "all-items",
        "candidates.exclude_train": "all",
        "candidates.relevant": "all",
        "candidates.rated_negatives": "include",
        "missing.rank": "last",
        "missing.zero": "scored",
        "missing.infinite": "scored",
        "ties.break": "item-asc",
        "ties.id_order": "number",
        "ties.precision": "double",
        "average.over": "users",
        "average.no_relevant": "skip",
        "average.no_list": "zero",
        "average.neither": "no-relevant",
        "average.nobody": "nan",
        "metric.ndcg.gain": "binary",
        "metric.ndcg.discount": "log2",
        "metric.ndcg.ideal": "min",
    }


@once
def test_the_policy_is_a_protocol_that_reads_back(audited):
    from repro.protocol import parse_protocol

    _, inference = audited
    protocol = parse_protocol(inference.protocol.to_toml(), "inferred")
    assert protocol == inference.protocol
    assert {key: protocol[key] for key in inference.policy} == dict(inference.policy)
    assert "split.strategy" in protocol.open
    assert "missing.fallback" in protocol.open


@once
def test_what_cannot_be_told_apart_is_said(audited):
    _, inference = audited
    group_of = {key: group for group in inference.undetermined for key in group.decisions}
    assert set(group_of["relevance.grades"].of("relevance.grades")) == {"relevant", "judged"}  # gains are binary
    assert "questions distinguishes them" in group_of["relevance.grades"].why
    assert "no such mark" in group_of["missing.fallback"].why
    assert "as its author says" in group_of["data.duplicates"].why
    assert not group_of.keys() & inference.policy.keys()


@once
def test_every_other_option_is_rejected_by_a_small_case(audited):
    function, inference = audited
    space = Space(metric_named(inference.metric))
    alike = {(key, option) for group in inference.undetermined for key in group.decisions for option in group.of(key)}
    rejected = {(evidence.decision, evidence.option) for evidence in inference.evidence}
    policy = space.with_changes(space.start, inference.policy)[0]
    for key, value in inference.policy.items():
        for option in space.tried(key):
            way_out = space.with_changes(policy, {key: option})
            assert option == value or (key, option) in alike | rejected or not way_out
    for evidence in inference.evidence:
        again = function(**_frames(evidence.question), k=evidence.question.k)
        assert evidence.answer.value == pytest.approx(again, nan_ok=True)
        assert evidence.question.size < 60
    order = {"item-asc": "item-desc", "item-desc": "item-asc"}[inference.policy["ties.break"]]
    about_ties = [evidence for evidence in inference.evidence if evidence.decision == "ties.break"]
    ties = next(evidence for evidence in about_ties if evidence.option == order)
    [user] = ties.question.tested
    assert len({f"{score:.3f}" for score in user.scores.values()}) < len(user.scores)  # equal, or none


def _frames(question):
    import pandas as pd

    rows = [
        (user.id, item, user.scores[item]) for user in question.tested for item in question.items if item in user.scores
    ]
    scores = pd.DataFrame(rows, columns=["user", "item", "score"])
    return {"scores": scores, "truth": question.case.test.to_frame(), "train": question.case.train.to_frame()}


@pytest.mark.parametrize(
    ("name", "bug", "metric"),
    [
        ("ndcg", {"shift": 2}, "ndcg"),
        ("ndcg", {"forgotten": 1}, "ndcg"),
        ("ndcg", {"neighbour": 1}, "ndcg"),
        ("precision", {"left_out": 1}, "precision"),
    ],
    ids=["discount shifted", "last item forgotten", "gain of the neighbour", "one user left out"],
)
def test_a_bug_is_unexplained_and_never_a_policy(name, bug, metric, functions):
    function = partial(getattr(functions, name), **bug)
    inference = audit(function, metric, k=3, name="buggy", evidence=False)
    assert inference.status == "unexplained"
    first = inference.unexplained[0]
    frames = _frames(first.question)
    assert first.answer.value == pytest.approx(function(**frames, k=first.question.k), nan_ok=True)
    assert not agree(first.answer, first.predicted)
    assert first.question.size < 40
    assert "no policy fits" in inference.to_text()


def test_a_bug_that_only_duplicates_show_leaves_the_rest_explained(functions):
    inference = audit(functions.recall_with_duplicates, "recall", k=2, evidence=False)
    assert (inference.status, inference.verdict) == ("explained but for", "explained but for duplicates")
    assert [case.aspect for case in inference.unexplained] == ["duplicates"]
    assert inference.policy["metric.recall.denominator"] == "relevant"
    [user] = inference.unexplained[0].question.tested
    assert len(user.test) == 2
    assert len({item for item, _ in user.test}) == 1


@pytest.mark.slow
def test_a_function_that_tells_of_users_only(functions):
    inference = audit(functions.users_precision, "precision", k=2, cannot=["duplicates"], evidence=False)
    assert inference.status == "explained"
    assert inference.policy["candidates.exclude_train"] == "none"
    assert inference.policy["metric.precision.denominator"] == "k"
    assert inference.policy["average.no_relevant"] == "skip"


def test_errors_of_predictions(functions):
    inference = audit(functions.mae, "mae", cannot=["duplicates"], evidence=False)
    assert inference.status == "explained"
    policy = {
        "predict.missing": "constant",
        "predict.constant": 3.0,
        "predict.clip": "scale",
        "predict.average": "users",
    }
    assert {key: inference.policy[key] for key in policy} == policy


@pytest.mark.slow
def test_an_evaluator_that_rounds(functions):
    inference = audit(
        lambda *given: round(functions.ndcg(*given), 4),
        "ndcg",
        k=3,
        name="rounded",
        cannot=["duplicates"],
        evidence=False,
    )
    assert (inference.status, inference.decimals) == ("explained", 4)
    assert inference.policy["metric.ndcg.ideal"] == "min"
    assert "rounded to 4 decimals" in inference.summary


def test_an_evaluator_of_single_precision(functions):
    def single(*given):
        return {
            user: float(np.float32(value) / np.float32(3)) * 3
            for user, value in functions.users_precision(*given).items()
        }

    cannot = {"duplicates", "missing_scores", "zero_scores", "infinite_scores", "ties"}
    inference = audit(single, "precision", k=3, name="single", evidence=False, cannot=cannot)
    assert (inference.status, inference.decimals) == ("explained", 6)
    assert inference.summary == "single is precision[denominator=k]@k, in single precision"


def test_an_evaluator_that_is_random(functions):
    inference = audit(functions.random_ndcg(), "ndcg", k=3)
    assert inference.status == "unexplained" and "different numbers to the same question" in inference.summary
    assert inference.protocol is None
    assert inference.unstable[0].kind == "random"
    assert "the same input gives" in inference.to_text()


def test_an_evaluator_that_hangs_on_the_order_of_rows(functions):
    def first_user_only(scores, truth, train, k):
        user = truth["user"].iloc[0]
        return functions.ndcg(scores[scores["user"] == user], truth[truth["user"] == user], train, k)

    inference = audit(first_user_only, "ndcg", k=3, evidence=False)
    assert inference.status == "unexplained"
    assert "row order" in {instability.kind for instability in inference.unstable}


def test_what_a_function_is_said_not_to_take_is_not_asked(functions):
    def strict(scores, truth, train, k):
        assert scores["score"].notna().all()
        assert (truth["rating"] == 1).all()
        assert not scores.duplicated(["user", "score"]).any()
        assert set(truth["user"]) == set(scores["user"])
        return functions.precision(scores, truth.assign(rating=5), train, k)

    cannot = ["graded_ratings", "ties", "missing_scores", "empty_lists", "duplicates"]
    inference = audit(strict, "precision", k=3, evidence=False, cannot=cannot)
    assert inference.status == "explained"
    assert not inference.refused
    assert inference.policy["metric.precision.denominator"] == "list"
    with pytest.raises(ProtocolError, match="cannot has no word 'tied'; did you mean 'ties'"):
        audit(strict, "precision", k=3, cannot=["tied"])
    with pytest.raises(ProtocolError, match="there is no metric 'presicion'; did you mean 'precision'"):
        audit(strict, "presicion", k=3)


@pytest.mark.parametrize("metric", ["time-novelty", "temporal-novelty", "practical-accuracy"])
def test_what_no_question_has_cannot_be_audited(metric):
    with pytest.raises(ProtocolError, match=f"^{metric} cannot be audited: it (needs|is) "):
        audit(len, metric, k=3)


@pytest.mark.slow
def test_refusals_are_told(functions):
    def no_missing(scores, truth, train, k):
        if scores["score"].isna().any():
            raise ValueError("scores must be numbers")
        return functions.ndcg(scores, truth, train, k)

    inference = audit(no_missing, "ndcg", k=2, cannot=["duplicates"], evidence=False)
    assert inference.status == "explained"
    assert inference.policy["missing.rank"] == "fail"
    assert any("scores must be numbers" in refusal.message for refusal in inference.refused)


def hits(known_only=False, refuses_omniscience=False, flatters=False):
    """The hit rate without training items; of some kinds of users it has other ideas."""

    def hit(scores, truth, train, k):
        if refuses_omniscience and (train.groupby("user").item.nunique() == scores.item.nunique()).any():
            raise ValueError("somebody knows everything")
        seen = train[["user", "item"]].assign(seen=True)
        open_ = scores.merge(seen, on=["user", "item"], how="left")
        if known_only:
            open_ = open_[open_.user.isin(train.user)]
        best = open_[open_.seen.isna()].sort_values("score", ascending=False).groupby("user").head(k)
        inference = set(best.merge(truth, on=["user", "item"]).user)
        if flatters:
            inference |= set(truth.user) - set(train.user)
        return len(inference) / truth.user.nunique()

    return hit


PLAIN_ONLY = frozenset(
    {"ties", "missing_scores", "infinite_scores", "zero_scores", "partial_lists", "empty_lists", "duplicates"}
    | {"short_lists", "unknown_items", "graded_ratings"}
)


def without_training(inference):
    """Training items are left out; whether all or only relevant ones, ratings of one value do not show."""
    [left] = [group for group in inference.undetermined if "candidates.exclude_train" in group.decisions]
    return set(left.of("candidates.exclude_train")) == {"all", "relevant"}


def test_who_has_nothing_to_say_of_strangers_is_asked_about_others():
    inference = audit(hits(known_only=True), "hit", k=2, evidence=False, cannot=PLAIN_ONLY)
    assert without_training(inference) and inference.confirmed == 200
    assert inference.status == "explained but for"
    [strange] = inference.unexplained
    assert strange.aspect == "users without training rows"
    assert not any(user.train for user in strange.question.tested)


def test_who_says_the_same_of_all_strangers_is_asked_about_others():
    """That everybody hits is what a policy gives that ranks nothing but held-out items; it is none of others."""
    inference = audit(hits(flatters=True), "hit", k=2, evidence=False, cannot=PLAIN_ONLY)
    assert without_training(inference) and inference.confirmed == 200
    assert inference.protocol["candidates.base"] in ("all-items", "train-items")
    [strange] = inference.unexplained
    assert strange.aspect == "users without training rows"
    assert strange.answer.value == 1 and strange.predicted.value == 0
    assert strange.agreed < strange.compared >= 24


def test_who_leaves_unknown_items_out_of_the_test_is_found_out():
    def known_only(scores, truth, train, k):
        known = set(train["item"])
        return hits()(scores[scores["item"].isin(known)], truth[truth["item"].isin(known)], train, k)

    cannot = PLAIN_ONLY - {"unknown_items"}
    inference = audit(known_only, "hit", k=2, evidence=False, cannot=cannot)
    assert inference.status == "explained" and inference.confirmed == inference.tried
    assert (inference.policy["split.unseen_items"], inference.policy["candidates.base"]) == ("drop", "train-items")
    kept = audit(hits(), "hit", k=2, evidence=False, cannot=cannot)
    assert (kept.policy["split.unseen_items"], kept.policy["candidates.base"]) == ("keep", "all-items")


def test_a_mean_of_nobody_that_fails_is_not_taken_for_a_refusal_of_duplicates():
    def hit(scores, truth, train, k):
        first = truth.drop_duplicates(["user", "item"])
        wanted = first[first["rating"] >= 4]
        best = scores.sort_values("score", ascending=False).groupby("user").head(k)
        return best.merge(wanted, on=["user", "item"]).user.nunique() / wanted.user.nunique()  # or ZeroDivisionError

    cannot = PLAIN_ONLY - {"graded_ratings", "duplicates"}
    inference = audit(hit, "hit", k=2, evidence=False, cannot=cannot)
    assert inference.status == "explained", inference.to_text()
    assert inference.policy["data.duplicates"] == "first"
    assert inference.policy["average.no_relevant"] == "skip"


@pytest.mark.slow
def test_who_refuses_users_that_know_everything_is_asked_about_others():
    inference = audit(hits(refuses_omniscience=True), "hit", k=2, evidence=False, cannot=PLAIN_ONLY)
    assert inference.status == "explained" and inference.confirmed == 200 and without_training(inference)


def test_the_same_seed_finds_the_same_in_every_process(functions):
    # Python orders sets of strings differently in every process, unless it is given a hash seed.
    code = "import json, runpy, sys; from repro.audits import audit\n"
    code += "print(json.dumps(audit(runpy.run_path(sys.argv[1])['mae'], 'mae', seed=5).to_dict(), default=str))"
    command = [sys.executable, "-c", code, functions.__file__]
    first, second = (
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    )
    assert b"mae" in first
    assert first == second


def test_an_evaluator_of_a_plug_in(monkeypatch):
    def hits(case, measure, k):
        return Observed(math.nan)

    evaluator = Evaluator("mine/hits", "", hits, {"hits": "hit@k"})
    with pytest.raises(PluginError, match=r"mine/hits has no measure 'hit'; did you mean 'hits'\? It has: hits"):
        box_of_evaluator(evaluator, "hit")
    assert box_of_evaluator(evaluator, "hits").metric.name == "hit"
