"""Policies that are found, and bugs that are not taken for one."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from repro.audit import BlackBox, infer, infer_policy
from repro.audit.black_box import CUTOFFS, agree, box_of_evaluator
from repro.audit.draw import Drawing
from repro.audit.elimination import REFUSING
from repro.audit.question import Question, User
from repro.audit.simulation import Simulation
from repro.audit.space import NOT_AUDITED, NOT_THERE, Hypothesis, Space
from repro.errors import PluginError, ProtocolError
from repro.metrics import metric_named, metrics
from repro.plugin import Evaluator, Observed

FAST = ("precision", "rmse")
ALL = sorted(one.name for one in metrics().values() if one.name not in NOT_AUDITED and not NOT_THERE & set(one.needs))


def planted(space: Space, rng: np.random.Generator) -> Hypothesis:
    """A policy drawn at random from the space."""
    hypothesis = space.start
    for key in space.decisions:
        if key in hypothesis.values and rng.random() < 0.6:
            options = space.tried(key)
            ways = space.changed(hypothesis, {key: options[rng.integers(len(options))]})
            hypothesis = ways[rng.integers(len(ways))] if ways else hypothesis
    return hypothesis


def box_of(space: Space, hypothesis: Hypothesis, by_user: bool) -> BlackBox:
    def respond(question):
        outcome = Simulation(question, space).outcome(hypothesis)
        if outcome.refusal:
            raise PluginError(outcome.refusal)
        return Observed(None, outcome.per_user) if by_user else Observed(outcome.value)

    return BlackBox("planted", space.metric, respond, () if space.metric.cutoff == "none" else CUTOFFS)


def check_planted(metric: str, seed: int) -> None:
    """The policy that is found gives the same as the planted one on everything that can be asked."""
    space, rng = Space(metric_named(metric)), np.random.default_rng(seed)
    hypothesis = planted(space, rng)
    by_user = bool(rng.random() < 0.25 and space.metric.kind == "ranking")
    box = box_of(space, hypothesis, by_user)
    found = infer_policy(box, seed=seed, evidence=False)
    assert found.status == "explained", (hypothesis.values, found.to_text())
    [inferred] = space.changed(hypothesis, found.policy)[:1]
    drawing = Drawing(box.cutoffs, space.metric.kind == "prediction")
    for _ in range(100):
        some = [one for one in sorted(box.possible) if rng.random() < 0.3]
        question = drawing.question(some, rng)
        simulation = Simulation(question, space)
        wanted, got = simulation.outcome(hypothesis), simulation.outcome(inferred)
        if wanted.refusal:
            foreseen = got.refusal or REFUSING & set(found.policy.values()) or found.refused
            assert foreseen, (hypothesis.values, found.policy)
            continue
        if by_user:
            wanted, got = (type(one)(None, one.per_user, one.refusal) for one in (wanted, got))
        assert agree(wanted, got), (question.to_text(), hypothesis.values, found.policy)


@pytest.mark.parametrize("metric", FAST)
def test_a_policy_drawn_at_random_is_found(metric):
    check_planted(metric, seed=FAST.index(metric))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_three_hundred_policies_drawn_at_random_are_found(seed):
    check_planted(ALL[seed % len(ALL)], 1_000 + seed)


def one_user_left_out(question: Question) -> Question:
    first = min(question.tested, key=lambda user: user.id)
    rest = tuple(user for user in question.users if user is not first)
    return replace(question, users=rest) if len(question.tested) > 1 else question


def last_item_forgotten(question: Question) -> Question:
    def without_last(user: User) -> User:
        known = [item for item, score in user.scores.items() if not math.isnan(score)]
        last = min(known, key=lambda item: (user.scores[item], item), default=None)
        kept = {item: score for item, score in user.scores.items() if item != last}
        return replace(user, scores=kept) if kept else user

    return replace(question, users=tuple(map(without_last, question.users)))


def ratings_of_the_neighbour(question: Question) -> Question:
    items = sorted(question.items)
    after = dict(zip(items, [*items[1:], items[0]], strict=True))
    users = (replace(one, test=tuple((after[item], grade) for item, grade in one.test)) for one in question.users)
    return replace(question, users=tuple(users))


BUGS = (one_user_left_out, last_item_forgotten, ratings_of_the_neighbour)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ALL)
def test_a_bug_of_any_metric_is_never_taken_for_a_policy(metric):
    """What is explained gives the same as the bug on everything; what is not has a case that shows it."""
    seed = ALL.index(metric)
    space, rng, bug = Space(metric_named(metric)), np.random.default_rng(seed), BUGS[seed % len(BUGS)]
    sound = box_of(space, planted(space, rng), by_user=False)
    box = replace(sound, respond=lambda question: sound.respond(bug(question)))
    found = infer_policy(box, seed=seed, evidence=False)
    for one in found.unexplained:
        assert agree(one.said, box.ask(one.question))
        assert not agree(one.said, one.would_say)
    if found.status == "explained":
        [policy] = space.changed(space.start, found.policy)[:1]
        drawing = Drawing(box.cutoffs, space.metric.kind == "prediction")
        for _ in range(100):
            question = drawing.question([one for one in sorted(box.possible) if rng.random() < 0.3], rng)
            said = box.ask(question)
            assert said.refusal or agree(said, Simulation(question, space).outcome(policy)), question.to_text()


once = pytest.mark.xdist_group("of ndcg")  # what takes long to find out is found out by one process


@pytest.fixture(scope="module")
def of_ndcg(functions):
    return infer(functions.ndcg, "ndcg", k=3, duplicates=False)


@once
def test_what_a_function_does_is_found(of_ndcg):
    assert of_ndcg.status == "explained"
    assert (of_ndcg.confirmed, of_ndcg.tried) == (200, 200)
    assert of_ndcg.measure == "ndcg[discount=log2,gain=binary,ideal=min]@k"
    assert of_ndcg.policy == {
        "relevance.rule": "threshold",
        "relevance.threshold": 4.0,
        "relevance.inclusive": True,
        "relevance.grades": "relevant",
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
        "metric.ndcg.gain": "binary",
        "metric.ndcg.discount": "log2",
        "metric.ndcg.ideal": "min",
    }


@once
def test_the_policy_is_a_protocol_that_reads_back(of_ndcg):
    from repro.protocol import parse_protocol

    protocol = parse_protocol(of_ndcg.protocol.to_toml(), "inferred")
    assert protocol == of_ndcg.protocol
    assert {key: protocol[key] for key in of_ndcg.policy} == dict(of_ndcg.policy)
    assert "split.strategy" in protocol.open
    assert "missing.fallback" in protocol.open


@once
def test_what_cannot_be_told_apart_is_said(of_ndcg):
    said = {one.decision: one for one in of_ndcg.unidentifiable}
    assert set(said["relevance.grades"].options) == {"relevant", "judged"}  # gains are binary
    assert set(said["average.over"].options) == {"users", "lists"}  # there is one list for each user
    assert "no such mark" in said["missing.fallback"].why
    assert "as its author says" in said["data.duplicates"].why


@once
def test_every_other_option_is_rejected_by_a_small_case(of_ndcg, functions):
    space = Space(metric_named("ndcg"))
    alike = {(one.decision, option) for one in of_ndcg.unidentifiable for option in one.options}
    rejected = {(one.decision, one.option) for one in of_ndcg.evidence}
    for key, value in of_ndcg.policy.items():
        for option in space.tried(key):
            way_out = space.changed(space.start, {key: option})
            assert option == value or (key, option) in alike | rejected or not way_out
    for one in of_ndcg.evidence:
        again = functions.ndcg(**_frames(one.question), k=one.question.k)
        assert one.said.value == pytest.approx(again, nan_ok=True)
        assert one.question.size < 60
    ties = next(one for one in of_ndcg.evidence if (one.decision, one.option) == ("ties.break", "item-desc"))
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
    found = infer(function, metric, k=3, name="buggy", evidence=False)
    assert found.status == "unexplained"
    first = found.unexplained[0]
    frames = _frames(first.question)
    assert first.said.value == pytest.approx(function(**frames, k=first.question.k), nan_ok=True)
    assert not agree(first.said, first.would_say)
    assert first.question.size < 40
    assert "no policy fits" in found.to_text()


def test_a_bug_that_only_duplicates_show_leaves_the_rest_explained(functions):
    found = infer(functions.recall_with_duplicates, "recall", k=2, evidence=False)
    assert found.status == "unexplained"
    assert [one.aspect for one in found.unexplained] == ["duplicates"]
    assert found.policy["metric.recall.denominator"] == "relevant"
    [user] = found.unexplained[0].question.tested
    assert len(user.test) == 2
    assert len({item for item, _ in user.test}) == 1


@pytest.mark.slow
def test_a_function_that_tells_of_users_only(functions):
    found = infer(functions.users_precision, "precision", k=2, duplicates=False, evidence=False)
    assert found.status == "explained"
    assert found.policy["candidates.exclude_train"] == "none"
    assert found.policy["metric.precision.denominator"] == "k"
    assert found.policy["average.no_relevant"] == "skip"


def test_errors_of_predictions(functions):
    found = infer(functions.mae, "mae", duplicates=False, evidence=False)
    assert found.status == "explained"
    policy = {
        "predict.missing": "constant",
        "predict.constant": 3.0,
        "predict.clip": "scale",
        "predict.average": "users",
    }
    assert {key: found.policy[key] for key in policy} == policy


@pytest.mark.slow
def test_an_evaluator_that_rounds(functions):
    found = infer(
        lambda *given: round(functions.ndcg(*given), 4), "ndcg", k=3, name="rounded", duplicates=False, evidence=False
    )
    assert (found.status, found.decimals) == ("explained", 4)
    assert found.policy["metric.ndcg.ideal"] == "min"
    assert "rounded to 4 decimals" in found.summary


def test_an_evaluator_of_single_precision(functions):
    def single(*given):
        return {
            user: float(np.float32(value) / np.float32(3)) * 3
            for user, value in functions.users_precision(*given).items()
        }

    takes = {
        "duplicates": False,
        "missing_scores": False,
        "zero_scores": False,
        "infinite_scores": False,
        "ties": False,
    }
    found = infer(single, "precision", k=3, name="single", evidence=False, **takes)
    assert (found.status, found.decimals) == ("explained", 6)
    assert found.summary == "single is precision[denominator=k]@k, in single precision"


def test_an_evaluator_that_is_random(functions):
    found = infer(functions.random_ndcg(), "ndcg", k=3)
    assert found.status == "random"
    assert found.protocol is None
    assert found.unstable[0].kind == "random"
    assert "the same input gives" in found.to_text()


def test_an_evaluator_that_hangs_on_the_order_of_rows(functions):
    def first_user_only(scores, truth, train, k):
        user = truth["user"].iloc[0]
        return functions.ndcg(scores[scores["user"] == user], truth[truth["user"] == user], train, k)

    found = infer(first_user_only, "ndcg", k=3, evidence=False)
    assert found.status == "unexplained"
    assert "row order" in {one.kind for one in found.unstable}


def test_what_a_function_is_said_not_to_take_is_not_asked(functions):
    def strict(scores, truth, train, k):
        assert scores["score"].notna().all()
        assert (truth["rating"] == 1).all()
        assert not scores.duplicated(["user", "score"]).any()
        assert set(truth["user"]) == set(scores["user"])
        return functions.precision(scores, truth.assign(rating=5), train, k)

    takes = {"graded_ratings": False, "ties": False, "missing_scores": False, "empty_lists": False, "duplicates": False}
    found = infer(strict, "precision", k=3, evidence=False, **takes)
    assert found.status == "explained"
    assert not found.refused
    assert found.policy["metric.precision.denominator"] == "list"
    with pytest.raises(ProtocolError, match="infer has no keyword 'tied'"):
        infer(strict, "precision", k=3, tied=False)
    with pytest.raises(ProtocolError, match="there is no metric 'presicion'; did you mean 'precision'"):
        infer(strict, "presicion", k=3)


@pytest.mark.parametrize("metric", ["time-novelty", "temporal-novelty", "practical-accuracy"])
def test_what_no_question_has_cannot_be_audited(metric):
    with pytest.raises(ProtocolError, match=f"^{metric} cannot be audited: it (needs|is) "):
        infer(len, metric, k=3)


@pytest.mark.slow
def test_refusals_are_told(functions):
    def no_missing(scores, truth, train, k):
        if scores["score"].isna().any():
            raise ValueError("scores must be numbers")
        return functions.ndcg(scores, truth, train, k)

    found = infer(no_missing, "ndcg", k=2, duplicates=False, evidence=False)
    assert found.status == "explained"
    assert found.policy["missing.rank"] == "fail"
    assert any("scores must be numbers" in one.message for one in found.refused)


def hits(known_only=False, refuses_omniscience=False):
    """The hit rate without training items; of some kinds of users it has other ideas."""

    def hit(scores, truth, train, k):
        if refuses_omniscience and (train.groupby("user").item.nunique() == scores.item.nunique()).any():
            raise ValueError("somebody knows everything")
        seen = train[["user", "item"]].assign(seen=True)
        open_ = scores.merge(seen, on=["user", "item"], how="left")
        if known_only:
            open_ = open_[open_.user.isin(train.user)]
        best = open_[open_.seen.isna()].sort_values("score", ascending=False).groupby("user").head(k)
        found = best.merge(truth, on=["user", "item"]).user.nunique()
        return found / truth.user.nunique()

    return hit


PLAIN_ONLY = dict.fromkeys(
    ("ties", "missing_scores", "infinite_scores", "zero_scores", "partial_lists", "empty_lists", "duplicates"), False
) | {"short_lists": False, "unknown_items": False, "graded_ratings": False}


def test_who_has_nothing_to_say_of_strangers_is_asked_about_others():
    found = infer(hits(known_only=True), "hit", k=2, evidence=False, **PLAIN_ONLY)
    assert found.policy["candidates.exclude_train"] == "all" and found.confirmed == 200
    assert found.status == "unexplained"
    [strange] = found.unexplained
    assert strange.aspect == "users without training rows"
    assert not any(user.train for user in strange.question.tested)


def test_who_leaves_unknown_items_out_of_the_test_is_found_out():
    def known_only(scores, truth, train, k):
        known = set(train["item"])
        return hits()(scores[scores["item"].isin(known)], truth[truth["item"].isin(known)], train, k)

    takes = PLAIN_ONLY | {"unknown_items": True}
    found = infer(known_only, "hit", k=2, evidence=False, **takes)
    assert found.status == "explained" and found.confirmed == found.tried
    assert (found.policy["split.unseen_items"], found.policy["candidates.base"]) == ("drop", "train-items")
    kept = infer(hits(), "hit", k=2, evidence=False, **takes)
    assert (kept.policy["split.unseen_items"], kept.policy["candidates.base"]) == ("keep", "all-items")


def test_a_mean_of_nobody_that_fails_is_not_taken_for_a_refusal_of_duplicates():
    def hit(scores, truth, train, k):
        first = truth.drop_duplicates(["user", "item"])
        wanted = first[first["rating"] >= 4]
        best = scores.sort_values("score", ascending=False).groupby("user").head(k)
        return best.merge(wanted, on=["user", "item"]).user.nunique() / wanted.user.nunique()  # or ZeroDivisionError

    takes = PLAIN_ONLY | {"graded_ratings": True, "duplicates": True}
    found = infer(hit, "hit", k=2, evidence=False, **takes)
    assert found.status == "explained", found.to_text()
    assert found.policy["data.duplicates"] == "first"
    assert found.policy["average.no_relevant"] == "skip"


def whole_ratings(question: Question) -> Question:
    users = (replace(one, test=tuple((item, math.floor(grade)) for item, grade in one.test)) for one in question.users)
    return replace(question, users=tuple(users))


def asked_only(box: BlackBox, *features: str) -> BlackBox:
    return replace(box, cannot=dict.fromkeys(box.possible - {*features}, "not here"))


def test_who_cuts_ratings_to_whole_numbers_is_explained_but_for_others():
    space = Space(metric_named("ndcg"))
    [linear] = space.changed(space.start, {"metric.ndcg.gain": "linear"})
    sound = asked_only(box_of(space, linear, by_user=False), "graded", "fractional", "training", "no-relevant")
    found = infer_policy(replace(sound, respond=lambda one: sound.respond(whole_ratings(one))), evidence=False)
    assert [one.aspect for one in found.unexplained] == ["ratings that are no whole numbers"]
    assert (found.confirmed, found.tried) == (200, 200)
    assert found.policy["metric.ndcg.gain"] == "linear"


def test_rounding_is_seen_where_many_answers_are_round_anyway():
    space = Space(metric_named("hit"))
    exact = asked_only(box_of(space, space.start, by_user=False), "training", "short-lists")
    rounded = replace(exact, respond=lambda question: Observed(round(exact.respond(question).value, 4)))
    for seed in (18, 19):  # whose first questions have answers of few digits
        found = infer_policy(rounded, seed=seed, evidence=False)
        assert (found.status, found.decimals, found.confirmed) == ("explained", 4, 200)
    assert infer_policy(exact, seed=18, evidence=False).decimals is None


def test_what_plain_questions_only_seem_to_tell_is_not_explained():
    space = Space(metric_named("hit"))
    sound = asked_only(box_of(space, space.start, by_user=False), "training", "short-lists")

    def respond(question):
        value = sound.respond(question).value
        return Observed(value if value in (0.0, 0.25, 0.5, 0.75, 1.0) else value**2)

    for seed in (18, 19):
        found = infer_policy(replace(sound, respond=respond), seed=seed, evidence=False)
        assert (found.status, found.policy, found.protocol) == ("unexplained", {}, None)
        [plain] = found.unexplained
        assert plain.aspect == "plain lists" and plain.asked >= 24


def test_what_goes_wrong_in_mixtures_only_is_blamed_on_what_the_smallest_case_shows():
    """Items without any chance are left out, where lists are short for them."""
    space = Space(metric_named("recall"))
    sound = asked_only(box_of(space, space.start, by_user=False), "training", "short-lists", "infinite", "non-positive")

    def respond(question):
        users = question.users
        if any(len(user.scores) <= question.k for user in question.tested):
            kept = ({item: one for item, one in user.scores.items() if one > -math.inf} for user in users)
            users = tuple(replace(user, scores=scores) for user, scores in zip(users, kept, strict=True))
        return sound.respond(replace(question, users=users))

    found = infer_policy(replace(sound, respond=respond), evidence=False)
    assert [one.aspect for one in found.unexplained] == ["infinite scores"]
    assert "infinite" in found.unexplained[0].question.shown
    assert (found.confirmed, found.tried) == (200, 200)
    assert "scores of zero and below" in found.holds and "short lists" in found.holds


def test_the_closest_policy_is_the_closest_in_more_than_the_case_that_contradicts():
    """Predictions for unknown items are taken for 3, unless they are far from it."""
    space = Space(metric_named("mae"))
    sound = asked_only(box_of(space, space.start, by_user=False), "unknown-items")

    def respond(question):
        known = {item for user in question.users for item, _ in user.train}
        taken = (
            {item: one if item in known or abs(one - 3) > 0.5 else 3.0 for item, one in user.scores.items()}
            for user in question.users
        )
        users = tuple(replace(user, scores=one) for user, one in zip(question.users, taken, strict=True))
        return sound.respond(replace(question, users=users))

    found = infer_policy(replace(sound, respond=respond), evidence=False)
    [unknown] = found.unexplained
    assert unknown.aspect == "unknown items" and unknown.closest["split.unseen_items"] == "keep"
    assert unknown.asked >= 12 and unknown.agreed > unknown.asked / 2


def test_what_takes_the_place_of_made_up_predictions_is_found_where_missing_ones_are_a_riddle():
    space = Space(metric_named("mae"))
    [policy] = space.changed(space.start, {"predict.fallback": "missing", "predict.missing": "global-mean"})
    sound = asked_only(box_of(space, policy, by_user=False), "graded", "missing", "fallback", "training")

    def respond(question):
        there_is_none = any(math.isnan(score) for user in question.tested for score in user.scores.values())
        return Observed(0.123) if there_is_none else sound.respond(question)

    found = infer_policy(replace(sound, respond=respond), evidence=False)
    assert [one.aspect for one in found.unexplained] == ["missing predictions"]
    assert (found.policy["predict.fallback"], found.policy["predict.missing"]) == ("missing", "global-mean")


def test_every_question_is_counted():
    space, asked = Space(metric_named("hit")), []
    sound = asked_only(box_of(space, space.start, by_user=False), "training", "ties")

    def respond(question):
        asked.append(question)
        return Observed(round(sound.respond(question).value, 4))

    found = infer_policy(replace(sound, respond=respond))
    assert found.decimals == 4 and found.asked == len(asked)


@pytest.mark.slow
def test_who_refuses_users_that_know_everything_is_asked_about_others():
    found = infer(hits(refuses_omniscience=True), "hit", k=2, evidence=False, **PLAIN_ONLY)
    assert found.status == "explained" and found.confirmed == 200
    assert found.policy["candidates.exclude_train"] == "all"


def test_the_same_seed_finds_the_same(functions):
    one, two = (infer(functions.mae, "mae", seed=5).to_dict() for _ in range(2))
    assert one == two


def test_an_evaluator_of_a_plug_in(monkeypatch):
    def hits(case, measure, k):
        return Observed(math.nan)

    evaluator = Evaluator("mine/hits", "", hits, {"hits": "hit@k"})
    with pytest.raises(PluginError, match=r"mine/hits has no measure 'hit'; did you mean 'hits'\? It has: hits"):
        box_of_evaluator(evaluator, "hit")
    assert box_of_evaluator(evaluator, "hits").metric.name == "hit"
