"""Refutation: the policy is attacked until no question refutes it, and repaired each time that one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from repro.audits.confirmation.adversary import traits_of
from repro.audits.examination.failures import mark_unexplained, smallest_case, suspects
from repro.audits.examination.further_aspects import fit_threshold, refit_threshold, retry_unexplained
from repro.audits.examination.state import ExaminationState
from repro.audits.examination.undetermined import equivalent_policies
from repro.audits.hypotheses.simulation import AspectResult, NearestHypothesis, Observation, Simulation
from repro.audits.hypotheses.space import Hypothesis
from repro.audits.questions.answers import agree
from repro.audits.questions.aspects import ALL_TOGETHER
from repro.audits.questions.question import HIGHEST, Question, User

_MAX_POLICIES = 40  # that are attacked before the black box is left unexplained
_MAX_EXCUSED = 200  # refutations by what is known to be unexplained, before the black box is left unexplained
_SEPARATING_QUESTIONS = 60  # of each generator, that may distinguish equivalent policies
_TIES = frozenset({"ties"})
# Traits that change how a sort orders equal scores. With ties, such a case is a case of ties.
_TRAITS_OF_SORTING = frozenset({"long-lists", "other-cutoffs", "many-users", "other-magnitudes"})


def withstands_attacks(state: ExaminationState) -> bool:
    """Whether a policy is found that no question refutes.

    Every refuting question goes back into elimination. Behaviour that no policy explains is recorded, and no longer
    asked about.
    """

    def progress(done: int, total: int) -> None:
        if done % 50 == 0:
            state.progress(f"attack: {done} of {total}")

    for _ in range(_MAX_POLICIES + _MAX_EXCUSED):
        if len(state.attacks.excused) > _MAX_EXCUSED:
            break
        policy = state.policy
        refutation = _known_contradiction(state, policy) or state.attacks.refute(policy, progress)
        if refutation is None:
            fit_threshold(state)
            refutation = _distinguish_equivalent(state)
        if refutation is None and policy.values == state.policy.values:
            return True
        if refutation is not None and not _repair(state, policy, refutation):
            case = smallest_case(state, ALL_TOGETHER, _refuted(state, policy, refutation))
            state.ledger.unexplained.append(case)
            return False
    return False


def _known_contradiction(state: ExaminationState, policy: Hypothesis) -> Observation | None:
    """An earlier observation that contradicts the policy; the engine forgets those that are known to be unexplained."""
    engine, excluded = state.engine, state.attacks.excluded
    answered = [observation for observation in engine.observations if not observation.answer.refusal]
    contradicting = [observation for observation in answered if not state.withstands(policy, observation)]
    for observation in contradicting:
        engine.observations.remove(observation)
        if not any(goal.is_met_by(observation.question) for goal in excluded):
            return observation
    return None


def _refuted(state: ExaminationState, policy: Hypothesis, refutation: Observation) -> NearestHypothesis:
    """The refuted policy as the nearest hypothesis, with the number of attacks that it withstood before."""
    residual = state.engine.nearest([policy], [refutation]).residual
    n_passed = len(state.attacks.passed)
    return NearestHypothesis(policy, residual, n_passed, n_passed + 1, (refutation,))


def _repair(state: ExaminationState, policy: Hypothesis, refutation: Observation) -> bool:
    """Whether a policy is left: another one that predicts all answers, or this one without what refuted it."""
    engine = state.engine

    def is_mispredicted(question: Question) -> bool:
        return state.is_mispredicted(policy, question, state.attacks.tolerance)

    smallest = state.shrunk(refutation.question, is_mispredicted)
    if any(goal.is_met_by(smallest) for goal in state.attacks.excluded):
        state.attacks.excuse(refutation)
        return True
    before = list(engine.observations)
    engine.observations.append(refutation)
    if smallest is not refutation.question:
        engine.ask(smallest)
    if engine.reconsider():
        retry_unexplained(state)
        return True
    if refit_threshold(state):
        return True
    engine.observations[:] = before
    return _exclude_or_mark(state, policy, refutation, smallest, is_mispredicted)


def _exclude_or_mark(
    state: ExaminationState,
    policy: Hypothesis,
    refutation: Observation,
    smallest: Question,
    is_mispredicted: Callable[[Question], bool],
) -> bool:
    """Exclude the traits of the smallest case from attacks or, if there are none, mark a suspect as unexplained.

    Whether there is either.
    """
    traits = _essential_traits(state, smallest, is_mispredicted)
    suspected = suspects(state, smallest)
    about_ties = [result for result in suspected if result.aspect.own_features == _TIES]
    is_order_of_ties = bool(about_ties and traits & _TRAITS_OF_SORTING)
    case = smallest_case(state, ALL_TOGETHER, _refuted(state, policy, refutation))
    if traits and not is_order_of_ties:
        features = frozenset[str]().union(*(result.aspect.own_features for result in suspected))
        name = state.attacks.exclude(features, traits, [result.aspect.name for result in suspected])
        state.ledger.unexplained.append(replace(case, aspect=name))
        return True
    if not suspected:
        return False
    responsible: AspectResult = about_ties[0] if is_order_of_ties else suspected[-1]
    mark_unexplained(state, responsible)
    state.ledger.unexplained.append(replace(case, aspect=responsible.aspect.name))
    return True


def _essential_traits(
    state: ExaminationState, question: Question, is_mispredicted: Callable[[Question], bool]
) -> frozenset[str]:
    """The traits of a case without which the policy would predict it.

    That no user has a list, or relevant items, is not essential if the policy also fails when a plain user is added.
    """
    traits = traits_of(question)
    of_all_users = traits & {"nobody-listed", "nobody-relevant"}
    if not of_all_users:
        return traits
    scores = {item: float(position) for position, item in enumerate(question.items, start=1)}
    new_id = 1 + max(user.id for user in question.users)
    rating = 1.0 if state.generator.binary else float(HIGHEST)
    plain = User(new_id, scores, ((question.items[0], rating),))
    return traits - of_all_users if is_mispredicted(replace(question, users=(*question.users, plain))) else traits


def _distinguish_equivalent(state: ExaminationState) -> Observation | None:
    """Ask questions that distinguish the policy from equivalent ones; the observation that refutes it, if any."""
    attacks, engine, policy = state.attacks, state.engine, state.policy
    others = equivalent_policies(engine, policy)
    others = [other for other in others if all(state.withstands(other, observation) for observation in attacks.passed)]
    goals = attacks.random_goals()
    visible = max(1e-6, 2 * attacks.tolerance)
    for turn in range(2 * _SEPARATING_QUESTIONS):
        if not others:
            break
        question = (
            state.generator.question(engine.random_features(), state.rng)
            if turn % 2
            else attacks.adversary().question(next(goals), state.rng)
        )
        simulation = Simulation(question, state.space)
        predicted = simulation.outcome(policy).as_reported(engine.by_user)
        if all(agree(predicted, simulation.outcome(other).as_reported(engine.by_user), visible) for other in others):
            continue
        observation = Observation(question, state.box.ask(question), simulation)
        if observation.answer.refusal:
            continue
        if not state.withstands(policy, observation):
            return observation
        engine.observations.append(observation)
        others = [other for other in others if state.withstands(other, observation)]
    state.equivalent = others
    return None
