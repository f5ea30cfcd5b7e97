"""Failures of a policy: the smallest case of each, and which aspect is responsible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repro.audits.examination.evidence import WITHOUT_BEARING
from repro.audits.examination.further_aspects import examine_aspect, refit_threshold, retry_unexplained
from repro.audits.examination.inference import Unexplained
from repro.audits.examination.state import ExaminationState
from repro.audits.hypotheses.simulation import AspectResult, NearestHypothesis, Observation
from repro.audits.hypotheses.space import Hypothesis
from repro.audits.questions.aspects import ALL_TOGETHER, UNKNOWN_USERS
from repro.audits.questions.question import Question

_FURTHER_QUESTIONS = 12  # about an unexplained aspect, to see how often the nearest policy is right


def smallest_case(state: ExaminationState, aspect: str, nearest: NearestHypothesis) -> Unexplained:
    """The smallest case that the nearest hypothesis does not predict, found by asking smaller and smaller questions."""
    hypothesis = nearest.hypothesis

    def is_mispredicted(question: Question) -> bool:
        return state.is_mispredicted(hypothesis, question, state.engine.tolerance)

    question = min(nearest.mismatches, key=lambda observation: observation.question.size).question
    if is_mispredicted(question):
        question = state.shrunk(question, is_mispredicted)
    answer = state.box.ask(question)
    predicted = state.predicted(hypothesis, question).as_reported(answer.is_by_user)
    policy = {key: value for key, value in hypothesis.values.items() if key not in WITHOUT_BEARING}
    return Unexplained(aspect, policy, nearest.residual, nearest.agreed, nearest.compared, question, answer, predicted)


def unexplained_cases(state: ExaminationState, policy: Hypothesis | None) -> list[tuple[AspectResult, Unexplained]]:
    """The unexplained aspects, each with its smallest case; those that the ledger has a case of are left out."""
    nearest = [(result, _nearest(state, policy, result)) for result in state.ledger.in_state("unexplained")]
    return [
        (result, smallest_case(state, result.aspect.name, hypothesis))
        for result, hypothesis in nearest
        if hypothesis is not None and hypothesis.mismatches
    ]


def _nearest(state: ExaminationState, policy: Hypothesis | None, result: AspectResult) -> NearestHypothesis | None:
    """The number that is closest to an unexplained aspect, of all choices for the decisions that only it touches.

    Further questions are asked. None where the aspect became unexplained later: its case is in the ledger then.
    """
    if result.nearest is None:
        return None
    aspect = result.aspect
    undecided = state.space.matching(aspect.frees) - state.engine.free_decisions
    hypotheses = state.space.expand([policy or state.space.start], undecided)
    features, generator = state.engine.features_of(aspect), state.generator
    if aspect.name == UNKNOWN_USERS:
        features, generator = aspect.features(()), replace(generator, known_users=False)
    questions = [generator.question(features, state.rng) for _ in range(_FURTHER_QUESTIONS)]
    further = [state.observe(question) for question in questions]
    nearest = state.engine.nearest(hypotheses, [*result.observations, *further])
    return nearest if nearest.mismatches else result.nearest


def suspects(state: ExaminationState, question: Question) -> list[AspectResult]:
    """The explained aspects whose features a question shows: one of them may be responsible for a failure."""
    features = question.shown - state.engine.base_features
    return [result for result in state.ledger.in_state("explained") if result.aspect.own_features & features]


def mark_unexplained(state: ExaminationState, suspect: AspectResult) -> None:
    """Mark an aspect as unexplained and drop joint failures that its features account for.

    Other aspects that were held responsible for a case with its features are examined again.
    """
    ledger, own_features = state.ledger, suspect.aspect.own_features
    ledger.move(suspect, replace(suspect, state="unexplained"))
    state.engine.withdraw(suspect.aspect)
    readmitted = state.attacks.readmit(own_features)
    ledger.drop_cases(lambda case: case.aspect in readmitted)
    ledger.drop_cases(lambda case: case.aspect == ALL_TOGETHER and bool(own_features & case.question.shown))
    held_responsible = {case.aspect for case in ledger.unexplained if own_features & case.question.shown}
    others = held_responsible - {suspect.aspect.name}
    retry_unexplained(state, lambda aspect: aspect.name in others)


def attribute_failure(state: ExaminationState, policy: Hypothesis, observations: Sequence[Observation]) -> bool:
    """Hold the last suspect of the smallest failing case responsible; whether there is one."""
    smallest = smallest_case(state, ALL_TOGETHER, state.engine.nearest([policy], observations))
    responsible = suspects(state, smallest.question)
    if not responsible:
        return False
    aspect = responsible[-1].aspect
    mark_unexplained(state, responsible[-1])
    about_aspect = [observation for observation in observations if aspect.own_features <= observation.question.features]
    nearest = state.engine.nearest([policy], about_aspect or observations)
    case = replace(
        smallest,
        aspect=aspect.name,
        residual=nearest.residual,
        agreed=nearest.agreed,
        compared=nearest.compared,
    )
    state.ledger.unexplained.append(case)
    return True


def reattribute_failure(state: ExaminationState, cases: Sequence[tuple[AspectResult, Unexplained]]) -> bool:
    """Hold another aspect responsible where the smallest case of an unexplained aspect shows none of its features.

    The other aspect becomes unexplained, if it was explained, and the first one is examined again without it. Whether
    this was done for one of the cases.
    """
    for result, case in cases:
        own_features = result.aspect.own_features
        if not own_features or own_features & case.question.shown:
            continue
        responsible = suspects(state, case.question)
        others = state.engine.unexplained_features - own_features
        if responsible:
            mark_unexplained(state, responsible[-1])
            state.ledger.unexplained.append(replace(case, aspect=responsible[-1].aspect.name))
        elif not any(others & observation.question.features for observation in result.observations):
            continue
        state.engine.unexplained_features -= own_features
        state.ledger.move(result, examine_aspect(state, result.aspect))
        state.engine.challenge()
        check_jointly(state)
        return True
    return False


def check_jointly(state: ExaminationState) -> None:
    """Test the survivors on questions with the features of several explained aspects at once."""
    observations: list[Observation] = []
    if state.engine.check_jointly(observations) or refit_threshold(state):
        return
    nearest = state.engine.nearest(state.engine.survivors, observations)
    if not attribute_failure(state, nearest.hypothesis, observations):
        state.ledger.unexplained.append(smallest_case(state, ALL_TOGETHER, nearest))
