"""The examination of a black box: aspect by aspect, then jointly, confirmed on new questions, then attacked."""

from __future__ import annotations

from dataclasses import replace

from repro.audit.black_boxes.black_box import BlackBox
from repro.audit.examination.conclusions import Confirmation, conclude
from repro.audit.examination.failures import (
    attribute_failure,
    check_jointly,
    reattribute_failure,
    smallest_case,
    unexplained_cases,
)
from repro.audit.examination.further_aspects import examine_all, retry_unexplained
from repro.audit.examination.inference import Inference
from repro.audit.examination.plain_lists import PlainResult, examine_known_users, examine_plain
from repro.audit.examination.refutation import withstands_attacks
from repro.audit.examination.relevance_threshold import refit_threshold
from repro.audit.examination.rounding import decimals_shown
from repro.audit.examination.stability import instabilities, refusal_of_everything
from repro.audit.examination.state import ExaminationState, Progress
from repro.audit.examination.tie_description import describe
from repro.audit.hypotheses.observation import Observation
from repro.audit.questions.aspects import ALL_TOGETHER, aspects_of

CONFIRMED_ON = 200
_MAX_CONFIRMATIONS = 6
_MAX_RETRIES = 3  # of the aspects that are unexplained
_QUESTIONS_ABOUT_TIES = 144


def examine(box: BlackBox, seed: int, progress: Progress, *, evidence: bool) -> Inference:
    """Infer the policy of a black box.

    With ``evidence``, the smallest case that rejects each other option is looked for. Where no policy is found, and
    the answers show that they are rounded, they are examined again with that tolerance.
    """
    state = ExaminationState.begin(box, seed, progress)
    inference = _infer(state, evidence=evidence)
    if inference.status != "unexplained" or inference.decimals is not None:
        return inference
    decimals = decimals_shown(inference, state.responder.numbers)
    if decimals is None:
        return inference
    rounded = _infer(ExaminationState.begin(box, seed, progress, decimals), evidence=evidence)
    return inference if rounded.status == "unexplained" else rounded


def _infer(state: ExaminationState, *, evidence: bool) -> Inference:
    plain = _examine_plain_lists(state)
    if plain is None:
        return conclude(state, None, evidence=evidence)
    if not plain.is_explained:
        state.ledger.unexplained += [case for _, case in unexplained_cases(state, None)]
        return conclude(state, None, evidence=evidence, decimals=plain.decimals)
    decimals = examine_all(state, aspects_of(state.box.metric), plain).decimals
    confirmation = _examine_jointly(state)
    is_unrefuted = withstands_attacks(state)
    state.ledger.unexplained += [case for _, case in unexplained_cases(state, state.policy)]
    if not is_unrefuted or not confirmation.is_complete or not state.ledger.in_state("explained"):
        return conclude(state, None, evidence=evidence, decimals=decimals, confirmation=confirmation)
    _describe_ties(state)
    return conclude(state, state.policy, evidence=evidence, decimals=decimals, confirmation=confirmation)


def _examine_plain_lists(state: ExaminationState) -> PlainResult | None:
    """The result of the plain aspect; None where the black box refuses everything or gives random answers."""
    aspect = aspects_of(state.box.metric)[0]
    state.progress("stability")
    if refused := refusal_of_everything(state, aspect):
        state.ledger.record(refused)
        return None
    state.ledger.instabilities += instabilities(state, aspect)
    if state.ledger.is_random:
        return None
    state.progress(aspect.name)
    plain = examine_plain(state, aspect)
    if not plain.is_explained and "training" in state.box.possible:
        plain = examine_known_users(state, plain)
    state.ledger.record(plain.aspect)
    return plain


def _examine_jointly(state: ExaminationState) -> Confirmation:
    """Examine all explained aspects together, and confirm the policy on new questions."""
    state.progress(ALL_TOGETHER)
    state.engine.challenge()
    for _ in range(_MAX_RETRIES):
        if not retry_unexplained(state):
            break
        state.engine.challenge()
    check_jointly(state)
    confirmation = _confirm(state)
    while reattribute_failure(state, unexplained_cases(state, state.policy)):
        confirmation = _confirm(state)
    return confirmation


def _confirm(state: ExaminationState) -> Confirmation:
    """Compare the policy with the answers to new questions.

    Where it fails, the policy is replaced by one that predicts all answers; if there is none, the aspect that is
    responsible becomes unexplained. If no aspect is responsible, the smallest case is recorded as a joint failure.
    """
    for _ in range(_MAX_CONFIRMATIONS):
        policy, observations = state.policy, _new_observations(state)
        tolerance = state.engine.tolerance
        wrong = [observation for observation in observations if observation.contradicts(policy, tolerance)]
        if not wrong:
            break
        is_repaired = (
            state.engine.reconsider() or refit_threshold(state) or attribute_failure(state, policy, observations)
        )
        if not is_repaired:
            break
    if wrong and not state.ledger.has_joint_failure:
        nearest = state.engine.nearest([policy], observations)
        state.ledger.unexplained.append(smallest_case(state, ALL_TOGETHER, nearest))
    return Confirmation(len(observations) - len(wrong), len(observations))


def _new_observations(state: ExaminationState) -> list[Observation]:
    """Answers to new questions with features of any explained aspects; refused questions are left out."""
    answered: list[Observation] = []
    for _ in range(2 * CONFIRMED_ON):
        observation = state.ask_new(state.engine.random_features())
        if not observation.answer.refusal:
            answered.append(observation)
        if len(answered) == CONFIRMED_ON:
            break
    return answered


def _describe_ties(state: ExaminationState) -> None:
    """Note what is known about the order of equal scores, where no option explains it."""
    for position, case in enumerate(state.ledger.unexplained):
        if case.aspect == "ties":
            features = state.engine.base_features
            plain = [state.generator.question(features, state.rng) for _ in range(_QUESTIONS_ABOUT_TIES)]
            note = describe(state.policy, state.space, state.box.ask, plain, state.engine.tolerance)
            state.ledger.unexplained[position] = replace(case, note=note)
