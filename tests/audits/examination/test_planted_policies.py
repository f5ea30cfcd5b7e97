"""Planted policies are found, and planted bugs are not taken for one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from repro.audits import infer_policy
from repro.audits.black_boxes.black_box import CUTOFFS
from repro.audits.examination.failures import reattribute_failure
from repro.audits.examination.inference import Unexplained
from repro.audits.examination.state import TRANSITIONS, AspectLedger, ExaminationState
from repro.audits.hypotheses.elimination import Elimination
from repro.audits.hypotheses.simulation import AspectResult, Simulation
from repro.audits.hypotheses.space import Hypothesis, Space
from repro.audits.questions.answers import Answer, agree
from repro.audits.questions.aspects import PLAIN, aspects_of
from repro.audits.questions.generator import QuestionGenerator
from repro.audits.questions.question import Question, User
from repro.evaluation.metrics import metric_named
from repro.plugin import Observed
from repro.protocol import registry

from .planted import ALL, asked_only, box_of, planted

FAST = ("precision", "rmse")


def check_planted(metric: str, seed: int) -> None:
    """The policy that is found gives the same as the planted one on everything that can be asked."""
    space, rng = Space(metric_named(metric)), np.random.default_rng(seed)
    hypothesis = planted(space, rng)
    by_user = bool(rng.random() < 0.25 and space.metric.kind == "ranking")
    box = box_of(space, hypothesis, by_user)
    inference = infer_policy(box, seed=seed, evidence=False)
    assert inference.status == "explained", (hypothesis.values, inference.to_text())
    [inferred] = space.with_changes(hypothesis, inference.policy)[:1]
    drawing = QuestionGenerator(box.cutoffs, space.metric.kind == "prediction")
    for _ in range(100):
        some = [feature for feature in sorted(box.possible) if rng.random() < 0.3]
        question = drawing.question(some, rng)
        simulation = Simulation(question, space)
        wanted, actual = simulation.outcome(hypothesis), simulation.outcome(inferred)
        if wanted.refusal:
            options = [registry()[key].option(value) for key, value in inference.policy.items()]
            may_stop = any(option is not None and option.stops_run for option in options)
            assert actual.refusal or may_stop or inference.refused, (hypothesis.values, inference.policy)
            continue
        if by_user:
            wanted, actual = (type(answer)(None, answer.per_user, answer.refusal) for answer in (wanted, actual))
        assert agree(wanted, actual), (question.to_text(), hypothesis.values, inference.policy)


@pytest.mark.parametrize("metric", FAST)
def test_a_policy_drawn_at_random_is_found(metric):
    check_planted(metric, seed=FAST.index(metric))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_three_hundred_policies_drawn_at_random_are_found(seed):
    check_planted(ALL[seed % len(ALL)], 1_000 + seed)


@pytest.mark.parametrize(
    ("metric", "policy"),
    [
        ("hit", {"average.no_relevant": "zero", "average.neither": "skip"}),
        ("recall", {"average.no_list": "skip", "average.neither": "nan", "average.nobody": "error"}),
        ("specificity", {"average.neither": "no-list", "average.no_negatives": "half", "average.nobody": "zero"}),
    ],
)
def test_what_users_count_who_lack_something_is_found(metric, policy):
    space = Space(metric_named(metric))
    [planted_so] = space.with_changes(space.start, {"relevance.threshold": 3.0, **policy})
    features = ("graded", "no-relevant", "no-list", "neither", "nobody", "no-negatives", "training")
    inference = infer_policy(asked_only(box_of(space, planted_so, by_user=False), *features), evidence=False)
    assert inference.status == "explained", inference.to_text()
    left = {key: group.of(key) for group in inference.undetermined for key in group.decisions}
    for key, value in policy.items():
        assert inference.policy.get(key) == value or value in left[key], inference.to_text()
    [inferred] = [protocol for protocol in [inference.protocol] if protocol is not None]
    same = Hypothesis({key: inferred[key] for key in planted_so.values}, planted_so.variants)
    rng, drawing = np.random.default_rng(1), QuestionGenerator(CUTOFFS)
    for _ in range(200):
        question = drawing.question([feature for feature in features if rng.random() < 0.5], rng)
        simulation = Simulation(question, space)
        assert agree(simulation.outcome(planted_so), simulation.outcome(same)), question.to_text()


@pytest.mark.parametrize(("metric", "nobody"), [("spearman", "error"), ("ndpm", "zero")])
def test_the_mean_of_nobody_is_determined_where_plain_lists_leave_a_metric_undefined(metric, nobody):
    space = Space(metric_named(metric))
    [policy] = space.with_changes(space.start, {"average.nobody": nobody})
    box = box_of(space, policy, by_user=False)
    engine = Elimination(box, space, QuestionGenerator(box.cutoffs), np.random.default_rng(0))
    plain = next(aspect for aspect in aspects_of(space.metric) if aspect.name == PLAIN)
    assert engine.examine(plain).state == "explained"
    assert {survivor.values["average.nobody"] for survivor in engine.survivors} == {nobody}


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
    users = (replace(user, test=tuple((after[item], grade) for item, grade in user.test)) for user in question.users)
    return replace(question, users=tuple(users))


BUGS = (one_user_left_out, last_item_forgotten, ratings_of_the_neighbour)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ALL)
def test_a_bug_of_any_metric_is_never_taken_for_a_policy(metric):
    """A policy gives the same as the bug on everything; an unexplained aspect has a case that shows it."""
    seed = ALL.index(metric)
    space, rng, bug = Space(metric_named(metric)), np.random.default_rng(seed), BUGS[seed % len(BUGS)]
    sound = box_of(space, planted(space, rng), by_user=False)
    box = replace(sound, respond=lambda question: sound.respond(bug(question)))
    inference = infer_policy(box, seed=seed, evidence=False)
    for case in inference.unexplained:
        assert agree(case.answer, box.ask(case.question))
        assert not agree(case.answer, case.predicted)
    if inference.status == "explained":
        [policy] = space.with_changes(space.start, inference.policy)[:1]
        drawing = QuestionGenerator(box.cutoffs, space.metric.kind == "prediction")
        for _ in range(100):
            question = drawing.question([feature for feature in sorted(box.possible) if rng.random() < 0.3], rng)
            reply = box.ask(question)
            assert reply.refusal or agree(reply, Simulation(question, space).outcome(policy)), question.to_text()


def whole_ratings(question: Question) -> Question:
    floored = [tuple((item, math.floor(grade)) for item, grade in user.test) for user in question.users]
    users = (replace(user, test=test) for user, test in zip(question.users, floored, strict=True))
    return replace(question, users=tuple(users))


def test_who_cuts_ratings_to_whole_numbers_is_explained_but_for_others():
    space = Space(metric_named("ndcg"))
    [linear] = space.with_changes(space.start, {"metric.ndcg.gain": "linear"})
    sound = asked_only(box_of(space, linear, by_user=False), "graded", "fractional", "training", "no-relevant")
    inference = infer_policy(
        replace(sound, respond=lambda question: sound.respond(whole_ratings(question))), evidence=False
    )
    assert [case.aspect for case in inference.unexplained] == ["ratings that are no whole numbers"]
    assert (inference.confirmed, inference.tried) == (200, 200)
    assert inference.policy["metric.ndcg.gain"] == "linear"


def test_rounding_is_seen_where_many_answers_are_round_anyway():
    space = Space(metric_named("hit"))
    exact = asked_only(box_of(space, space.start, by_user=False), "training", "short-lists")
    rounded = replace(exact, respond=lambda question: Observed(round(exact.respond(question).value, 4)))
    for seed in (18, 19):  # whose first questions have answers of few digits
        inference = infer_policy(rounded, seed=seed, evidence=False)
        assert (inference.status, inference.decimals, inference.confirmed) == ("explained", 4, 200)
    assert infer_policy(exact, seed=18, evidence=False).decimals is None


def test_what_plain_questions_only_seem_to_tell_is_not_explained():
    space = Space(metric_named("hit"))
    sound = asked_only(box_of(space, space.start, by_user=False), "training", "short-lists")

    def respond(question):
        value = sound.respond(question).value
        return Observed(value if value in (0.0, 0.25, 0.5, 0.75, 1.0) else value**2)

    for seed in (18,):  # whose first questions have answers of few digits
        inference = infer_policy(replace(sound, respond=respond), seed=seed, evidence=False)
        assert (inference.status, inference.policy, inference.protocol) == ("unexplained", {}, None)
        [plain] = inference.unexplained
        assert plain.aspect == "plain lists" and plain.compared >= 24


def test_what_goes_wrong_in_mixtures_only_is_blamed_on_what_the_smallest_case_shows():
    """Items without any chance are left out, where lists are short for them."""
    space = Space(metric_named("recall"))
    sound = asked_only(box_of(space, space.start, by_user=False), "training", "short-lists", "infinite", "non-positive")

    def respond(question):
        users = question.users
        if any(len(user.scores) <= question.k for user in question.tested):
            kept = ({item: user for item, user in user.scores.items() if user > -math.inf} for user in users)
            users = tuple(replace(user, scores=scores) for user, scores in zip(users, kept, strict=True))
        return sound.respond(replace(question, users=users))

    inference = infer_policy(replace(sound, respond=respond), evidence=False)
    assert [case.aspect for case in inference.unexplained] == ["infinite scores"]
    assert "infinite" in inference.unexplained[0].question.shown
    assert (inference.confirmed, inference.tried) == (200, 200)
    assert "scores of zero and below" in inference.holds and "short lists" in inference.holds


def test_what_is_not_explained_after_all_leaves_nothing_in_the_policy():
    space = Space(metric_named("hit"))
    [policy] = space.with_changes(space.start, {"missing.rank": "first"})
    box = asked_only(box_of(space, policy, by_user=False), "missing")
    engine = Elimination(box, space, QuestionGenerator(box.cutoffs), np.random.default_rng(0))
    plain, missing = (aspect for aspect in aspects_of(space.metric) if aspect.name in (PLAIN, "missing scores"))
    assert [engine.examine(aspect).state for aspect in (plain, missing)] == ["explained", "explained"]
    assert [hypothesis.values["missing.rank"] for hypothesis in engine.survivors] == ["first"]
    engine.withdraw(missing)
    assert [hypothesis.values["missing.rank"] for hypothesis in engine.survivors] == ["last"]
    assert "missing.rank" not in engine.free_decisions


def test_another_aspect_is_responsible_where_the_smallest_case_shows_no_feature_of_the_first():
    space = Space(metric_named("mae"))
    box = asked_only(box_of(space, space.start, by_user=False), "missing", "duplicates", "graded")
    state = ExaminationState.begin(box, 0, lambda step: None)
    engine, ledger = state.engine, state.ledger
    aspects = {aspect.name: aspect for aspect in aspects_of(space.metric)}
    plain, missing, duplicates = (
        engine.examine(aspects[name]) for name in (PLAIN, "missing predictions", "duplicates")
    )
    engine.withdraw(duplicates.aspect)
    ledger.results = [plain, missing, replace(duplicates, state="unexplained")]
    question = Question((User(1, {2: math.nan}, ((2, 5.0),)),), (2,), None)
    case = Unexplained("duplicates", {}, 1.0, 0, 1, question, Answer(2.0), Answer(1.0))
    assert reattribute_failure(state, [(ledger.results[2], case)])
    assert [result.state for result in ledger.results] == ["explained", "unexplained", "explained"]
    assert [(case.aspect, case.question) for case in ledger.unexplained] == [("missing predictions", question)]
    assert "predict.missing" not in engine.free_decisions
    # Nothing changes where the case shows the aspect, or no other aspect that could be responsible.
    assert not reattribute_failure(state, [(ledger.results[1], case)])
    plain_case = replace(case, question=Question((User(1, {2: 3.0}, ((2, 5.0),)),), (2,), None))
    assert not reattribute_failure(state, [(ledger.results[2], plain_case)])
    # Where the other aspect is unexplained already, the first is examined again without it, once.
    engine.withdraw(duplicates.aspect)
    observation = engine.ask(state.generator.question({"duplicates", "missing"}, state.rng))
    ledger.results[2] = replace(duplicates, state="unexplained", observations=(observation,))
    engine.observations.remove(observation)
    assert reattribute_failure(state, [(ledger.results[2], case)])
    assert [result.state for result in ledger.results] == ["explained", "unexplained", "explained"]
    again = replace(ledger.results[2], state="unexplained")
    assert not any("missing" in observation.question.features for observation in again.observations)
    assert not reattribute_failure(state, [(again, case)])
    assert [case.aspect for case in ledger.unexplained] == ["missing predictions"]


@pytest.mark.parametrize("before", TRANSITIONS)
def test_aspects_change_their_state_by_the_listed_transitions_only(before):
    [plain, *_] = aspects_of(metric_named("mae"))
    for after in TRANSITIONS:
        result = AspectResult(plain, before)
        ledger = AspectLedger([result])
        if after in TRANSITIONS[before]:
            ledger.move(result, AspectResult(plain, after))
            assert [result.state for result in ledger.results] == [after]
        else:
            with pytest.raises(ValueError, match=f"{plain.name} cannot become {after}: it is {before}"):
                ledger.move(result, AspectResult(plain, after))
            assert ledger.results == [result]


def test_the_closest_policy_is_the_closest_in_more_than_the_case_that_contradicts():
    """Predictions for unknown items are taken for 3, unless they are far from it."""
    space = Space(metric_named("mae"))
    sound = asked_only(box_of(space, space.start, by_user=False), "unknown-items")

    def respond(question):
        known = {item for user in question.users for item, _ in user.train}
        taken = (
            {item: score if item in known or abs(score - 3) > 0.5 else 3.0 for item, score in user.scores.items()}
            for user in question.users
        )
        users = tuple(replace(user, scores=scores) for user, scores in zip(question.users, taken, strict=True))
        return sound.respond(replace(question, users=users))

    inference = infer_policy(replace(sound, respond=respond), evidence=False)
    [unknown] = inference.unexplained
    assert unknown.aspect == "unknown items" and unknown.nearest["split.unseen_items"] == "keep"
    assert unknown.compared >= 12 and unknown.agreed > unknown.compared / 2


def test_what_takes_the_place_of_made_up_predictions_is_found_where_missing_ones_are_a_riddle():
    space = Space(metric_named("mae"))
    [policy] = space.with_changes(space.start, {"predict.fallback": "missing", "predict.missing": "global-mean"})
    sound = asked_only(box_of(space, policy, by_user=False), "graded", "missing", "fallback", "training")

    def respond(question):
        there_is_none = any(math.isnan(score) for user in question.tested for score in user.scores.values())
        return Observed(0.123) if there_is_none else sound.respond(question)

    inference = infer_policy(replace(sound, respond=respond), evidence=False)
    assert [case.aspect for case in inference.unexplained] == ["missing predictions"]
    assert inference.policy["predict.fallback"] == "missing" and "predict.missing" not in inference.policy
    # Missing predictions themselves are unexplained, so what the made-up ones show of them is open in the protocol.
    assert inference.protocol["predict.missing"] == "global-mean" and "predict.missing" in inference.protocol.open


def test_who_tells_of_users_only_is_held_against_numbers_of_users():
    space = Space(metric_named("hit"))
    sound = asked_only(box_of(space, space.start, by_user=True), "training")

    def respond(question):
        return Observed(None, {user: value / 2 for user, value in sound.respond(question).per_user.items()})

    [plain] = infer_policy(replace(sound, respond=respond), evidence=False).unexplained
    [(user, reply)] = plain.answer.per_user.items()
    assert (plain.predicted.value, plain.predicted.per_user, reply) == (None, {user: 1.0}, 0.5)


def test_every_question_is_counted():
    space, posed = Space(metric_named("hit")), []
    sound = asked_only(box_of(space, space.start, by_user=False), "training", "ties")

    def respond(question):
        posed.append(question)
        return Observed(round(sound.respond(question).value, 4))

    inference = infer_policy(replace(sound, respond=respond))
    assert inference.decimals == 4 and inference.asked == len(posed)
