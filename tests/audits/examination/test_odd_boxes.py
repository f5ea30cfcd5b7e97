"""Black boxes that refuse some users, or are less exact than double precision, are explained all the same."""

from dataclasses import replace

import numpy as np
import pytest

from repro.audits import infer_policy
from repro.audits.confirmation.attacks import Attacks
from repro.audits.examination.conclusions import determined, undetermined
from repro.audits.examination.plain_lists import rounded_decimals
from repro.audits.examination.state import ExaminationState
from repro.audits.examination.thresholds import Interval
from repro.audits.hypotheses.elimination import Elimination
from repro.audits.hypotheses.space import Space
from repro.audits.questions.aspects import aspects_of
from repro.audits.questions.generator import QuestionGenerator
from repro.errors import PluginError
from repro.evaluation.metrics import metric_named
from repro.plugin import Observed

from .planted import asked_only, box_of


def test_a_box_that_refuses_users_with_all_items_is_asked_about_others():
    space = Space(metric_named("recall"))
    box = box_of(space, space.start, by_user=False)

    def respond(question):
        if any({item for item, _ in (*user.train, *user.test)} >= {*question.items} for user in question.users):
            raise PluginError("some users have interacted with all items")
        return box.respond(question)

    inference = infer_policy(asked_only(replace(box, respond=respond), "training"), evidence=False)
    assert inference.status == "explained"
    assert inference.policy["metric.recall.denominator"] == "relevant"


def test_ratings_in_single_precision_are_noticed_when_plain_ones_are_exact_in_it():
    space = Space(metric_named("mae"))
    box = box_of(space, space.start, by_user=False)

    def respond(question):
        users = tuple(
            replace(user, test=tuple((item, float(np.float32(rating))) for item, rating in user.test))
            for user in question.users
        )
        return box.respond(replace(question, users=users))

    inference = infer_policy(asked_only(replace(box, respond=respond), "graded", "fractional"), evidence=False)
    assert (inference.status, inference.decimals) == ("explained", 6)
    assert inference.policy["predict.average"] == space.start.values["predict.average"]


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [
        ([2 / 3, 1 / 3, 5 / 6, 0.5], None),  # not rounded
        ([0.25, 0.5, 0.75, 1.0, 0.35, 0.05], None),  # fractions that have few decimals
        ([0.6667, 0.3333, 0.8333, 0.5], 4),
        ([0.67, 0.33, 0.83, 0.17], 2),
        ([0.6667, 0.3333, 0.25], None),  # too few to tell
    ],
)
def test_rounding_shows_in_numbers_next_to_simple_fractions(numbers, decimals):
    assert rounded_decimals(numbers) == decimals


def test_an_observation_that_is_excused_refutes_no_policy():
    space = Space(metric_named("recall"))
    right = space.start
    box = box_of(space, right, by_user=False)
    rng = np.random.default_rng(0)
    engine = Elimination(box, space, QuestionGenerator(box.cutoffs, False, False), rng)
    engine.examine(aspects_of(space.metric)[0])
    attacks = Attacks(replace(box, respond=lambda question: Observed(2.0)), engine, rng)  # no policy gives 2
    first = attacks.refute(right, lambda done, total: None)
    assert first is not None
    attacks.excuse(first)
    second = attacks.refute(right, lambda done, total: None)
    assert second is not None and second is not first
    attacks.readmit(frozenset())
    assert not attacks.excused


def test_an_open_threshold_hides_no_other_open_decision():
    space = Space(metric_named("recall"))
    box = box_of(space, space.start, by_user=False)
    state = ExaminationState.begin(box, 0, lambda step: None)
    for aspect in aspects_of(space.metric):
        if aspect.name in ("plain lists", "ratings", "missing scores"):
            state.engine.examine(aspect)
    policy = state.policy
    state.threshold = Interval(0.0, 1.0)
    changes = [{"missing.rank": "first"}, {"relevance.threshold": 0.75}]
    state.equivalent = [other for change in changes for other in space.with_changes(policy, change)]
    unsettled = undetermined(state, policy)
    open_decisions = {key for group in unsettled for key in group.decisions}
    assert {"missing.rank", "relevance.threshold", "relevance.inclusive"} <= open_decisions
    assert not open_decisions & determined(state, policy, unsettled).keys()


def test_no_option_is_stated_for_an_aspect_that_none_explains():
    """Hits with a score of zero or below do not count, as if missing; a user without any row is left out, though."""
    space = Space(metric_named("hit"))
    values = {"missing.zero": "missing-or-below", "missing.rank": "drop", "average.no_list": "zero"}
    [hypothesis] = space.with_changes(space.start, values)[:1]
    planted = box_of(space, hypothesis, by_user=True)

    def respond(question):
        observed = planted.respond(question)
        by_id = sorted(question.users, key=lambda user: str(user.id) if question.text_ids else user.id)
        return Observed(None, {code: value for code, value in observed.per_user.items() if by_id[code].scores})

    inference = infer_policy(
        asked_only(replace(planted, respond=respond), "non-positive", "no-list", "short-lists"), evidence=False
    )
    assert inference.status == "explained but for"
    assert [case.aspect for case in inference.unexplained] == ["users without a list"]
    assert "average.no_list" not in inference.policy
    assert inference.policy["missing.zero"] == "missing-or-below"
    [group] = [group for group in inference.undetermined if "average.no_list" in group.decisions]
    assert group.to_text() == "average.no_list: no option explains users without a list"
    assert "average.no_list" in inference.protocol.open
