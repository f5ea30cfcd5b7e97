"""The examination of a black box: aspect by aspect, then jointly, confirmed on new questions, then attacked."""

from __future__ import annotations

from dataclasses import replace

from repro.audits.black_boxes.black_box import BlackBox
from repro.audits.examination.conclusions import conclude
from repro.audits.examination.failures import (
    attribute_failure,
    check_jointly,
    reattribute_failure,
    smallest_case,
    unexplained_cases,
)
from repro.audits.examination.further_aspects import examine_all, refit_threshold, retry_unexplained
from repro.audits.examination.inference import Inference
from repro.audits.examination.plain_lists import (
    PlainResult,
    decimals_shown,
    examine_known_users,
    examine_plain,
    instabilities,
    refusal_of_everything,
)
from repro.audits.examination.refutation import withstands_attacks
from repro.audits.examination.state import ExaminationState, Progress
from repro.audits.examination.tie_description import describe
from repro.audits.hypotheses.simulation import Observation
from repro.audits.questions.aspects import ALL_TOGETHER, aspects_of

CONFIRMED_ON = 200
_MAX_CONFIRMATIONS = 6
_MAX_RETRIES = 3  # of the aspects that are unexplained
_QUESTIONS_ABOUT_TIES = 144


def infer_policy(box: BlackBox, *, seed: int = 0, evidence: bool = True, progress: Progress | None = None) -> Inference:
    """Infer what a black box computes.

    Without ``evidence``, the cases that reject other options are not looked for. ``progress`` is called with the name
    of each step. Where no policy is found, and the answers show that they are rounded, they are examined again with
    that tolerance.
    """
    progress = progress or (lambda step: None)
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
    confirmed = _examine_jointly(state)
    is_unrefuted = withstands_attacks(state)
    state.ledger.unexplained += [case for _, case in unexplained_cases(state, state.policy)]
    has_policy = is_unrefuted and confirmed[0] == confirmed[1] and bool(state.ledger.in_state("explained"))
    if has_policy:
        _describe_ties(state)
    policy = state.policy if has_policy else None
    return conclude(state, policy, evidence=evidence, decimals=decimals, confirmed=confirmed)


def _examine_plain_lists(state: ExaminationState) -> PlainResult | None:
    """The result of the plain aspect; None where the black box refuses everything or gives random answers."""
    aspect = aspects_of(state.box.metric)[0]
    state.progress("stability")
    if refused := refusal_of_everything(state, aspect):
        state.ledger.results.append(refused)
        return None
    state.ledger.instabilities += instabilities(state, aspect)
    if any(instability.kind == "random" for instability in state.ledger.instabilities):
        return None
    state.progress(aspect.name)
    plain = examine_plain(state, aspect)
    if not plain.is_explained and "training" in state.box.possible:
        plain = examine_known_users(state, plain)
    state.ledger.results.append(plain.aspect)
    return plain


def _examine_jointly(state: ExaminationState) -> tuple[int, int]:
    """Examine all explained aspects together; how many new answers the policy then predicts, of how many."""
    state.progress(ALL_TOGETHER)
    state.engine.challenge()
    for _ in range(_MAX_RETRIES):
        if not retry_unexplained(state):
            break
        state.engine.challenge()
    check_jointly(state)
    confirmed = _confirm(state)
    while reattribute_failure(state, unexplained_cases(state, state.policy)):
        confirmed = _confirm(state)
    return confirmed


def _confirm(state: ExaminationState) -> tuple[int, int]:
    """The number of new questions that were answered as the policy predicted, and that of all new questions.

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
    if wrong and not any(case.aspect == ALL_TOGETHER for case in state.ledger.unexplained):
        nearest = state.engine.nearest([policy], observations)
        state.ledger.unexplained.append(smallest_case(state, ALL_TOGETHER, nearest))
    return len(observations) - len(wrong), len(observations)


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
